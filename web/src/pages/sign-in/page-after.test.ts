import assert from "node:assert/strict";
import { test } from "node:test";

import { pageAfter } from "./page-after.ts";

test("one comes back to a page of this server, and to no other", () => {
  const to = (wanted: string): string => pageAfter(`?return=${encodeURIComponent(wanted)}`);
  assert.equal(to("/e/shop/prod?instance=a"), "/e/shop/prod?instance=a");
  for (const wrong of ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:1", "", "/sign-in"]) {
    assert.equal(to(wrong), "/", wrong);
  }
});
