import type { LogData, LogPiece } from "../../api/types.ts";

/** A line of the part of a log that is there. */
export interface Line {
  step: string;
  text: string;
  /** Where the piece of the log begins in which the line begins, and its number in that piece. */
  offset: number;
  line: number;
  /** Whether its end was printed. */
  isWhole: boolean;
}

/** With more lines than this, those at the other end are let go. */
export const MOST_LINES = 50_000;

/** The part of a log that is there: it grows at both ends. */
export class LogLines {
  lines: Line[] = [];
  /** The offset at which the part begins, and the one behind it. */
  begin = 0;
  end = 0;
  /** The size of the whole log. */
  size = 0;

  get isAtEnd(): boolean {
    return this.end >= this.size;
  }

  get isAtBegin(): boolean {
    return this.begin === 0;
  }

  /** Another part, in place of this one. */
  begun(data: LogData): void {
    this.lines = [];
    for (const piece of data.pieces) this.#behind(piece);
    this.begin = data.begin;
    this.end = data.next;
    this.size = data.size;
  }

  /** The part that follows; what is there already is passed over. Gives how many lines were let go in front. */
  after(data: Pick<LogData, "pieces" | "next" | "size">): number {
    for (const piece of data.pieces) if (piece.offset >= this.end) this.#behind(piece);
    this.end = Math.max(this.end, data.next);
    this.size = Math.max(this.size, data.size, data.next);
    return this.#letGoInFront();
  }

  /** The part that comes before. Gives how many lines there are more in front. */
  before(data: LogData): number {
    const earlier = new LogLines();
    for (const piece of data.pieces) earlier.#behind(piece);
    const first = this.lines[0];
    const last = earlier.lines.at(-1);
    if (first && last && !last.isWhole && last.step === first.step) {
      this.lines[0] = { ...last, text: last.text + first.text, isWhole: first.isWhole };
      earlier.lines.pop();
    }
    this.lines = [...earlier.lines, ...this.lines];
    this.begin = data.begin;
    this.size = Math.max(this.size, data.size);
    this.#letGoBehind();
    return earlier.lines.length;
  }

  /** The place of a line, or of the one that it is a part of; -1 where it is not there. */
  placeOf(offset: number, line: number): number {
    let low = 0;
    let high = this.lines.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const one = this.lines[middle]!;
      if (one.offset < offset || (one.offset === offset && one.line <= line)) low = middle + 1;
      else high = middle;
    }
    return offset < this.begin || offset >= this.end ? -1 : low - 1;
  }

  #behind({ step, text, offset }: LogPiece): void {
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    let number = 0;
    const last = this.lines.at(-1);
    if (last && !last.isWhole && last.step === step) {
      const whole = parts.shift();
      this.lines[this.lines.length - 1] = { ...last, text: last.text + (whole ?? rest), isWhole: whole !== undefined };
      if (whole === undefined) return;
      number = 1;
    }
    for (const one of parts) this.lines.push({ step, text: one, offset, line: number++, isWhole: true });
    if (rest) this.lines.push({ step, text: rest, offset, line: number, isWhole: false });
  }

  #letGoInFront(): number {
    let count = this.lines.length - MOST_LINES;
    if (count <= 0) return 0;
    // A part begins where a piece does.
    while (count < this.lines.length && this.lines[count]!.line !== 0) count += 1;
    if (count === this.lines.length) return 0;
    this.lines = this.lines.slice(count);
    this.begin = this.lines[0]!.offset;
    return count;
  }

  #letGoBehind(): void {
    let count = MOST_LINES;
    while (count < this.lines.length && this.lines[count]!.line !== 0) count += 1;
    const next = this.lines[count];
    if (!next) return;
    this.lines = this.lines.slice(0, count);
    this.end = next.offset;
  }
}

/** A line in an address: `OFFSET.LINE`. */
export function lineName({ offset, line }: Pick<Line, "offset" | "line">): string {
  return `${offset}.${line}`;
}

/** The line that an address names, `undefined` for none. */
export function lineNamed(text: string): { offset: number; line: number } | undefined {
  const found = /^(\d{1,15})\.(\d{1,9})$/.exec(text);
  return found ? { offset: Number(found[1]), line: Number(found[2]) } : undefined;
}
