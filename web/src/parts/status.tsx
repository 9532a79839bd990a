import type { ReactNode } from "react";

export type Tone = "ok" | "pending" | "degraded" | "error" | "unknown" | "absent";

const MARKS: Record<Tone, string> = { ok: "●", pending: "◔", degraded: "◐", error: "✖", unknown: "?", absent: "○" };

// Words of instances, services, jobs, plans and steps, by the tone that they have in common.
const TONES: Record<string, Tone> = {
  ok: "ok",
  done: "ok",
  succeeded: "ok",
  applied: "ok",
  started: "ok",
  present: "ok",
  empty: "ok",
  pending: "pending",
  running: "pending",
  planning: "pending",
  ready: "pending",
  waiting: "pending",
  queued: "pending",
  starting: "pending",
  "in progress": "pending",
  degraded: "degraded",
  cancelled: "degraded",
  stale: "degraded",
  interrupted: "degraded",
  configured: "degraded",
  error: "error",
  failed: "error",
  faulty: "error",
  refused: "error",
  rejected: "error",
  unknown: "unknown",
  absent: "absent",
  discarded: "absent",
  stopped: "absent",
  created: "absent",
  skipped: "absent",
}; // prettier-ignore

/** The tone of a status of anything: a word that is not known is unknown. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? "unknown";
}

interface StatusProps {
  /** The word of the status, as the API says it. */
  of: string;
  tone?: Tone;
  /** Show the mark alone; the word is still read out. */
  short?: boolean;
  children?: ReactNode;
}

/** A status: its mark and its word, never colour alone. */
export function Status({ of, tone = toneOf(of), short = false, children }: StatusProps): ReactNode {
  return (
    <span className={`status tone-${tone}`}>
      <span className="mark" aria-hidden="true">
        {MARKS[tone]}
      </span>
      <span className={short ? "unseen" : undefined}>{children ?? of}</span>
    </span>
  );
}

/** A word in a frame, for what is said about something beside its status. */
export function Badge({ tone, children }: { tone?: Tone; children: ReactNode }): ReactNode {
  return <span className={`badge${tone ? ` tone-${tone}` : ""}`}>{children}</span>;
}

interface ProgressProps {
  done: number;
  of: number;
  label: string;
}

/** How far something has come, in words and as a bar. */
export function Progress({ done, of, label }: ProgressProps): ReactNode {
  const share = of > 0 ? Math.floor((100 * done) / of) : 0;
  return (
    <span className="progress">
      <progress value={done} max={of || 1} aria-label={label} />
      <span className="figure">{share} %</span>
    </span>
  );
}
