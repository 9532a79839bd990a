import { type ReactNode, useState } from "react";

import { addressOf, BASE, reach } from "../../api/ask.ts";
import type { AskedPlan } from "../../api/types.ts";
import { Copy } from "../../parts/copy.tsx";
import { ProblemPart } from "../../parts/problem.tsx";

interface FileProps {
  path: { project: string; ensemble: string; id: string };
  plan: AskedPlan;
}

/** The plan as a file, which the command carries out elsewhere; and its digest, to which approvals are bound. */
export function PlanFile({ path, plan }: FileProps): ReactNode {
  const [error, setError] = useState<unknown>();
  const load = async (): Promise<void> => {
    setError(undefined);
    try {
      const address = BASE + addressOf("/projects/{project}/ensembles/{ensemble}/plans/{id}/file", path, {});
      const found = URL.createObjectURL(await (await reach(address, {})).blob());
      const link = document.createElement("a");
      link.href = found;
      link.download = `${plan.id}.plan`;
      link.click();
      URL.revokeObjectURL(found);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <>
      <dl className="plan-facts">
        <div>
          <dt>Digest</dt>
          <dd>
            <Copy text={plan.digest} label="digest" />
          </dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <Copy text={plan.id} label="id of the plan" />
          </dd>
        </div>
        <div>
          <dt>On its turn</dt>
          <dd>{plan.bind === "exact" ? "exactly these steps are carried out, or none" : "it is planned anew"}</dd>
        </div>
      </dl>
      <p className="plan-where">
        <button type="button" className="button" onClick={() => void load()}>
          Download {plan.id}.plan
        </button>
        <Copy text={`ordito deploy ${plan.id}.plan`} label="command" />
      </p>
      <p className="muted">
        No secret is in the file. Where the ensemble lies, the command carries out the same steps with it.
      </p>
      {error !== undefined && <ProblemPart error={error} title="The file could not be read" />}
    </>
  );
}
