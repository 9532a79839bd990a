import assert from "node:assert/strict";
import { test } from "node:test";

import { lineOf, placesOf } from "./boxes.ts";

const BOX = { kind: "node", title: "", type: "", nodes: 1, folded: false, columns: 0, counts: {} };

test("boxes stand in others", () => {
  const places = placesOf([
    { ...BOX, id: "host", parent: "", x: 10, y: 20, w: 200, h: 100 },
    { ...BOX, id: "web", parent: "host", x: 12, y: 40, w: 90, h: 40 },
  ]);
  assert.deepEqual(places.get("web"), { x: 22, y: 60, w: 90, h: 40 });
});

test("lines leave at the side that faces the other box", () => {
  const places = new Map([
    ["a", { x: 0, y: 0, w: 50, h: 40 }],
    ["b", { x: 150, y: 0, w: 50, h: 40 }],
    ["c", { x: 0, y: 100, w: 50, h: 40 }],
  ]);
  const line = (source: string, target: string): string => lineOf({ source, target }, places)?.path ?? "";
  assert.match(line("a", "b"), /^M50 20C/);
  assert.match(line("b", "a"), /^M150 20C/);
  assert.match(line("a", "c"), /^M25 40C/);
  assert.equal(lineOf({ source: "a", target: "nowhere" }, places), undefined);
});
