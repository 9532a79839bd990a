import assert from "node:assert/strict";
import { test } from "node:test";

import { dotAt, dotPlace, lineOf, placesOf } from "./places.ts";

const BOX = { kind: "node", title: "", type: "", nodes: 1, folded: false, columns: 0, counts: {} };

test("boxes stand in others", () => {
  const places = placesOf([
    { ...BOX, id: "host", parent: "", x: 10, y: 20, w: 200, h: 100 },
    { ...BOX, id: "web", parent: "host", x: 12, y: 40, w: 90, h: 40 },
  ]);
  assert.deepEqual(places.get("web"), { x: 22, y: 60, w: 90, h: 40 });
});

test("a dot is found where it stands", () => {
  const box = { x: 100, y: 50, w: 144, h: 80 };
  assert.deepEqual(dotPlace(box, 12, 10, 11), { x: 130, y: 108 });
  assert.equal(dotAt(18, 17, 10, 12), 11);
  assert.equal(dotAt(30, 17, 10, 12), -1, "there are only twelve");
  assert.equal(dotAt(121, 5, 10, 12), -1, "right of the last column");
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
