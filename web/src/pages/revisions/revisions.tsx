import { type ReactNode, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";

import type { DeclaredNodeDiff, RevisionDiffData, RevisionLine, RevisionsData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { askAddress, type EnsembleNamed, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { Place } from "../../parts/place.tsx";
import { Badge, Status, type Tone } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { useKeys } from "../../shell/keys.ts";
import { said } from "../plan/changes.ts";
import type { PageProps } from "../routes.ts";
import "./revisions.css";

/** What was deployed, and when: compared two by two, and gone back to by a plan. */
export default function RevisionsPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/revisions",
    { path: { ...of } },
    { topics: [`plans:${of.project}/${of.ensemble}`] },
  );
  return (
    <EnsemblePage of={of} page="Revisions">
      <div className="page-head">
        <h2>Revisions</h2>
      </div>
      <Wait for={found} title="The revisions could not be read" lines={6}>
        {(data) => (data.revisions.length ? <Revisions of={of} data={data} /> : <None of={of} />)}
      </Wait>
    </EnsemblePage>
  );
}

function None({ of }: { of: EnsembleNamed }): ReactNode {
  return (
    <Empty title="Nothing was deployed yet">
      <p className="muted">Each deployment, upgrade and rollback that succeeds makes a revision.</p>
      <Link className="button" href={askAddress(of, "deploy")}>
        Plan a deployment
      </Link>
    </Empty>
  );
}

function Revisions({ of, data }: { of: EnsembleNamed; data: RevisionsData }): ReactNode {
  const [here, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const [going, setGoing] = useState<number>();
  const allowed = useLook("GET /projects/{project}/ensembles/{ensemble}", { path: { ...of } }).data?.data.allowed;
  const unable = useUnable(allowed, of.project)("plan");
  const { revisions } = data;
  const numbers = revisions.map(({ revision }) => revision);
  const after = known(search.get("after"), numbers) ?? numbers[0] ?? 0;
  const before = known(search.get("before"), numbers) ?? numbers.find((one) => one < after) ?? after;
  const choose = (one: number, other: number): void => {
    const [older, newer] = one < other ? [one, other] : [other, one];
    go(`${here}?before=${older}&after=${newer}`, { replace: true });
  };
  const step = (by: number): void | false => {
    const at = numbers.indexOf(after) + by;
    const next = numbers[at];
    const below = numbers[at + 1];
    if (next === undefined || below === undefined) return false;
    choose(below, next);
  };
  useKeys("Revisions", {
    "[": { does: "compare newer revisions", run: () => step(-1) },
    "]": { does: "compare older revisions", run: () => step(1) },
  });
  return (
    <>
      {data.is_partial && (
        <p className="revisions-partial" role="status">
          <span className="tone-degraded">▲ </span>
          {data.partial
            ? `Job ${data.partial} has begun something and not completed it`
            : "What is deployed is not a whole revision"}
          {data.back > 0 && `; a rollback leads to revision ${data.back}`}.
        </p>
      )}
      <Table
        label="Revisions"
        rows={revisions}
        columns={columnsOf(of, { before, after, choose, unable, goBack: setGoing })}
        keyOf={(one) => String(one.revision)}
      />
      {revisions.length > 1 && (
        <section className="revisions-compared">
          <div className="page-head">
            <h2>Compare</h2>
            <Chooser label="from" numbers={numbers} value={before} onChange={(one) => choose(one, after)} />
            <Chooser label="to" numbers={numbers} value={after} onChange={(one) => choose(before, one)} />
          </div>
          <Compared of={of} before={before} after={after} />
        </section>
      )}
      {going !== undefined && <GoingBack of={of} to={going} onClose={() => setGoing(undefined)} />}
    </>
  );
}

function known(text: string | null, numbers: readonly number[]): number | undefined {
  return numbers.find((one) => String(one) === text);
}

interface Choosing {
  before: number;
  after: number;
  choose: (one: number, other: number) => void;
  unable: string | undefined;
  goBack: (to: number) => void;
}

function columnsOf(
  of: EnsembleNamed,
  { before, after, choose, unable, goBack }: Choosing,
): readonly Column<RevisionLine>[] {
  return [
    {
      id: "number",
      head: "Revision",
      width: "8rem",
      isName: true,
      cell: (one) => (
        <span className="revisions-number">
          <strong>{one.revision}</strong>
          {one.is_current && <Badge tone="ok">deployed</Badge>}
          {one.was_removed && <Badge>removed all</Badge>}
        </span>
      ),
    },
    {
      id: "job",
      head: "Made by",
      width: "minmax(11rem, 1.4fr)",
      cell: (one) => (
        <>
          {one.workflow}{" "}
          <Link href={ensembleAddress(of, `jobs/${one.job}`)} className="mono">
            {one.job}
          </Link>
        </>
      ),
    },
    { id: "status", head: "Job", width: "7rem", cell: (one) => <Status of={one.status} /> },
    { id: "when", head: "When", width: "7rem", cell: (one) => <Time at={one.ended} inRow /> },
    {
      id: "service",
      head: "Service",
      width: "7rem",
      cell: (one) => (
        <span className="mono muted" title={one.service}>
          {one.service.slice(0, 8)}
        </span>
      ),
    },
    { id: "inputs", head: "Inputs that changed", width: "minmax(9rem, 2fr)", cell: inputsOf },
    {
      id: "actions",
      head: "Actions",
      width: "minmax(13rem, 1fr)",
      cell: (one) => <RowActions of={one} choosing={{ before, after, choose, unable, goBack }} />,
    },
  ];
}

function RowActions({ of: one, choosing }: { of: RevisionLine; choosing: Choosing }): ReactNode {
  const { before, after, choose, unable, goBack } = choosing;
  const isOther = one.revision !== after && one.revision !== before;
  const isEarlier = !one.is_current && !one.was_removed;
  if (!isOther && !isEarlier) return null;
  return (
    <span className="revisions-actions">
      {isOther && (
        <button type="button" className="button" onClick={() => choose(one.revision, after)}>
          Compare with {after}
        </button>
      )}
      {isEarlier && (
        <Action does={() => goBack(one.revision)} unable={unable}>
          Go back to {one.revision}…
        </Action>
      )}
    </span>
  );
}

function inputsOf(one: RevisionLine): ReactNode {
  return Object.entries(one.inputs)
    .map(([name, value]) => `${name} ${said(value)}`)
    .join(", ");
}

interface ChooserProps {
  label: string;
  numbers: readonly number[];
  value: number;
  onChange: (number: number) => void;
}

function Chooser({ label, numbers, value, onChange }: ChooserProps): ReactNode {
  return (
    <label className="revisions-chooser">
      <span className="muted">{label}</span>
      <select value={value} onChange={(event) => onChange(Number(event.target.value))}>
        {numbers.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}

function Compared({ of, before, after }: { of: EnsembleNamed; before: number; after: number }): ReactNode {
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/revisions/diff",
    { path: { ...of }, query: { before, after } },
    { keeps: true },
  );
  return (
    <Wait for={found} title="The revisions could not be compared" lines={4}>
      {(data) => <Differences of={data} />}
    </Wait>
  );
}

function Differences({ of: { before, after, inputs, nodes, unchanged, files } }: { of: RevisionDiffData }): ReactNode {
  if (!inputs.length && !nodes.length && !files.length) {
    return (
      <p className="muted">
        {before === after ? "This is one revision." : `Nothing differs between ${before} and ${after}.`}
      </p>
    );
  }
  return (
    <>
      {inputs.length > 0 && (
        <>
          <h3>Inputs</h3>
          <dl className="revisions-values">
            {inputs.map((one) => (
              <div key={one.name}>
                <dt>{one.name}</dt>
                <dd className="mono">
                  {said(one.before)} → {said(one.after)}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      <h3>Nodes</h3>
      {nodes.length > 0 && <Table label="Nodes that differ" rows={nodes} columns={NODES} keyOf={(one) => one.node} />}
      <p className="muted">
        {unchanged} {unchanged === 1 ? "node is" : "nodes are"} declared in the same way.
      </p>
      {files.length > 0 && (
        <>
          <h3>Files</h3>
          <ul className="revisions-files">
            {files.map((one) => (
              <li key={one.file}>
                <Change of={one.change} /> <span className="mono">{one.file}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

const TONES: Readonly<Record<string, { sign: string; tone: Tone }>> = {
  added: { sign: "+", tone: "ok" },
  removed: { sign: "-", tone: "error" },
  changed: { sign: "~", tone: "pending" },
};

function Change({ of }: { of: string }): ReactNode {
  const { sign, tone } = TONES[of] ?? { sign: "?", tone: "unknown" as const };
  return (
    <span className={`tone-${tone}`}>
      <span className="mono" aria-hidden="true">
        {sign}{" "}
      </span>
      {of}
    </span>
  );
}

const NODES: readonly Column<DeclaredNodeDiff>[] = [
  { id: "change", head: "Change", width: "7rem", cell: (one) => <Change of={one.change} /> },
  { id: "node", head: "Node", width: "minmax(8rem, 1fr)", isName: true, cell: (one) => one.node },
  {
    id: "what",
    head: "What differs",
    width: "minmax(14rem, 4fr)",
    cell: (one) => (
      <ul>
        {one.differences.map((two) => (
          <li key={two.what}>
            {two.what}{" "}
            <span className="mono">
              {said(two.before)} → {said(two.after)}
            </span>
          </li>
        ))}
      </ul>
    ),
  },
  { id: "place", head: "Declared", width: "minmax(8rem, 1fr)", cell: (one) => <Place at={one.declared} /> },
];

/** Asks for the plan that goes back; what it does is seen there. */
function GoingBack({ of, to, onClose }: { of: EnsembleNamed; to: number; onClose: () => void }): ReactNode {
  const [, go] = useLocation();
  const plan = useChange("POST /projects/{project}/ensembles/{ensemble}/plans", ["GET /inbox"]);
  const ask = async (): Promise<void> => {
    const made = await plan.mutateAsync({ path: { ...of }, body: { request: { workflow: "rollback", revision: to } } });
    go(ensembleAddress(of, `plans/${made.data.id}`));
  };
  return (
    <Confirm title={`Go back to revision ${to}`} does="Make the plan" onConfirm={ask} onClose={onClose}>
      <p>
        A plan is made that leads back to what revision {to} has deployed. Nothing is carried out before you have seen
        it.
      </p>
      <p className="muted">
        For options: <Link href={askAddress(of, "rollback", { revision: String(to) })}>the form of rollback</Link>.
      </p>
    </Confirm>
  );
}
