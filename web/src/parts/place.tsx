import type { ReactNode } from "react";

/** A place in a file, as in `service.yaml:26:5`. Of what lies in an archive the place in that shows; the rest is said. */
export function Place({ at }: { at: string }): ReactNode {
  const inside = at.lastIndexOf(":/");
  return (
    <span className="mono muted" title={at}>
      {inside < 0 ? at : at.slice(inside + 2)}
    </span>
  );
}
