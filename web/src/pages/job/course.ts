import type { JobStepsData, TimelineData } from "../../api/types.ts";
import type { StreamEvent } from "../../live/parse.ts";

/** How attempts go, by the letters of the timeline. */
export const WORDS: Record<string, string> = {
  r: "running",
  w: "waiting",
  s: "succeeded",
  n: "did nothing",
  f: "failed",
  a: "tried again",
  k: "skipped",
  u: "not needed",
  i: "interrupted",
};

/** What is hidden unless it is asked for: there was nothing to do. */
const IDLE = "nu";

/** A step that runs, or waits for its next attempt. */
export interface Present {
  id: string;
  instance: string;
  operation: string;
  attempt: number;
  /** How many attempts there are at most, 1 where that is not known. */
  most: number;
  /** When it began, in milliseconds since the epoch. */
  since: number;
  /** When its next attempt begins, 0 while it runs. */
  next: number;
  /** What the last attempt said. */
  message: string;
}

/** What is told of one attempt, or of a step that was not run. */
export interface Bar {
  number: number;
  id: string;
  row: number;
  instance: string;
  operation: string;
  /** Milliseconds since the job began. */
  start: number;
  /** -1 while it runs. */
  end: number;
  letter: string;
  attempt: number;
}

/** What happens in a job: what was read of it, and what events tell since. */
export class Course {
  readonly rows: string[];
  readonly operations: string[];
  readonly row: number[];
  readonly operation: number[];
  readonly start: number[];
  readonly end: number[] = [];
  readonly letter: string[];
  readonly attempt: number[];
  /** The bars of each row, those that began first in front. */
  readonly ofRow: number[][];
  readonly critical: ReadonlySet<number>;
  readonly t0: number;
  readonly present = new Map<string, Present>();
  /** How many steps there are. */
  readonly total: number;
  /** `running`, `interrupted`, or how the job ended. */
  status: string;
  workflow: string;
  /** That it was asked to end, for the last time. */
  cancelled: { by: string; now: boolean; because: string } | null;
  /** Milliseconds after its begin, -1 if it has not ended. */
  ended: number;
  /** The latest moment that is known, in milliseconds after the begin. */
  latest = 0;
  /** Grows with every change. */
  revision = 0;
  readonly #named: Map<number, string>;
  readonly #rowOf = new Map<string, number>();
  readonly #operationOf = new Map<string, number>();
  readonly #by: Record<string, number> = {};
  #lastOf: Map<string, number> | undefined;

  /**
   * Events go on behind the older of the two answers: what is known already changes nothing. A job that has ended is
   * known by its timeline alone.
   */
  constructor(timeline: TimelineData, steps?: JobStepsData) {
    const { row, operation, start, milliseconds, state, attempt, step } = timeline.steps;
    this.rows = [...timeline.rows];
    this.operations = [...timeline.operations];
    this.row = [...row];
    this.operation = [...operation];
    this.attempt = [...attempt];
    this.letter = [...state];
    this.t0 = timeline.t0;
    this.ended = timeline.end;
    this.status = timeline.status;
    this.cancelled = timeline.cancelled;
    this.workflow = timeline.workflow;
    this.critical = new Set(timeline.critical);
    this.#named = new Map(Object.entries(step).map(([number, id]) => [Number(number), id]));
    this.ofRow = this.rows.map(() => []);
    this.start = new Array<number>(start.length);
    let at = 0;
    for (let bar = 0; bar < start.length; bar += 1) {
      at += start[bar]!;
      const took = milliseconds[bar]!;
      this.start[bar] = at;
      this.end.push(took < 0 ? -1 : at + took);
      this.ofRow[row[bar]!]!.push(bar);
      this.latest = Math.max(this.latest, took < 0 ? at : at + took);
    }
    for (const [place, name] of this.rows.entries()) this.#rowOf.set(name, place);
    for (const [place, name] of this.operations.entries()) this.#operationOf.set(name, place);
    for (let bar = 0; bar < this.size; bar += 1) this.#countIn(bar);
    if (steps) this.#takePresent(steps);
    const all = steps?.counts ?? this.#by;
    this.total = Object.values(all).reduce((sum, count) => sum + count, 0);
  }

  #countIn(bar: number): void {
    const letter = this.letter[bar]!;
    // An attempt that was followed by another one is no end of its step.
    if (letter === "a" || (letter === "i" && this.lastOf(this.id(bar)) !== bar)) return;
    this.#count(letter, 1);
    if (letter === "r" || letter === "w") this.#enter(bar);
  }

  #enter(bar: number): void {
    const { id, instance, operation, attempt, start } = this.bar(bar);
    const most = this.present.get(id)?.most ?? 1;
    this.present.set(id, { id, instance, operation, attempt, most, since: this.t0 + start, next: 0, message: "" });
  }

  #takePresent(steps: JobStepsData): void {
    for (const one of steps.items) {
      const known = this.present.get(one.id);
      if (!known) continue;
      const message = endOf(one.exit_code, one.message);
      const isWaiting = this.letter[this.lastOf(one.id)] === "w";
      this.present.set(one.id, {
        ...known,
        most: one.most,
        message,
        next: isWaiting && one.next ? Date.parse(one.next) : 0,
      });
    }
  }

  get size(): number {
    return this.row.length;
  }

  get isOver(): boolean {
    return this.status !== "running" && this.status !== "interrupted";
  }

  /** How many steps are in each state, by its letter; those that have not begun are in none. */
  get counts(): Readonly<Record<string, number>> {
    return this.#by;
  }

  get done(): number {
    return "snfku".split("").reduce((sum, letter) => sum + (this.#by[letter] ?? 0), 0);
  }

  id(bar: number): string {
    return this.#named.get(bar) ?? `${this.rows[this.row[bar]!]}.${this.operations[this.operation[bar]!]}`;
  }

  bar(number: number): Bar {
    const row = this.row[number]!;
    return {
      number,
      id: this.id(number),
      row,
      instance: this.rows[row]!,
      operation: this.operations[this.operation[number]!]!,
      start: this.start[number]!,
      end: this.end[number]!,
      letter: this.letter[number]!,
      attempt: this.attempt[number]!,
    };
  }

  /** The last bar of a step, -1 for none. */
  lastOf(id: string): number {
    return this.#last().get(id) ?? -1;
  }

  /** The bars of failed steps, in the order in which they began. */
  failures(): number[] {
    const found: number[] = [];
    for (let bar = 0; bar < this.size; bar += 1) if (this.letter[bar] === "f") found.push(bar);
    return found;
  }

  /** How long the rest takes if it goes on as so far, in seconds; `undefined` as long as that cannot be said. */
  left(now: number): number | undefined {
    const { done, total } = this;
    if (this.status !== "running" || done < Math.max(2, total / 50) || done >= total) return undefined;
    return ((now - this.t0) / 1000 / done) * (total - done);
  }

  shows(bar: number, withIdle: boolean): boolean {
    return withIdle || !IDLE.includes(this.letter[bar]!);
  }

  /** The rows in which something shows. */
  shownRows(withIdle: boolean, text: string): number[] {
    const wanted = text.toLowerCase();
    const found: number[] = [];
    for (let row = 0; row < this.rows.length; row += 1) {
      if (wanted && !this.#fits(row, wanted)) continue;
      if (withIdle || this.ofRow[row]!.some((bar) => this.shows(bar, false))) found.push(row);
    }
    return found;
  }

  #fits(row: number, wanted: string): boolean {
    if (this.rows[row]!.toLowerCase().includes(wanted)) return true;
    return this.ofRow[row]!.some((bar) => this.operations[this.operation[bar]!]!.toLowerCase().includes(wanted));
  }

  /** Take an event over. Gives `again` where everything must be read again, `failed` where a step has failed. */
  take({ type, data }: StreamEvent): "again" | "failed" | undefined {
    const told = data as unknown as Told;
    const at = Math.round((told.at ?? 0) * 1000) - this.t0;
    if (told.at) this.latest = Math.max(this.latest, at);
    this.revision += 1;
    switch (type) {
      case "step.started":
        this.#begin(told, at);
        return undefined;
      case "step.retrying":
        this.#finish(told, at, "w");
        this.#wait(told, at);
        return undefined;
      case "step.succeeded":
        this.#finish(told, at, told.no_op ? "n" : "s");
        return undefined;
      case "step.failed":
        this.#finish(told, at, "f");
        return "failed";
      case "step.skipped":
        this.#finish(told, at, told.needless ? "u" : "k");
        return undefined;
      case "job.cancelling":
        this.cancelled = { by: told.by ?? "", now: told.now ?? false, because: told.because ?? "" };
        return undefined;
      // The plan has other steps now, or it is known what decided how long it took.
      case "job.started":
      case "job.rollback":
      case "job.finished":
        return "again";
      default:
        return undefined;
    }
  }

  #begin(told: Told, at: number): void {
    const last = this.lastOf(told.step);
    if (last >= 0 && this.start[last]! >= at - 1) return;
    if (last >= 0) this.#follow(last, at);
    this.#add(told, at, -1, "r", told.attempt ?? 1);
  }

  #finish(told: Told, at: number, letter: string): void {
    const last = this.lastOf(told.step);
    if (last < 0) this.#add(told, at, at, letter, 0);
    else if (this.letter[last] === "w" && letter !== "w") {
      // It was given up between two attempts.
      this.#become(last, letter);
    } else if (this.end[last]! < 0 && this.start[last]! <= at + 1) {
      this.end[last] = Math.max(at, this.start[last]!);
      this.#become(last, letter);
    }
  }

  #wait(told: Told, at: number): void {
    const last = this.lastOf(told.step);
    const known = this.present.get(told.step);
    if (this.letter[last] !== "w" || !known) return;
    const next = this.t0 + at + (told.seconds ?? 0) * 1000;
    this.present.set(told.step, { ...known, most: told.attempts ?? 1, next, message: said(told) });
  }

  /** The last attempt of a step ends in another way: the counts follow, and what is present. */
  #become(bar: number, letter: string): void {
    this.#count(this.letter[bar]!, -1);
    this.#count(letter, 1);
    this.letter[bar] = letter;
    if (letter !== "w") this.present.delete(this.id(bar));
  }

  /** An attempt is followed by another one. */
  #follow(bar: number, at: number): void {
    const letter = this.letter[bar]!;
    this.#count(letter, -1);
    if (letter === "w") this.letter[bar] = "a";
    if (letter !== "r") return;
    this.letter[bar] = "i";
    this.end[bar] = at;
  }

  #count(letter: string, by: number): void {
    this.#by[letter] = (this.#by[letter] ?? 0) + by;
  }

  #add(told: Told, start: number, end: number, letter: string, attempt: number): void {
    const bar = this.size;
    const name = told.instance || told.step;
    const row = placed(this.#rowOf, this.rows, name);
    this.ofRow[row] ??= [];
    this.row.push(row);
    this.operation.push(placed(this.#operationOf, this.operations, told.operation));
    this.start.push(start);
    this.end.push(end);
    this.letter.push(letter);
    this.attempt.push(attempt);
    this.ofRow[row].push(bar);
    if (told.step !== `${name}.${told.operation}`) this.#named.set(bar, told.step);
    this.#last().set(told.step, bar);
    this.#count(letter, 1);
    if (letter === "r") this.#enter(bar);
  }

  #last(): Map<string, number> {
    if (!this.#lastOf) {
      this.#lastOf = new Map();
      for (let bar = 0; bar < this.size; bar += 1) this.#lastOf.set(this.id(bar), bar);
    }
    return this.#lastOf;
  }
}

/** The fields of events that are read here. */
interface Told {
  step: string;
  instance: string;
  operation: string;
  at?: number;
  attempt?: number;
  no_op?: boolean;
  needless?: boolean;
  next?: number;
  attempts?: number;
  seconds?: number;
  by?: string;
  now?: boolean;
  because?: string;
  outcome?: { exit_code?: number | null; message?: string; tail?: string[] };
}

function said({ outcome }: Told): string {
  const { exit_code: code, message, tail } = outcome ?? {};
  return endOf(code ?? null, tail?.at(-1) || message || "");
}

/** How a step or an attempt ended, in short. */
export function endOf(code: number | null, message: string): string {
  if (code === null || message.startsWith(`exit ${code}`)) return message;
  return message ? `exit ${code}: ${message}` : `exit ${code}`;
}

function placed(places: Map<string, number>, names: string[], name: string): number {
  let place = places.get(name);
  if (place === undefined) {
    place = names.push(name) - 1;
    places.set(name, place);
  }
  return place;
}
