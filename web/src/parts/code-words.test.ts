import assert from "node:assert/strict";
import { test } from "node:test";

import { placesIn, wordsOf } from "./code-words.ts";

const said = (line: string, file = "service.yaml"): string =>
  wordsOf(line, file)
    .filter(({ is }) => is !== "plain")
    .map(({ is, text }) => `${is} ${text}`)
    .join(", ");

test("keys, comments and names of types of a template are told apart", () => {
  assert.equal(said("    type: my.nodes.Web  # ours"), "key type, type my.nodes.Web, comment # ours");
  assert.equal(said("  - host: { node: back }"), "key host");
  assert.equal(said("web: { type: Compute, count: 2 }"), "key web, type Compute");
  assert.equal(said('title: "no # comment"'), "key title");
  assert.equal(said("no key here"), "");
});

test("a line is made of its words again, whatever it is", () => {
  for (const line of ["", "  a: b", "\ttype:", "type: [ a ]", "# all", "a: 'x # y' # z", "- - a: 1"]) {
    for (const file of ["a.yaml", "a.sh", "a.txt", "Makefile"]) {
      assert.equal(
        wordsOf(line, file)
          .map(({ text }) => text)
          .join(""),
        line,
      );
    }
  }
});

test("a text is found wherever it is", () => {
  assert.deepEqual(placesIn("Say say", "say"), [0, 4]);
  assert.deepEqual(placesIn("Say", ""), []);
});
