import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useRef } from "react";
import { Link } from "wouter";

import { ask } from "../../api/ask.ts";
import type { KnownJob, KnownJobs } from "../../api/types.ts";
import { useTitle } from "../../api/use.ts";
import { useTopics } from "../../live/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { exactSpan } from "../../parts/moment.ts";
import { ProblemPart } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time, useNow } from "../../parts/time.tsx";
import { Loading } from "../../parts/wait.tsx";
import { useWords } from "../../parts/words.ts";
import { filtersOf, withWord } from "./filters.ts";
import "./jobs.css";

const AT_ONCE = 100;
const STATES = ["running", "interrupted", "failed", "degraded", "cancelled", "ok"] as const;

/** Page 6: the jobs of all ensembles that I see, those that began last in front. */
export default function JobsPage(): ReactNode {
  useTitle("Jobs");
  const store = useQueryClient();
  const [words, change] = useWords();
  const text = words.get("filter") ?? "";
  const filters = filtersOf(useDeferredValue(text));
  const key = ["jobs", filters];
  const found = useInfiniteQuery({
    queryKey: key,
    queryFn: ({ pageParam, signal }) =>
      ask("GET /jobs", { query: { ...filters, limit: AT_ONCE, after: pageParam } }, { signal }).then(
        ({ data }) => data,
      ),
    initialPageParam: "",
    getNextPageParam: (last: KnownJobs) => last.next,
    placeholderData: (before) => before,
    refetchOnMount: "always",
  });
  // Reading again would cut off the reading of earlier ones, so it waits for that.
  const isDue = useRef(false);
  const again = (): void => {
    isDue.current = found.isFetchingNextPage;
    if (!isDue.current) void store.invalidateQueries({ queryKey: key, exact: true });
  };
  useTopics(["ensembles"], again);
  useEffect(() => {
    if (isDue.current && !found.isFetchingNextPage) again();
  }, [found.isFetchingNextPage]);
  const filter = (next: string): void => change({ filter: next });
  const pages = found.data?.pages;
  return (
    <>
      <div className="page-head">
        <h1>Jobs</h1>
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the jobs"
          placeholder="status:failed workflow:upgrade in:shop/prod words"
          value={text}
          onChange={(event) => filter(event.target.value)}
        />
        <div className="jobs-states" role="group" aria-label="By status">
          {STATES.map((state) => (
            <button
              key={state}
              type="button"
              className="button plain"
              aria-pressed={filters.status === state}
              onClick={() => filter(withWord(text, "status", filters.status === state ? "" : state))}
            >
              {state}
            </button>
          ))}
        </div>
      </div>
      {found.isError && (
        <ProblemPart error={found.error} title="The jobs could not be read" onAgain={() => void found.refetch()} />
      )}
      {pages ? (
        <List pages={pages} isFiltered={text !== ""} onAll={() => filter("")} />
      ) : found.isError ? null : (
        <Loading lines={8} />
      )}
      {found.hasNextPage && (
        <p className="jobs-more">
          <button
            type="button"
            className="button"
            disabled={found.isFetchingNextPage}
            onClick={() => void found.fetchNextPage()}
          >
            Show earlier ones
          </button>
        </p>
      )}
    </>
  );
}

function List({
  pages,
  isFiltered,
  onAll,
}: {
  pages: readonly KnownJobs[];
  isFiltered: boolean;
  onAll: () => void;
}): ReactNode {
  const rows = pages.flatMap((page) => page.items);
  const missing = pages[0]?.missing ?? [];
  return (
    <>
      {missing.length > 0 && (
        <p className="banner" role="status">
          Without the jobs of {missing.join(", ")}: {missing.length === 1 ? "it" : "they"} could not be read in time.
        </p>
      )}
      {rows.length > 0 ? (
        <Table label="Jobs" columns={COLUMNS} rows={rows} keyOf={keyOf} addressOf={addressOf} />
      ) : isFiltered ? (
        <Empty title="No job is as the filter says">
          <button type="button" className="button" onClick={onAll}>
            Show all
          </button>
        </Empty>
      ) : (
        <Empty title="No job yet">
          <p className="muted">A plan that is applied becomes one, as does each command that changes something.</p>
        </Empty>
      )}
    </>
  );
}

function keyOf({ project, ensemble, id }: KnownJob): string {
  return `${project}/${ensemble}/${id}`;
}

function addressOf({ project, ensemble, id }: KnownJob): string {
  return `/e/${project}/${ensemble}/jobs/${id}`;
}

function Took({ of: job }: { of: KnownJob }): ReactNode {
  const now = useNow();
  if (job.seconds !== null) return exactSpan(job.seconds);
  return job.outcome === "running" ? exactSpan((now - Date.parse(job.start)) / 1000) : "";
}

const COLUMNS: readonly Column<KnownJob>[] = [
  {
    id: "job",
    head: "Job",
    width: "minmax(10rem, 1.4fr)",
    isName: true,
    cell: (job) => (
      <Link href={addressOf(job)} className="row-link">
        {job.workflow} <span className="muted mono">{job.id}</span>
      </Link>
    ),
  },
  {
    id: "ensemble",
    head: "Ensemble",
    width: "minmax(8rem, 1fr)",
    cell: (job) => (
      <>
        <span className="muted">{job.project}/</span>
        {job.ensemble}
      </>
    ),
  },
  { id: "status", head: "Status", width: "minmax(7rem, 0.7fr)", cell: (job) => <Status of={job.outcome} /> },
  { id: "began", head: "Began", width: "minmax(6rem, 0.7fr)", cell: (job) => <Time at={job.start} inRow /> },
  { id: "took", head: "Took", width: "6.5rem", isNumber: true, cell: (job) => <Took of={job} /> },
  { id: "summary", head: "What", width: "minmax(10rem, 2fr)", cell: (job) => job.summary },
];
