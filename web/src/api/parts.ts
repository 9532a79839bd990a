import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";

import { useTopics } from "../live/use.ts";
import { type AnswerOf, type Asked, ask, type LookName } from "./ask.ts";
import { isOutOfSight, type Reading } from "./use.ts";

/** The routes that give a list in parts. */
export type ListName = {
  [R in LookName]: AnswerOf<R> extends { items: unknown[]; next: string | null } ? R : never;
}[LookName];
type ItemOf<R extends ListName> = AnswerOf<R> extends { items: (infer T)[] } ? T : never;

export interface Parts<T> {
  /** What was read so far; undefined before the first part has come. */
  items: readonly T[] | undefined;
  /** Reads the part behind; undefined where all is there. */
  more: (() => void) | undefined;
  isReading: boolean;
  error: Error | null;
  again: () => void;
}

/** A list that comes in parts: `useParts("GET /users", {})`. All parts are read again when a topic tells something. */
export function useParts<R extends ListName>(
  route: R,
  asked: NoInfer<Asked<R>>,
  reading: Reading = {},
): Parts<ItemOf<R>> {
  const store = useQueryClient();
  const key = [route, asked, "parts"];
  const found = useInfiniteQuery({
    queryKey: key,
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) => {
      const query = pageParam ? { ...asked.query, after: pageParam } : asked.query;
      const { data } = await ask(route, { ...asked, query } as unknown as Asked<R>, { signal });
      return data as unknown as { items: ItemOf<R>[]; next: string | null };
    },
    getNextPageParam: (part) => part.next ?? undefined,
    enabled: !reading.off,
    meta: { isFollowed: reading.isFollowed ?? false },
    refetchOnMount: "always",
  });
  useTopics(
    reading.off || isOutOfSight(found.error) ? [] : (reading.topics ?? []),
    () => void store.invalidateQueries({ queryKey: key, exact: true }),
    reading.when,
  );
  return {
    items: found.data?.pages.flatMap((part) => part.items),
    more: found.hasNextPage ? () => void found.fetchNextPage() : undefined,
    isReading: found.isFetching,
    error: found.error,
    again: () => void found.refetch(),
  };
}
