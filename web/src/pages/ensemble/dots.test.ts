import assert from "node:assert/strict";
import { test } from "node:test";

import type { TopologyData } from "../../api/types.ts";
import { ALL, Dots } from "./dots.ts";
import { fits, narrowingOf } from "./narrowing.ts";

const BOX = {
  kind: "node",
  type: "Web",
  parent: "",
  x: 0,
  y: 0,
  w: 90,
  h: 60,
  nodes: 1,
  folded: false,
  columns: 2,
  counts: {},
};

function topology(states: string, statuses: string): TopologyData {
  return {
    format: "ordito.topology/1",
    service: "shop",
    nodes: 2,
    size: [300, 100],
    boxes: [
      { ...BOX, id: "web", title: "web" },
      { ...BOX, id: "db", title: "db" },
    ],
    edges: [],
    instances: {
      id: ["db_1", "web_1", "web_2"].slice(0, states.length),
      box: [1, 0, 0].slice(0, states.length),
      state: states,
      status: statuses,
      local: statuses,
      host: [-1, 0, 0].slice(0, states.length),
    },
  };
}

const NOTHING = { id: [], operation: [] };

test("instances stand in their boxes, and are counted there", () => {
  const dots = new Dots(topology("ssx", "ooe"));
  assert.deepEqual(dots.inBox, [[1, 2], [0]]);
  assert.equal(dots.counts(0).error, 1);
  assert.equal(dots.counts().ok, 2);
  assert.deepEqual(dots.hostedBy(0), [1, 2]);
  assert.deepEqual(dots.at(2), {
    id: "web_2",
    box: 0,
    title: "web",
    type: "Web",
    state: "error",
    status: "error",
    operation: "",
    host: "db_1",
  }); // prettier-ignore
});

test("only boxes that something has changed in are told so", () => {
  const dots = new Dots(topology("sss", "ooo"));
  const told: string[] = [];
  for (const [name, box] of [
    ["web", 0],
    ["db", 1],
    ["all", ALL],
  ] as const)
    dots.watch(box, () => told.push(name));
  assert.equal(dots.take({ instances: { id: ["web_1"], state: "x", local: "e" }, running: NOTHING }), false);
  assert.deepEqual(told, ["web", "all"]);
  assert.equal(dots.toneOf(1), "error");
  assert.deepEqual([dots.counts(0).ok, dots.counts(0).error], [1, 1]);
  dots.take({ instances: { id: ["web_1"], state: "x", local: "e" }, running: NOTHING });
  assert.deepEqual(told, ["web", "all"], "what says nothing new is not told");
});

test("those that depend on what has failed are told of later, until their own status changes", () => {
  const dots = new Dots(topology("sss", "ooo"));
  dots.takeStatuses({ statuses: { id: ["web_1", "gone_1"], status: "da" } });
  assert.equal(dots.toneOf(1), "degraded");
  assert.deepEqual([dots.counts(0).ok, dots.counts(0).degraded], [1, 1]);
  dots.take({ instances: { id: ["web_1"], state: "x", local: "e" }, running: NOTHING });
  assert.equal(dots.toneOf(1), "error");
});

test("what is worked on is pending until it ends", () => {
  const dots = new Dots(topology("sss", "ooo"));
  const none = { id: [], state: "", local: "" };
  dots.take({ instances: none, running: { id: ["web_2"], operation: ["Standard.stop"] } });
  assert.equal(dots.toneOf(2), "pending");
  assert.deepEqual(dots.running(0), [["web_2", "Standard.stop"]]);
  assert.deepEqual(dots.busy, [2]);
  dots.take({ instances: none, running: { id: ["web_2"], operation: [""] } });
  assert.equal(dots.toneOf(2), "ok");
  assert.deepEqual(dots.busy, []);
});

test("instances that are not in the picture are noticed, unless they are gone", () => {
  const dots = new Dots(topology("ss", "oo"));
  assert.equal(dots.take({ instances: { id: ["web_2"], state: "d", local: "a" }, running: NOTHING }), false);
  assert.equal(dots.take({ instances: { id: ["web_2"], state: "C", local: "p" }, running: NOTHING }), true);
});

test("a picture that is read again goes on with what runs", () => {
  const before = new Dots(topology("sss", "ooo"));
  before.take({
    instances: { id: [], state: "", local: "" },
    running: { id: ["db_1"], operation: ["Standard.start"] },
  });
  const after = new Dots(topology("sss", "ooo"));
  after.goOnFrom(before);
  assert.deepEqual(after.running(1), [["db_1", "Standard.start"]]);
});

test("what does not fit is dim, also after it has changed", () => {
  const dots = new Dots(topology("ssx", "ooe"));
  dots.narrow(narrowingOf("status:error web"));
  assert.deepEqual(
    [0, 1, 2].map((at) => dots.isDim(at)),
    [true, true, false],
  );
  dots.take({ instances: { id: ["web_1"], state: "x", local: "e" }, running: NOTHING });
  assert.equal(dots.isDim(1), false);
  dots.narrow(undefined);
  assert.equal(dots.isDim(0), false);
});

test("a filter is written as words", () => {
  assert.equal(narrowingOf("  "), undefined);
  const dot = new Dots(topology("sss", "ooo")).at(1);
  const isFound = (text: string): boolean =>
    fits(dot, narrowingOf(text) ?? { status: [], state: [], node: [], texts: [] });
  assert.ok(isFound("status:error,ok state:started node:web WEB"));
  assert.ok(!isFound("node:db"));
  assert.ok(!isFound("status:error"));
});
