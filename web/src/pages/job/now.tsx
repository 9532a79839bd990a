import { type ReactNode, useEffect, useState } from "react";

import { Status } from "../../parts/status.tsx";
import type { Course, Present } from "./course.ts";
import { told } from "./span.ts";

/** So many are listed; the others stand in the timeline. */
const MOST = 8;

/** What runs now, and what waits for its next attempt: those that wait in front, since they tell of trouble. */
export function Now({ course, onChoose }: { course: Course; onChoose: (id: string) => void }): ReactNode {
  const [now, setNow] = useState(Date.now);
  const isAny = course.present.size > 0;
  useEffect(() => {
    if (!isAny) return undefined;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isAny]);
  if (!isAny || course.isOver) return null;
  const all = [...course.present.values()].sort(
    (one, other) => Number(other.next > 0) - Number(one.next > 0) || one.since - other.since,
  );
  return (
    <section className="now" aria-labelledby="job-now">
      <h3 id="job-now">
        Now <span className="count figure">{all.length}</span>
      </h3>
      <ul>
        {all.slice(0, MOST).map((one) => (
          <li key={one.id}>
            <Status of={one.next ? "waiting" : "running"} short />
            <button type="button" className="failure-name" onClick={() => onChoose(one.id)}>
              {one.instance} <span className="muted">{one.operation}</span>
            </button>
            <span className="figure">{attemptOf(one)}</span>
            <span className="figure muted">{whenOf(one, now)}</span>
            {one.message && <span className="now-message tone-degraded">{one.message}</span>}
          </li>
        ))}
      </ul>
      {all.length > MOST && <p className="muted">and {(all.length - MOST).toLocaleString("en")} more</p>}
    </section>
  );
}

function attemptOf({ attempt, most }: Present): string {
  if (most > 1) return `attempt ${attempt} of ${most}`;
  return attempt > 1 ? `attempt ${attempt}` : "";
}

function whenOf({ next, since }: Present, now: number): string {
  const whole = (milliseconds: number): string => told(Math.max(0, Math.round(milliseconds / 1_000)) * 1_000);
  if (next) return next > now ? `next in ${whole(next - now)}` : "next as soon as there is room";
  return `for ${whole(now - since)}`;
}
