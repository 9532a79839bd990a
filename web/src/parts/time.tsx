import { type ReactNode, useSyncExternalStore } from "react";

import { exact, relative } from "./moment.ts";

// One clock for all times that show.
const PACE = 5_000;
const watchers = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function watch(told: () => void): () => void {
  watchers.add(told);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const watcher of watchers) watcher();
  }, PACE);
  return () => {
    watchers.delete(told);
    if (!watchers.size) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The time now in milliseconds, told anew every few seconds. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => now);
}

interface TimeProps {
  /** As the API says it: RFC 3339. */
  at: string;
  /** In a table: the exact time shows on hover and when its row has the focus, and it is no stop for Tab. */
  inRow?: boolean;
}

/** A moment, told relative to now; the exact one shows on hover and focus. */
export function Time({ at, inRow = false }: TimeProps): ReactNode {
  const present = useNow();
  const moment = Date.parse(at);
  if (Number.isNaN(moment)) return <span className="muted">{at}</span>;
  const whole = exact(moment);
  return (
    <time className="time" dateTime={at} data-exact={whole} tabIndex={inRow ? undefined : 0}>
      {relative(moment, present)}
      <span className="unseen">, {whole}</span>
    </time>
  );
}
