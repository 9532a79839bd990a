import assert from "node:assert/strict";
import { test } from "node:test";

import { lineDiff, shortened } from "./diff.ts";

const kinds = (before: string, after: string): string =>
  lineDiff(before, after)
    .map(({ is, text }) => ({ same: " ", gone: "-", new: "+" })[is] + text)
    .join("|");

test("lines that differ are found, as few as possible", () => {
  assert.equal(kinds("a\nb\nc", "a\nc"), " a|-b| c");
  assert.equal(kinds("a\nc", "a\nb\nc"), " a|+b| c");
  assert.equal(kinds("a\nb\nc", "a\nx\nc"), " a|-b|+x| c");
  assert.equal(kinds("same", "same"), " same");
  assert.equal(kinds("a\nb\nc\na\nb\nb\na", "c\nb\na\nb\na\nc"), "-a|-b| c|+b| a| b|-b| a|+c");
});

test("every line has its numbers", () => {
  const [, gone, fresh] = lineDiff("a\nb\nc", "a\nx\nc");
  assert.deepEqual([gone?.before, gone?.after, fresh?.before, fresh?.after], [2, undefined, undefined, 2]);
});

test("both texts can be made of the lines again, however much differs", () => {
  const text = (length: number, step: number): string =>
    Array.from({ length }, (_, at) => `line ${at * step}`).join("\n");
  for (const [one, other] of [
    [text(300, 1), text(200, 2)],
    [text(6_000, 1), text(6_000, 3)],
  ] as const) {
    const lines = lineDiff(one, other);
    assert.equal(
      lines
        .filter(({ is }) => is !== "new")
        .map((line) => line.text)
        .join("\n"),
      one,
    );
    assert.equal(
      lines
        .filter(({ is }) => is !== "gone")
        .map((line) => line.text)
        .join("\n"),
      other,
    );
  }
});

test("what is the same is left out, save around what differs", () => {
  const before = Array.from({ length: 30 }, (_, at) => String(at)).join("\n");
  const found = shortened(lineDiff(before, before.replace("\n15\n", "\n\n")), 1);
  assert.deepEqual(
    found.map((line) => line?.text),
    [undefined, "14", "15", "", "16", undefined],
  );
});
