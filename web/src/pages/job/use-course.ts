import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { type Answer, ask } from "../../api/ask.ts";
import type { StreamEvent } from "../../live/parse.ts";
import { useTopic } from "../../live/use.ts";
import { Course } from "./course.ts";

/** Milliseconds for which events are collected before the page shows them, and failures before more is read of them. */
const COLLECTED = 100;
const FAILURES = 700;

export interface JobPath {
  project: string;
  ensemble: string;
  job: string;
}

export interface Following {
  found: UseQueryResult<Answer<Course>, Error>;
  /** Grows with what events change. */
  revision: number;
}

/** A job as it goes on: read once, and from there on told event by event. */
export function useCourse(path: JobPath, wasOver: boolean, onNews: (what: "again" | "failed") => void): Following {
  const store = useQueryClient();
  const key = ["course", path];
  const [revision, setRevision] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const failures = useRef<ReturnType<typeof setTimeout>>(undefined);
  const told = useRef(onNews);
  told.current = onNews;
  const found = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => read(path, wasOver, signal),
    refetchOnMount: "always",
  });
  const answer = found.data;
  const course = answer?.data;
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      clearTimeout(failures.current);
    },
    [],
  );
  const again = (): void => {
    void store.invalidateQueries({ queryKey: key, exact: true });
    told.current("again");
  };
  const onEvent = (event: StreamEvent): void => {
    const news = course?.take(event);
    if (news === "again") again();
    else if (news) {
      failures.current ??= setTimeout(() => {
        failures.current = undefined;
        told.current(news);
      }, FAILURES);
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setRevision((count) => count + 1);
    }, COLLECTED);
  };
  const isFollowed = course !== undefined && !course.isOver;
  const topic = `job:${path.project}/${path.ensemble}/${path.job}`;
  useTopic(isFollowed ? topic : "", answer?.cursor, onEvent, again);
  return { found, revision };
}

async function read(path: JobPath, wasOver: boolean, signal: AbortSignal): Promise<Answer<Course>> {
  const base = "/projects/{project}/ensembles/{ensemble}/jobs/{job}";
  const timelineOf = () => ask(`GET ${base}/timeline`, { path, query: {} }, { signal });
  if (wasOver) {
    const timeline = await timelineOf();
    return { ...timeline, data: new Course(timeline.data) };
  }
  // The steps come first: their cursor is where events go on, some of which the timeline may know already.
  const query = { state: "running,waiting", limit: 500, printed: false };
  const steps = await ask(`GET ${base}/steps`, { path, query }, { signal });
  const timeline = await timelineOf();
  return { ...steps, data: new Course(timeline.data, steps.data) };
}
