import { type ReactNode, useState } from "react";
import type { SpecData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Wait } from "../../parts/wait.tsx";

/** What the spec comes to: the value of each input, and where it comes from. */
export function Evaluated({ of, unable }: { of: EnsembleNamed; unable: string | undefined }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/spec/evaluated",
    { path: { ...of } },
    { off: !isOpen || unable !== undefined, topics: [`ensemble:${of.project}/${of.ensemble}`] },
  );
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>What it comes to</summary>
      {unable ? (
        <p className="muted">It {unable}.</p>
      ) : (
        isOpen && (
          <Wait for={found} title="What it comes to could not be found out">
            {(data) => <Values of={data} />}
          </Wait>
        )
      )}
    </details>
  );
}

function Values({ of }: { of: SpecData }): ReactNode {
  const rows: [string, ReactNode][] = [
    ["Service", of.service],
    ["Environment", of.environment],
    ...Object.entries(of.inputs).map(([name, { value, origin }]): [string, ReactNode] => [
      `Input ${name}`,
      <span key={name}>
        <code>{JSON.stringify(value)}</code> <span className="muted">{origin}</span>
      </span>,
    ]),
    ...Object.entries(of.variables).map(([name, value]): [string, ReactNode] => [
      `Variable ${name}`,
      <code key={name}>{JSON.stringify(value)}</code>,
    ]),
  ];
  return <Facts rows={rows} />;
}
