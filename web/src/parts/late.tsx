import { type ComponentType, type ReactNode, useEffect, useState } from "react";

import { Loading } from "./wait.tsx";

export interface Late<P> {
  Part: ComponentType<P>;
  /** Begin to load it, before it is needed. */
  load: () => void;
}

/**
 * A part that is loaded when it is first needed, and shows as soon as it is there. (React's own `lazy` holds back what
 * comes within 300 ms of a fallback, which is longer than most parts take.)
 */
export function late<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Late<P> {
  let found: ComponentType<P> | undefined;
  let begun: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    begun ??= load().then(
      (made) => {
        found = made.default;
      },
      (error: unknown) => {
        // It may succeed the next time.
        begun = undefined;
        throw error;
      },
    );
    return begun;
  };
  function Part(props: P): ReactNode {
    const [state, set] = useState<{ fault?: unknown }>({});
    useEffect(() => {
      if (!found)
        begin().then(
          () => set({}),
          (fault: unknown) => set({ fault }),
        );
    }, []);
    if (state.fault !== undefined) throw state.fault;
    const Found = found;
    return Found ? <Found {...props} /> : <Loading lines={6} />;
  }
  return { Part, load: () => void begin().catch(() => undefined) };
}
