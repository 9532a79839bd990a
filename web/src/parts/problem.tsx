import type { ReactNode } from "react";

import { asProblem } from "../api/problem.ts";
import type { FindingData, NextStep } from "../api/types.ts";
import { Copy } from "./copy.tsx";
import { Said } from "./said.tsx";

interface ProblemProps {
  error: unknown;
  /** What did not work, as in "The list could not be read". */
  title?: string;
  onAgain?: (() => void) | undefined;
}

/** A problem in its place: what, why, and what next, as the command says it. */
export function ProblemPart({ error, title, onAgain }: ProblemProps): ReactNode {
  const { data } = asProblem(error);
  return (
    <section className="problem" role="alert">
      <p className="problem-title">
        <span className="mark" aria-hidden="true">
          ✖
        </span>{" "}
        {title ?? data.title}
      </p>
      <p>
        <Said text={data.detail} />
      </p>
      {data.hint && (
        <p className="hint">
          <span className="muted">What helps: </span>
          <Said text={data.hint} />
        </p>
      )}
      <Findings of={data.diagnostics} />
      <NextSteps of={data.next} />
      <p className="about">
        {data.type.startsWith("/problems/") ? <a href={data.type}>{data.code}</a> : <code>{data.code}</code>}
        {data.request_id && (
          <Copy text={data.request_id} label="request id">
            {data.request_id.slice(0, 8)}
          </Copy>
        )}
        {onAgain && (
          <button type="button" className="button" onClick={onAgain}>
            Try again
          </button>
        )}
      </p>
    </section>
  );
}

/** Findings about documents, each with its place and what helps. */
export function Findings({ of }: { of: readonly FindingData[] }): ReactNode {
  if (!of.length) return null;
  return (
    <ul className="findings">
      {of.map((one) => (
        <li key={`${one.file}:${one.line}:${one.column}:${one.code}`}>
          <span className={one.severity === "error" ? "tone-error" : "tone-degraded"}>
            {one.severity === "error" ? "✖" : "▲"} {one.severity}
          </span>{" "}
          <Said text={one.message} />
          {one.file && (
            <span className="mono muted">
              {" "}
              {one.file}
              {one.line !== null && `:${one.line}`}
              {one.column !== null && `:${one.column}`}
            </span>
          )}
          {one.hint && (
            <span className="muted">
              : <Said text={one.hint} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The commands that help, ready to be copied. */
export function NextSteps({ of }: { of: readonly NextStep[] }): ReactNode {
  const steps = of.filter((one) => one.words?.length);
  if (!steps.length) return null;
  return (
    <ul className="next-steps">
      {steps.map((one) => {
        const command = ["ordito", ...(one.words ?? [])].join(" ");
        return (
          <li key={command}>
            <Copy text={command} label="command" /> <span className="muted">{one.purpose}</span>
          </li>
        );
      })}
    </ul>
  );
}
