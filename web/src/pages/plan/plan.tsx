import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation, useSearch } from "wouter";

import type { AskedPlan, PlanHead } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { announce } from "../../parts/announce.ts";
import { askAddress, type EnsembleNamed, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { Findings, NextSteps } from "../../parts/problem.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { Loading, Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import { plural, RISKS, titleOf, WORDS } from "./changes.ts";
import { Changes } from "./changes.tsx";
import { Decisions } from "./decisions.tsx";
import { PlanFile } from "./file.tsx";
import { PlanGraph } from "./graph.tsx";
import { Inputs } from "./inputs.tsx";
import { Order } from "./order.tsx";
import "./plan.css";

export interface PlanProps {
  of: EnsembleNamed;
  plan: AskedPlan;
}

const SHOW = "GET /projects/{project}/ensembles/{ensemble}/plans/{id}";
const TABS = [
  { id: "changes", label: "Changes" },
  { id: "order", label: "Order" },
  { id: "graph", label: "Graph" },
  { id: "inputs", label: "Inputs" },
  { id: "file", label: "File" },
] as const;
type TabName = (typeof TABS)[number]["id"];

/** Page 3: a plan; what happens, why, in which order. It is approved and applied here and nowhere else. */
export default function PlanPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const id = params["id"] ?? "";
  const found = useLook(
    SHOW,
    { path: { ...of, id } },
    // Whether it is fresh is up to the others.
    { topics: [`plan:${of.project}/${of.ensemble}/${id}`, `plans:${of.project}/${of.ensemble}`] },
  );
  return (
    <EnsemblePage of={of} page="Plan">
      <Wait for={found} title="The plan could not be read" lines={6}>
        {(plan) => <Plan of={of} plan={plan} />}
      </Wait>
    </EnsemblePage>
  );
}

/** The states in which what the plan does is known. */
function isMade(plan: AskedPlan): boolean {
  return plan.totals !== null && plan.state !== "empty" && plan.state !== "planning";
}

function Plan({ of, plan }: PlanProps): ReactNode {
  const store = useQueryClient();
  const before = useRef(plan.state);
  useEffect(() => {
    if (before.current === plan.state) return;
    before.current = plan.state;
    announce(`the plan is ${plan.state}`);
    void store.invalidateQueries({ queryKey: ["GET /inbox"] });
  }, [plan.state, store]);
  return (
    <>
      <div className="plan-head">
        <h2>{titleOf(plan.workflow)}</h2>
        <Status of={plan.state === "applied" && plan.job_status ? plan.job_status : plan.state}>
          {stateText(plan)}
        </Status>
        <span className="muted">
          by {plan.by.kind === "user" ? plan.by.name : `${plan.by.kind} ${plan.by.name}`}, <Time at={plan.created} />
        </span>
        <Fresh plan={plan} />
        <Decisions of={of} plan={plan} />
      </div>
      {plan.comment && <p className="plan-comment">“{plan.comment}”</p>}
      <Where of={of} plan={plan} />
      {isMade(plan) && <Made of={of} plan={plan} />}
    </>
  );
}

function stateText(plan: AskedPlan): string {
  if (plan.state === "applied") return plan.job_status ? `job ${plan.job_status}` : "applied";
  if (plan.state === "waiting") return "waits for approval";
  if (plan.state === "planning") return "is being made";
  if (plan.state === "empty") return "nothing to do";
  return plan.state;
}

/** Whether it is still for what is there. */
function Fresh({ plan }: { plan: AskedPlan }): ReactNode {
  if (plan.fresh === "fresh") return <span className="muted">valid: nothing has changed since</span>;
  if (plan.fresh === "moved") {
    return <Badge tone="degraded">moved on: a job has run since; it is compared again before it begins</Badge>;
  }
  if (plan.fresh === "stale") return <Badge tone="error">stale: what it depends on has changed; plan again</Badge>;
  return null;
}

/** How far it has come, and what it waits for. */
function Where({ of, plan }: PlanProps): ReactNode {
  const { queue, problem, job } = plan;
  return (
    <>
      {plan.state === "planning" && <Loading label="the plan is being made" lines={6} />}
      {queue && plan.state === "queued" && (
        <p className="plan-where" role="status">
          {queue.place === 1 ? (
            "Next in the queue of the ensemble"
          ) : (
            <>
              Place <span className="figure">{queue.place}</span> in the queue
            </>
          )}
          {queue.frozen ? (
            <>, held by a freeze: {queue.frozen}</>
          ) : queue.holder ? (
            <>, waits for {queue.holder}</>
          ) : null}
        </p>
      )}
      {job && (
        <p className="plan-where">
          <Link className="button main" href={ensembleAddress(of, `jobs/${job}`)}>
            {plan.state === "running" ? "Follow the job" : "See the job"}
          </Link>
          <span className="mono muted">{job}</span>
          {plan.applied_by && <span className="muted">applied by {plan.applied_by}</span>}
        </p>
      )}
      {plan.state === "empty" && (
        <section className="empty">
          <h3>There is nothing to do</h3>
          <p className="muted">Everything is as it is to be.</p>
        </section>
      )}
      {problem && (
        <section className="problem" role="alert">
          <h3>
            <span className="mark" aria-hidden="true">
              ✖
            </span>{" "}
            {PROBLEMS[plan.state] ?? "It was not carried out"}
          </h3>
          <p>{problem.failure.message}</p>
          {problem.failure.hint && (
            <p className="hint">
              <span className="muted">What helps: </span>
              {problem.failure.hint}
            </p>
          )}
          <Findings of={problem.diagnostics} />
          <NextSteps of={problem.failure.next ?? []} />
        </section>
      )}
      {UNDONE.has(plan.state) && (
        <p className="plan-where">
          <Link className="button" href={askAddress(of, plan.workflow, { again: plan.id })}>
            Plan again
          </Link>
        </p>
      )}
    </>
  );
}

/** The states in which a plan was given up. */
const UNDONE: ReadonlySet<string> = new Set(["stale", "rejected", "refused", "faulty", "discarded"]);

const PROBLEMS: Readonly<Record<string, string>> = {
  refused: "It cannot be done so",
  faulty: "The plan could not be made",
  stale: "What it depends on has changed",
};

/** The plan itself. */
function Made({ of, plan }: PlanProps): ReactNode {
  const [here, go] = useLocation();
  const search = new URLSearchParams(useSearch());
  const chosen = TABS.find(({ id }) => id === search.get("tab"))?.id ?? "changes";
  const path = { ...of, id: plan.id };
  const head = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/plan",
    { path, query: { part: "head" } },
    {},
  );
  const choose = (tab: TabName): void => go(tab === "changes" ? here : `${here}?tab=${tab}`, { replace: true });
  return (
    <>
      <Totals plan={plan} />
      <Findings of={plan.findings} />
      <Wait for={head} title="What the plan does could not be read" lines={4}>
        {(data) => {
          const about = data as PlanHead;
          return (
            <>
              <Notes head={about} />
              <Tabs label="Parts of the plan" tabs={TABS} chosen={chosen} onChoose={choose}>
                {chosen === "changes" && <Changes path={path} plan={plan} head={about} />}
                {chosen === "order" && <Order path={path} plan={plan} head={about} />}
                {chosen === "graph" && <PlanGraph path={path} />}
                {chosen === "inputs" && <Inputs head={about} />}
                {chosen === "file" && <PlanFile path={path} plan={plan} />}
              </Tabs>
            </>
          );
        }}
      </Wait>
    </>
  );
}

/** What it does in numbers, and what should be known first. */
function Totals({ plan }: { plan: AskedPlan }): ReactNode {
  const { totals } = plan;
  if (!totals) return null;
  const counts = [
    ["+", totals.made],
    ["~", totals.changed],
    ["-/+", totals.replaced],
    ["-", totals.removed],
    ["?", totals.looked_at],
  ] as const;
  const none = counts.every(([, count]) => !count);
  return (
    <div className="plan-totals">
      <ul>
        {counts.map(([symbol, count]) =>
          count ? (
            <li key={symbol} className={`tone-${WORDS[symbol]?.tone}`}>
              <span className="mono">{symbol}</span> <strong>{count}</strong> {WORDS[symbol]?.done}
            </li>
          ) : null,
        )}
        {none && <li className="muted">no instance changes</li>}
        <li>
          {plural(totals.operations, "operation")} in {plural(totals.waves, "wave")}
        </li>
        {totals.delegated > 0 && <li>{totals.delegated} by providers</li>}
        {totals.unchanged > 0 && <li className="muted">{totals.unchanged} unchanged</li>}
      </ul>
      {plan.risks.length > 0 && (
        <ul aria-label="Risks">
          {plan.risks.map((risk) => (
            <li key={risk}>
              <Badge tone="degraded">▲ {RISKS[risk] ?? risk}</Badge>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** What the plan says beside its lists. */
function Notes({ head }: { head: PlanHead }): ReactNode {
  const notes: ReactNode[] = [
    ...(head.unfinished ? [<>job {head.unfinished} was interrupted and must be resumed first</>] : []),
    ...head.warnings,
    ...head.outages.map((one) => (
      <>
        <strong>{one.node}</strong>: {one.instances === 1 ? "its instance is" : `all ${one.instances} instances are`}{" "}
        down at one time: {one.reason}
      </>
    )),
    ...(head.back_to ? [<>goes back to revision {head.back_to}</>] : []),
    ...(head.part
      ? [
          <>
            is for a part of the service; {plural(head.left_out.length, "further change")} would be made for all of it
          </>,
        ]
      : []),
    ...(head.kept.length ? [<>keeps {head.kept.map((one) => `${one.instance} (${one.reason})`).join(", ")}</>] : []),
    ...(head.not_permitted.length
      ? [<>data of {head.not_permitted.join(", ")} would be lost, which was not permitted when it was asked for</>]
      : []),
    ...(head.held
      ? [
          <>
            operations wait for each other on {Object.keys(head.held.hosts).join(", ")}: without that it had{" "}
            {plural(head.held.otherwise, "wave")}
          </>,
        ]
      : []),
  ];
  if (!notes.length) return null;
  return (
    <ul className="plan-notes" aria-label="Notes">
      {notes.map((note, at) => (
        <li key={at}>
          <span className="tone-degraded" aria-hidden="true">
            ▲{" "}
          </span>
          {note}
        </li>
      ))}
    </ul>
  );
}
