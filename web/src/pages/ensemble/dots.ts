import type { TopologyData } from "../../api/types.ts";
import type { Tone } from "../../parts/status.tsx";
import { fits, type Narrowing } from "./narrowing.ts";

/** The words for the letters of node states; a capital letter stands for one in which an operation runs. */
export const STATES: Readonly<Record<string, string>> = {
  i: "initial",
  C: "creating",
  c: "created",
  F: "configuring",
  f: "configured",
  S: "starting",
  s: "started",
  T: "stopping",
  D: "deleting",
  d: "deleted",
  x: "error",
  "?": "unknown",
}; // prettier-ignore

/** The words for the letters of statuses. */
const STATUSES: Readonly<Record<string, Tone>> = {
  o: "ok",
  d: "degraded",
  p: "pending",
  u: "unknown",
  e: "error",
  a: "absent",
  "?": "unknown",
}; // prettier-ignore

/** All tones, those that need somebody first. */
export const WORST_FIRST: readonly Tone[] = ["error", "degraded", "unknown", "pending", "absent", "ok"];

/** What `instances.changed` tells. */
export interface ToldInstances {
  instances: { id: string[]; state: string; local: string };
  running: { id: string[]; operation: string[] };
}

/** What `statuses.changed` tells: how instances are with what they depend on, of those of which that differs. */
export interface ToldStatuses {
  statuses: { id: string[]; status: string };
}

/** One instance as it shows. */
export interface Dot {
  id: string;
  /** The number of its box. */
  box: number;
  title: string;
  type: string;
  state: string;
  status: Tone;
  /** The operation that runs on it, "" for none. */
  operation: string;
  /** The instance that hosts it, "" for none. */
  host: string;
}

/** For whoever wants to hear of every change, whichever box it is in. */
export const ALL = -1;

/**
 * The instances of a picture, and how they change while it shows. Ten thousand may change within a second: they are
 * kept in columns, and only the boxes that something has changed in are told so.
 */
export class Dots {
  readonly topology: TopologyData;
  /** By box, the numbers of its instances, in the order in which they stand there. */
  readonly inBox: readonly number[][];
  readonly ids: readonly string[];
  readonly #numbers = new Map<string, number>();
  readonly #state: string[];
  readonly #status: string[];
  readonly #local: string[];
  readonly #running = new Map<number, string>();
  readonly #tones: Tone[];
  readonly #counts: Record<Tone, number>[];
  readonly #versions = new Map<number, number>();
  readonly #watchers = new Map<number, Set<() => void>>();
  #narrowing: Narrowing | undefined;
  #isDim: boolean[] = [];

  constructor(topology: TopologyData) {
    this.topology = topology;
    const columns = topology.instances;
    this.ids = columns?.id ?? [];
    this.#state = [...(columns?.state ?? "")];
    this.#status = [...(columns?.status ?? "")];
    this.#local = [...(columns?.local ?? "")];
    this.inBox = topology.boxes.map(() => []);
    this.#counts = topology.boxes.map(() => ({ ok: 0, pending: 0, degraded: 0, error: 0, unknown: 0, absent: 0 }));
    this.#tones = this.ids.map((id, number) => {
      this.#numbers.set(id, number);
      const box = this.boxOf(number);
      this.inBox[box]?.push(number);
      const tone = this.#toneNow(number);
      const counts = this.#counts[box];
      if (counts) counts[tone] += 1;
      return tone;
    });
  }

  get size(): number {
    return this.ids.length;
  }

  numberOf(id: string): number | undefined {
    return this.#numbers.get(id);
  }

  boxOf(number: number): number {
    return this.topology.instances?.box[number] ?? 0;
  }

  toneOf(number: number): Tone {
    return this.#tones[number] ?? "unknown";
  }

  /** Whether it does not fit what is looked for. */
  isDim(number: number): boolean {
    return this.#isDim[number] ?? false;
  }

  at(number: number): Dot {
    const box = this.boxOf(number);
    const { title = "", type = "" } = this.topology.boxes[box] ?? {};
    const host = this.topology.instances?.host[number] ?? -1;
    return {
      id: this.ids[number] ?? "",
      box,
      title,
      type,
      state: STATES[this.#state[number] ?? "?"] ?? "unknown",
      status: this.toneOf(number),
      operation: this.#running.get(number) ?? "",
      host: this.ids[host] ?? "",
    };
  }

  /** The instances that an instance hosts. */
  hostedBy(number: number): number[] {
    const found: number[] = [];
    this.topology.instances?.host.forEach((host, at) => {
      if (host === number) found.push(at);
    });
    return found;
  }

  /** How many instances in a box there are of each tone; all boxes together without one. */
  counts(box = ALL): Readonly<Record<Tone, number>> {
    const one = this.#counts[box];
    if (one) return one;
    const sum = { ok: 0, pending: 0, degraded: 0, error: 0, unknown: 0, absent: 0 };
    for (const counts of this.#counts) for (const tone of WORST_FIRST) sum[tone] += counts[tone];
    return sum;
  }

  /** The operations that run in a box now: of which instance, and which. */
  running(box: number): [id: string, operation: string][] {
    const found: [string, string][] = [];
    for (const [number, operation] of this.#running) {
      if (this.boxOf(number) === box) found.push([this.ids[number] ?? "", operation]);
    }
    return found;
  }

  /** The instances on which operations run now. */
  get busy(): number[] {
    return [...this.#running.keys()];
  }

  /** Take what has happened. Gives whether instances are told of that the picture does not have. */
  take(told: ToldInstances): boolean {
    const changed = new Set<number>();
    let isNew = false;
    told.running.id.forEach((id, at) => {
      const number = this.#numbers.get(id);
      if (number === undefined) isNew ||= Boolean(told.running.operation[at]);
      else this.#run(number, told.running.operation[at] ?? "", changed);
    });
    told.instances.id.forEach((id, at) => {
      const number = this.#numbers.get(id);
      // What is deleted and does not show needs no dot.
      if (number === undefined) isNew ||= told.instances.state[at] !== "d";
      else this.#become(number, told.instances.state[at] ?? "?", told.instances.local[at] ?? "?", changed);
    });
    this.#tell(changed);
    return isNew;
  }

  /** Take how instances are with what they depend on. What the picture does not have is told by the other event. */
  takeStatuses(told: ToldStatuses): void {
    const changed = new Set<number>();
    told.statuses.id.forEach((id, at) => {
      const number = this.#numbers.get(id);
      const status = told.statuses.status[at] ?? "?";
      if (number === undefined || this.#status[number] === status) return;
      this.#status[number] = status;
      this.#refresh(number, changed);
    });
    this.#tell(changed);
  }

  /** Take over what runs, from a picture that was read before. */
  goOnFrom(before: Dots): void {
    const changed = new Set<number>();
    for (const [number, operation] of before.#running) {
      const here = this.#numbers.get(before.ids[number] ?? "");
      if (here !== undefined) this.#run(here, operation, changed);
    }
    this.#tell(changed);
  }

  /** Dim what does not fit; `undefined` for nothing. */
  narrow(narrowing: Narrowing | undefined): void {
    if (narrowing === this.#narrowing) return;
    this.#narrowing = narrowing;
    this.#isDim = narrowing ? this.ids.map((_, number) => !fits(this.at(number), narrowing)) : [];
    this.#tell(new Set(this.topology.boxes.keys()));
  }

  #run(number: number, operation: string, changed: Set<number>): void {
    if ((this.#running.get(number) ?? "") === operation) return;
    if (operation) this.#running.set(number, operation);
    else this.#running.delete(number);
    this.#refresh(number, changed);
  }

  #become(number: number, state: string, local: string, changed: Set<number>): void {
    if (this.#state[number] === state && this.#local[number] === local) return;
    // With what it depends on it is told a little later; until then its own status stands for that.
    if (this.#local[number] !== local) this.#status[number] = local;
    this.#state[number] = state;
    this.#local[number] = local;
    this.#refresh(number, changed);
  }

  #refresh(number: number, changed: Set<number>): void {
    const box = this.boxOf(number);
    const tone = this.#toneNow(number);
    const counts = this.#counts[box];
    if (counts) {
      counts[this.toneOf(number)] -= 1;
      counts[tone] += 1;
    }
    this.#tones[number] = tone;
    if (this.#narrowing) this.#isDim[number] = !fits(this.at(number), this.#narrowing);
    changed.add(box);
  }

  /** What is worked on is pending, whatever it was. */
  #toneNow(number: number): Tone {
    if (this.#running.has(number) || "CFSTD".includes(this.#state[number] ?? "?")) return "pending";
    return STATUSES[this.#status[number] ?? "?"] ?? "unknown";
  }

  /** Hear of changes in a box, or of all; gives what ends that. */
  watch(box: number, told: () => void): () => void {
    const watchers = this.#watchers.get(box) ?? new Set();
    this.#watchers.set(box, watchers.add(told));
    return () => watchers.delete(told);
  }

  /** Is another number after each change of a box, or of any. */
  version(box: number): number {
    return this.#versions.get(box) ?? 0;
  }

  #tell(changed: Set<number>): void {
    if (!changed.size) return;
    for (const box of [...changed, ALL]) this.#versions.set(box, this.version(box) + 1);
    for (const box of [...changed, ALL]) for (const told of this.#watchers.get(box) ?? []) told();
  }
}
