import { type ReactNode, useState } from "react";

import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";

const ALL = "GET /projects/{project}/ensembles/{ensemble}/secrets";

/** The secrets of an ensemble: they are set and removed, and never shown. */
export function Secrets({ of, unable }: { of: EnsembleNamed; unable: string | undefined }): ReactNode {
  const found = useLook(ALL, { path: { ...of } }, { topics: [`ensemble:${of.project}/${of.ensemble}`] });
  const remove = useChange("DELETE /projects/{project}/ensembles/{ensemble}/secrets/{name}", [ALL]);
  const [edited, setEdited] = useState<string>();
  const [gone, setGone] = useState<string>();
  const last = found.data?.data.last ?? {};
  const columns: Column<string>[] = [
    {
      id: "name",
      head: "Name",
      width: "minmax(8rem, 1fr)",
      isName: true,
      cell: (name) => <span className="mono">{name}</span>,
    },
    { id: "value", head: "Value", cell: () => <span className="muted">never shown</span> },
    {
      id: "last",
      head: "Set here",
      width: "minmax(10rem, 1fr)",
      cell: (name) =>
        last[name] ? (
          <span>
            by {last[name].by}, <Time at={last[name].at} inRow />
          </span>
        ) : (
          <span className="muted">by the command</span>
        ),
    },
    {
      id: "do",
      head: "Actions",
      width: "13rem",
      cell: (name) => (
        <span className="row-actions">
          <Action name={`Replace ${name}`} does={() => setEdited(name)} unable={unable}>
            Replace
          </Action>
          <Action name={`Remove ${name}`} does={() => setGone(name)} unable={unable}>
            Remove
          </Action>
        </span>
      ),
    },
  ];
  return (
    <section className="section" aria-labelledby="secrets">
      <div className="section-head">
        <h2 id="secrets">Secrets</h2>
        <Action does={() => setEdited("")} unable={unable}>
          New secret
        </Action>
      </div>
      <p className="muted">
        Sealed when they arrive, and given to operations alone. The spec and the inventory name them:{" "}
        <code>{"{ secret: db-password }"}</code>.
      </p>
      <Wait for={found} title="The secrets could not be read">
        {({ secrets }) =>
          secrets.length ? (
            <Table label="Secrets" columns={columns} rows={secrets} keyOf={(name) => name} />
          ) : (
            <Empty title="There are no secrets" />
          )
        }
      </Wait>
      {edited !== undefined && <SetSecret of={of} name={edited} onClose={() => setEdited(undefined)} />}
      {gone !== undefined && (
        <Confirm
          title={`Remove the secret ${gone}`}
          does="Remove"
          danger
          name={gone}
          onConfirm={() => remove.mutateAsync({ path: { ...of, name: gone } })}
          onClose={() => setGone(undefined)}
        >
          Plans that need it are refused from then on, and nobody can get its value back.
        </Confirm>
      )}
    </section>
  );
}

interface SetProps {
  of: EnsembleNamed;
  /** The secret that is replaced, "" for a new one. */
  name: string;
  onClose: () => void;
}

function SetSecret({ of, name, onClose }: SetProps): ReactNode {
  const set = useChange("PUT /projects/{project}/ensembles/{ensemble}/secrets/{name}", [ALL]);
  const [called, setCalled] = useState(name);
  const [value, setValue] = useState("");
  const [isLong, setLong] = useState(false);
  return (
    <Confirm
      title={name ? `Replace the secret ${name}` : "New secret"}
      does={name ? "Replace" : "Set the secret"}
      onConfirm={() => set.mutateAsync({ path: { ...of, name: called }, body: { value } })}
      onClose={onClose}
    >
      <div className="form">
        {!name && (
          <Field label="Name">
            {(control) => (
              <input
                {...control}
                required
                autoFocus
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                placeholder="db-password"
                value={called}
                onChange={(event) => setCalled(event.target.value)}
              />
            )}
          </Field>
        )}
        <Field label="Value" hint="It is never shown again.">
          {(control) =>
            isLong ? (
              <textarea
                {...control}
                className="mono secret"
                rows={6}
                required
                autoComplete="off"
                spellCheck={false}
                value={value}
                onChange={(event) => setValue(event.target.value)}
              />
            ) : (
              // Not a password: no browser is to keep it.
              <input
                {...control}
                className="secret"
                type="text"
                required
                autoFocus={name !== ""}
                autoComplete="off"
                autoCapitalize="off"
                spellCheck={false}
                value={value}
                onChange={(event) => setValue(event.target.value)}
              />
            )
          }
        </Field>
        <label className="check">
          <input type="checkbox" checked={isLong} onChange={(event) => setLong(event.target.checked)} />
          It has several lines, as keys have
        </label>
      </div>
    </Confirm>
  );
}
