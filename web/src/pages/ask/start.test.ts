import assert from "node:assert/strict";
import { test } from "node:test";

import type { RequestField } from "../../api/requests.ts";
import { sentOf } from "./inputs.ts";
import { startAgain } from "./start.ts";
import { requestOf } from "./values.ts";

const FIELD: RequestField = {
  name: "",
  kind: "text",
  about: "",
  required: false,
  initial: "",
  choices: [],
  names: [],
  main: false,
  least: null,
  most: null,
};
const FIELDS: readonly RequestField[] = [
  { ...FIELD, name: "force", kind: "flag", initial: false },
  { ...FIELD, name: "delta", kind: "number", initial: 1 },
  { ...FIELD, name: "names", kind: "texts", initial: [] },
  { ...FIELD, name: "counts", kind: "numbers-by-name", initial: {} },
];

test("what was asked for once is asked for again", () => {
  const request = {
    workflow: "deploy",
    force: true,
    delta: 3,
    names: ["web", "db"],
    counts: { web: 2 },
    package: "abc",
    inputs: { hosts: ["a", 1], limits: { web: 4 }, password: { secret: "db-password" }, deep: { a: [1] } },
    input_texts: { port: "8081" },
  };
  const about = { options: {}, comment: "again", bind: "latest", apply: "ask", environment: null };
  const found = startAgain(FIELDS, [], { request, ...about, withheld: ["word"] });
  assert.deepEqual(requestOf(FIELDS, found.values), {
    force: true,
    delta: 3,
    names: ["web", "db"],
    counts: { web: 2 },
  });
  const declared = (name: string, type: string) => ({
    name,
    type,
    required: false,
    default: null,
    sensitive: false,
    description: "",
    constraints: [],
  });
  const inputs = [
    declared("hosts", "list of string"),
    declared("limits", "map of integer"),
    declared("password", "string"),
    declared("port", "integer"),
    declared("deep", "Own"),
  ];
  assert.deepEqual(sentOf(inputs, found.inputs), {
    inputs: { hosts: ["a", "1"], limits: { web: 4 }, password: { secret: "db-password" } },
    input_texts: { port: "8081", deep: '{"a":[1]}' },
  });
  assert.deepEqual([found.package, found.comment, found.isLatest, found.withheld], ["abc", "again", true, ["word"]]);
});
