import assert from "node:assert/strict";
import { test } from "node:test";

import type { ChangeData } from "../../api/types.ts";
import { differenceText, filtered, grouped, said } from "./changes.ts";

function change(instance: string, symbol: string, reason = "it is new"): ChangeData {
  return { symbol, class: "", instance, reason, declared: "service.yaml:4:5", differences: [], cause: "" };
}

test("what differs in the instance only is one group", () => {
  const found = grouped([change("web_1", "~"), change("db_1", "-"), change("web_2", "~")]);
  assert.deepEqual(
    found.map((one) => one.instances),
    [["web_1", "web_2"], ["db_1"]],
  );
});

test("all words of a filter must fit", () => {
  const changes = [change("web_1", "-/+"), change("web_2", "-"), change("db_1", "-")];
  assert.deepEqual(
    filtered(changes, "web remove", {}).map((one) => one.instance),
    ["web_2"],
  );
  assert.deepEqual(
    filtered(changes, "risk:replaces", {}).map((one) => one.instance),
    ["web_1"],
  );
  assert.deepEqual(
    filtered(changes, "risk:lossy", { db_1: "" }).map((one) => one.instance),
    ["db_1"],
  );
  assert.equal(filtered(changes, "  ", {}).length, 3);
});

test("values are told as they are", () => {
  assert.equal(said(null), "nothing");
  assert.equal(said("10 GB"), "10 GB");
  assert.equal(said({ a: 1 }), '{"a":1}');
  assert.equal(differenceText({ what: "property size", before: 10, after: 20 }), "property size 10 → 20");
});
