import { type ReactNode, useId } from "react";
import { Link } from "wouter";

import { useLiveState } from "../live/use.ts";

interface ActionProps {
  /** An address of a page, or what is done. */
  does: string | (() => void);
  /** Why it cannot be done now; then it is shown, says so, and does nothing. */
  unable?: string | undefined;
  className?: string;
  /** What it is called where its text says too little, as in a row; it begins with that text. */
  name?: string | undefined;
  children: ReactNode;
}

/** Why nothing can be changed now, undefined where it can. */
export function useAway(): string | undefined {
  return useLiveState().is === "offline" ? "the server cannot be reached now" : undefined;
}

/** A button that leads to a page or does something. What cannot be done can still be reached, and says why. */
export function Action({ does, unable: mayNot, className = "button", name, children }: ActionProps): ReactNode {
  const why = useId();
  const away = useAway();
  const unable = mayNot ?? (typeof does === "string" ? undefined : away);
  if (unable) {
    return (
      <button
        type="button"
        className={className}
        aria-label={name}
        aria-disabled="true"
        aria-describedby={why}
        title={unable}
      >
        {children}
        <span id={why} hidden>
          {unable}
        </span>
      </button>
    );
  }
  if (typeof does === "string") {
    return (
      <Link href={does} className={className} aria-label={name}>
        {children}
      </Link>
    );
  }
  return (
    <button type="button" className={className} aria-label={name} onClick={does}>
      {children}
    </button>
  );
}

/** Tells why somebody is unable to do what needs a permission; `undefined` where nothing stands in the way. */
export function useUnable(
  allowed: readonly string[] | undefined,
  project: string,
): (permission: string) => string | undefined {
  const away = useAway();
  return (permission) => {
    if (away) return away;
    if (!allowed) return "what you may do is not known yet";
    if (!allowed.includes(permission))
      return `needs the permission "${permission}", which the owners of ${project} give`;
    return undefined;
  };
}
