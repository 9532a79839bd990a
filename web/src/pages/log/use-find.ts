import { useEffect, useRef, useState } from "react";

import { ask } from "../../api/ask.ts";
import type { FoundLine } from "../../api/types.ts";
import type { JobPath, Narrowed } from "./use-log.ts";

export interface Finding {
  found: readonly FoundLine[];
  /** The number of the one that was gone to last, -1 for none. */
  at: number;
  /** Whether everything was searched. */
  isWhole: boolean;
  isSearching: boolean;
  error: unknown;
  /** Go to the next one, or back; gives it, `undefined` if there is none. */
  go(by: 1 | -1): Promise<FoundLine | undefined>;
}

const ROUTE = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log/search";
const MOST_ROUNDS = 64;

/** Lines of a log in which a text is found, looked for on the server, as many as are gone to. */
export function useFind(path: JobPath, text: string, narrowed: Narrowed): Finding {
  const [found, setFound] = useState<readonly FoundLine[]>([]);
  const [at, setAt] = useState(-1);
  const [next, setNext] = useState<number | null>(0);
  const [isSearching, setSearching] = useState(false);
  const [error, setError] = useState<unknown>();
  const control = useRef<AbortController>(undefined);
  const key = [path.job, text, narrowed.step, narrowed.instance, narrowed.operation].join("\n");
  useEffect(() => {
    setFound([]);
    setAt(-1);
    setNext(0);
    setSearching(false);
    setError(undefined);
    return () => control.current?.abort();
  }, [key]);

  const search = async (from: number): Promise<FoundLine[]> => {
    control.current?.abort();
    control.current = new AbortController();
    const { signal } = control.current;
    setSearching(true);
    try {
      let after: number | null = from;
      for (let round = 0; after !== null && round < MOST_ROUNDS; round += 1) {
        const { data }: { data: { items: FoundLine[]; next: number | null } } = await ask(
          ROUTE,
          { path, query: { q: text, after, limit: 100, ...narrowed } },
          { signal },
        );
        after = data.next;
        setNext(after);
        if (data.items.length) {
          setFound((known) => [...known, ...data.items]);
          return data.items;
        }
      }
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      if (!signal.aborted) setSearching(false);
    }
    return [];
  };
  const go = async (by: 1 | -1): Promise<FoundLine | undefined> => {
    if (!text) return undefined;
    let all = found;
    let place = at + by;
    if (place >= all.length && next !== null) all = [...all, ...(await search(next))];
    if (!all.length) return undefined;
    // Behind the last one comes the first.
    place = (place + all.length) % all.length;
    setAt(place);
    return all[place];
  };
  return { found, at, isWhole: next === null, isSearching, error, go };
}
