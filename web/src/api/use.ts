import {
  keepPreviousData,
  QueryCache,
  QueryClient,
  type UseMutationResult,
  type UseQueryResult,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect } from "react";

import { useTopics } from "../live/use.ts";
import { type Answer, type AnswerOf, type Asked, ask, type ChangeName, type LookName, type Sent } from "./ask.ts";
import { asProblem, isSignedOut, type Problem } from "./problem.ts";

/** The one store of what was read. Nothing is read again by itself: pages follow topics instead. */
export function newStore(onSignedOut: () => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError(error) {
        if (isSignedOut(error)) onSignedOut();
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (times, error) => times < 3 && mayHelpAgain(asProblem(error)),
        retryDelay: (times, error) => (asProblem(error).againIn || 2 ** times) * 1000,
      },
    },
  });
}

function mayHelpAgain(problem: Problem): boolean {
  return problem.status === 429 || problem.status === 503 || problem.code === "unreachable";
}

export interface Reading {
  /** Read again whenever one of these topics tells something, and when the stream has caught up. */
  topics?: readonly string[];
  /** Of what these topics tell of actions, only those. */
  when?: (action: string) => boolean;
  /** Read again every so many seconds, and when the tab is looked at again: for what no topic tells. */
  every?: number;
  /** The page follows it event by event itself: it need not be read again after the server was away. */
  isFollowed?: boolean;
  /** Do not read (yet). */
  off?: boolean;
  /** Show what was there until the new answer comes: for filters. */
  keeps?: boolean;
}

const OFTEN = { refetchOnWindowFocus: "always", refetchOnMount: "always" } as const;

/** What a page reads: `useLook("GET /projects/{project}", { path: { project } }, { topics: ["ensembles"] })`. */
export function useLook<R extends LookName>(
  route: R,
  asked: NoInfer<Asked<R>>,
  reading: Reading = {},
): UseQueryResult<Answer<AnswerOf<R>>, Error> {
  const store = useQueryClient();
  const key = lookKey(route, asked);
  const topics = reading.off ? [] : (reading.topics ?? []);
  const found = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask(route, asked as Asked<R>, { signal }),
    enabled: !reading.off,
    meta: { isFollowed: reading.isFollowed ?? false },
    ...(reading.keeps ? { placeholderData: keepPreviousData } : {}),
    ...(topics.length ? { refetchOnMount: "always" as const } : {}),
    ...(reading.every ? { ...OFTEN, refetchInterval: reading.every * 1000 } : {}),
  });
  const again = (): void => void store.invalidateQueries({ queryKey: key, exact: true });
  useTopics(isOutOfSight(found.error) ? [] : topics, again, reading.when);
  return found;
}

/** Whether something may not be read, or is not there. One stream has the topics of all that shows: that one must not
 * keep the others from being followed. */
export function isOutOfSight(error: Error | null): boolean {
  return error !== null && [403, 404].includes(asProblem(error).status);
}

/** Read again what shows, after the server was away: not all that happens is told by topics, as who may do what. */
export function readAgain(store: QueryClient): void {
  void store.invalidateQueries({ predicate: ({ meta }) => meta?.["isFollowed"] === false });
}

export function lookKey<R extends LookName>(route: R, asked: Asked<R>): readonly unknown[] {
  return [route, asked];
}

/** What a page changes: `change.mutate({ path, body })`. Looks at the routes named in `again` are read once more. */
export function useChange<R extends ChangeName>(
  route: R,
  again: readonly LookName[] = [],
): UseMutationResult<Answer<AnswerOf<R>>, Error, Asked<R> & { sent?: Sent }> {
  const store = useQueryClient();
  return useMutation({
    mutationFn: ({ sent, ...asked }: Asked<R> & { sent?: Sent }) => ask(route, asked as unknown as Asked<R>, sent),
    onSuccess: () => Promise.all(again.map((name) => store.invalidateQueries({ queryKey: [name] }))),
  });
}

/** The title of the tab, as long as a page shows. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · Ordito` : "Ordito";
  }, [title]);
}
