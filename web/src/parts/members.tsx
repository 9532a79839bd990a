import { type ReactNode, useState } from "react";

import { asProblem } from "../api/problem.ts";
import { type Bindings, ROLES, type RoleBinding } from "../api/types.ts";
import { useChange, useLook } from "../api/use.ts";
import { Action } from "./action.tsx";
import { Confirm } from "./dialog.tsx";
import { Empty } from "./empty.tsx";
import { Facts } from "./facts.tsx";
import { Field } from "./form.tsx";
import { ProblemPart } from "./problem.tsx";
import { Badge } from "./status.tsx";
import { type Column, Table } from "./table.tsx";
import { Wait } from "./wait.tsx";

interface MembersProps {
  project: string;
  /** Only who has a role in this ensemble, be it by the project. */
  ensemble?: string;
  unable: string | undefined;
}

/** Who has which role in a project, or in an ensemble of it. */
export function Members({ project, ensemble = "", unable }: MembersProps): ReactNode {
  const set = useChange("PUT /projects/{project}/bindings", ["GET /projects/{project}/bindings"]);
  const [isAdding, setAdding] = useState(false);
  const [gone, setGone] = useState<RoleBinding>();
  // What somebody is about to change stays as it was seen.
  const topics = isAdding || gone ? [] : [`project:${project}`];
  const found = useLook("GET /projects/{project}/bindings", { path: { project } }, { topics });

  const all = found.data?.data.bindings ?? [];
  const put = async (bindings: RoleBinding[]): Promise<void> => {
    try {
      await set.mutateAsync({ path: { project }, body: { bindings }, sent: { match: found.data?.etag ?? "" } });
    } catch (problem) {
      // The other version shows behind the problem, and the same is tried with it.
      if (asProblem(problem).status === 412) await found.refetch();
      throw problem;
    }
  };
  const columns: Column<RoleBinding>[] = [
    { id: "who", head: "Who", width: "minmax(8rem, 2fr)", isName: true, cell: ({ who }) => who },
    { id: "kind", head: "Kind", cell: ({ kind }) => KINDS[kind] },
    { id: "where", head: "Where", cell: (one) => one.ensemble || <span className="muted">whole project</span> },
    {
      id: "role",
      head: "Role",
      width: "minmax(9rem, 1fr)",
      cell: (one) =>
        unable || (ensemble && !one.ensemble) ? (
          <Badge>{one.role}</Badge>
        ) : (
          <select
            aria-label={`Role of ${one.who}`}
            value={one.role}
            onChange={(event) =>
              void put(all.map((other) => (other === one ? { ...one, role: event.target.value } : other))).catch(
                () => undefined,
              )
            }
          >
            {Object.keys(ROLES).map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        ),
    },
    {
      id: "do",
      head: "Actions",
      width: "6rem",
      cell: (one) => (
        <Action
          name={`Remove ${one.who}, ${one.role}`}
          does={() => setGone(one)}
          unable={
            unable ?? (ensemble && !one.ensemble ? "it is a role in the whole project: remove it there" : undefined)
          }
        >
          Remove
        </Action>
      ),
    },
  ];
  return (
    <section className="section" aria-labelledby="members">
      <div className="section-head">
        <h2 id="members">Members</h2>
        <Action does={() => setAdding(true)} unable={unable}>
          Give a role
        </Action>
      </div>
      {set.isError && !isAdding && !gone && <ProblemPart error={set.error} title="The role was not changed" />}
      <Wait for={found} title="The members could not be read">
        {({ bindings }) => {
          const rows = ensemble ? bindings.filter((one) => !one.ensemble || one.ensemble === ensemble) : bindings;
          return rows.length ? (
            <Table label="Members" columns={columns} rows={rows} keyOf={keyOf} />
          ) : (
            <Empty title="Nobody has a role here">
              <p className="muted">Administrators of the server may do everything all the same.</p>
            </Empty>
          );
        }}
      </Wait>
      <RolesTable />
      {isAdding && (
        <AddMember
          project={project}
          ensemble={ensemble}
          onAdd={(one) => put([...all.filter((other) => keyOf(other) !== keyOf(one)), one])}
          onClose={() => setAdding(false)}
        />
      )}
      {gone && (
        <Confirm
          title={`Take the role ${gone.role} from ${gone.who}`}
          does="Take it"
          danger
          onConfirm={() => put(all.filter((one) => keyOf(one) !== keyOf(gone)))}
          onClose={() => setGone(undefined)}
        >
          {gone.ensemble ? `In ${project}/${gone.ensemble}` : `In the whole project ${project}`}, at once.
        </Confirm>
      )}
    </section>
  );
}

const KINDS = { user: "user", group: "group", account: "account" } as const;

function keyOf(one: RoleBinding): string {
  return `${one.kind} ${one.who} ${one.ensemble ?? ""} ${one.role}`;
}

/** What each role permits. */
function RolesTable(): ReactNode {
  return (
    <details>
      <summary>What the roles permit</summary>
      <Facts rows={Object.entries(ROLES).map(([role, permissions]) => [role, permissions.join(", ")])} />
    </details>
  );
}

interface AddProps {
  project: string;
  ensemble: string;
  onAdd: (one: Bindings["bindings"][number]) => Promise<unknown>;
  onClose: () => void;
}

function AddMember({ project, ensemble, onAdd, onClose }: AddProps): ReactNode {
  const [kind, setKind] = useState<RoleBinding["kind"]>("user");
  const [who, setWho] = useState("");
  const [role, setRole] = useState("viewer");
  const [where, setWhere] = useState(ensemble);
  return (
    <Confirm
      title="Give a role"
      does="Give it"
      onConfirm={() => onAdd({ kind, who: who.trim(), role, ...(where.trim() ? { ensemble: where.trim() } : {}) })}
      onClose={onClose}
    >
      <div className="form">
        <Field label="Kind">
          {(control) => (
            <select {...control} value={kind} onChange={(event) => setKind(event.target.value as RoleBinding["kind"])}>
              <option value="user">user</option>
              <option value="group">group</option>
              <option value="account">service account of this project</option>
            </select>
          )}
        </Field>
        <Field label="Name">
          {(control) => (
            <input
              {...control}
              required
              autoFocus
              autoCapitalize="none"
              spellCheck={false}
              value={who}
              onChange={(event) => setWho(event.target.value)}
            />
          )}
        </Field>
        <Field label="Role" hint={(ROLES[role as keyof typeof ROLES] ?? []).join(", ")}>
          {(control) => (
            <select {...control} value={role} onChange={(event) => setRole(event.target.value)}>
              {Object.keys(ROLES).map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Ensemble" hint={`Only in this one; empty for all of ${project}.`}>
          {(control) => <input {...control} value={where} onChange={(event) => setWhere(event.target.value)} />}
        </Field>
      </div>
    </Confirm>
  );
}
