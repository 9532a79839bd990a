/** One event of a stream. */
export interface StreamEvent {
  type: string;
  /** The topic it belongs to, "" for what is said about the stream itself. */
  topic: string;
  /** Where the stream goes on behind it. */
  cursor: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events from pieces of text that end anywhere. */
export class EventParser {
  #rest = "";

  take(piece: string): StreamEvent[] {
    const blocks = (this.#rest + piece).split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => eventOf(block) ?? []);
  }
}

function eventOf(block: string): StreamEvent | undefined {
  let cursor = "";
  let type = "";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) cursor = line.slice(4);
    else if (line.startsWith("event: ")) type = line.slice(7);
    else if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (!type || !data) return undefined;
  const found = JSON.parse(data) as Record<string, unknown>;
  return { type, cursor, topic: typeof found["topic"] === "string" ? found["topic"] : "", data: found };
}
