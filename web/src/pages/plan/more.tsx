import type { ReactNode } from "react";

import { ProblemPart } from "../../parts/problem.tsx";
import { Loading } from "../../parts/wait.tsx";
import type { Pages } from "./pages.ts";

/** What stands below a list that is read page by page: how much of it there is, and the way to more. */
export function MorePages<Row>({ pages, what }: { pages: Pages<Row>; what: string }): ReactNode {
  if (pages.error)
    return <ProblemPart error={pages.error} title={`The ${what} could not be read`} onAgain={pages.readOn} />;
  if (!pages.rows.length && pages.isReading) return <Loading lines={6} />;
  if (pages.isComplete) return null;
  return (
    <p className="plan-more">
      <span className="muted">
        The first {pages.rows.length.toLocaleString("en")} {what} are read.
      </span>
      <button type="button" className="button" disabled={pages.isReading} onClick={pages.readOn}>
        Read more
      </button>
    </p>
  );
}
