import { type ReactNode, useState } from "react";

import { ask } from "../api/ask.ts";
import type { FreezeData, NewFreeze } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { Action } from "./action.tsx";
import { Confirm } from "./dialog.tsx";
import { Field } from "./form.tsx";
import { Status } from "./status.tsx";
import { Time } from "./time.tsx";
import { Wait } from "./wait.tsx";

interface FreezeProps {
  /** Where: nothing for the whole server. */
  project?: string;
  ensemble?: string;
  /** What the button says, as in "Freeze everything". */
  does: string;
  /** What it means. */
  about: string;
  unable?: string | undefined;
}

/** Whether something is frozen, and the buttons to freeze and thaw it. */
export function FreezePart({ project = "", ensemble = "", does, about, unable }: FreezeProps): ReactNode {
  const freezes = useLook("GET /freeze", {}, { topics: ["ensembles"] });
  const [isAsking, setAsking] = useState(false);
  const [isEnding, setEnding] = useState(false);
  const [reason, setReason] = useState("");
  const [hours, setHours] = useState("");
  const freeze = async (): Promise<void> => {
    await put(project, ensemble, { reason, ...(hours ? { hours: Number(hours) } : {}) });
    setReason("");
    setHours("");
    await freezes.refetch();
  };
  const thaw = async (): Promise<void> => {
    await end(project, ensemble);
    await freezes.refetch();
  };
  return (
    <section className="section" aria-labelledby="freeze">
      <h2 id="freeze">Freeze</h2>
      <Wait for={freezes} title="It could not be found out what is frozen" lines={1}>
        {({ items }) => {
          const here = items.find((one) => one.project === project && one.ensemble === ensemble);
          const above = items.filter((one) => one !== here && holds(one, project, ensemble));
          return (
            <>
              {[...above, ...(here ? [here] : [])].map((one) => (
                <Frozen key={`${one.project}/${one.ensemble}`} of={one} />
              ))}
              {!here && !above.length && <p className="muted">{about}</p>}
              <div>
                {here ? (
                  <Action does={() => setEnding(true)} unable={unable}>
                    Thaw
                  </Action>
                ) : (
                  <Action does={() => setAsking(true)} unable={unable}>
                    {does}
                  </Action>
                )}
              </div>
            </>
          );
        }}
      </Wait>
      {isAsking && (
        <Confirm title={does} does={does} danger onConfirm={freeze} onClose={() => setAsking(false)}>
          <div className="form">
            <p>{about}</p>
            <Field label="Reason" hint="Everybody sees it.">
              {(control) => (
                <input
                  {...control}
                  required
                  autoFocus
                  maxLength={1_000}
                  value={reason}
                  onChange={(event) => setReason(event.target.value)}
                />
              )}
            </Field>
            <Field label="Hours" hint="After so many it ends by itself; empty for not.">
              {(control) => (
                <input
                  {...control}
                  type="number"
                  min="0.25"
                  step="0.25"
                  max={24 * 366}
                  value={hours}
                  onChange={(event) => setHours(event.target.value)}
                />
              )}
            </Field>
          </div>
        </Confirm>
      )}
      {isEnding && (
        <Confirm title="Thaw" does="Thaw" onConfirm={thaw} onClose={() => setEnding(false)}>
          What waits begins, as far as nothing else holds it.
        </Confirm>
      )}
    </section>
  );
}

/** Whether a freeze of something larger holds this too. */
function holds(one: FreezeData, project: string, ensemble: string): boolean {
  if (!one.project) return project !== "";
  return one.project === project && !one.ensemble && ensemble !== "";
}

function Frozen({ of }: { of: FreezeData }): ReactNode {
  const where = of.ensemble
    ? `${of.project}/${of.ensemble}`
    : of.project
      ? `the project ${of.project}`
      : "the whole server";
  return (
    <p>
      <Status of="frozen" tone="degraded">
        {where} is frozen
      </Status>{" "}
      by {of.by}, <Time at={of.since} />
      {of.until && (
        <>
          , until <Time at={of.until} />
        </>
      )}
      : {of.reason}
    </p>
  );
}

async function put(project: string, ensemble: string, body: NewFreeze): Promise<void> {
  if (ensemble) await ask("PUT /projects/{project}/ensembles/{ensemble}/freeze", { path: { project, ensemble }, body });
  else if (project) await ask("PUT /projects/{project}/freeze", { path: { project }, body });
  else await ask("PUT /freeze", { body });
}

async function end(project: string, ensemble: string): Promise<void> {
  if (ensemble) await ask("DELETE /projects/{project}/ensembles/{ensemble}/freeze", { path: { project, ensemble } });
  else if (project) await ask("DELETE /projects/{project}/freeze", { path: { project } });
  else await ask("DELETE /freeze", {});
}
