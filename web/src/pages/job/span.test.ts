import assert from "node:assert/strict";
import { test } from "node:test";

import { marksOf, moved, told, within, zoomed } from "./span.ts";

test("a part stays within the whole", () => {
  assert.deepEqual(within({ from: -50, to: 50 }, 1000), { from: 0, to: 100 });
  assert.deepEqual(within({ from: 990, to: 1090 }, 1000), { from: 900, to: 1000 });
  assert.deepEqual(within({ from: 3, to: 3 }, 1000), { from: 3, to: 8 });
  assert.deepEqual(within({ from: 0, to: 9999 }, 1000), { from: 0, to: 1000 });
});

test("zooming keeps the moment in its place", () => {
  assert.deepEqual(zoomed({ from: 0, to: 1000 }, 250, 0.5, 1000), { from: 125, to: 625 });
  assert.deepEqual(zoomed({ from: 125, to: 625 }, 250, 2, 1000), { from: 0, to: 1000 });
  assert.deepEqual(moved({ from: 100, to: 200 }, 0.5, 1000), { from: 150, to: 250 });
});

test("a scale has round marks", () => {
  assert.deepEqual(marksOf({ from: 0, to: 1000 }, 5), [0, 200, 400, 600, 800, 1000]);
  assert.deepEqual(marksOf({ from: 950, to: 3100 }, 3), [1000, 2000, 3000]);
});

test("moments are short", () => {
  assert.deepEqual([0, 80, 1000, 4230, 12_340, 124_000, 3_724_000].map(told), [
    "0",
    "80 ms",
    "1 s",
    "4.23 s",
    "12.3 s",
    "2:04",
    "1:02:04",
  ]);
});
