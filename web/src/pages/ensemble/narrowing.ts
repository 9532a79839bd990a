import type { Dot } from "./dots.ts";

/** What is looked for: words of a filter, as `status:error,degraded state:started node:web text`. */
export interface Narrowing {
  status: readonly string[];
  state: readonly string[];
  node: readonly string[];
  texts: readonly string[];
}

/** What a text looks for; `undefined` where it says nothing. */
export function narrowingOf(text: string): Narrowing | undefined {
  const found = { status: [] as string[], state: [] as string[], node: [] as string[], texts: [] as string[] };
  const words = text.split(/\s+/).filter(Boolean);
  for (const word of words) {
    const [name = "", value = ""] = word.split(/:(.*)/s);
    if ((name === "status" || name === "state" || name === "node") && value)
      found[name].push(...value.split(",").filter(Boolean));
    else found.texts.push(word.toLowerCase());
  }
  return words.length ? found : undefined;
}

/** Whether an instance is looked for. */
export function fits(
  dot: Pick<Dot, "id" | "title" | "type" | "state" | "status" | "operation">,
  wanted: Narrowing,
): boolean {
  if (wanted.status.length && !wanted.status.includes(dot.status)) return false;
  if (wanted.state.length && !wanted.state.includes(dot.state)) return false;
  if (wanted.node.length && !wanted.node.includes(dot.title)) return false;
  if (!wanted.texts.length) return true;
  const all = `${dot.id} ${dot.title} ${dot.type} ${dot.operation}`.toLowerCase();
  return wanted.texts.every((text) => all.includes(text));
}
