import type { ReactNode } from "react";

import type { PlanHead, PlannedInput } from "../../api/types.ts";
import { type Column, Table } from "../../parts/table.tsx";
import { said } from "./changes.ts";

/** The values of the inputs, beside those that were deployed last; what is sensitive is never shown. */
export function Inputs({ head }: { head: PlanHead }): ReactNode {
  const counts = Object.entries(head.counts);
  return (
    <>
      {head.inputs.length ? (
        <Table label="Inputs" rows={head.inputs} columns={COLUMNS} keyOf={(one) => one.name} />
      ) : (
        <p className="muted">The service has no inputs.</p>
      )}
      <dl className="plan-facts">
        {head.environment && (
          <div>
            <dt>Environment</dt>
            <dd>{head.environment}</dd>
          </div>
        )}
        {counts.length > 0 && (
          <div>
            <dt>Instances</dt>
            <dd>
              {counts.map(([node, { count, origin }]) => `${node} ${count}${origin ? ` (${origin})` : ""}`).join(", ")}
            </dd>
          </div>
        )}
        {head.chosen.map((one, at) => (
          <div key={at}>
            <dt>Chosen</dt>
            <dd>
              {Object.entries(one)
                .map(([name, value]) => `${name} ${value}`)
                .join(", ")}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

const COLUMNS: readonly Column<PlannedInput>[] = [
  { id: "name", head: "Input", width: "minmax(8rem, 1fr)", isName: true, cell: (one) => one.name },
  {
    id: "after",
    head: "Value",
    width: "minmax(10rem, 2fr)",
    cell: (one) => <span className="mono">{said(one.after)}</span>,
  },
  {
    id: "before",
    head: "Before",
    width: "minmax(10rem, 2fr)",
    cell: (one) =>
      said(one.before) === said(one.after) ? (
        <span className="muted">the same</span>
      ) : (
        <span className="mono muted">{said(one.before)}</span>
      ),
  },
];
