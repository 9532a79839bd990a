import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link } from "wouter";

import type { Dependency, DescribedInstance, DescribedNode, TaskLine, Value } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { usePaced } from "../../live/paced.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { Copy } from "../../parts/copy.tsx";
import { askAddress, type EnsembleNamed, ensembleAddress } from "../../parts/ensemble-head.tsx";
import { Menu } from "../../parts/menu.tsx";
import { exactSpan } from "../../parts/moment.ts";
import { Badge, Status, type Tone } from "../../parts/status.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { type Chosen, shortType } from "./box.tsx";
import { ALL, type Dots, WORST_FIRST } from "./dots.ts";

interface ChosenProps {
  of: EnsembleNamed;
  dots: Dots;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  onOpen: (box: string, isOpen: boolean) => void;
}

/** What there is to know and to do about what is chosen; else about what needs somebody. */
export function ChosenPanel(props: ChosenProps): ReactNode {
  const { of, dots, chosen, onChoose, onOpen } = props;
  useSyncExternalStore(
    (told) => dots.watch(ALL, told),
    () => dots.version(ALL),
  );
  const box = chosen && "box" in chosen ? dots.topology.boxes.findIndex((one) => one.id === chosen.box) : -1;
  return (
    <section className="chosen-panel" aria-label="What is chosen">
      {chosen && "instance" in chosen ? (
        <InstancePanel key={chosen.instance} of={of} dots={dots} id={chosen.instance} onChoose={onChoose} />
      ) : box >= 0 ? (
        <BoxPanel key={box} of={of} dots={dots} at={box} onChoose={onChoose} onOpen={onOpen} />
      ) : (
        <Overview dots={dots} onChoose={onChoose} />
      )}
    </section>
  );
}

function Heading({ name, onClose, children }: { name: string; onClose: () => void; children: ReactNode }): ReactNode {
  return (
    <header className="chosen-head">
      <h2>{name}</h2>
      {children}
      <button type="button" className="icon" aria-label="Choose nothing" onClick={onClose}>
        ×
      </button>
    </header>
  );
}

// -------------------------------------------------------------------------------------------------- nothing chosen

const MOST_LISTED = 40;
const NOT_WELL: ReadonlySet<Tone> = new Set(["error", "degraded", "unknown"]);

function Overview({ dots, onChoose }: { dots: Dots; onChoose: (chosen: Chosen) => void }): ReactNode {
  const wrong = dots.ids.map((_, number) => number).filter((number) => NOT_WELL.has(dots.toneOf(number)));
  const busy = dots.busy;
  return (
    <>
      {busy.length > 0 && (
        <>
          <h2>
            Running <span className="count figure">{busy.length}</span>
          </h2>
          <InstanceList dots={dots} numbers={busy} onChoose={onChoose} />
        </>
      )}
      {wrong.length > 0 && (
        <>
          <h2>
            Not well <span className="count figure">{wrong.length.toLocaleString("en")}</span>
          </h2>
          <InstanceList dots={dots} numbers={wrong} onChoose={onChoose} />
        </>
      )}
      {!busy.length && !wrong.length && (
        <>
          <h2>{dots.size ? "Nothing needs attention" : "No instance exists"}</h2>
          <p className="muted">Choose a box or an instance to see what is known about it.</p>
        </>
      )}
    </>
  );
}

interface InstanceListProps {
  dots: Dots;
  numbers: readonly number[];
  onChoose: (chosen: Chosen) => void;
}

/** Instances that can be chosen, those that need somebody first, at most forty. */
function InstanceList({ dots, numbers, onChoose }: InstanceListProps): ReactNode {
  const sorted = WORST_FIRST.flatMap((tone) => numbers.filter((number) => dots.toneOf(number) === tone)).slice(
    0,
    MOST_LISTED,
  );
  return (
    <ul className="chosen-list">
      {sorted.map((number) => {
        const { id, status, state, operation } = dots.at(number);
        return (
          <li key={id}>
            <button type="button" className="chosen-link" onClick={() => onChoose({ instance: id })}>
              <Status of={status} short />
              <span>{id}</span>
              <span className="muted">{operation || state}</span>
            </button>
          </li>
        );
      })}
      {numbers.length > sorted.length && (
        <li className="muted">
          and {(numbers.length - sorted.length).toLocaleString("en")} more; the table has them all
        </li>
      )}
    </ul>
  );
}

// ----------------------------------------------------------------------------------------------------- an instance

const SHOW = "GET /projects/{project}/ensembles/{ensemble}";
type Part = "attributes" | "links" | "operations" | "history";

interface InstancePanelProps {
  of: EnsembleNamed;
  dots: Dots;
  id: string;
  onChoose: (chosen: Chosen) => void;
}

function InstancePanel({ of, dots, id, onChoose }: InstancePanelProps): ReactNode {
  const [part, setPart] = useState<Part>("attributes");
  const found = useLook("GET /projects/{project}/ensembles/{ensemble}/instances/{name}", { path: { ...of, name: id } });
  const number = dots.numberOf(id);
  const dot = number === undefined ? undefined : dots.at(number);
  useAgain(dots, dot && `${dot.status} ${dot.state} ${dot.operation}`, () => found.refetch());
  return (
    <>
      <Heading name={id} onClose={() => onChoose(undefined)}>
        <Status of={dot?.status ?? "absent"} />
      </Heading>
      <Wait for={found} title={`${id} could not be read`} lines={8}>
        {(data) => {
          if (!("instance" in data)) return null;
          return (
            <>
              <Failure of={of} data={data} />
              <dl className="pairs">
                <Pair name="State">
                  {dot?.operation ? `${dot.state}: ${dot.operation}` : (dot?.state ?? data.state)}
                </Pair>
                {data.effective !== data.local && (
                  <Pair name="By itself">
                    <Status of={data.local} />
                  </Pair>
                )}
                {data.note && <Pair name="Note">{data.note}</Pair>}
                <Pair name="Node">
                  <ChooseBox dots={dots} node={data.node} onChoose={onChoose} />
                </Pair>
                <Pair name="Type">
                  <span title={data.type}>{shortType(data.type)}</span>
                </Pair>
                {data.host && (
                  <Pair name="On">
                    <ChooseInstance id={data.host} onChoose={onChoose} />
                  </Pair>
                )}
                {data.place && <Pair name="Place">{data.place}</Pair>}
              </dl>
              <InstanceActions of={of} data={data} />
              <Tabs<Part>
                label={`About ${id}`}
                chosen={part}
                onChoose={setPart}
                tabs={[
                  { id: "attributes", label: "Values" },
                  { id: "links", label: "Links", count: data.requirements.length },
                  { id: "operations", label: "Operations", count: data.operations.length },
                  { id: "history", label: "History" },
                ]}
              >
                {part === "attributes" && <Values data={data} />}
                {part === "links" && <Links dots={dots} data={data} number={number} onChoose={onChoose} />}
                {part === "operations" && <Operations data={data} />}
                {part === "history" && <History of={of} events={data.events} />}
              </Tabs>
            </>
          );
        }}
      </Wait>
    </>
  );
}

/** Read again when what is shown of it in the picture changes, and when the picture was read again. */
function useAgain(dots: Dots, shown: string | undefined, refetch: () => Promise<unknown>): void {
  const again = usePaced(refetch);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) again();
    first.current = false;
  }, [dots, shown]);
}

function Pair({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ChooseInstance({ id, onChoose }: { id: string; onChoose: (chosen: Chosen) => void }): ReactNode {
  return (
    <button type="button" className="chosen-link" onClick={() => onChoose({ instance: id })}>
      {id}
    </button>
  );
}

/** The name of a node, to be chosen where it has a box of its own. */
function ChooseBox({
  dots,
  node,
  onChoose,
}: {
  dots: Dots;
  node: string;
  onChoose: (chosen: Chosen) => void;
}): ReactNode {
  if (!dots.topology.boxes.some((box) => box.id === node)) return node;
  return (
    <button type="button" className="chosen-link" onClick={() => onChoose({ box: node })}>
      {node}
    </button>
  );
}

/** The operation that has failed last, why, and where its log is. */
function Failure({ of, data }: { of: EnsembleNamed; data: DescribedInstance }): ReactNode {
  const failed = data.operations.find((one) => one.failed);
  if (!failed) return null;
  const task = data.events.find((one) => one.id === failed.change);
  return (
    <div className="chosen-failure">
      <p>
        <Status of="failed">{failed.operation} failed</Status> <Time at={failed.at} />
      </p>
      {task?.summary && <p>{task.summary}</p>}
      {task && (
        <p>
          <Link href={logAddress(of, task, data.instance)}>Log</Link>
          <span className="muted"> of job </span>
          <Link href={ensembleAddress(of, `jobs/${task.job}`)} className="mono">
            {task.job}
          </Link>
        </p>
      )}
    </div>
  );
}

function logAddress(of: EnsembleNamed, task: TaskLine, instance: string): string {
  const step = `${task.target || instance}.${task.operation}`;
  return ensembleAddress(of, `jobs/${task.job}/log?step=${encodeURIComponent(step)}`);
}

function InstanceActions({ of, data }: { of: EnsembleNamed; data: DescribedInstance }): ReactNode {
  const ensemble = useLook(SHOW, { path: { ...of } });
  const unable = useUnable(ensemble.data?.data.allowed, of.project)("plan");
  const { instance: id, node } = data;
  const last = data.events[0];
  return (
    <div className="chosen-actions">
      {data.effective !== "ok" && (
        <Action does={askAddress(of, "heal", { instances: id })} unable={unable} className="button main">
          Heal {id}
        </Action>
      )}
      <Action does={askAddress(of, "run", { instance: id })} unable={unable}>
        Run operation
      </Action>
      {last && (
        <Action does={ensembleAddress(of, `jobs/${last.job}/log?instance=${encodeURIComponent(id)}`)}>Logs</Action>
      )}
      <Menu
        label={
          <>
            More <span aria-hidden="true">▾</span>
          </>
        }
        name={`More actions for ${id}`}
        opensByKey
        items={[
          ...(["start", "stop", "restart"] as const).map((workflow) => ({
            label: `${workflow[0]?.toUpperCase()}${workflow.slice(1)}…`,
            does: askAddress(of, workflow, { names: id }),
            unable,
          })),
          { label: "Check for drift…", does: askAddress(of, "check", { names: id }), unable },
          { label: `Scale ${node}…`, does: askAddress(of, "scale", { names: node }), unable },
          { label: "Remove this instance…", does: askAddress(of, "scale", { remove: id }), danger: true, unable },
        ]}
      />
    </div>
  );
}

function Values({ data }: { data: DescribedInstance }): ReactNode {
  const groups = [
    ["Attributes", data.attributes],
    ["Properties", data.properties],
  ] as const;
  if (groups.every(([, values]) => !Object.keys(values).length)) return <p className="muted">It has no values.</p>;
  return groups.map(
    ([title, values]) =>
      Object.keys(values).length > 0 && (
        <section key={title}>
          <h3>{title}</h3>
          <dl className="pairs mono">
            {Object.entries(values).map(([name, value]) => (
              <Pair key={name} name={name}>
                <span className="chosen-value">{textOf(value)}</span>
              </Pair>
            ))}
          </dl>
        </section>
      ),
  );
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

function Links({
  dots,
  data,
  number,
  onChoose,
}: {
  dots: Dots;
  data: DescribedInstance;
  number: number | undefined;
  onChoose: (chosen: Chosen) => void;
}): ReactNode {
  const hosted = number === undefined ? [] : dots.hostedBy(number);
  if (!data.requirements.length && !hosted.length) return <p className="muted">It needs nothing, and hosts nothing.</p>;
  return (
    <>
      {data.requirements.map((one) => (
        <Requirement key={`${one.requirement} ${one.target}`} dots={dots} of={one} onChoose={onChoose} />
      ))}
      {hosted.length > 0 && (
        <section>
          <h3>Hosts</h3>
          <InstanceList dots={dots} numbers={hosted} onChoose={onChoose} />
        </section>
      )}
    </>
  );
}

function Requirement({
  dots,
  of: one,
  onChoose,
}: {
  dots: Dots;
  of: Dependency;
  onChoose: (chosen: Chosen) => void;
}): ReactNode {
  return (
    <section>
      <h3>
        {one.requirement} <span aria-hidden="true">→</span>{" "}
        <ChooseBox dots={dots} node={one.target} onChoose={onChoose} />
        {one.optional && <Badge>optional</Badge>}
      </h3>
      <p className="muted">{one.relationship.replace("tosca.relationships.", "")}</p>
      <ul className="chosen-list">
        {Object.entries(one.instances)
          .slice(0, MOST_LISTED)
          .map(([id, status]) => (
            <li key={id}>
              <button type="button" className="chosen-link" onClick={() => onChoose({ instance: id })}>
                <Status of={status} short />
                <span>{id}</span>
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Operations({ data }: { data: DescribedInstance }): ReactNode {
  if (!data.operations.length) return <p className="muted">No operation was carried out on it.</p>;
  return (
    <ul className="chosen-list">
      {data.operations.map((one) => (
        <li key={one.operation} className="chosen-row">
          <Status of={one.failed ? "failed" : "done"} short />
          <span>{one.operation}</span>
          <Time at={one.at} />
        </li>
      ))}
    </ul>
  );
}

function History({ of, events }: { of: EnsembleNamed; events: readonly TaskLine[] }): ReactNode {
  if (!events.length) return <p className="muted">Nothing is recorded of it.</p>;
  return (
    <ol className="chosen-list">
      {events.map((one) => (
        <li key={one.id} className="chosen-row">
          <Status of={one.outcome} short />
          <span>
            <Link href={ensembleAddress(of, `jobs/${one.job}`)}>{one.operation}</Link>
            {one.seconds !== null && (
              <span className="muted"> {one.seconds < 1 ? "under 1 s" : exactSpan(one.seconds)}</span>
            )}
            {one.summary && <span className="chosen-summary">{one.summary}</span>}
          </span>
          <Time at={one.start} />
        </li>
      ))}
    </ol>
  );
}

// ----------------------------------------------------------------------------------------------------------- a box

interface BoxPanelProps {
  of: EnsembleNamed;
  dots: Dots;
  at: number;
  onChoose: (chosen: Chosen) => void;
  onOpen: (box: string, isOpen: boolean) => void;
}

function BoxPanel({ of, dots, at, onChoose, onOpen }: BoxPanelProps): ReactNode {
  const box = dots.topology.boxes[at];
  const counts = dots.counts(at);
  const isGroup = box?.kind === "group";
  const isOpen = dots.topology.boxes.some((one) => one.parent === box?.id);
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/nodes/{name}",
    { path: { ...of, name: `node:${box?.id ?? ""}` } },
    { off: isGroup },
  );
  useAgain(dots, WORST_FIRST.map((tone) => counts[tone]).join(" "), () =>
    isGroup ? Promise.resolve() : found.refetch(),
  );
  if (!box) return null;
  const instances = dots.inBox[at] ?? [];
  return (
    <>
      <Heading name={box.title} onClose={() => onChoose(undefined)}>
        {WORST_FIRST.filter((tone) => counts[tone]).map((tone) => (
          <Status key={tone} of={tone}>
            <span className="figure">{counts[tone].toLocaleString("en")}</span> {tone}
          </Status>
        ))}
      </Heading>
      {(box.folded || isOpen) && (
        <p className="chosen-fold">
          <button type="button" className="button" aria-expanded={isOpen} onClick={() => onOpen(box.id, !isOpen)}>
            {isOpen ? "Fold" : "Open"}
          </button>
          <span className="muted">
            {isGroup
              ? `${box.nodes.toLocaleString("en")} nodes`
              : `${(box.nodes - 1).toLocaleString("en")} nodes in it`}
          </span>
        </p>
      )}
      {isGroup ? (
        <p className="muted">{shortType(box.type)}</p>
      ) : (
        <Wait for={found} title={`${box.title} could not be read`} lines={6}>
          {(data) => ("instance" in data ? null : <NodeFacts of={of} data={data} />)}
        </Wait>
      )}
      <h3>Instances</h3>
      {instances.length ? (
        <InstanceList dots={dots} numbers={instances} onChoose={onChoose} />
      ) : (
        <p className="muted">No instance of it exists.</p>
      )}
    </>
  );
}

function NodeFacts({ of, data }: { of: EnsembleNamed; data: DescribedNode }): ReactNode {
  const ensemble = useLook(SHOW, { path: { ...of } });
  const unable = useUnable(ensemble.data?.data.allowed, of.project)("plan");
  const { node } = data;
  return (
    <>
      {data.description && <p>{data.description}</p>}
      <dl className="pairs">
        <Pair name="Type">
          <span title={data.type}>{shortType(data.type)}</span>
        </Pair>
        {data.declared && (
          <Pair name="Declared">
            <Copy label="place" text={data.declared} />
          </Pair>
        )}
        {data.wanted !== null && <Pair name="Wanted">{data.wanted}</Pair>}
        {data.kept && (
          <Pair name="Scaled to">
            {data.kept.count} instead of {data.kept.over}, by job{" "}
            <Link href={ensembleAddress(of, `jobs/${data.kept.job}`)} className="mono">
              {data.kept.job}
            </Link>
          </Pair>
        )}
        {(data.optional || data.protected || data.orphaned) && (
          <Pair name="Marks">
            {data.optional && <Badge>optional</Badge>} {data.protected && <Badge>protected</Badge>}{" "}
            {data.orphaned && <Badge tone="degraded">no longer in the service</Badge>}
          </Pair>
        )}
        {Object.entries(data.requirements).map(([name, target]) => (
          <Pair key={name} name={name}>
            {target}
          </Pair>
        ))}
      </dl>
      <div className="chosen-actions">
        <Action does={askAddress(of, "scale", { names: node })} unable={unable}>
          Scale
        </Action>
        <Action does={askAddress(of, "run", { node })} unable={unable}>
          Run operation
        </Action>
        <Menu
          label={
            <>
              More <span aria-hidden="true">▾</span>
            </>
          }
          name={`More actions for ${node}`}
          opensByKey
          items={(["start", "stop", "restart", "heal", "check"] as const).map((workflow) => ({
            label: `${workflow[0]?.toUpperCase()}${workflow.slice(1)}…`,
            does: askAddress(of, workflow, { [workflow === "heal" ? "instances" : "names"]: node }),
            unable,
          }))}
        />
      </div>
      {data.events.length > 0 && (
        <details>
          <summary>Last changes</summary>
          <History of={of} events={data.events} />
        </details>
      )}
    </>
  );
}
