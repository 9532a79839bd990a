import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";

import { ask } from "../api/ask.ts";
import { asProblem } from "../api/problem.ts";
import type { EnsembleData, EnsembleSummary, FreezeData } from "../api/types.ts";
import { lookKey, useChange, useLook, useTitle } from "../api/use.ts";
import { usePaced } from "../live/paced.ts";
import type { StreamEvent } from "../live/parse.ts";
import { useTopic } from "../live/use.ts";
import { Action, useUnable } from "./action.tsx";
import { Confirm } from "./dialog.tsx";
import { Empty } from "./empty.tsx";
import { Field } from "./form.tsx";
import { Menu } from "./menu.tsx";
import { ProblemPart } from "./problem.tsx";
import { Progress, Status } from "./status.tsx";
import { LinkTabs } from "./tabs.tsx";
import { Time } from "./time.tsx";
import "./ensemble-head.css";

const SHOW = "GET /projects/{project}/ensembles/{ensemble}";

export interface EnsembleNamed {
  project: string;
  ensemble: string;
}

/** The names of an ensemble, from the address of a page of it. */
export function namedIn(params: Record<string, string>): EnsembleNamed {
  return { project: params["project"] ?? "", ensemble: params["ensemble"] ?? "" };
}

/** The address of an ensemble, or of a page of it. */
export function ensembleAddress({ project, ensemble }: EnsembleNamed, page = ""): string {
  return `/e/${project}/${ensemble}${page && `/${page}`}`;
}

/** The address of the form that asks for a workflow: `askAddress(of, "heal", { instances: "web_2" })`. */
export function askAddress(
  of: EnsembleNamed,
  workflow: string,
  values: Record<string, string | string[]> = {},
): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) for (const one of [value].flat()) words.append(name, one);
  return ensembleAddress(of, `ask/${workflow}`) + (words.size ? `?${words}` : "");
}

/** What to do with an event of the topic of an ensemble: it reads the ensemble in short again, now and then. */
export function useEnsembleAgain({ project, ensemble }: EnsembleNamed): (event?: StreamEvent) => void {
  const store = useQueryClient();
  const key = lookKey(SHOW, { path: { project, ensemble } });
  const again = usePaced(() => store.invalidateQueries({ queryKey: key, exact: true }));
  return (event) => again(isEnd(event));
}

/** Whether an event says that nobody works on the ensemble any more. */
export function isEnd(event: StreamEvent | undefined): boolean {
  return event?.type === "ensemble.changed" && event.data["holder"] === null;
}

interface EnsemblePageProps {
  of: EnsembleNamed;
  /** What this page of the ensemble is called, as in "Jobs" or "Job A6BM5PEY0000". */
  page: string;
  /** The page follows the topic of the ensemble itself, and hands its events to `useEnsembleAgain`. */
  isFollowed?: boolean;
  children: ReactNode;
}

/** What stands around every page of an ensemble: its name and how it is, what can be done, its tabs, its freezes. */
export function EnsemblePage({ of, page, isFollowed = false, children }: EnsemblePageProps): ReactNode {
  const name = `${of.project}/${of.ensemble}`;
  useTitle(page === "Topology" ? name : `${page} · ${name}`);
  const found = useLook(SHOW, { path: { ...of } });
  const again = useEnsembleAgain(of);
  const isGone = found.isError && asProblem(found.error).status === 404;
  useTopic(isFollowed || isGone ? "" : `ensemble:${name}`, found.data?.cursor, again, again);
  if (isGone) return <Gone name={name} error={found.error} />;
  const data = found.data?.data;
  return (
    <>
      <div className="ensemble-head">
        <h1>
          <span className="muted">{of.project} / </span>
          {of.ensemble}
          <span className="unseen">, {page}</span>
        </h1>
        {data && <Facts of={data} />}
        <Actions of={of} allowed={data?.allowed} />
      </div>
      {found.isError && (
        <ProblemPart
          error={found.error}
          title="How the ensemble is could not be read"
          onAgain={() => void found.refetch()}
        />
      )}
      {data?.problem && <Unreadable detail={data.problem} />}
      <Freezes of={of} allowed={data?.allowed} />
      <div className="ensemble-tabs">
        <LinkTabs
          label={`Pages of ${name}`}
          tabs={TABS.map(([label, at]) => ({ label, address: ensembleAddress(of, at) }))}
        />
        <Queue of={of} holder={data?.holder ?? null} />
      </div>
      {children}
    </>
  );
}

const TABS: readonly [label: string, at: string][] = [
  ["Topology", ""],
  ["Jobs", "jobs"],
  ["Revisions", "revisions"],
  ["Plans", "plans"],
  ["Policies", "policies"],
  ["Source", "source"],
  ["Settings", "settings"],
];

function Gone({ name, error }: { name: string; error: unknown }): ReactNode {
  return (
    <>
      <h1>{name}</h1>
      <Empty title="There is nothing here">
        <ProblemPart error={error} />
        <Link href="/" className="button">
          All ensembles
        </Link>
      </Empty>
    </>
  );
}

function Unreadable({ detail }: { detail: string }): ReactNode {
  return (
    <section className="problem" role="alert">
      <h3>
        <span className="mark" aria-hidden="true">
          ✖
        </span>{" "}
        The ensemble cannot be read
      </h3>
      <p>{detail}</p>
    </section>
  );
}

/** How it is, in a line: status, revision, service, environment. */
function Facts({ of: data }: { of: EnsembleData }): ReactNode {
  const { summary } = data;
  return (
    <ul className="ensemble-facts">
      <li>
        <Status
          of={data.problem ? "unreadable" : (summary?.status ?? (data.exists ? "unknown" : "absent"))}
          {...(data.problem ? { tone: "error" } : {})}
        />
      </li>
      {summary?.job && <RunningJob of={data} job={summary.job} />}
      {summary && summary.revision > 0 && (
        <li>
          revision <span className="figure">{summary.revision}</span>
        </li>
      )}
      {serviceOf(data) && <li>{serviceOf(data)}</li>}
      {summary?.environment && <li>environment {summary.environment}</li>}
    </ul>
  );
}

function RunningJob({ of, job }: { of: EnsembleData; job: NonNullable<EnsembleSummary["job"]> }): ReactNode {
  const address = ensembleAddress({ project: of.project, ensemble: of.name }, `jobs/${job.job}`);
  return (
    <li className="ensemble-running">
      <Link href={address}>{job.workflow}</Link>
      <Progress done={job.done} of={job.steps} label={`${job.workflow}, how far`} />
    </li>
  );
}

/** The service, with the version under which its package is known. */
function serviceOf(data: EnsembleData): string {
  return data.package_labels[0]?.replace(":", " ") ?? data.summary?.service ?? "";
}

/** What can be planned from everywhere in an ensemble; each leads to its form. */
const PLANS: readonly [label: string, workflow: string][] = [
  ["Deploy…", "deploy"],
  ["Upgrade…", "upgrade"],
  ["Heal…", "heal"],
  ["Check for drift…", "check"],
  ["Start…", "start"],
  ["Stop…", "stop"],
  ["Restart…", "restart"],
  ["Run a workflow…", "workflow"],
  ["Undeploy…", "undeploy"],
];

function Actions({ of, allowed }: { of: EnsembleNamed; allowed: readonly string[] | undefined }): ReactNode {
  const unable = useUnable(allowed, of.project);
  const freezes = useFreezes(of);
  const [isFreezing, setFreezing] = useState(false);
  return (
    <div className="ensemble-actions">
      <Menu
        label={
          <>
            Plan <span aria-hidden="true">▾</span>
          </>
        }
        name="Plan"
        items={PLANS.map(([label, workflow]) => ({
          label,
          does: askAddress(of, workflow),
          danger: workflow === "undeploy",
          unable: unable("plan"),
        }))}
      />
      <Action does={askAddress(of, "run")} unable={unable("plan")}>
        Run operation
      </Action>
      <Action does={askAddress(of, "scale")} unable={unable("plan")}>
        Scale
      </Action>
      {!freezes.some((one) => one.ensemble) && (
        <Action does={() => setFreezing(true)} unable={unable("control")}>
          Freeze
        </Action>
      )}
      {isFreezing && <Freezing of={of} onClose={() => setFreezing(false)} />}
    </div>
  );
}

/** The freezes that hold for an ensemble: of the server, of its project, its own. */
function useFreezes({ project, ensemble }: EnsembleNamed): FreezeData[] {
  const found = useLook("GET /freeze", {}, { topics: ["ensembles"] });
  return (found.data?.data.items ?? []).filter(
    (one) => !one.project || (one.project === project && (!one.ensemble || one.ensemble === ensemble)),
  );
}

function Freezes({ of, allowed }: { of: EnsembleNamed; allowed: readonly string[] | undefined }): ReactNode {
  const freezes = useFreezes(of);
  const unable = useUnable(allowed, of.project);
  const [isEnding, setEnding] = useState(false);
  const end = useChange("DELETE /projects/{project}/ensembles/{ensemble}/freeze", ["GET /freeze"]);
  return (
    <>
      {freezes.map((one) => (
        <div key={`${one.project}/${one.ensemble}`} className="ensemble-freeze" role="status">
          <p>
            <span aria-hidden="true">❙❙ </span>
            <strong>
              {one.ensemble ? "Frozen" : one.project ? `The project ${one.project} is frozen` : "The server is frozen"}
            </strong>{" "}
            by {one.by}, <Time at={one.since} />
            {one.until ? (
              <>
                , ends <Time at={one.until} />
              </>
            ) : null}
            : {one.reason}
          </p>
          {one.ensemble && (
            <Action does={() => setEnding(true)} unable={unable("control")}>
              End the freeze
            </Action>
          )}
        </div>
      ))}
      {isEnding && (
        <Confirm
          title={`End the freeze of ${of.project}/${of.ensemble}`}
          does="End the freeze"
          onConfirm={() => end.mutateAsync({ path: { ...of } })}
          onClose={() => setEnding(false)}
        >
          Plans that wait for it are carried out in their order.
        </Confirm>
      )}
    </>
  );
}

function Freezing({ of, onClose }: { of: EnsembleNamed; onClose: () => void }): ReactNode {
  const store = useQueryClient();
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("");
  const freeze = async (): Promise<void> => {
    const body = { reason, ...(hours ? { hours: Number(hours) } : {}) };
    await ask("PUT /projects/{project}/ensembles/{ensemble}/freeze", { path: { ...of }, body });
    await store.invalidateQueries({ queryKey: ["GET /freeze"] });
  };
  return (
    <Confirm title={`Freeze ${of.project}/${of.ensemble}`} does="Freeze" onConfirm={freeze} onClose={onClose}>
      <div className="form">
        <p>Nothing begins here until the freeze ends; what runs goes on. Plans can be made and approved, and wait.</p>
        <Field label="Reason" hint="What others read who wait">
          {(control) => (
            <input {...control} required value={reason} onChange={(event) => setReason(event.target.value)} />
          )}
        </Field>
        <Field label="Hours" hint="After which it ends by itself; empty for until somebody ends it">
          {(control) => (
            <input
              {...control}
              type="number"
              min="0.1"
              step="any"
              value={hours}
              onChange={(event) => setHours(event.target.value)}
            />
          )}
        </Field>
      </div>
    </Confirm>
  );
}

const PLANS_OF = "GET /projects/{project}/ensembles/{ensemble}/plans";

/** What runs, what waits, and who holds the lock. */
function Queue({ of, holder }: { of: EnsembleNamed; holder: string | null }): ReactNode {
  const found = useLook(
    PLANS_OF,
    { path: { ...of }, query: { state: "open", limit: 500 } },
    { topics: [`plans:${of.project}/${of.ensemble}`] },
  );
  const states = found.data?.data.items.map((one) => one.state) ?? [];
  const count = (...wanted: string[]): number => states.filter((state) => wanted.includes(state)).length;
  const parts = [
    [count("starting", "running"), "running"],
    [count("queued"), "in the queue"],
    [count("waiting"), "waiting for approval"],
    [count("ready"), "ready"],
  ] as const;
  const told = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return (
    <p className="ensemble-queue">
      {holder && <span>held by {holder}</span>}
      {told.length > 0 && (
        <Link href={ensembleAddress(of, "plans")}>
          <span className="figure">plans: {told.join(", ")}</span>
        </Link>
      )}
    </p>
  );
}
