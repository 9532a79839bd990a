import type { ReactNode } from "react";
import { Link } from "wouter";

import { useTitle } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";

/** What shows where there is no page. */
export function Missing(): ReactNode {
  useTitle("No such page");
  return (
    <Empty title="There is no such page" isPage>
      <p>
        The address may be wrong. <Link href="/">Ensembles</Link> has all that you may see.
      </p>
    </Empty>
  );
}
