import { lazy, type ReactNode, Suspense, useDeferredValue, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import type { EnsembleData, FreezeData, ListPartEnsembleData } from "../../api/types.ts";
import { useLook, useTitle } from "../../api/use.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Badge, Progress, Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { freezeOf, useFreezes } from "../../shell/freeze.tsx";
import { filtersOf, toggled } from "./filters.ts";
import "./ensembles.css";

const NewEnsemble = lazy(() => import("./new-ensemble.tsx"));
const ATTENTION = "needs:attention";

/** Page 1: all ensembles that I see, those that need somebody first. */
export default function EnsemblesPage(): ReactNode {
  useTitle("Ensembles");
  const [, go] = useLocation();
  const text = new URLSearchParams(useSearch()).get("filter") ?? "";
  const filters = useDeferredValue(text);
  const [isMaking, setMaking] = useState(false);
  const found = useLook("GET /ensembles", { query: filtersOf(filters) }, { topics: ["ensembles"], keeps: true });
  const filter = (words: string): void => {
    go(words ? `/?filter=${encodeURIComponent(words)}` : "/", { replace: true });
  };
  return (
    <>
      <div className="page-head">
        <h1>
          Ensembles
          {found.data && found.data.data.items.length > 0 && (
            <span className="count figure">{found.data.data.items.length}</span>
          )}
        </h1>
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the ensembles"
          placeholder="status:error label:team=web name"
          value={text}
          onChange={(event) => filter(event.target.value)}
        />
        <button
          type="button"
          className="button"
          aria-pressed={text.split(/\s+/).includes(ATTENTION)}
          onClick={() => filter(toggled(text, ATTENTION))}
        >
          Needs attention
        </button>
        <button type="button" className="button" data-actions onClick={() => setMaking(true)}>
          <span aria-hidden="true">+</span> New
        </button>
      </div>
      <Wait for={found} title="The ensembles could not be read" lines={8}>
        {(data) => (
          <List data={data} isFiltered={filters !== ""} onAll={() => filter("")} onNew={() => setMaking(true)} />
        )}
      </Wait>
      {isMaking && (
        <Suspense>
          <NewEnsemble onClose={() => setMaking(false)} />
        </Suspense>
      )}
    </>
  );
}

function List({
  data,
  isFiltered,
  onAll,
  onNew,
}: {
  data: ListPartEnsembleData;
  isFiltered: boolean;
  onAll: () => void;
  onNew: () => void;
}): ReactNode {
  const freezes = useFreezes();
  if (!data.items.length && isFiltered) {
    return (
      <Empty title="No ensemble is as the filter says">
        <button type="button" className="button" onClick={onAll}>
          Show all
        </button>
      </Empty>
    );
  }
  if (!data.items.length) return <First onNew={onNew} />;
  const rows = sorted(data.items).map((one) => ({ ...one, freeze: freezeOf(freezes, one.project, one.name) }));
  return <Table label="Ensembles" columns={COLUMNS} rows={rows} keyOf={nameOf} addressOf={addressOf} />;
}

/** What shows where there is nothing yet. */
function First({ onNew }: { onNew: () => void }): ReactNode {
  const commands = [
    `ordito login ${window.location.origin} --as team`,
    "ordito --server team ensembles create shop/prod --package ./shop",
    "ordito --server team -e shop/prod deploy",
  ];
  return (
    <Empty title="Deploy your first service">
      <p>Make an ensemble of a package, and deploy it:</p>
      <button type="button" className="button main" onClick={onNew}>
        Send a package
      </button>
      <p className="muted">
        or from a terminal, with the template of a service in the folder <code>shop</code>:
      </p>
      <ol className="ensembles-commands">
        {commands.map((command) => (
          <li key={command}>
            <Copy label="command" text={command} />
          </li>
        ))}
      </ol>
    </Empty>
  );
}

function nameOf({ project, name }: EnsembleData): string {
  return `${project}/${name}`;
}

function addressOf({ project, name }: EnsembleData): string {
  return `/e/${project}/${name}`;
}

function needsSomebody(one: EnsembleData): boolean {
  return one.problem !== "" || (one.summary?.attention.length ?? 0) > 0;
}

function sorted(items: readonly EnsembleData[]): EnsembleData[] {
  const rank = (one: EnsembleData): number => (needsSomebody(one) ? 0 : 1);
  return [...items].sort((one, other) => rank(one) - rank(other) || (nameOf(one) < nameOf(other) ? -1 : 1));
}

interface Row extends EnsembleData {
  freeze: FreezeData | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "name",
    head: "Name",
    width: "minmax(10rem, 2fr)",
    isName: true,
    cell: (one) => (
      <Link href={addressOf(one)} className="row-link">
        <span className="muted">{one.project}/</span>
        {one.name}
      </Link>
    ),
  },
  { id: "service", head: "Service", width: "minmax(7rem, 1.2fr)", cell: serviceOf },
  { id: "status", head: "Status", width: "minmax(7rem, 1fr)", cell: statusOf },
  { id: "drift", head: "Drift", width: "minmax(6rem, 0.8fr)", cell: driftOf },
  { id: "instances", head: "Instances", width: "6rem", isNumber: true, cell: instancesOf },
  { id: "job", head: "Last job", width: "minmax(11rem, 1.8fr)", cell: jobOf },
  { id: "attention", head: "Attention", width: "minmax(9rem, 2fr)", cell: attentionOf },
];

function serviceOf(one: EnsembleData): ReactNode {
  return one.package_labels[0]?.replace(":", " ") ?? one.summary?.service ?? "";
}

function statusOf(one: EnsembleData): ReactNode {
  if (one.problem) return <Status of="unreadable" tone="error" />;
  if (!one.exists) return <Status of="absent" />;
  if (!one.summary) return <span className="muted">being read</span>;
  if (one.summary.job && one.holder) return <Status of="running" />;
  return <Status of={one.summary.status} />;
}

function driftOf(one: EnsembleData): ReactNode {
  const drifted = one.summary?.drifted ?? 0;
  if (drifted) return <span className="tone-degraded figure">{drifted} changed</span>;
  return one.drift ? (
    <span className="muted">
      <Time at={one.drift.at} inRow />
    </span>
  ) : (
    <span className="muted">–</span>
  );
}

function instancesOf(one: EnsembleData): ReactNode {
  const counts = one.summary?.instances;
  if (!counts) return null;
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const ok = counts["ok"] ?? 0;
  return ok === all ? all : `${ok}/${all}`;
}

function jobOf(one: EnsembleData): ReactNode {
  const job = one.summary?.job;
  const last = one.last_job;
  if (job) {
    return (
      <>
        <Link href={`${addressOf(one)}/jobs/${job.job}`} className="row-link">
          {job.workflow}
        </Link>{" "}
        <Progress done={job.done} of={job.steps} label={`${job.workflow} of ${nameOf(one)}`} />
      </>
    );
  }
  return last ? (
    <Link href={`${addressOf(one)}/jobs/${last.id}`} className="row-link">
      {last.workflow} <Status of={last.status} /> <Time at={last.start} inRow />
      {last.by ? <span className="muted"> by {last.by}</span> : null}
    </Link>
  ) : (
    <span className="muted">none yet</span>
  );
}

function attentionOf(one: Row): ReactNode {
  if (!one.freeze && !needsSomebody(one)) return null;
  if (one.problem) return <span className="tone-error">{one.problem}</span>;
  return (
    <span className="ensembles-reasons">
      {one.freeze && <Badge tone="pending">❙❙ frozen</Badge>}
      {one.summary?.attention.map((reason) => (
        <Badge key={reason} tone="degraded">
          {reason}
        </Badge>
      ))}
    </span>
  );
}
