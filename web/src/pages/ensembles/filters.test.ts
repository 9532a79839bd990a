import assert from "node:assert/strict";
import { test } from "node:test";

import { filtersOf, toggled } from "./filters.ts";

test("a filter is written as words", () => {
  assert.deepEqual(filtersOf("status:error label:team=web label:prod needs:attention big shop"), {
    status: "error",
    label: ["team=web", "prod"],
    attention: true,
    q: "big shop",
  });
  assert.deepEqual(filtersOf("  "), {});
  assert.deepEqual(filtersOf("status: shop:2"), { q: "status: shop:2" });
});

test("a word is put in and taken out", () => {
  assert.equal(toggled("a", "b"), "a b");
  assert.equal(toggled("a b", "b"), "a");
});
