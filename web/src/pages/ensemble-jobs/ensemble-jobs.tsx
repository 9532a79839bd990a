import { type ReactNode, useMemo } from "react";
import { Link, useLocation, useSearch } from "wouter";

import type { JobLine } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { askAddress, type EnsembleNamed, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { exactSpan } from "../../parts/moment.ts";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";

/** The jobs of an ensemble, the latest first. */
export default function EnsembleJobsPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const { project, ensemble } = of;
  const [here, go] = useLocation();
  const filter = new URLSearchParams(useSearch()).get("filter") ?? "";
  // A job that begins or ends is told as such; how far it has come shows above.
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/jobs",
    { path: { project, ensemble } },
    { topics: ["ensembles", `plans:${project}/${ensemble}`] },
  );
  const columns = useMemo(() => columnsOf({ project, ensemble }), [project, ensemble]);
  return (
    <EnsemblePage of={of} page="Jobs">
      <div className="page-head">
        <h2>Jobs</h2>
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the jobs"
          placeholder="failed upgrade A6BM"
          value={filter}
          onChange={({ target }) =>
            go(target.value ? `${here}?filter=${encodeURIComponent(target.value)}` : here, { replace: true })
          }
        />
      </div>
      <Wait for={found} title="The jobs could not be read" lines={6}>
        {(data) => {
          const rows = data.jobs
            .filter((job) => fits(job, filter))
            .sort((one, other) => (one.start < other.start ? 1 : -1));
          return (
            <>
              {data.problems.map((problem) => (
                <p key={problem} className="tone-error">
                  {problem}
                </p>
              ))}
              {rows.length ? (
                <Table
                  label="Jobs"
                  rows={rows}
                  columns={columns}
                  keyOf={(job) => job.id}
                  addressOf={(job) => ensembleAddress(of, `jobs/${job.id}`)}
                />
              ) : (
                <Empty title={data.jobs.length ? "No job is as the filter says" : "No job has ended yet"}>
                  <p>Every workflow that is carried out is a job, and its record is kept.</p>
                  <Link className="button" href={askAddress(of, "deploy")}>
                    Plan a deployment
                  </Link>
                </Empty>
              )}
            </>
          );
        }}
      </Wait>
    </EnsemblePage>
  );
}

function fits(job: JobLine, filter: string): boolean {
  const all = `${job.id} ${job.workflow} ${job.outcome} ${job.summary}`.toLowerCase();
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function columnsOf(of: EnsembleNamed): readonly Column<JobLine>[] {
  return [
    {
      id: "job",
      head: "Job",
      width: "minmax(10rem, 1.4fr)",
      isName: true,
      cell: (job) => (
        <Link href={ensembleAddress(of, `jobs/${job.id}`)} className="row-link">
          {job.workflow} <span className="muted mono">{job.id}</span>
        </Link>
      ),
    },
    { id: "status", head: "Status", width: "minmax(7rem, 0.7fr)", cell: (job) => <Status of={job.outcome} /> },
    { id: "start", head: "Began", width: "7rem", cell: (job) => <Time at={job.start} inRow /> },
    {
      id: "took",
      head: "Took",
      width: "6.5rem",
      isNumber: true,
      cell: ({ seconds }) => (seconds === null ? "" : exactSpan(seconds)),
    },
    { id: "summary", head: "What", width: "minmax(10rem, 3fr)", cell: (job) => job.summary },
  ];
}
