import { type ReactNode, useState } from "react";

import type { AskedPlan, PlanHead, StepRow } from "../../api/types.ts";
import { Place } from "../../parts/place.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { MorePages } from "./more.tsx";
import { usePages } from "./pages.ts";

interface OrderProps {
  path: { project: string; ensemble: string; id: string };
  plan: AskedPlan;
  head: PlanHead;
}

/** The steps by waves: those of a wave can run at the same time. */
export function Order({ path, plan }: OrderProps): ReactNode {
  const [showsAll, setShowsAll] = useState(false);
  const pages = usePages(path, "steps", plan.digest);
  const rows = pages.rows
    .filter((step) => !step.joins && (showsAll || !step.no_op))
    .sort((one, other) => one.wave - other.wave);
  return (
    <>
      <div className="plan-filter">
        <p className="muted">Steps of the same wave can run at the same time.</p>
        <label className="check">
          <input type="checkbox" checked={showsAll} onChange={(event) => setShowsAll(event.target.checked)} />
          Also what does nothing
        </label>
      </div>
      {rows.length > 0 && <Table label="Steps" rows={rows} columns={COLUMNS} keyOf={(step) => step.id} />}
      {!rows.length && pages.isComplete && <p className="muted">No operation runs.</p>}
      <MorePages pages={pages} what="steps" />
    </>
  );
}

const COLUMNS: readonly Column<StepRow>[] = [
  { id: "wave", head: "Wave", width: "4rem", isNumber: true, cell: (step) => step.wave || "" },
  { id: "instance", head: "Instance", width: "minmax(8rem, 1.2fr)", isName: true, cell: (step) => step.instance },
  {
    id: "operation",
    head: "Operation",
    width: "minmax(10rem, 1.6fr)",
    cell: (step) => (
      <>
        {step.operation}
        {step.far && <span className="muted"> → {step.far}</span>}
        {step.no_op && <span className="muted"> does nothing</span>}
        {step.delegated && <span className="muted"> by the provider</span>}
      </>
    ),
  },
  {
    id: "artifact",
    head: "Runs",
    width: "minmax(8rem, 1.4fr)",
    cell: (step) => <span className="mono">{step.artifact}</span>,
  },
  { id: "on", head: "On", width: "minmax(6rem, 0.8fr)", cell: (step) => step.runs_on },
  {
    id: "why",
    head: "Why",
    width: "minmax(10rem, 2fr)",
    cell: (step) => [step.reason, step.condition].filter(Boolean).join("; "),
  },
  {
    id: "place",
    head: "Declared",
    width: "minmax(8rem, 1fr)",
    cell: (step) => <Place at={step.declared} />,
  },
];
