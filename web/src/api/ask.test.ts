import assert from "node:assert/strict";
import { test } from "node:test";

import { addressOf } from "./ask.ts";

test("names in braces are filled in, whatever they hold", () => {
  const path = { project: "a/b", path: "scripts/a b.sh" };
  assert.equal(addressOf("/projects/{project}/files/{path}", path, {}), "/projects/a%2Fb/files/scripts/a%20b.sh");
});

test("a query repeats lists and leaves out what is not said", () => {
  const query = { label: ["a=1", "b"], q: "", status: undefined, limit: 5, attention: false };
  assert.equal(addressOf("/ensembles", {}, query), "/ensembles?label=a%3D1&label=b&limit=5&attention=false");
});

test("the route of the server itself has no path", () => {
  assert.equal(addressOf("/", {}, {}), "");
});
