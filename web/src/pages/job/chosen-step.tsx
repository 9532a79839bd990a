import type { ReactNode } from "react";
import type { StepData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Copy } from "../../parts/copy.tsx";
import { Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { endOf } from "./course.ts";
import { told } from "./span.ts";
import type { JobPath } from "./use-course.ts";

interface ChosenStepProps {
  of: JobPath;
  id: string;
  instance: string;
  /** Grows when the step may be otherwise than before. */
  letter: string;
  onClose: () => void;
}

/** Everything about the step that is chosen. */
export function ChosenStep({ of, id, instance, letter, onClose }: ChosenStepProps): ReactNode {
  const route = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/steps";
  // Its state is a part of what is asked, so that it is read again when that changes.
  const found = useLook(
    route,
    { path: { ...of }, query: { q: id, instance, limit: 50, ...stateOf(letter) } },
    { keeps: true },
  );
  return (
    <section className="chosen-step" aria-labelledby="chosen-step">
      <header>
        <h3 id="chosen-step">{id}</h3>
        <button type="button" className="icon" aria-label="Choose no step" title="Choose no step" onClick={onClose}>
          ×
        </button>
      </header>
      <Wait for={found} title="The step could not be read" lines={1}>
        {(data) => {
          const step = data.items.find((one) => one.id === id);
          return step ? <About step={step} /> : <p className="muted">It has not begun.</p>;
        }}
      </Wait>
    </section>
  );
}

const STATES: Record<string, string> = {
  r: "running",
  w: "waiting",
  s: "succeeded",
  n: "no-op",
  f: "failed",
  k: "skipped",
  u: "not needed",
  i: "interrupted",
};

function stateOf(letter: string): { state?: string } {
  const state = STATES[letter];
  return state ? { state } : {};
}

function About({ step }: { step: StepData }): ReactNode {
  return (
    <>
      <dl className="step-facts">
        <Fact name="State">
          <Status of={step.state === "no-op" ? "did nothing" : step.state} tone={STEP_TONES[step.state] ?? "unknown"} />
        </Fact>
        {step.reason && <Fact name="Why">{step.reason}</Fact>}
        {step.because && <Fact name="Not run since">{step.because}</Fact>}
        {step.far && <Fact name="With">{step.far}</Fact>}
        {step.host && <Fact name="Runs on">{step.host}</Fact>}
        {step.artifact && <Fact name="Runs">{<code>{step.artifact}</code>}</Fact>}
        {step.declared && (
          <Fact name="Declared">
            <Copy text={step.declared} label="place" />
          </Fact>
        )}
        {step.waits_for.length > 0 && <Fact name="Waits for">{step.waits_for.join(", ")}</Fact>}
        {step.warnings.map((one) => (
          <Fact key={one} name="Warning">
            {one}
          </Fact>
        ))}
      </dl>
      {step.attempts.length > 0 && (
        <ol className="step-attempts">
          {step.attempts.map((one, number) => (
            <li key={one.began}>
              <span className="muted">{number + 1}.</span> <Time at={one.began} />
              {one.ended && <span className="figure">{told(Date.parse(one.ended) - Date.parse(one.began))}</span>}
              <Status of={one.state} tone={STEP_TONES[one.state] ?? "unknown"} />
              {one.exit_code !== 0 && <span>{endOf(one.exit_code, one.message)}</span>}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

const STEP_TONES = {
  pending: "absent",
  running: "pending",
  waiting: "pending",
  succeeded: "ok",
  "no-op": "absent",
  failed: "error",
  skipped: "absent",
  "not needed": "absent",
  interrupted: "degraded",
} as Record<string, "absent" | "pending" | "ok" | "error" | "degraded">;

function Fact({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
