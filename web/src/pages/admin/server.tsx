import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { AboutData, ComponentData, PoolQueueData, StoreStateData, WorkerData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Facts } from "../../parts/facts.tsx";
import { FreezePart } from "../../parts/freeze.tsx";
import { bytes } from "../../parts/moment.ts";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Wait } from "../../parts/wait.tsx";
import { Settings } from "./server-settings.tsx";

/** How the server is, how it is set, and what it is made of. */
export function ServerState(): ReactNode {
  const about = useLook("GET /about", {}, { every: 60 });
  const settings = useLook("GET /settings", {});
  return (
    <>
      <section className="section" aria-labelledby="health">
        <h2 id="health">Health</h2>
        <Ready />
        <Wait for={about} title="It could not be found out what the server runs on">
          {(data) => <Machine of={data} />}
        </Wait>
      </section>
      {about.data?.data.store && <StorePart />}
      <FreezePart does="Freeze everything" about="Nothing begins on the whole server. Jobs that run go on." />
      <Wait for={settings} title="The settings could not be read">
        {(data, { etag }) => <Settings of={data} etag={etag} />}
      </Wait>
      <section className="section" aria-labelledby="parts">
        <h2 id="parts">Made of</h2>
        <Wait for={about} title="It could not be found out what the server is made of">
          {({ parts }) => (
            <Table label="Parts" columns={PARTS} rows={parts} keyOf={({ place, name }) => `${place} ${name}`} />
          )}
        </Wait>
      </section>
    </>
  );
}

/** The store over which the server serves. */
function StorePart(): ReactNode {
  const store = useLook("GET /store", {}, { topics: ["ensembles"] });
  return (
    <section className="section" aria-labelledby="store">
      <h2 id="store">Store</h2>
      <Wait for={store} title="It could not be found out how the store is">
        {(data) => <StoreState of={data} />}
      </Wait>
    </section>
  );
}

function StoreState({ of }: { of: StoreStateData }): ReactNode {
  return (
    <>
      <Facts
        rows={[
          ["Address", of.store],
          ["Taken over", `${of.takeovers} ensembles within the last hour`],
        ]}
      />
      {of.problems.length > 0 && (
        <ul>
          {of.problems.map((one) => (
            <li key={one}>
              <Status of={one} tone="degraded" />
            </li>
          ))}
        </ul>
      )}
      <Table label="Workers" columns={WORKERS} rows={of.workers} keyOf={({ id }) => id} />
      <Table
        label="What waits for workers"
        columns={QUEUES}
        rows={of.queues}
        keyOf={(one) => `${one.pool} ${one.class}`}
      />
    </>
  );
}

const TONES: Record<string, "ok" | "pending" | "absent" | "error"> = {
  ready: "ok",
  draining: "pending",
  ended: "absent",
  lost: "error",
  silent: "error",
};

const WORKERS: Column<WorkerData>[] = [
  { id: "worker", head: "Worker", width: "minmax(10rem, 2fr)", isName: true, cell: ({ name }) => name },
  { id: "pool", head: "Pool", cell: ({ pool }) => pool },
  { id: "state", head: "State", cell: ({ state }) => <Status of={state} tone={TONES[state] ?? "pending"} /> },
  { id: "busy", head: "At work", cell: ({ busy, slots }) => `${busy} of ${slots}` },
  { id: "lease", head: "Lease", cell: ({ lease }) => `${Math.round(lease)} s` },
  { id: "version", head: "Version", cell: ({ version }) => version },
];

const QUEUES: Column<PoolQueueData>[] = [
  { id: "pool", head: "Pool", width: "minmax(10rem, 2fr)", isName: true, cell: ({ pool }) => pool },
  { id: "class", head: "Class", cell: (one) => one.class },
  { id: "waiting", head: "Waiting", cell: ({ waiting, queued }) => waiting + queued },
  { id: "running", head: "Running", cell: ({ running }) => running },
  { id: "attention", head: "Stuck", cell: ({ attention }) => attention },
  { id: "oldest", head: "Oldest waits", cell: ({ oldest }) => `${Math.round(oldest)} s` },
];

interface Health {
  well: boolean;
  problems: string[];
}

/** What `/readyz` says: it stands beside the API, and its 503 is an answer too. */
function Ready(): ReactNode {
  const ready = useQuery({
    queryKey: ["readyz"],
    queryFn: async ({ signal }) => (await (await fetch("/readyz", { signal })).json()) as Health,
    refetchInterval: 15_000,
  });
  if (ready.isError) return <Status of="not reached" tone="error" />;
  if (!ready.data) return null;
  if (ready.data.well) return <Status of="well: database and processes answer" tone="ok" />;
  return (
    <ul>
      {ready.data.problems.map((one) => (
        <li key={one}>
          <Status of={one} tone="error" />
        </li>
      ))}
    </ul>
  );
}

function Machine({ of }: { of: AboutData }): ReactNode {
  const used = of.disk_size ? Math.round((100 * (of.disk_size - of.disk_free)) / of.disk_size) : 0;
  return (
    <Facts
      rows={[
        ["Ordito", of.ordito],
        ["Python", of.python],
        ["System", of.system],
        ["Database", of.database],
        [
          "Disk",
          <Status
            key="d"
            of={`${used} % used, ${bytes(of.disk_free)} free`}
            tone={used < 80 ? "ok" : used < 95 ? "degraded" : "error"}
          />,
        ],
      ]}
    />
  );
}

const PARTS: readonly Column<ComponentData>[] = [
  { id: "name", head: "Name", width: "minmax(10rem, 2fr)", isName: true, cell: ({ name }) => name },
  { id: "version", head: "Version", cell: ({ version }) => version },
  {
    id: "licence",
    head: "Licence",
    width: "minmax(8rem, 2fr)",
    cell: ({ licence }) => licence || <span className="muted">not said</span>,
  },
  { id: "place", head: "Part of", cell: ({ place }) => (place === "web" ? "the web UI" : "the server") },
];
