import assert from "node:assert/strict";
import { test } from "node:test";

import { keyName } from "./keys.ts";

test("keys have the names that bindings say", () => {
  const of = (key: string, more: object = {}): string =>
    keyName({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });
  assert.deepEqual(
    [of("j"), of("?"), of("K", { ctrlKey: true }), of("k", { metaKey: true }), of("j", { altKey: true })],
    ["j", "?", "Ctrl+k", "Ctrl+k", ""],
  );
});
