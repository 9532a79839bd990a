import type { ReactNode } from "react";
import type { PartData, TypeData } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { Facts } from "./facts.tsx";
import type { FilesOf } from "./service-files.tsx";
import { Wait } from "./wait.tsx";

interface TypeProps {
  of: FilesOf;
  name: string;
  onClose: () => void;
}

/** What a type is, and what it has: as `ordito explain` says it. */
export function TypePart({ of, name, onClose }: TypeProps): ReactNode {
  const { project } = of;
  const [digest, ensemble, revision] = "digest" in of ? [of.digest, "", 0] : ["", of.ensemble, of.revision];
  const ofPackage = useLook(
    "GET /projects/{project}/packages/{digest}/types/{name}",
    { path: { project, digest, name } },
    { off: !digest },
  );
  const ofEnsemble = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/service/types/{name}",
    { path: { project, ensemble, name }, query: revision ? { revision } : {} },
    { off: !ensemble },
  );
  return (
    <aside className="files-type" aria-label={`The type ${name}`}>
      <header>
        <h3 className="mono">{name}</h3>
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          ×
        </button>
      </header>
      <Wait for={digest ? ofPackage : ofEnsemble} title="It could not be explained">
        {(data) => "derived_from" in data && <Explained of={data} />}
      </Wait>
    </aside>
  );
}

const SECTIONS = [
  "properties",
  "attributes",
  "capabilities",
  "requirements",
  "interfaces",
  "inputs",
  "operations",
  "artifacts",
] as const;

function Explained({ of }: { of: TypeData }): ReactNode {
  return (
    <>
      <p>
        {of.kind} type
        {of.derived_from[0] && (
          <>
            , derived from <code>{of.derived_from[0]}</code>
          </>
        )}
        {of.declared && <span className="muted"> {of.declared}</span>}
      </p>
      {of.description && <p>{of.description}</p>}
      {SECTIONS.map((section) => {
        const parts = Object.values(of[section] ?? {});
        return (
          parts.length > 0 && (
            <section key={section}>
              <h4>{section}</h4>
              <Facts rows={parts.map((part) => [part.name, <Part key={part.name} of={part} />])} />
            </section>
          )
        );
      })}
    </>
  );
}

function Part({ of }: { of: PartData }): ReactNode {
  const says = [
    of.type ?? of.capability ?? "",
    of.node ? `to ${of.node}` : "",
    of.required ? "required" : "",
    of.default !== undefined ? `usually ${JSON.stringify(of.default)}` : "",
    of.implementation ?? "",
    Object.keys(of.operations ?? {}).join(", "),
  ];
  return (
    <>
      {says.filter(Boolean).join(", ")}
      {of.description && <span className="muted"> {of.description}</span>}
    </>
  );
}
