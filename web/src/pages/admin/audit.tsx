import { type ReactNode, useState } from "react";
import { useLocation, useSearch } from "wouter";

import { BASE } from "../../api/ask.ts";
import { useParts } from "../../api/parts.ts";
import type { DeedData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Copy } from "../../parts/copy.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { List } from "../../parts/list.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { auditFilters } from "./filters.ts";

/** What was done, by whom, and whether somebody has changed what is written of it. */
export function Audit(): ReactNode {
  const [, go] = useLocation();
  const text = new URLSearchParams(useSearch()).get("filter") ?? "";
  const [typed, setTyped] = useState(text);
  const { query, wrong } = auditFilters(text, Date.now());
  const deeds = useParts("GET /audit", { query: { limit: 200, ...query } }, { topics: ["audit"] });
  const [shown, setShown] = useState<DeedData>();
  const filter = (words: string): void => {
    go(words ? `/admin?tab=audit&filter=${encodeURIComponent(words)}` : "/admin?tab=audit", { replace: true });
  };
  const columns: Column<DeedData>[] = [
    { id: "time", head: "When", width: "6rem", cell: ({ time }) => <Time at={time} inRow /> },
    {
      id: "who",
      head: "Who",
      width: "minmax(6rem, 1fr)",
      cell: ({ principal }) => principal || <span className="muted">nobody</span>,
    },
    {
      id: "by",
      head: "By",
      width: "minmax(6rem, 1fr)",
      cell: ({ by }) => <span className="muted">{shortened(by)}</span>,
    },
    {
      id: "action",
      head: "What",
      width: "minmax(8rem, 1.2fr)",
      isName: true,
      cell: (one) => (
        <button type="button" className="link" onClick={() => setShown(one)}>
          {one.action}
        </button>
      ),
    },
    { id: "where", head: "Where", width: "minmax(8rem, 1.5fr)", cell: placeOf },
    {
      id: "object",
      head: "Of what",
      width: "minmax(8rem, 2fr)",
      cell: ({ object }) => <span className="mono">{object}</span>,
    },
    {
      id: "outcome",
      head: "Outcome",
      width: "7rem",
      cell: ({ outcome }) => <Status of={outcome} tone={TONES[outcome] ?? "unknown"} />,
    },
  ];
  return (
    <section className="section">
      <form
        className="section-head"
        onSubmit={(event) => {
          event.preventDefault();
          filter(typed.trim());
        }}
      >
        <input
          type="search"
          data-filter
          className="admin-filter wide"
          aria-label="Filter the audit log"
          placeholder="actor:ben project:shop action:plan.apply outcome:denied since:7d"
          value={typed}
          aria-invalid={wrong.length ? true : undefined}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={() => typed.trim() !== text && filter(typed.trim())}
        />
        <a className="button" href={`${BASE}/audit/export`} download="audit.ndjson">
          Export all
        </a>
      </form>
      {wrong.map((one) => (
        <p key={one} className="tone-error" role="alert">
          <span aria-hidden="true">✖ </span>
          {one}
        </p>
      ))}
      <Chain />
      <List for={deeds} title="The audit log could not be read">
        {(items) =>
          items.length ? (
            <Table label="Audit log" columns={columns} rows={items} keyOf={({ number }) => String(number)} />
          ) : (
            <Empty title="Nothing is as the filter says" />
          )
        }
      </List>
      {shown && <Deed of={shown} onClose={() => setShown(undefined)} />}
    </section>
  );
}

const TONES = { done: "ok", denied: "degraded", failed: "error" } as Record<string, "ok" | "degraded" | "error">;

function placeOf({ project, ensemble }: DeedData): string {
  return ensemble ? `${project}/${ensemble}` : project;
}

/** `session b36551`: enough of the id to tell it from others. */
function shortened(by: string): string {
  const [kind = "", id = ""] = by.split(" ");
  return `${kind} ${id.slice(0, 6)}`;
}

/** How the log ends, for who wants to see later whether it still does. */
function Chain(): ReactNode {
  const head = useLook("GET /audit/head", {}, { topics: ["audit"] });
  return (
    <Wait for={head} title="The end of the log could not be read" lines={1}>
      {({ rows, head: hash }) => (
        <p className="admin-chain">
          <span className="figure">{rows.toLocaleString("en")} rows</span>
          <span className="muted">
            <code>ordito server audit verify</code> says on the server whether they are whole; the last hash
          </span>
          <Copy text={hash} label="hash">
            {hash.slice(0, 12)}
          </Copy>
        </p>
      )}
    </Wait>
  );
}

function Deed({ of, onClose }: { of: DeedData; onClose: () => void }): ReactNode {
  const rows: [string, ReactNode][] = [
    ["Row", of.number.toLocaleString("en")],
    ["When", <Time key="t" at={of.time} />],
    ["Who", of.principal],
    ["By", of.by],
    ["From", of.address],
    ["Where", placeOf(of)],
    ["Of what", of.object],
    ["Outcome", of.outcome],
    ["Detail", of.detail],
    ["Request", of.request && <Copy key="r" text={of.request} label="request id" />],
    ["Hash", <Copy key="h" text={of.hash} label="hash" />],
  ];
  return (
    <Dialog title={of.action} onClose={onClose} wide>
      <Facts rows={rows} />
    </Dialog>
  );
}
