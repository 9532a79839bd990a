import type { ReactNode } from "react";
import { Link } from "wouter";

import type { AskedPlan, EnsembleData } from "../../api/types.ts";
import { useLook, useTitle } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { ensembleAddress } from "../../parts/ensemble-head.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { RISKS } from "../plan/changes.ts";
import "./inbox.css";

/** Page 6: what waits for my approval, my plans that need me, and jobs at which somebody should look. */
export default function InboxPage(): ReactNode {
  useTitle("Inbox");
  const plans = useLook("GET /inbox", {}, { topics: ["inbox"] });
  const ensembles = useLook("GET /ensembles", { query: { attention: true } }, { topics: ["ensembles"] });
  const items = plans.data?.data.items ?? [];
  const waiting = items.filter((one) => one.state === "waiting");
  const mine = items.filter((one) => one.state !== "waiting");
  const troubled = (ensembles.data?.data.items ?? []).filter((one) => reasonsOf(one).length > 0);
  const isEmpty = plans.isSuccess && ensembles.isSuccess && !items.length && !troubled.length;
  return (
    <>
      <div className="page-head">
        <h1>Inbox</h1>
        {plans.isSuccess && (
          <p className="muted">
            <span className="figure">{waiting.length}</span> {waiting.length === 1 ? "waits" : "wait"} for my approval ·{" "}
            <span className="figure">{mine.length}</span> of mine {mine.length === 1 ? "needs" : "need"} me
          </p>
        )}
      </div>
      {isEmpty && (
        <Empty title="Nothing needs you">
          <p className="muted">
            Plans that wait for your approval, plans of yours that wait for you, and jobs that went wrong come here by
            themselves.
          </p>
        </Empty>
      )}
      <Wait for={plans} title="The plans could not be read" lines={4}>
        {() => (
          <>
            <Plans title="Wait for my approval" plans={waiting} />
            <Plans title="My plans that need me" plans={mine} />
          </>
        )}
      </Wait>
      <Wait for={ensembles} title="The jobs could not be read" lines={2}>
        {() =>
          troubled.length > 0 && (
            <section className="inbox-part">
              <h2>Jobs and ensembles that need attention</h2>
              <Table
                label="Jobs and ensembles that need attention"
                rows={troubled}
                columns={TROUBLE}
                keyOf={nameOf}
                addressOf={placeOf}
              />
            </section>
          )
        }
      </Wait>
    </>
  );
}

function Plans({ title, plans }: { title: string; plans: readonly AskedPlan[] }): ReactNode {
  if (!plans.length) return null;
  return (
    <section className="inbox-part">
      <h2>
        {title} <span className="count figure">{plans.length}</span>
      </h2>
      <Table label={title} rows={plans} columns={COLUMNS} keyOf={(one) => one.id} addressOf={addressOf} />
    </section>
  );
}

function addressOf({ project, ensemble, id }: AskedPlan): string {
  return ensembleAddress({ project, ensemble }, `plans/${id}`);
}

const COLUMNS: readonly Column<AskedPlan>[] = [
  {
    id: "name",
    head: "Plan",
    width: "minmax(12rem, 2fr)",
    isName: true,
    cell: (one) => (
      <Link href={addressOf(one)} className="row-link">
        <span className="muted">{one.project}/</span>
        {one.ensemble} {one.workflow}
      </Link>
    ),
  },
  { id: "state", head: "State", width: "minmax(7rem, 0.8fr)", cell: (one) => <Status of={one.state} /> },
  {
    id: "risks",
    head: "Risks",
    width: "minmax(9rem, 1.6fr)",
    cell: (one) =>
      one.risks.map((risk) => (
        <Badge key={risk} tone="degraded">
          ▲ {RISKS[risk] ?? risk}
        </Badge>
      )),
  },
  { id: "by", head: "By", width: "minmax(6rem, 0.8fr)", cell: (one) => one.by.name },
  { id: "when", head: "Since", width: "7rem", cell: (one) => <Time at={one.changed} inRow /> },
  { id: "comment", head: "Comment", width: "minmax(9rem, 2fr)", cell: (one) => one.comment },
];

function nameOf({ project, name }: EnsembleData): string {
  return `${project}/${name}`;
}

function reasonsOf(one: EnsembleData): readonly string[] {
  return one.problem ? [one.problem] : (one.summary?.attention ?? []);
}

/** The job to look at: one that was interrupted, or the last one, which has failed; else the ensemble. */
function jobOf({ summary }: EnsembleData): string {
  return summary?.job?.job ?? summary?.last_job?.id ?? "";
}

function placeOf(one: EnsembleData): string {
  const job = jobOf(one);
  return ensembleAddress({ project: one.project, ensemble: one.name }, job && !one.problem ? `jobs/${job}` : "");
}

const TROUBLE: readonly Column<EnsembleData>[] = [
  {
    id: "name",
    head: "Ensemble",
    width: "minmax(12rem, 2fr)",
    isName: true,
    cell: (one) => (
      <Link href={placeOf(one)} className="row-link">
        <span className="muted">{one.project}/</span>
        {one.name}
      </Link>
    ),
  },
  {
    id: "status",
    head: "Status",
    width: "minmax(7rem, 0.8fr)",
    cell: (one) =>
      one.problem ? <Status of="unreadable" tone="error" /> : <Status of={one.summary?.status ?? "unknown"} />,
  },
  { id: "why", head: "Why", width: "minmax(14rem, 4fr)", cell: (one) => reasonsOf(one).join("; ") },
  {
    id: "job",
    head: "Job",
    width: "minmax(8rem, 1fr)",
    cell: (one) => <span className="mono muted">{one.problem ? "" : jobOf(one)}</span>,
  },
];
