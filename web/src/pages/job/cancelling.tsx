import { type ReactNode, useState } from "react";

import { useChange } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { announce } from "../../parts/announce.ts";
import { Confirm } from "../../parts/dialog.tsx";
import type { Course } from "./course.ts";
import type { JobPath } from "./use-course.ts";

interface CancellingProps {
  of: JobPath;
  course: Course;
  allowed: readonly string[] | undefined;
}

/** Ending a job before its time, or going on with one that was interrupted. Once asked to end, it can be ended now. */
export function Cancelling({ of, course, allowed }: CancellingProps): ReactNode {
  const unable = useUnable(allowed, of.project);
  const [isAsked, setAsked] = useState(false);
  const [isOpen, setOpen] = useState<"cancel" | "resume">();
  const cancel = useChange("POST /projects/{project}/ensembles/{ensemble}/jobs/{job}/cancel");
  const resume = useChange("POST /projects/{project}/ensembles/{ensemble}/jobs/{job}/resume");
  if (course.isOver) return null;
  const isInterrupted = course.status === "interrupted";
  const running = (course.counts["r"] ?? 0) + (course.counts["w"] ?? 0);
  const rest = Math.max(0, course.total - course.done - running);
  const asked = course.cancelled;
  const isNow = (isAsked || asked !== null) && !isInterrupted;
  return (
    <>
      {isInterrupted && (
        <Action className="button main" does={() => setOpen("resume")} unable={unable("control")}>
          Resume…
        </Action>
      )}
      {isNow && (
        <span className="muted" role="status">
          it is ending{asked && `: ${askedBy(asked)}`}
        </span>
      )}
      <Action className={isNow ? "button danger" : "button"} does={() => setOpen("cancel")} unable={unable("control")}>
        {isNow ? "End now…" : "Cancel…"}
      </Action>
      {isOpen === "resume" && (
        <Confirm
          title={`Go on with ${course.workflow} ${of.job}`}
          does="Resume"
          onConfirm={() => resume.mutateAsync({ path: { ...of }, body: {} })}
          onClose={() => setOpen(undefined)}
        >
          What has been done is not done again. {steps(rest + running)} {rest + running === 1 ? "is" : "are"} left.
        </Confirm>
      )}
      {isOpen === "cancel" && (
        <Confirm
          title={isNow ? `End ${course.workflow} ${of.job} now` : `Cancel ${course.workflow} ${of.job}`}
          does={isNow ? `End ${steps(running)} now` : "Cancel the job"}
          danger
          onConfirm={async () => {
            await cancel.mutateAsync({ path: { ...of }, body: { now: isNow } });
            announce(isNow ? "what runs is ended" : "the job is told to end");
            setAsked(true);
          }}
          onClose={() => setOpen(undefined)}
        >
          {isInterrupted
            ? `Nobody runs it: it is closed. ${steps(rest)} will not be run.`
            : isNow
              ? `${steps(running)} that ${running === 1 ? "runs is" : "run are"} killed, whatever they are doing. What they did until then is not known, and is shown as that.`
              : `${steps(running)} that ${running === 1 ? "runs" : "run"} may finish; ${steps(rest)} will not begin. What is done stays.`}
        </Confirm>
      )}
    </>
  );
}

/** By whom a job was asked to end and how, or why. */
export function askedBy({ by, now, because }: NonNullable<Course["cancelled"]>): string {
  return `${by ? `asked by ${by}` : because}${now ? ", at once" : ""}`;
}

function steps(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "step" : "steps"}`;
}
