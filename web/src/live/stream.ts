import { BASE, reach } from "../api/ask.ts";
import { asProblem, type Problem } from "../api/problem.ts";
import { EventParser, type StreamEvent } from "./parse.ts";

export type LiveState =
  | { is: "idle" }
  | { is: "catching-up" }
  | { is: "live" }
  | { is: "offline"; since: number; why: string };

export interface Follower {
  topic: string;
  /** The `Ordito-Cursor` of what was read; without one the follower is told to read again. */
  cursor?: string;
  /** Something happened. */
  onEvent(event: StreamEvent): void;
  /** What was read before now may be old: read it again. */
  onAgain(): void;
}

/** What a stream needs of the browser; tests have a browser of their own. */
export interface World {
  open(address: string, signal: AbortSignal): Promise<AsyncIterable<string>>;
  now(): number;
  random(): number;
  later(run: () => void, milliseconds: number): () => void;
}

const LONGEST_PAUSE = 30;
/** Seconds without a byte after which a server is taken to be gone: it sends at least a comment every 15. */
const SILENCE = 35;
/** Seconds between looks for silence: a machine that was asleep finds it soon after it has woken. */
const LOOK = 5;
const HIDDEN = 30;
const MOST_TOPICS = 16;

/** The seconds to wait before the n-th attempt to come back: 1, 2, 4 ... 30, and up to half as much more. */
export function pauseBefore(attempt: number, random: number): number {
  return Math.min(2 ** attempt, LONGEST_PAUSE) * (1 + random / 2);
}

/** The one stream of a tab. It follows the topics of all that shows, and closes while the tab is hidden. */
export class LiveStream {
  readonly #world: World;
  readonly #onSignedOut: () => void;
  readonly #followers = new Set<Follower>();
  readonly #watchers = new Set<() => void>();
  #state: LiveState = { is: "idle" };
  #topics: string[] = [];
  #cursor = "";
  /** The topics of which the cursor knows the place. */
  #known = new Set<string>();
  #open: AbortController | undefined;
  #attempt = 0;
  #cancel: (() => void) | undefined;
  /** When the open stream has told something last, and what ends looking for that. */
  #heard = 0;
  #unguard: (() => void) | undefined;
  #isPlanned = false;
  #isHidden = false;
  #hiding: (() => void) | undefined;
  #hasEnded = false;

  constructor(world: World, onSignedOut: () => void) {
    this.#world = world;
    this.#onSignedOut = onSignedOut;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Be told when the state changes; gives what ends that. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Follow a topic; gives what ends that. */
  follow(follower: Follower): () => void {
    // The stream has gone on since that was read.
    if (follower.cursor !== undefined && this.#topics.includes(follower.topic)) queueMicrotask(follower.onAgain);
    this.#followers.add(follower);
    this.#replan();
    return () => {
      this.#followers.delete(follower);
      this.#replan();
    };
  }

  /** The tab is hidden or shows again. */
  show(isShown: boolean): void {
    this.#hiding?.();
    this.#hiding = undefined;
    if (!isShown) {
      this.#hiding = this.#world.later(() => {
        this.#isHidden = true;
        this.#close();
      }, HIDDEN * 1000);
    } else if (this.#isHidden) {
      this.#isHidden = false;
      this.#attempt = 0;
      this.#connect();
    }
  }

  /** Try now, instead of when the pause is over. */
  retry(): void {
    this.#hasEnded = false;
    this.#attempt = 0;
    this.#close();
    this.#connect();
  }

  // Pages leave and come in one go: what they follow is looked at once, behind that.
  #replan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      const wanted = [...new Set([...this.#followers].map((one) => one.topic))].sort().slice(0, MOST_TOPICS);
      if (wanted.join("\n") === this.#topics.join("\n")) return;
      this.#topics = wanted;
      this.#attempt = 0;
      this.#close();
      this.#connect();
    });
  }

  #close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#leave();
  }

  /** Take nothing more of the open stream. */
  #leave(): void {
    this.#unguard?.();
    this.#unguard = undefined;
    this.#open?.abort();
    this.#open = undefined;
  }

  /** Leave a stream of which nothing comes, not even that there is nothing new: nothing else says that a server hangs,
   * or that a network has gone. */
  #guard(): void {
    this.#unguard = this.#world.later(() => {
      if (this.#world.now() - this.#heard < SILENCE * 1000) return this.#guard();
      this.#leave();
      this.#comeBack(0, "the server does not answer");
    }, LOOK * 1000);
  }

  #connect(): void {
    if (!this.#topics.length) return this.#say({ is: "idle" });
    if (this.#isHidden || this.#hasEnded) return;
    const control = new AbortController();
    this.#open = control;
    this.#heard = this.#world.now();
    this.#guard();
    if (this.#state.is !== "offline") this.#say({ is: "catching-up" });
    void this.#run(control);
  }

  async #run(control: AbortController): Promise<void> {
    const cursors = this.#cursors();
    const isPlaced = new Set(this.#topics.filter((topic) => this.#known.has(topic) || this.#given(topic)));
    let again = 0;
    let why = "the server has closed the stream";
    try {
      const parser = new EventParser();
      for await (const piece of await this.#world.open(this.#address(cursors), control.signal)) {
        if (control.signal.aborted) return;
        this.#heard = this.#world.now();
        for (const event of parser.take(piece)) again = this.#take(event, isPlaced) ?? again;
        if (control.signal.aborted) return;
      }
    } catch (error) {
      if (control.signal.aborted) return;
      const problem = asProblem(error);
      why = problem.message;
      if (this.#isOver(problem)) return this.#leave();
      again = problem.againIn;
    }
    if (control.signal.aborted) return;
    this.#leave();
    this.#comeBack(again, why);
  }

  /** Whether coming back by itself is of no use. */
  #isOver(problem: Problem): boolean {
    if (problem.code === "bad-cursor") {
      this.#forget();
      return false;
    }
    // What was followed may not be seen any more, or is gone: who reads it again is told so, and follows it no more.
    if (problem.status === 403 || problem.status === 404) this.#tellAgain("");
    if (problem.status !== 401) return false;
    this.#hasEnded = true;
    this.#offline(problem.message);
    this.#onSignedOut();
    return true;
  }

  /** Handle an event; gives the seconds after which to come back, where it says so. */
  #take(event: StreamEvent, isPlaced: Set<string>): number | undefined {
    if (event.cursor) {
      this.#cursor = event.cursor;
      this.#known = new Set(this.#topics);
    }
    switch (event.type) {
      case "stream.live":
        this.#attempt = 0;
        this.#say({ is: "live" });
        // What was read before the stream began may be older than where it begins.
        for (const one of this.#followers) if (!isPlaced.has(one.topic)) one.onAgain();
        return undefined;
      case "stream.gap":
        if (!event.topic) this.#forget();
        this.#tellAgain(event.topic);
        return undefined;
      case "stream.denied":
        this.#leave();
        this.#forget();
        this.#tellAgain("");
        this.#comeBack(1, "what was followed may not be seen any more");
        return undefined;
      case "stream.closing":
        return typeof event.data["again_in"] === "number" ? event.data["again_in"] : 1;
      default:
        for (const one of this.#followers) if (one.topic === event.topic || !event.topic) one.onEvent(event);
        return undefined;
    }
  }

  #tellAgain(topic: string): void {
    for (const one of this.#followers) if (!topic || one.topic === topic) one.onAgain();
  }

  /** Begin anew: nothing that is known says where the stream goes on. */
  #forget(): void {
    this.#cursor = "";
    this.#known.clear();
    for (const one of this.#followers) delete one.cursor;
  }

  #comeBack(atLeast: number, why: string): void {
    this.#offline(why);
    const pause = Math.max(atLeast, pauseBefore(this.#attempt, this.#world.random()));
    this.#attempt += 1;
    this.#cancel = this.#world.later(() => this.#connect(), pause * 1000);
  }

  #offline(why: string): void {
    const since = this.#state.is === "offline" ? this.#state.since : this.#world.now();
    this.#say({ is: "offline", since, why });
  }

  #say(state: LiveState): void {
    if (state.is === this.#state.is && state.is !== "offline") return;
    this.#state = state;
    for (const watcher of this.#watchers) watcher();
  }

  #address(cursors: readonly string[]): string {
    const words = new URLSearchParams();
    for (const topic of this.#topics) words.append("topic", topic);
    for (const cursor of cursors) words.append("after", cursor);
    return `${BASE}/events?${words}`;
  }

  /** The cursors that together say where the topics go on: the stream's own, and those of what was read since. */
  #cursors(): string[] {
    const own = this.#topics.some((topic) => this.#known.has(topic)) ? [this.#cursor] : [];
    return [
      ...own,
      ...this.#topics.filter((topic) => !this.#known.has(topic)).flatMap((topic) => this.#given(topic) || []),
    ];
  }

  #given(topic: string): string {
    for (const one of this.#followers) if (one.topic === topic && one.cursor) return one.cursor;
    return "";
  }
}

/** The browser as streams need it. */
export const BROWSER: World = {
  async open(address, signal) {
    const response = await reach(address, { headers: { Accept: "text/event-stream" }, signal, cache: "no-store" });
    if (!response.body) throw new TypeError("the stream has no body");
    return textOf(response.body);
  },
  now: () => Date.now(),
  random: () => Math.random(),
  later(run, milliseconds) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

async function* textOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}
