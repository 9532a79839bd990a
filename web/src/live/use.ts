import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from "react";

import type { StreamEvent } from "./parse.ts";
import type { LiveState, LiveStream } from "./stream.ts";

export const LiveContext = createContext<LiveStream | undefined>(undefined);

function useStream(): LiveStream {
  const stream = useContext(LiveContext);
  if (!stream) throw new Error("a page that follows topics stands inside the shell");
  return stream;
}

/** Whether what shows is live, catching up, or offline since when. */
export function useLiveState(): LiveState {
  const stream = useStream();
  return useSyncExternalStore(
    (told) => stream.watch(told),
    () => stream.state,
  );
}

export function useRetry(): () => void {
  const stream = useStream();
  return () => stream.retry();
}

/** Milliseconds for which changes are collected before something is read again. */
const COLLECTED = 300;

/** Be told when topics have told something, or when what was read may be old; not oftener than a few times a second. */
export function useTopics(
  topics: readonly string[],
  onNews: () => void,
  when: (action: string) => boolean = () => true,
): void {
  const stream = useContext(LiveContext);
  const latest = useRef({ onNews, when });
  latest.current = { onNews, when };
  const names = topics.join("\n");
  useEffect(() => {
    if (!stream || !names) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        latest.current.onNews();
      }, COLLECTED);
    };
    const onEvent = ({ data }: StreamEvent): void => {
      if (latest.current.when(String(data["action"] ?? ""))) soon();
    };
    const ends = names.split("\n").map((topic) => stream.follow({ topic, onEvent, onAgain: soon }));
    return () => {
      clearTimeout(timer);
      for (const end of ends) end();
    };
  }, [stream, names]);
}

/** Get each event of a topic, from the cursor on that came with what was read (`Answer.cursor`). */
export function useTopic(
  topic: string,
  cursor: string | undefined,
  onEvent: (event: StreamEvent) => void,
  onAgain: () => void,
): void {
  const stream = useStream();
  const latest = useRef({ onEvent, onAgain });
  latest.current = { onEvent, onAgain };
  const isReady = topic !== "" && cursor !== undefined;
  useEffect(() => {
    if (!isReady) return undefined;
    return stream.follow({
      topic,
      ...(cursor ? { cursor } : {}),
      onEvent: (event) => latest.current.onEvent(event),
      onAgain: () => latest.current.onAgain(),
    });
    // A new cursor of the same topic is where the stream is already.
  }, [stream, topic, isReady]);
}
