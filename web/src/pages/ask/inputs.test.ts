import assert from "node:assert/strict";
import { test } from "node:test";

import { type Declared, inputsIn, sentOf, shapeOf, typeText } from "./inputs.ts";

function declared(name: string, type: string, constraints: Record<string, unknown>[] = []): Declared {
  return { name, type, required: false, default: null, sensitive: false, description: "", constraints };
}

test("the shape of a field follows the type", () => {
  assert.equal(shapeOf(declared("a", "integer")), "text");
  assert.equal(shapeOf(declared("a", "boolean")), "choice");
  assert.equal(shapeOf(declared("a", "string", [{ valid_values: ["x", "y"] }])), "choice");
  assert.equal(shapeOf(declared("a", "list of string")), "texts");
  assert.equal(shapeOf(declared("a", "map of integer")), "pairs");
  assert.equal(shapeOf(declared("a", "list of map of string")), "yaml");
  assert.equal(shapeOf(declared("a", "my.Site")), "yaml");
});

test("types are told with their constraints", () => {
  assert.equal(typeText(declared("a", "integer", [{ in_range: [1024, 65535] }])), "integer, in range 1024 to 65535");
  assert.equal(typeText(declared("a", "string", [{ valid_values: ["x"] }])), "string");
});

test("only what is given is sent, each as its type needs it", () => {
  const all = [
    declared("port", "integer"),
    declared("hosts", "list of string"),
    declared("sizes", "map of integer"),
    declared("pass", "string"),
  ];
  const sent = sentOf(all, {
    port: { as: "text", text: "8080" },
    hosts: { as: "texts", rows: ["a", "", "8"] },
    sizes: {
      as: "pairs",
      rows: [
        ["web", "4"],
        ["db", "many"],
        ["", ""],
      ],
    },
    pass: { as: "secret", name: "db-password" },
  });
  assert.deepEqual(sent.input_texts, { port: "8080" });
  assert.deepEqual(sent.inputs, { hosts: ["a", "8"], sizes: { web: 4, db: "many" }, pass: { secret: "db-password" } });
});

test("values stand in the address", () => {
  assert.deepEqual(inputsIn(new URLSearchParams("input.port=1&comment=x")), { port: { as: "text", text: "1" } });
});
