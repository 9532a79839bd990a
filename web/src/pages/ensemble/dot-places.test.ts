import assert from "node:assert/strict";
import { test } from "node:test";

import { dotAt, dotPlace } from "./dot-places.ts";

test("a dot is found where it stands", () => {
  const box = { x: 100, y: 50, w: 144, h: 80 };
  assert.deepEqual(dotPlace(box, 12, 10, 11), { x: 130, y: 108 });
  assert.equal(dotAt(18, 17, 10, 12), 11);
  assert.equal(dotAt(30, 17, 10, 12), -1, "there are only twelve");
  assert.equal(dotAt(121, 5, 10, 12), -1, "right of the last column");
});
