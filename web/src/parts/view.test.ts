import assert from "node:assert/strict";
import { test } from "node:test";

import { centred, fitted, kept, zoomed } from "./view.ts";

const FRAME = { w: 1000, h: 500 };

test("a small picture is not made larger to fit, a large one is made smaller", () => {
  assert.deepEqual(fitted({ w: 200, h: 100 }, FRAME), { x: 400, y: 200, zoom: 1 });
  const { x, y, zoom } = fitted({ w: 4000, h: 100 }, FRAME);
  assert.deepEqual([x, y, zoom], [40, (500 - 23) / 2, 0.23]);
});

test("what is under the mouse stays there", () => {
  const before = { x: 30, y: -20, zoom: 0.5 };
  const after = zoomed(before, 2, 230, 180);
  const under = (view: typeof before): number[] => [(230 - view.x) / view.zoom, (180 - view.y) / view.zoom];
  assert.deepEqual(under(after), under(before));
  assert.equal(after.zoom, 1);
  assert.equal(zoomed(before, 1_000, 0, 0).zoom, 2);
  assert.equal(zoomed(before, 0, 0, 0).zoom, 0.05);
});

test("a place comes into the middle", () => {
  assert.deepEqual(centred({ x: 100, y: 100 }, 2, FRAME), { x: 300, y: 50, zoom: 2 });
});

test("a picture cannot get lost", () => {
  const picture = { w: 200, h: 100 };
  assert.deepEqual(kept({ x: 5_000, y: -5_000, zoom: 1 }, picture, FRAME), { x: 952, y: -52, zoom: 1 });
  assert.deepEqual(kept({ x: 10, y: 20, zoom: 1 }, picture, FRAME), { x: 10, y: 20, zoom: 1 });
});
