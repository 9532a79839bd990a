import { useInfiniteQuery } from "@tanstack/react-query";

import { type Answer, ask } from "../../api/ask.ts";
import type { ChangeData, ListPartChangeData, ListPartStepRow, StepRow } from "../../api/types.ts";

const AT_ONCE = 500;

interface Rows {
  changes: ChangeData;
  steps: StepRow;
}

export interface Pages<Row> {
  rows: readonly Row[];
  isComplete: boolean;
  isReading: boolean;
  error: Error | null;
  readOn: () => void;
}

/** A list of a plan, read page by page: it may have a hundred thousand rows. */
export function usePages<Part extends keyof Rows>(
  path: { project: string; ensemble: string; id: string },
  part: Part,
  digest: string,
): Pages<Rows[Part]> {
  const found = useInfiniteQuery({
    queryKey: ["a list of a plan", path, part, digest],
    queryFn: ({ pageParam, signal }) =>
      ask(
        "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/plan",
        { path, query: { part, limit: AT_ONCE, ...(pageParam ? { after: pageParam } : {}) } },
        { signal },
      ) as Promise<Answer<ListPartChangeData | ListPartStepRow>>,
    initialPageParam: "",
    getNextPageParam: (last) => last.data.next ?? undefined,
  });
  return {
    rows: (found.data?.pages.flatMap((page) => page.data.items as Rows[Part][]) ?? []) as readonly Rows[Part][],
    isComplete: found.isSuccess && !found.hasNextPage,
    isReading: found.isFetching,
    error: found.error,
    readOn: () => void found.fetchNextPage(),
  };
}
