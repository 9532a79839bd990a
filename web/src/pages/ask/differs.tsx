import { type ReactNode, useState } from "react";

import { useLook } from "../../api/use.ts";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Wait } from "../../parts/wait.tsx";

interface DiffersProps {
  of: EnsembleNamed;
  /** The digest or label of the package that what is deployed is compared with. */
  to: string;
  environment: string;
}

/** Which nodes a package declares in another way than they are deployed, for who asks; the plan says it in full. */
export function Differs({ of, to, environment }: DiffersProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/diff",
    { path: { ...of }, query: { to, ...(environment ? { environment } : {}) } },
    { off: !isOpen },
  );
  return (
    <details className="ask-differs" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What differs from what is deployed</summary>
      {isOpen && (
        <Wait for={found} title="It could not be compared with what is deployed" lines={1}>
          {({ nodes }) => (
            <p>
              {nodes.length === 0
                ? "No node differs."
                : `${nodes.length.toLocaleString("en")} ${nodes.length === 1 ? "node differs" : "nodes differ"}: `}
              <span className="mono">{nodes.map(({ node }) => node).join(", ")}</span>
            </p>
          )}
        </Wait>
      )}
    </details>
  );
}
