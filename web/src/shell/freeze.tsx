import type { ReactNode } from "react";

import type { FreezeData } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { Time } from "../parts/time.tsx";

/** Where nothing begins now: on the server (no project), in a project (no ensemble), in an ensemble. */
export function useFreezes(): readonly FreezeData[] {
  return useLook("GET /freeze", {}, { topics: ["ensembles"] }).data?.data.items ?? [];
}

/** The freeze that holds for an ensemble: its own, its project's or the server's. */
export function freezeOf(all: readonly FreezeData[], project: string, ensemble: string): FreezeData | undefined {
  const holds = (one: FreezeData): boolean =>
    (one.project === "" || one.project === project) && (one.ensemble === "" || one.ensemble === ensemble);
  return all.filter(holds).sort((one, other) => weight(other) - weight(one))[0];
}

function weight({ project, ensemble }: FreezeData): number {
  return (project ? 1 : 0) + (ensemble ? 1 : 0);
}

/** That it is frozen: where, by whom, why, until when. */
export function FreezeText({ of }: { of: FreezeData }): ReactNode {
  const where = of.ensemble ? "This ensemble is" : of.project ? `The project ${of.project} is` : "The server is";
  return (
    <>
      <strong>
        <span aria-hidden="true">❙❙ </span>
        {where} frozen
      </strong>{" "}
      by {of.by}, <Time at={of.since} />
      {of.until && (
        <>
          , until <Time at={of.until} />
        </>
      )}
      {of.reason && <>: {of.reason}</>}. Nothing begins; what runs goes on.
    </>
  );
}
