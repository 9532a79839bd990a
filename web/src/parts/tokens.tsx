import { type ReactNode, useState } from "react";

import { type MadeToken, type NewTokenFields, ROLES, type TokenData } from "../api/types.ts";
import { Action } from "./action.tsx";
import { Confirm } from "./dialog.tsx";
import { Field } from "./form.tsx";
import { ShownOnce } from "./shown-once.tsx";
import type { Column } from "./table.tsx";
import { Time } from "./time.tsx";

/** The columns of a table of tokens. */
export function tokenColumns(onRemove: (token: TokenData) => void): Column<TokenData>[] {
  return [
    { id: "name", head: "Name", width: "minmax(8rem, 2fr)", isName: true, cell: ({ name }) => name },
    { id: "scope", head: "Narrowed to", width: "minmax(8rem, 2fr)", cell: scopeOf },
    {
      id: "used",
      head: "Last used",
      cell: ({ used }) => (used ? <Time at={used} inRow /> : <span className="muted">never</span>),
    },
    { id: "expires", head: "Ends", cell: ({ expires }) => <Time at={expires} inRow /> },
    {
      id: "do",
      head: "Actions",
      width: "6rem",
      cell: (one) => (
        <Action name={`Remove the token ${one.name}`} does={() => onRemove(one)}>
          Remove
        </Action>
      ),
    },
  ];
}

/** To what a token is narrowed. */
function scopeOf({ role, projects }: TokenData): string {
  return [role, projects.join(", ")].filter(Boolean).join(" in ") || "nothing";
}

interface NewTokenProps {
  title: string;
  /** Whether it can be narrowed to projects: the tokens of an account are of one. */
  mayNarrow?: boolean;
  onMake: (body: NewTokenFields) => Promise<MadeToken>;
  onClose: () => void;
}

/** Asks what a new token is for, and shows it once. */
export function NewToken({ title, mayNarrow = false, onMake, onClose }: NewTokenProps): ReactNode {
  const [name, setName] = useState("");
  const [days, setDays] = useState(90);
  const [role, setRole] = useState("");
  const [projects, setProjects] = useState("");
  const [made, setMade] = useState<MadeToken>();
  if (made) {
    return (
      <ShownOnce title={`The token ${made.name}`} label="token" text={made.token} onClose={onClose}>
        Keep it where your other secrets are; it ends <Time at={made.expires} />. Commands take it from{" "}
        <code>ORDITO_TOKEN</code>.
      </ShownOnce>
    );
  }
  const make = async (): Promise<void> => {
    const of = projects.split(/[\s,]+/).filter(Boolean);
    setMade(await onMake({ name, expires: days, ...(role ? { role } : {}), ...(of.length ? { projects: of } : {}) }));
  };
  return (
    <Confirm title={title} does="Make the token" onConfirm={make} onClose={onClose} stays>
      <div className="form">
        <Field label="Name" hint="What it is for, as in ci.">
          {(control) => (
            <input
              {...control}
              required
              autoFocus
              maxLength={80}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <Field label="Days" hint="After so many days it ends, at most 366.">
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              max={366}
              required
              value={days}
              onChange={(event) => setDays(event.target.valueAsNumber || 0)}
            />
          )}
        </Field>
        <Field label="Role" hint="It may do no more than this role, and no more than its owner.">
          {(control) => (
            <select {...control} value={role} onChange={(event) => setRole(event.target.value)}>
              <option value="">all that its owner may do</option>
              {Object.keys(ROLES).map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        {mayNarrow && (
          <Field label="Projects" hint="Names with spaces between; none for all.">
            {(control) => <input {...control} value={projects} onChange={(event) => setProjects(event.target.value)} />}
          </Field>
        )}
      </div>
    </Confirm>
  );
}
