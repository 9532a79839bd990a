import { createContext, useContext } from "react";

import type { MeData } from "../api/types.ts";

export const MeContext = createContext<MeData | undefined>(undefined);

/** Who is signed in. */
export function useMe(): MeData {
  const me = useContext(MeContext);
  if (!me) throw new Error("only pages for who is signed in ask who that is");
  return me;
}
