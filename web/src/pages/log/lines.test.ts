import assert from "node:assert/strict";
import { test } from "node:test";

import type { LogData } from "../../api/types.ts";
import { LogLines, lineName, lineNamed, MOST_LINES } from "./lines.ts";

function data(
  begin: number,
  next: number,
  size: number,
  ...pieces: [step: string, text: string, offset: number][]
): LogData {
  return {
    pieces: pieces.map(([step, text, offset]) => ({ step, text, offset })),
    begin,
    next,
    complete: next >= size,
    size,
  };
}

function shown(lines: LogLines): string[] {
  return lines.lines.map((one) => `${lineName(one)} ${one.step} ${one.text}`);
}

test("pieces become lines, and a line that was cut is joined", () => {
  const lines = new LogLines();
  lines.begun(data(0, 60, 100, ["a", "one\ntw", 0], ["b", "other\n", 30]));
  lines.after(data(60, 80, 100, ["b", "more", 60]));
  assert.equal(lines.isAtEnd, false);
  lines.after(data(80, 100, 100, ["b", " of it\nlast\n", 80]));
  assert.deepEqual(shown(lines), ["0.0 a one", "0.1 a tw", "30.0 b other", "60.0 b more of it", "80.1 b last"]);
  assert.equal(lines.isAtEnd, true);
});

test("what is told twice is there once", () => {
  const lines = new LogLines();
  lines.begun(data(0, 30, 60, ["a", "one\n", 0]));
  lines.after(data(30, 60, 60, ["a", "two\n", 30]));
  lines.after(data(30, 90, 90, ["a", "two\n", 30], ["a", "three\n", 60]));
  assert.deepEqual(shown(lines), ["0.0 a one", "30.0 a two", "60.0 a three"]);
});

test("what comes before is put in front, joined as well", () => {
  const lines = new LogLines();
  lines.begun(data(50, 100, 100, ["a", "er\nlast\n", 50]));
  assert.equal(lines.before(data(0, 50, 100, ["a", "first\nlat", 0])), 1);
  assert.deepEqual(shown(lines), ["0.0 a first", "0.1 a later", "50.1 a last"]);
  assert.deepEqual([lines.begin, lines.end], [0, 100]);
});

test("a line is found by its name, also one that is joined to another", () => {
  const lines = new LogLines();
  lines.begun(data(10, 100, 100, ["a", "one\ntw", 10], ["a", "o\nthree\n", 50]));
  assert.deepEqual(
    [
      [10, 0],
      [10, 1],
      [50, 0],
      [50, 1],
      [0, 0],
      [100, 0],
    ].map(([offset, line]) => lines.placeOf(offset!, line!)),
    [0, 1, 1, 2, -1, -1],
  );
  assert.deepEqual(
    [lineNamed("50.1"), lineNamed("x"), lineNamed("5")],
    [{ offset: 50, line: 1 }, undefined, undefined],
  );
});

test("only so many lines are kept, cut where pieces begin", () => {
  const lines = new LogLines();
  const half = "x\n".repeat(MOST_LINES / 2 + 10);
  lines.begun(data(0, 1000, 3000, ["a", half, 0]));
  assert.equal(lines.after(data(1000, 2000, 3000, ["a", half, 1000])), MOST_LINES / 2 + 10);
  assert.deepEqual([lines.begin, lines.end], [1000, 2000]);
  assert.equal(lines.before(data(0, 1000, 3000, ["a", half, 0])), MOST_LINES / 2 + 10);
  assert.deepEqual([lines.begin, lines.end, lines.lines.length], [0, 2000, MOST_LINES + 20]);
});
