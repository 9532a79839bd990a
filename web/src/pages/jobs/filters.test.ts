import assert from "node:assert/strict";
import { test } from "node:test";

import { filtersOf, withWord } from "./filters.ts";

test("a filter is written as words", () => {
  assert.deepEqual(filtersOf("status:failed in:shop/prod workflow:upgrade disk full"), {
    status: "failed",
    ensemble: "shop/prod",
    workflow: "upgrade",
    q: "disk full",
  });
  assert.deepEqual(filtersOf("status: :x a:b"), { q: "status: :x a:b" });
});

test("a word takes the place of another one of its name", () => {
  assert.equal(withWord("status:ok shop", "status", "failed"), "status:failed shop");
  assert.equal(withWord("status:ok shop", "status", ""), "shop");
});
