import assert from "node:assert/strict";
import { test } from "node:test";

import { REQUESTS } from "../../api/requests.ts";
import { isShown, requestOf, titleOf, valuesOf } from "./values.ts";

function fields(workflow: string): NonNullable<(typeof REQUESTS)[string]>["fields"] {
  return REQUESTS[workflow]?.fields ?? [];
}

test("values in the address fill the fields that mean them", () => {
  const values = valuesOf(fields("heal"), new URLSearchParams("instances=web_2&instances=web_3&reinstall=true"));
  assert.deepEqual(requestOf(fields("heal"), values), { names: ["web_2", "web_3"], reinstall: true });
});

test("numbers of instances are given by node", () => {
  const values = valuesOf(fields("scale"), new URLSearchParams("counts=web=4"));
  assert.deepEqual(requestOf(fields("scale"), values), { counts: { web: 4 } });
});

test("what nobody has given is not sent", () => {
  for (const workflow of Object.keys(REQUESTS)) {
    assert.deepEqual(requestOf(fields(workflow), valuesOf(fields(workflow), new URLSearchParams())), {}, workflow);
  }
});

test("what is no number is left for the server to refuse", () => {
  assert.deepEqual(requestOf(fields("rollback"), { revision: "twelve" }), { revision: "twelve" });
  assert.deepEqual(requestOf(fields("rollback"), { revision: " 12 " }), { revision: 12 });
});

test("what a request is about shows at once", () => {
  const shown = fields("scale")
    .filter((field) => isShown(fields("scale"), field))
    .map(({ name }) => name);
  assert.deepEqual(shown, ["names", "counts", "delta", "remove"]);
  assert.equal(
    fields("deploy").some((field) => isShown(fields("deploy"), field)),
    false,
  );
  assert.equal(titleOf("allow_data_loss"), "Allow data loss");
});
