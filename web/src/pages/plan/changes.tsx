import type { ReactNode } from "react";
import { useLocation, useSearch } from "wouter";

import type { AskedPlan, PlanHead } from "../../api/types.ts";
import { Place } from "../../parts/place.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { type ChangeGroup, differenceText, filtered, grouped, WORDS } from "./changes.ts";
import { MorePages } from "./more.tsx";
import { usePages } from "./pages.ts";

interface ChangesProps {
  path: { project: string; ensemble: string; id: string };
  plan: AskedPlan;
  head: PlanHead;
}

/** What happens to which instances, and why. */
export function Changes({ path, plan, head }: ChangesProps): ReactNode {
  const [here, go] = useLocation();
  const filter = new URLSearchParams(useSearch()).get("filter") ?? "";
  const pages = usePages(path, "changes", plan.digest);
  const rows = grouped(filtered(pages.rows, filter, head.losing));
  return (
    <>
      <div className="plan-filter">
        <input
          type="search"
          data-filter
          className="filter"
          aria-label="Filter the changes"
          placeholder="web remove risk:lossy"
          value={filter}
          onChange={(event) => {
            const text = event.target.value;
            go(text ? `${here}?filter=${encodeURIComponent(text)}` : here, { replace: true });
          }}
        />
      </div>
      {rows.length > 0 && <Table label="Changes" rows={rows} columns={columnsOf(head)} keyOf={(one) => one.key} />}
      {!rows.length && pages.isComplete && (
        <p className="muted">{filter ? "No change is as the filter says." : "No instance changes."}</p>
      )}
      <MorePages pages={pages} what="changes" />
    </>
  );
}

function columnsOf(head: PlanHead): readonly Column<ChangeGroup>[] {
  return [
    {
      id: "what",
      head: "What",
      width: "7.5rem",
      cell: ({ change }) => {
        const words = WORDS[change.symbol];
        return (
          <span className={`tone-${words?.tone ?? "unknown"}`}>
            <span className="mono plan-symbol" aria-hidden="true">
              {change.symbol}
            </span>
            {words?.does ?? change.symbol}
          </span>
        );
      },
    },
    {
      id: "instances",
      head: "Instances",
      width: "minmax(9rem, 1.4fr)",
      isName: true,
      cell: (one) => <Names of={one.instances} />,
    },
    {
      id: "why",
      head: "Why",
      width: "minmax(12rem, 3fr)",
      cell: ({ change }) => (
        <>
          {change.reason}
          {change.differences.length > 0 && (
            <ul className="plan-differences">
              {change.differences.map((one, at) => (
                <li key={at}>
                  {differenceText(one)} {one.declared && <Place at={one.declared} />}
                </li>
              ))}
            </ul>
          )}
        </>
      ),
    },
    {
      id: "place",
      head: "Declared",
      width: "minmax(8rem, 1.2fr)",
      cell: ({ change }) => <Place at={change.declared} />,
    },
    {
      id: "risk",
      head: "Data",
      width: "minmax(6rem, 1fr)",
      cell: ({ instances }) => {
        const lost = instances.filter((one) => one in head.losing);
        if (!lost.length) return null;
        const condition = head.losing[lost[0] ?? ""];
        return (
          <Badge tone="error">
            ▲ {lost.length === instances.length ? "is lost" : `of ${lost.length} is lost`}
            {condition ? `, ${condition}` : ""}
          </Badge>
        );
      },
    },
  ];
}

const FEW = 3;

function Names({ of }: { of: readonly string[] }): ReactNode {
  if (of.length <= FEW) return of.join(", ");
  return (
    <details>
      <summary>
        {of[0]} … {of.at(-1)} <span className="count figure">{of.length.toLocaleString("en")}</span>
      </summary>
      <p className="plan-names">{of.join(", ")}</p>
    </details>
  );
}
