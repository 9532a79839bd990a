import assert from "node:assert/strict";
import { test } from "node:test";

import { marked, piecesOf, plainOf } from "./ansi.ts";

test("colours become classes", () => {
  assert.deepEqual(piecesOf("a \u001b[1;31mred\u001b[0m b"), [
    { text: "a ", look: "" },
    { text: "red", look: "ansi-red ansi-bold" },
    { text: " b", look: "" },
  ]);
  assert.deepEqual(piecesOf("\u001b[92;44mx\u001b[39my\u001b[my"), [
    { text: "x", look: "ansi-green ansi-on-blue" },
    { text: "y", look: "ansi-on-blue" },
    { text: "y", look: "" },
  ]);
});

test("of many colours the nearest is taken", () => {
  const looks = ["38;5;196", "38;5;9", "48;2;10;200;20", "38;5;250", "38:2:250:250:10"].map(
    (code) => piecesOf(`\u001b[${code}mx`)[0]?.look,
  );
  assert.deepEqual(looks, ["ansi-red", "ansi-red", "ansi-on-green", "ansi-white", "ansi-yellow"]);
});

test("other orders to a terminal, and what is no text, are left out", () => {
  assert.equal(plainOf("\u001b[2J\u001b[1;1Hhello\u001b]0;title\u0007 \u0007there\u001b"), "hello there");
  assert.equal(plainOf("<script>alert(1)</script>"), "<script>alert(1)</script>");
});

test("a line that writes over itself shows what it wrote last", () => {
  assert.equal(plainOf("10 %\r50 %\r100 %\r"), "100 %");
});

test("what is searched for is marked across looks", () => {
  assert.deepEqual(marked(piecesOf("no R\u001b[31mOOM here\u001b[0m"), "room"), [
    { text: "no ", look: "" },
    { text: "R", look: "found" },
    { text: "OOM", look: "ansi-red found" },
    { text: " here", look: "ansi-red" },
  ]);
});
