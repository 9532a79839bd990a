import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Problem } from "../api/problem.ts";
import { EventParser } from "./parse.ts";
import { BROWSER, type Follower, LiveStream, pauseBefore, SILENT, type World } from "./stream.ts";

/** A browser in which time passes when it is told to, and servers say what they are told to. */
class MadeWorld implements World {
  readonly asked: string[] = [];
  readonly pauses: number[] = [];
  #tell: ((piece: string | Error | undefined) => void)[] = [];
  #later = new Set<() => void>();

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

  now = (): number => 1_000;
  random = (): number => 0;

  later(run: () => void, milliseconds: number): () => void {
    this.pauses.push(milliseconds / 1000);
    this.#later.add(run);
    return () => this.#later.delete(run);
  }

  /** What the stream that was opened last tells; `undefined` ends it. */
  async tell(piece: string | Error | undefined): Promise<void> {
    this.#tell.at(-1)?.(piece);
    await settled();
  }

  /** All that waits happens. */
  async pass(): Promise<void> {
    const waiting = [...this.#later];
    this.#later.clear();
    for (const run of waiting) run();
    await settled();
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
  await world.pass();
  assert.equal(world.asked.at(-1), "/api/v1/events?topic=ensembles&after=7");
  await world.tell(problem(503, "draining"));
  await world.pass();
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

test("a stream that says nothing for a while is broken", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  let asked: AbortSignal | null | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (source = controller) });
  mock.method(globalThis, "fetch", (_: string, init: RequestInit) => {
    asked = init.signal;
    return Promise.resolve(new Response(body));
  });
  try {
    const pieces = (await BROWSER.open("/events", new AbortController().signal))[Symbol.asyncIterator]();
    for (const text of [": \n\n", "id: 1\n"]) {
      const coming = pieces.next();
      mock.timers.tick((SILENT - 1) * 1000);
      source?.enqueue(new TextEncoder().encode(text));
      assert.deepEqual(await coming, { done: false, value: text });
    }
    const coming = assert.rejects(pieces.next(), /nothing for a while/);
    await settled();
    mock.timers.tick(SILENT * 1000);
    await coming;
    assert.equal(asked?.aborted, true);
  } finally {
    mock.timers.reset();
    mock.restoreAll();
  }
});

test("a server that does not even begin to answer is away", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(globalThis, "fetch", () => new Promise(() => {}));
  try {
    const opened = assert.rejects(BROWSER.open("/events", new AbortController().signal), /nothing for a while/);
    await settled();
    mock.timers.tick(SILENT * 1000);
    await opened;
  } finally {
    mock.timers.reset();
    mock.restoreAll();
  }
});
