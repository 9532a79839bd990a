import type { ReactNode } from "react";
import type { StepData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { Copy } from "../../parts/copy.tsx";
import { askAddress } from "../../parts/ensemble-head.tsx";
import { placeText } from "../../parts/place.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { plainOf } from "../log/ansi.ts";
import { type Course, endOf } from "./course.ts";
import type { JobPath } from "./use-course.ts";

/** So many failures are told at length; the others stand in the timeline. */
const AT_LENGTH = 5;

interface FailuresProps {
  of: JobPath;
  course: Course;
  allowed: readonly string[] | undefined;
  chosen: string;
  onChoose: (id: string) => void;
}

/** What failed, first of all: with its last lines, its place, and what can be done next. */
export function Failures({ of, course, allowed, chosen, onChoose }: FailuresProps): ReactNode {
  const count = course.counts["f"] ?? 0;
  const route = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/steps";
  const found = useLook(route, { path: { ...of }, query: { state: "failed", limit: AT_LENGTH } }, { off: !count });
  if (!count) return null;
  const items = found.data?.data.items ?? [];
  return (
    <section className="failures" aria-labelledby="job-failures">
      <h3 id="job-failures">
        <span className="tone-error mark" aria-hidden="true">
          ✖
        </span>{" "}
        <span className="figure">{count}</span> failed
      </h3>
      {found.isError && (
        <ProblemPart error={found.error} title="What failed could not be read" onAgain={() => void found.refetch()} />
      )}
      <ul>
        {items.map((step) => (
          <li key={step.id} className={step.id === chosen ? "failure chosen" : "failure"}>
            <Failure of={of} step={step} course={course} allowed={allowed} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {count > items.length && items.length > 0 && (
        <p className="muted">
          and {(count - items.length).toLocaleString("en")} more: <kbd>]</kbd> goes to the next one
        </p>
      )}
    </section>
  );
}

interface FailureProps {
  of: JobPath;
  step: StepData;
  course: Course;
  allowed: readonly string[] | undefined;
  onChoose: (id: string) => void;
}

function Failure({ of, step, course, allowed, onChoose }: FailureProps): ReactNode {
  const unable = useUnable(allowed, of.project);
  const tail = step.tail ?? [];
  return (
    <>
      <p className="failure-head">
        <button type="button" className="failure-name" onClick={() => onChoose(step.id)}>
          {step.instance} <span className="muted">{step.operation}</span>
        </button>
        <span className="tone-error">{endOf(step.exit_code, step.message)}</span>
        {step.attempts.length > 1 && <span className="muted">{step.attempts.length} attempts</span>}
        {step.declared && (
          <Copy text={step.declared} label="place">
            {placeText(step.declared)}
          </Copy>
        )}
        {step.artifact && <span className="mono muted">{step.artifact}</span>}
      </p>
      {tail.length > 0 && (
        <pre className="failure-tail" tabIndex={0} aria-label={`Last lines of ${step.id}`}>
          {tail.map(plainOf).join("\n")}
        </pre>
      )}
      {course.isOver && (
        <p className="failure-next">
          <span className="muted">Next</span>
          <Action does={askAddress(of, "retry", { job: of.job })} unable={unable("plan")}>
            Retry the job…
          </Action>
          <Action does={askAddress(of, "skip", { job: of.job, step: step.id })} unable={unable("plan")}>
            Skip this step…
          </Action>
          <Action does={askAddress(of, "heal", { instances: step.instance })} unable={unable("plan")}>
            Heal {step.instance}…
          </Action>
        </p>
      )}
    </>
  );
}
