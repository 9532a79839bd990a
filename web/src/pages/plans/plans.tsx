import type { ReactNode } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { useParts } from "../../api/parts.ts";
import type { AskedPlan } from "../../api/types.ts";
import { Empty } from "../../parts/empty.tsx";
import { askAddress, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { List } from "../../parts/list.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { RISKS } from "../plan/changes.ts";
import type { PageProps } from "../routes.ts";

/** The plans of an ensemble, the newest first. */
export default function PlansPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const [here, go] = useLocation();
  const isOpenOnly = new URLSearchParams(useSearch()).get("state") === "open";
  const found = useParts(
    "GET /projects/{project}/ensembles/{ensemble}/plans",
    { path: { ...of }, query: { limit: 200, ...(isOpenOnly ? { state: "open" } : {}) } },
    { topics: [`plans:${of.project}/${of.ensemble}`] },
  );
  return (
    <EnsemblePage of={of} page="Plans">
      <div className="page-head">
        <h2>Plans</h2>
        <button
          type="button"
          className="button page-head-end"
          aria-pressed={isOpenOnly}
          onClick={() => go(isOpenOnly ? here : `${here}?state=open`, { replace: true })}
        >
          Not ended yet
        </button>
      </div>
      <List for={found} title="The plans could not be read">
        {(items) =>
          items.length ? (
            <Table
              label="Plans"
              rows={items}
              columns={COLUMNS}
              keyOf={(one) => one.id}
              addressOf={(one) => ensembleAddress(of, `plans/${one.id}`)}
            />
          ) : (
            <Empty title={isOpenOnly ? "Every plan has ended" : "Nobody has asked for a plan yet"}>
              <p>A plan says what a workflow would do, and is carried out once it is applied.</p>
              <Link className="button" href={askAddress(of, "deploy")}>
                Plan a deployment
              </Link>
            </Empty>
          )
        }
      </List>
    </EnsemblePage>
  );
}

const COLUMNS: readonly Column<AskedPlan>[] = [
  {
    id: "workflow",
    head: "Workflow",
    width: "minmax(8rem, 1fr)",
    isName: true,
    cell: (one) => (
      <Link href={`/e/${one.project}/${one.ensemble}/plans/${one.id}`} className="row-link">
        {one.workflow}
      </Link>
    ),
  },
  { id: "state", head: "State", width: "minmax(8rem, 1fr)", cell: stateOf },
  { id: "changes", head: "Changes", width: "minmax(8rem, 1.2fr)", cell: changesOf },
  { id: "risks", head: "Risks", width: "minmax(8rem, 1.6fr)", cell: risksOf },
  { id: "by", head: "By", width: "minmax(6rem, 1fr)", cell: (one) => one.by.name },
  { id: "created", head: "Made", width: "7rem", cell: (one) => <Time at={one.created} inRow /> },
  { id: "comment", head: "Comment", width: "minmax(8rem, 2fr)", cell: (one) => one.comment },
];

function stateOf(one: AskedPlan): ReactNode {
  // What was carried out is as good as its job.
  return <Status of={one.state === "applied" && one.job_status ? one.job_status : one.state} />;
}

function changesOf(one: AskedPlan): ReactNode {
  if (!one.totals) return <span className="muted">–</span>;
  const { made, changed, replaced, removed } = one.totals;
  const told = [
    [made, "+"],
    [changed, "~"],
    [replaced, "-/+"],
    [removed, "-"],
  ] as const;
  const words = told.filter(([number]) => number > 0).map(([number, sign]) => `${sign}${number}`);
  return words.length ? <span className="mono">{words.join(" ")}</span> : <span className="muted">nothing</span>;
}

function risksOf(one: AskedPlan): ReactNode {
  return one.risks.map((risk) => (
    <Badge key={risk} tone="degraded">
      {RISKS[risk] ?? risk}
    </Badge>
  ));
}
