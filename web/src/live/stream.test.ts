import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../api/problem.ts";
import { EventParser } from "./parse.ts";
import { type Follower, LiveStream, pauseBefore, type World } from "./stream.ts";

/** A browser in which time passes when it is told to, and servers say what they are told to. */
class MadeWorld implements World {
  readonly asked: string[] = [];
  /** How long it waits before it comes back, and before a hidden tab has no stream. */
  readonly pauses: number[] = [];
  #seconds = 1;
  #tell: ((piece: string | Error | undefined) => void)[] = [];
  #later = new Map<() => void, number>();

  open(address: string, signal: AbortSignal): Promise<AsyncIterable<string>> {
    this.asked.push(decodeURIComponent(address));
    const pieces: (string | Error | undefined)[] = [];
    let wake = (): void => {};
    this.#tell.push((piece) => {
      pieces.push(piece);
      wake();
    });
    signal.addEventListener("abort", () => wake());
    return Promise.resolve(
      (async function* () {
        for (;;) {
          if (signal.aborted) throw signal.reason;
          if (!pieces.length) await new Promise<void>((resolve) => (wake = resolve));
          if (signal.aborted) throw signal.reason;
          const piece = pieces.shift();
          if (piece === undefined) return;
          if (piece instanceof Error) throw piece;
          yield piece;
        }
      })(),
    );
  }

  now = (): number => this.#seconds * 1_000;
  random = (): number => 0;

  later(run: () => void, milliseconds: number): () => void {
    const seconds = milliseconds / 1000;
    if (seconds !== 5) this.pauses.push(seconds);
    // Each has a key of its own.
    const waiting = (): void => run();
    this.#later.set(waiting, this.#seconds + seconds);
    return () => this.#later.delete(waiting);
  }

  /** What the stream that was opened last tells; `undefined` ends it. */
  async tell(piece: string | Error | undefined): Promise<void> {
    this.#tell.at(-1)?.(piece);
    await settled();
  }

  /** So many seconds pass, and what waits for one of them happens then. */
  async pass(seconds = 30): Promise<void> {
    for (const end = this.#seconds + seconds; this.#seconds < end; ) {
      this.#seconds += 1;
      for (const [run, when] of [...this.#later]) if (when <= this.#seconds && this.#later.delete(run)) run();
      await settled();
    }
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

function told(type: string, cursor: string, data: object = {}): string {
  return `id: ${cursor}\nevent: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function follower(topic: string, cursor?: string): Follower & { events: string[]; again: number } {
  const made = {
    topic,
    ...(cursor === undefined ? {} : { cursor }),
    events: [] as string[],
    again: 0,
    onEvent: ({ type }: { type: string }) => void made.events.push(type),
    onAgain: () => void (made.again += 1),
  };
  return made;
}

function problem(status: number, code: string): Problem {
  const about = { type: "", title: "", detail: code, hint: "", next: [], diagnostics: [], request_id: "" };
  return new Problem({ ...about, status, code });
}

test("events are read from pieces that end anywhere", () => {
  const parser = new EventParser();
  const text = told("a", "1", { topic: "t" }) + ": \n\n" + told("b", "2");
  const found = [...text].flatMap((letter) => parser.take(letter));
  assert.deepEqual(
    found.map(({ type, topic, cursor }) => [type, topic, cursor]),
    [
      ["a", "t", "1"],
      ["b", "", "2"],
    ],
  );
});

test("pauses double up to half a minute, with some chance", () => {
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5, 9].map((attempt) => pauseBefore(attempt, 0)),
    [1, 2, 4, 8, 16, 30, 30],
  );
  assert.equal(pauseBefore(2, 1), 6);
});

test("one stream follows all topics, and what was read before is read again once it is live", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const [list, job] = [follower("ensembles"), follower("job:a/b/J", "C")];
  stream.follow(list);
  stream.follow(job);
  await settled();
  assert.deepEqual(world.asked, ["/api/v1/events?topic=ensembles&topic=job:a/b/J&after=C"]);
  assert.equal(stream.state.is, "catching-up");
  await world.tell(told("step.started", "1", { topic: "job:a/b/J" }) + told("stream.live", "2"));
  assert.equal(stream.state.is, "live");
  assert.deepEqual([list.again, job.again, list.events, job.events], [1, 0, [], ["step.started"]]);
});

test("it comes back where it was, and later each time", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const list = follower("ensembles");
  stream.follow(list);
  await settled();
  await world.tell(told("stream.live", "7"));
  await world.tell(undefined);
  assert.equal(stream.state.is, "offline");
  await world.pass(1);
  assert.equal(world.asked.at(-1), "/api/v1/events?topic=ensembles&after=7");
  await world.tell(problem(503, "draining"));
  await world.pass(2);
  await world.tell(told("stream.live", "8"));
  assert.deepEqual([world.pauses, list.again, stream.state.is], [[1, 2], 1, "live"]);
});

test("a topic that comes later is followed from its own beginning, the others go on", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const [inbox, list] = [follower("inbox"), follower("ensembles")];
  stream.follow(inbox);
  await settled();
  await world.tell(told("stream.live", "5"));
  stream.follow(list);
  await settled();
  assert.equal(world.asked.at(-1), "/api/v1/events?topic=ensembles&topic=inbox&after=5");
  await world.tell(told("stream.live", "6"));
  assert.deepEqual([inbox.again, list.again], [1, 1]);
});

test("whoever is signed out does not come back", async () => {
  const world = new MadeWorld();
  let isSignedOut = false;
  const stream = new LiveStream(world, () => (isSignedOut = true));
  stream.follow(follower("inbox"));
  await settled();
  await world.tell(problem(401, "signed-out"));
  await world.pass();
  assert.deepEqual([isSignedOut, world.asked.length, stream.state.is], [true, 1, "offline"]);
});

test("what may not be followed any more is read again, which tells why", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const job = follower("job:a/b/J", "C");
  const end = stream.follow(job);
  stream.follow(follower("inbox", "D"));
  await settled();
  await world.tell(problem(404, "unknown-ensemble"));
  assert.deepEqual([job.again, stream.state.is], [1, "offline"]);
  end();
  await settled();
  assert.equal(world.asked.at(-1), "/api/v1/events?topic=inbox&after=D");
});

test("a hidden tab has no stream after half a minute, and goes on when it shows", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  stream.follow(follower("inbox"));
  await settled();
  await world.tell(told("stream.live", "5"));
  stream.show(false);
  stream.show(true);
  await world.pass();
  await world.tell(": \n\n");
  assert.equal(world.asked.length, 1);
  stream.show(false);
  await world.pass();
  stream.show(true);
  await settled();
  assert.deepEqual([world.pauses, world.asked.at(-1)], [[30, 30], "/api/v1/events?topic=inbox&after=5"]);
});

test("a gap makes what was read be read again", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const [job, inbox] = [follower("job:a/b/J", "C"), follower("inbox")];
  stream.follow(job);
  stream.follow(inbox);
  await settled();
  await world.tell(told("stream.gap", "1", { topic: "job:a/b/J" }));
  assert.deepEqual([job.again, inbox.again], [1, 0]);
});

test("a cursor that is not known begins anew", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const job = follower("job:a/b/J", "old");
  stream.follow(job);
  await settled();
  await world.tell(problem(400, "bad-cursor"));
  await world.pass();
  await world.tell(told("stream.live", "1"));
  assert.deepEqual([world.asked.at(-1), job.again], ["/api/v1/events?topic=job:a/b/J", 1]);
});

test("a server that says nothing any more is offline, and asked again", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  const list = follower("ensembles");
  stream.follow(list);
  await settled();
  await world.tell(told("stream.live", "7"));
  for (let beat = 0; beat < 10; beat += 1) {
    await world.pass(15);
    await world.tell(": \n\n");
  }
  assert.deepEqual([stream.state.is, world.asked.length], ["live", 1]);
  await world.pass(40);
  assert.deepEqual(stream.state, { is: "offline", since: 186_000, why: "the server does not answer" });
  await world.pass(1);
  assert.deepEqual(world.asked.slice(1), ["/api/v1/events?topic=ensembles&after=7"]);
  await world.tell(told("stream.live", "8"));
  assert.equal(stream.state.is, "live");
});

test("a server that takes a request and never answers is offline too", async () => {
  const world = new MadeWorld();
  const stream = new LiveStream(world, () => {});
  stream.follow(follower("inbox"));
  await settled();
  assert.equal(stream.state.is, "catching-up");
  await world.pass(35);
  assert.equal(stream.state.is, "offline");
});
