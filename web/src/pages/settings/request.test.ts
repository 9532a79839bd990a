import assert from "node:assert/strict";
import { test } from "node:test";

import { requestOf } from "./request.ts";

test("a workflow with its fields is a request", () => {
  assert.deepEqual(requestOf("heal", ' { "names": ["web"] }'), {
    request: { workflow: "heal", names: ["web"] },
    wrong: "",
  });
  assert.deepEqual(requestOf("check", " "), { request: { workflow: "check" }, wrong: "" });
});

test("what is no object is said to be none", () => {
  assert.match(requestOf("check", "[1]").wrong, /an object/);
  assert.match(requestOf("check", "{").wrong, /no JSON/);
});
