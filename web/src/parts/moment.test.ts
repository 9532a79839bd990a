import assert from "node:assert/strict";
import { test } from "node:test";

import { bytes, exactSpan, relative } from "./moment.ts";

test("moments are told as somebody says them", () => {
  const now = 10_000_000_000;
  const ago = (seconds: number): string => relative(now - seconds * 1000, now);
  assert.deepEqual([2, 59, 240, 7200, 86_400 * 12, -180].map(ago), [
    "now",
    "59 s ago",
    "4 min ago",
    "2 h ago",
    "12 d ago",
    "in 3 min",
  ]);
});

test("lengths have at most two words", () => {
  assert.deepEqual([0, 4, 124, 3600, 3661, 90_000].map(exactSpan), [
    "under 1 s",
    "4 s",
    "2 min 4 s",
    "1 h",
    "1 h 1 min",
    "1 d 1 h",
  ]);
});

test("sizes are told in powers of 1,024", () => {
  assert.deepEqual([0, 1023, 1536, 10_240, 3 << 20].map(bytes), ["0 B", "1023 B", "1.5 KiB", "10 KiB", "3.0 MiB"]);
});
