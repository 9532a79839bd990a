import type { ReactNode } from "react";

/** A place in a file, as in `service.yaml:26:5`: of what lies in an archive, the place in that. */
export function placeText(at: string): string {
  const inside = at.lastIndexOf(":/");
  return inside < 0 ? at : at.slice(inside + 2);
}

/** A place in a file; where an archive lies is said, and does not show. */
export function Place({ at }: { at: string }): ReactNode {
  return (
    <span className="mono muted" title={at}>
      {placeText(at)}
    </span>
  );
}
