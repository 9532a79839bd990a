import { useEffect, useRef, useState } from "react";

import { type Answer, ask } from "../../api/ask.ts";
import type { LogData, LogFields } from "../../api/types.ts";
import type { StreamEvent } from "../../live/parse.ts";
import { useTopic } from "../../live/use.ts";
import { LogLines } from "./lines.ts";

export interface JobPath {
  project: string;
  ensemble: string;
  job: string;
}

/** Of what is wanted of a log; "" for all. */
export interface Narrowed {
  step: string;
  instance: string;
  operation: string;
}

export type Wish = { at: "begin" } | { at: "end" } | { at: "offset"; offset: number } | { at: "about"; offset: number };

export interface LogPart {
  log: LogLines;
  /** Whether the first part is still being read. */
  isLoading: boolean;
  isReading: boolean;
  error: unknown;
  /** Read another part in place of the one that is there. Gives whether it is there then. */
  jump(wish: Wish): Promise<boolean>;
  /** Read on; does nothing where there is nothing more, or it is being read. */
  earlier(): Promise<number>;
  later(): Promise<number>;
}

const ROUTE = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log";
/** About how many bytes are read at once: some screens full. */
const PART = 1 << 16;
/** So often the server is asked on where it has passed over much that is not wanted. */
const MOST_ROUNDS = 200;
/** Milliseconds for which what is printed is collected before it shows. */
const COLLECTED = 60;

interface Grown {
  /** Lines that came at the end, and lines that were let go in front. */
  added: number;
  lost: number;
}

/** A part of a log, read by offset, and followed at its end while the job runs. */
export function useLog(
  path: JobPath,
  narrowed: Narrowed,
  isOver: boolean,
  first: Wish,
  onGrown: (grown: Grown) => void,
): LogPart {
  const [, turn] = useState(0);
  const log = useRef(new LogLines()).current;
  const [error, setError] = useState<unknown>();
  const [isLoading, setLoading] = useState(true);
  const [cursor, setCursor] = useState<string>();
  const busy = useRef<AbortController>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const grown = useRef<Grown>({ added: 0, lost: 0 });
  const told = useRef(onGrown);
  told.current = onGrown;
  const show = (): void => turn((count) => count + 1);

  const read = async (query: LogFields, signal: AbortSignal): Promise<Answer<LogData>> => {
    let answer: Answer<LogData>;
    let wanted = query;
    for (let round = 0; ; round += 1) {
      answer = await ask(ROUTE, { path, query: { limit: PART, ...narrowed, ...wanted } }, { signal });
      const { pieces, begin, next, complete } = answer.data;
      const isBack = query.before !== undefined && query.before !== null;
      if (pieces.length || round > MOST_ROUNDS || (isBack ? begin === 0 : complete)) break;
      wanted = isBack ? { before: begin } : { after: next };
    }
    return answer;
  };
  const during = async <T>(work: (signal: AbortSignal) => Promise<T>, otherwise: T): Promise<T> => {
    const control = new AbortController();
    busy.current = control;
    show();
    try {
      const found = await work(control.signal);
      setError(undefined);
      return found;
    } catch (problem) {
      if (!control.signal.aborted) setError(problem);
      return otherwise;
    } finally {
      if (busy.current === control) {
        busy.current = undefined;
        setLoading(false);
        show();
      }
    }
  };
  const jump = (wish: Wish): Promise<boolean> => {
    busy.current?.abort();
    return during(async (signal) => {
      const backwards = wish.at === "end" ? -1 : wish.at === "about" && wish.offset > 0 ? wish.offset : undefined;
      const query = backwards === undefined ? { after: wish.at === "offset" ? wish.offset : 0 } : { before: backwards };
      const { data, cursor: behind } = await read(query, signal);
      // What lies between the place and what was found there is not wanted.
      log.begun({ ...data, begin: "after" in query ? query.after : data.begin });
      if (log.isAtEnd) setCursor((known) => known ?? behind);
      return true;
    }, false);
  };
  const earlier = async (): Promise<number> => {
    if (busy.current || log.isAtBegin) return 0;
    return during(async (signal) => log.before((await read({ before: log.begin }, signal)).data), 0);
  };
  const later = async (): Promise<number> => (busy.current || log.isAtEnd ? 0 : readOn());
  const readOn = (): Promise<number> =>
    during(async (signal) => {
      const { data, cursor: behind } = await read({ after: log.end }, signal);
      const lost = log.after(data);
      if (log.isAtEnd) setCursor((known) => known ?? behind);
      return lost;
    }, 0);

  const key = [path.project, path.ensemble, path.job, narrowed.step, narrowed.instance, narrowed.operation].join("\n");
  useEffect(() => {
    setLoading(true);
    void jump(first);
    return () => busy.current?.abort();
  }, [key]);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The job may have been said to have ended before the last that it printed was told.
  useEffect(() => {
    if (isOver && cursor !== undefined) void readOn();
  }, [isOver, cursor !== undefined]);

  const onEvent = ({ type, data }: StreamEvent): void => {
    if (type !== "step.log") return;
    const { step, text, offset, next } = data as unknown as {
      step: string;
      text: string;
      offset: number;
      next: number;
    };
    const isWanted = isOf(step, narrowed);
    if (offset === log.end) {
      const before = log.lines.length;
      const lost = log.after({ pieces: isWanted ? [{ step, text, offset }] : [], next, size: next });
      grown.current.added += log.lines.length + lost - before;
      grown.current.lost += lost;
    } else {
      log.size = Math.max(log.size, next);
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      told.current(grown.current);
      grown.current = { added: 0, lost: 0 };
      show();
    }, COLLECTED);
  };
  const topic = `log:${path.project}/${path.ensemble}/${path.job}`;
  useTopic(isOver ? "" : topic, cursor, onEvent, () => void readOn());
  return { log, isLoading, isReading: busy.current !== undefined, error, jump, earlier, later };
}

/** Whether a step is among those that are wanted, as the server decides it too. */
export function isOf(name: string, { step, instance, operation }: Narrowed): boolean {
  return (
    (!step || name === step) &&
    (!instance || name.startsWith(`${instance}.`)) &&
    (!operation || name.endsWith(`.${operation}`))
  );
}
