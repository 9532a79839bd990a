import type { ReactNode } from "react";

import type { Parts } from "../api/parts.ts";
import { ProblemPart } from "./problem.tsx";
import { Loading } from "./wait.tsx";

interface ListProps<T> {
  for: Parts<T>;
  /** What could not be read, as in "The users could not be read". */
  title: string;
  children: (items: readonly T[]) => ReactNode;
}

/** What was read of a list, and a button for what comes behind. */
export function List<T>({ for: parts, title, children }: ListProps<T>): ReactNode {
  return (
    <>
      {parts.error && <ProblemPart error={parts.error} title={title} onAgain={parts.again} />}
      {parts.items ? children(parts.items) : parts.error ? null : <Loading />}
      {parts.more && (
        <p className="more">
          <button type="button" className="button" disabled={parts.isReading} onClick={parts.more}>
            {parts.isReading ? "Reading" : "Show more"}
          </button>
        </p>
      )}
    </>
  );
}
