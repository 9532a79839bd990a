import { type ReactNode, useState } from "react";

import { ask } from "../../api/ask.ts";
import type { CheckedHostsData } from "../../api/types.ts";
import { Action } from "../../parts/action.tsx";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { GivenTextPart } from "../../parts/given-text.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";

interface InventoryProps {
  of: EnsembleNamed;
  unable: (permission: string) => string | undefined;
}

/** The hosts that the ensemble may use, as a text, and whether they can be reached. */
export function Inventory({ of, unable }: InventoryProps): ReactNode {
  const [isBusy, setBusy] = useState(false);
  const [found, setFound] = useState<CheckedHostsData>();
  const [error, setError] = useState<unknown>();
  const check = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const route = "POST /projects/{project}/ensembles/{ensemble}/hosts/check";
      setFound((await ask(route, { path: { ...of }, body: {} })).data);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="section" aria-labelledby="inventory">
      <div className="section-head">
        <h2 id="inventory">Inventory</h2>
        <Action does={() => void check()} unable={unable("operate") ?? (isBusy ? "it is being checked" : undefined)}>
          {isBusy ? "Checking the hosts" : "Check the hosts"}
        </Action>
      </div>
      <p className="muted">
        The hosts that there are: <code>hosts.yaml</code>. Passwords and keys stand among the secrets, here only their
        names, as in <code>{"{ secret: web-key }"}</code>.
      </p>
      {error !== undefined && <ProblemPart error={error} title="The hosts could not be checked" />}
      {found && (
        <ul className="rows" aria-label="Checked hosts" aria-live="polite">
          {found.hosts.map((host) => (
            <li key={host.name}>
              <span>
                <strong>{host.name}</strong>{" "}
                {host.unreachable ? (
                  <Status of={host.unreachable} tone="error" />
                ) : (
                  <Status
                    of={host.differences.length ? host.differences.join("; ") : "as the inventory says"}
                    tone={host.differences.length ? "degraded" : "ok"}
                  />
                )}
              </span>
            </li>
          ))}
        </ul>
      )}
      <GivenTextPart
        of={of}
        what="inventory"
        label="Inventory"
        unable={unable("configure")}
        unableToCheck={unable("plan")}
      />
    </section>
  );
}
