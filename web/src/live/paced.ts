import { useEffect, useRef } from "react";

/** The shortest pause between two runs, and how much longer than a run the pause behind it is. */
const LEAST = 1_000;
const RESTS = 4;
/** Changes of this many milliseconds are taken together. */
const TOGETHER = 150;

/**
 * Run something soon after each call, several calls together, and the more rarely the longer it takes: for reading
 * again what changes all the time while a job runs. An urgent call does not wait until the pause is over.
 */
export function usePaced(run: () => Promise<unknown>): (isUrgent?: boolean) => void {
  const latest = useRef(run);
  latest.current = run;
  const paced = useRef({ timer: undefined as ReturnType<typeof setTimeout> | undefined, due: Infinity, after: 0 });
  useEffect(() => () => clearTimeout(paced.current.timer), []);
  return (isUrgent = false) => {
    const state = paced.current;
    const now = Date.now();
    const due = Math.max(now + TOGETHER, isUrgent ? 0 : state.after);
    if (due >= state.due) return;
    clearTimeout(state.timer);
    state.due = due;
    state.timer = setTimeout(() => {
      const begun = Date.now();
      state.due = Infinity;
      void latest.current().finally(() => {
        const ended = Date.now();
        state.after = ended + Math.max(LEAST, RESTS * (ended - begun));
      });
    }, due - now);
  };
}
