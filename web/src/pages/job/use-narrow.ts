import { useSyncExternalStore } from "react";

/** Below this a table stands in place of a picture. */
const NARROW = "(width < 480px)";

/** Whether the window is too narrow for pictures. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (told) => {
      const media = matchMedia(NARROW);
      media.addEventListener("change", told);
      return () => media.removeEventListener("change", told);
    },
    () => matchMedia(NARROW).matches,
  );
}
