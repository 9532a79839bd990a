import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link } from "wouter";

import { useLook } from "../../api/use.ts";
import { announce } from "../../parts/announce.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { exactSpan } from "../../parts/moment.ts";
import { ProblemPart } from "../../parts/problem.tsx";
import { Split } from "../../parts/split.tsx";
import { Progress, Status } from "../../parts/status.tsx";
import { Time, useNow } from "../../parts/time.tsx";
import { Loading, Wait } from "../../parts/wait.tsx";
import { useWords } from "../../parts/words.ts";
import { useKeys } from "../../shell/keys.ts";
import { LogView } from "../log/log-part.tsx";
import type { PageProps } from "../routes.ts";
import { askedBy, Cancelling } from "./cancelling.tsx";
import { ChosenStep } from "./chosen-step.tsx";
import type { Course } from "./course.ts";
import { Downloads } from "./downloads.tsx";
import { Failures } from "./failures.tsx";
import { headOf, type JobHead } from "./head.ts";
import { Now } from "./now.tsx";
import { StepsTable } from "./steps-table.tsx";
import { Timeline } from "./timeline.tsx";
import { type JobPath, useCourse } from "./use-course.ts";
import { useIsNarrow } from "./use-narrow.ts";
import "./job.css";

const SHOW = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}";
const STEPS = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/steps";

/** Page 4: a job, while it runs and afterwards. */
export default function JobPage({ params }: PageProps): ReactNode {
  const named = namedIn(params);
  const path: JobPath = { ...named, job: params["job"] ?? "" };
  const found = useLook(SHOW, { path: { ...path }, query: { most: 0, printed: false } });
  return (
    <EnsemblePage of={named} page={`Job ${path.job}`}>
      <Wait for={found} title="The job could not be read" lines={6}>
        {(data) => {
          const head = headOf(data);
          return <Job of={{ ...named, job: head.job }} head={head} />;
        }}
      </Wait>
    </EnsemblePage>
  );
}

function Job({ of, head }: { of: JobPath; head: JobHead }): ReactNode {
  const store = useQueryClient();
  const [words, change] = useWords();
  const ensemble = useLook("GET /projects/{project}/ensembles/{ensemble}", {
    path: { project: of.project, ensemble: of.ensemble },
  });
  const allowed = ensemble.data?.data.allowed;
  const { found, revision } = useCourse(of, head.isOver, (news) => {
    void store.invalidateQueries({ queryKey: [STEPS] });
    if (news === "again") void store.invalidateQueries({ queryKey: [SHOW] });
  });
  const course = found.data?.data;
  const hasEnded = course?.isOver === true && !head.isOver;
  useEffect(() => {
    // Its last event is told a moment before its record is there.
    if (!hasEnded) return undefined;
    const timer = setInterval(() => void store.invalidateQueries({ queryKey: [SHOW] }), 1_000);
    return () => clearInterval(timer);
  }, [hasEnded]);
  const chosen = words.get("step") ?? "";
  const choose = (id: string): void => change({ step: id, line: "", instance: "", operation: "" });
  useSpoken(course, revision);
  useKeys("Job", {
    "[": { does: "previous failure", run: () => goToFailure(-1) },
    "]": { does: "next failure", run: () => goToFailure(1) },
    t: { does: "timeline or table", run: () => change({ as: words.get("as") === "table" ? "" : "table" }) },
  });
  const goToFailure = (by: 1 | -1): void | false => {
    const all = course?.failures() ?? [];
    if (!course || !all.length) return false;
    const at = chosen ? all.indexOf(course.lastOf(chosen)) : -1;
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length;
    const id = course.id(all[next]!);
    change({ step: id, line: "", instance: "", operation: "" });
    announce(`failure ${next + 1} of ${all.length}: ${id}`);
  };
  return (
    <>
      <Head of={of} head={head} course={course} allowed={allowed} />
      {course && <Failures of={of} course={course} allowed={allowed} chosen={chosen} onChoose={choose} />}
      {course && <Now course={course} onChoose={choose} />}
      <Split label="width of the timeline" initial={58}>
        <div className="job-steps">
          {found.isError && (
            <ProblemPart
              error={found.error}
              title="What it did could not be read"
              onAgain={() => void found.refetch()}
            />
          )}
          {course ? (
            <Steps course={course} revision={revision} chosen={chosen} onChoose={choose} />
          ) : found.isError ? null : (
            <Loading label="the steps are being read" lines={8} />
          )}
        </div>
        <div className="job-log">
          {course && chosen && (
            <ChosenStep
              of={of}
              id={chosen}
              instance={instanceOf(course, chosen)}
              letter={letterOf(course, chosen)}
              onClose={() => change({ step: "", line: "" })}
            />
          )}
          <LogView of={of} isOver={course ? course.isOver : head.isOver} />
          <Link className="job-log-alone" href={ensembleAddress(of, `jobs/${of.job}/log`) + window.location.search}>
            The log alone
          </Link>
        </div>
      </Split>
    </>
  );
}

function instanceOf(course: Course, id: string): string {
  const bar = course.lastOf(id);
  return bar < 0 || course.bar(bar).instance === id ? "" : course.bar(bar).instance;
}

function letterOf(course: Course, id: string): string {
  const bar = course.lastOf(id);
  return bar < 0 ? "" : course.bar(bar).letter;
}

interface HeadProps {
  of: JobPath;
  head: JobHead;
  course: Course | undefined;
  allowed: readonly string[] | undefined;
}

function Head({ of, head, course, allowed }: HeadProps): ReactNode {
  const status = course?.status ?? head.status;
  return (
    <header className="job-head">
      <div className="job-title">
        <h2>{head.workflow}</h2>
        <Copy text={head.job} label="job id" />
        <Status of={status} />
        {course && !course.isOver && <HowFar course={course} label={`${head.workflow}, how far`} />}
        {head.isRollingBack && <span className="tone-degraded">being rolled back</span>}
        <div className="job-actions">
          {course && <Cancelling of={of} course={course} allowed={allowed} />}
          <Downloads of={of} />
        </div>
      </div>
      <p className="job-facts">
        <span>
          began <Time at={head.began} />
        </span>
        {head.seconds !== undefined && <span className="figure">took {exactSpan(head.seconds)}</span>}
        {head.summary ? (
          <span>{head.summary}</span>
        ) : (
          course?.isOver && <span className="figure">{countsOf(course)}</span>
        )}
        {head.by && <span>asked by {head.by}</span>}
        {head.approvedBy.length > 0 && <span>approved by {head.approvedBy.join(", ")}</span>}
        {course?.isOver && course.cancelled && <span>cancelled, {askedBy(course.cancelled)}</span>}
        {head.cause && <span>because of {head.cause}</span>}
        {head.plan && (
          <span>
            <Link href={ensembleAddress(of, `plans/${head.plan}`)}>its plan</Link>
          </span>
        )}
        {head.revision > 0 && <span className="figure">made revision {head.revision}</span>}
      </p>
      {head.rollback && (
        <p className={head.rollback === "complete" ? "muted" : "tone-degraded"}>
          rolled back, {head.rollback}
          {head.remains.length > 0 && `: ${head.remains.join(", ")} could not be taken back`}
        </p>
      )}
      {head.notCommitted.map((one) => (
        <p key={one} className="tone-degraded">
          not committed: {one}
        </p>
      ))}
    </header>
  );
}

function countsOf({ counts }: Course): string {
  const parts = [
    [counts["s"], "succeeded"],
    [counts["f"], "failed"],
    [counts["k"], "skipped"],
    [(counts["n"] ?? 0) + (counts["u"] ?? 0), "did nothing"],
  ] as const;
  return parts
    .filter(([count]) => count)
    .map(([count, word]) => `${count?.toLocaleString("en")} ${word}`)
    .join(", ");
}

/** How far a job has come, for how long, and about how much is left. */
function HowFar({ course, label }: { course: Course; label: string }): ReactNode {
  const now = useNow();
  const left = course.left(now);
  return (
    <span className="job-far">
      <Progress done={course.done} of={course.total} label={label} />
      <span className="figure">
        {course.done.toLocaleString("en")}/{course.total.toLocaleString("en")} steps
      </span>
      <span className="figure">{exactSpan((now - course.t0) / 1000)}</span>
      {left !== undefined && left >= 1 && <span className="figure">about {exactSpan(left)} left</span>}
    </span>
  );
}

/** Reads out how far it is, and how it ended. */
function useSpoken(course: Course | undefined, revision: number): void {
  const before = useRef("");
  useEffect(() => {
    if (!course) return;
    const failed = course.counts["f"] ?? 0;
    const text = course.isOver
      ? `the job is ${course.status}`
      : `${course.done} of ${course.total} steps${failed ? `, ${failed} failed` : ""}`;
    // What was so when the page was opened stands on it.
    if (before.current && before.current !== text) announce(text);
    before.current = text;
  }, [course, revision]);
}

interface StepsProps {
  course: Course;
  revision: number;
  chosen: string;
  onChoose: (id: string) => void;
}

function Steps({ course, revision, chosen, onChoose }: StepsProps): ReactNode {
  const [words, change] = useWords();
  const isNarrow = useIsNarrow();
  const withIdle = words.get("idle") === "yes";
  const text = words.get("q") ?? "";
  const isTable = isNarrow || words.get("as") === "table";
  const rows = course.shownRows(withIdle, text);
  const idle = (course.counts["n"] ?? 0) + (course.counts["u"] ?? 0);
  return (
    <>
      <div className="job-tools">
        <h3 className="unseen">Steps</h3>
        {!isNarrow && (
          <div role="group" aria-label="Steps as" className="job-as">
            <button type="button" className="button" aria-pressed={!isTable} onClick={() => change({ as: "" })}>
              Timeline
            </button>
            <button type="button" className="button" aria-pressed={isTable} onClick={() => change({ as: "table" })}>
              Table
            </button>
          </div>
        )}
        <input
          type="search"
          data-filter
          className="job-filter"
          aria-label="Filter the instances"
          placeholder="instance or operation"
          value={text}
          onChange={(event) => change({ q: event.target.value })}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={withIdle}
            onChange={(event) => change({ idle: event.target.checked ? "yes" : "" })}
          />
          <span>
            What did nothing <span className="count figure">{idle.toLocaleString("en")}</span>
          </span>
        </label>
      </div>
      {rows.length === 0 ? (
        <Nothing course={course} isFiltered={text !== ""} onAll={() => change({ q: "", idle: "yes" })} />
      ) : isTable ? (
        <StepsTable course={course} rows={rows} withIdle={withIdle} chosen={chosen} onChoose={onChoose} />
      ) : (
        <Timeline
          course={course}
          revision={revision}
          rows={rows}
          withIdle={withIdle}
          chosen={chosen}
          onChoose={onChoose}
        />
      )}
    </>
  );
}

function Nothing({ course, isFiltered, onAll }: { course: Course; isFiltered: boolean; onAll: () => void }): ReactNode {
  if (!course.size) return <Empty title={course.isOver ? "It had nothing to do" : "Nothing has begun yet"} />;
  return (
    <Empty title={isFiltered ? "No instance is as the filter says" : "No operation had to run"}>
      <button type="button" className="button" onClick={onAll}>
        Show everything
      </button>
    </Empty>
  );
}
