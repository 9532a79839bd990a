import assert from "node:assert/strict";
import { test } from "node:test";

import { auditFilters } from "./filters.ts";

const NOW = Date.parse("2026-11-27T21:00:30Z");

test("words say what of the audit log is wanted", () => {
  assert.deepEqual(auditFilters("actor:ben outcome:denied since:7d until:2026-11-26", NOW), {
    query: { actor: "ben", outcome: "denied", since: "2026-11-20T21:00:00.000Z", until: "2026-11-26T00:00:00.000Z" },
    wrong: [],
  });
  assert.deepEqual(auditFilters("  ", NOW), { query: {}, wrong: [] });
});

test("what says nothing is told", () => {
  const { query, wrong } = auditFilters("ben since:soon project:shop", NOW);
  assert.deepEqual(query, { project: "shop" });
  assert.equal(wrong.length, 2);
});
