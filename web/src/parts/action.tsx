import type { ReactNode } from "react";

import { useLiveState } from "../live/use.ts";

interface ActionProps {
  children: ReactNode;
  onDo: () => void;
  kind?: "main" | "danger" | "plain" | undefined;
  /** Why it cannot be done now: it is shown, and nothing happens. */
  unable?: string | undefined;
  /** What it is called where its text says too little, as in a row. */
  name?: string;
}

/** A button that says why it cannot be used, instead of being away. Nothing is done while the server is not reached. */
export function Action({ children, onDo, kind, unable, name }: ActionProps): ReactNode {
  const isAway = useLiveState().is === "offline";
  const why = isAway ? "the server is not reached" : unable;
  const label = name ?? (typeof children === "string" ? children : undefined);
  return (
    <button
      type="button"
      className={kind ? `button ${kind}` : "button"}
      aria-disabled={why ? true : undefined}
      aria-label={why && label ? `${label}: ${why}` : name}
      title={why}
      onClick={() => !why && onDo()}
    >
      {children}
    </button>
  );
}

/** Why somebody cannot do what needs a permission, undefined where they can: `allowed` comes with the resource. */
export function lacking(allowed: readonly string[], permission: string): string | undefined {
  return allowed.includes(permission) ? undefined : `needs the permission ${permission}, which owners of the project give`;
}
