import { type ReactNode, useState } from "react";

import { ask, tagAsShown } from "../../api/ask.ts";
import type { GroupData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/form.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Wait } from "../../parts/wait.tsx";

/** Groups of users, who share the roles that are given to the group. */
export function Groups(): ReactNode {
  const groups = useLook("GET /groups", {}, { topics: ["audit"], when: (action) => action.startsWith("group.") });
  const remove = useChange("DELETE /groups/{group}", ["GET /groups"]);
  const [edited, setEdited] = useState<GroupData>();
  const [gone, setGone] = useState<GroupData>();
  const columns: Column<GroupData>[] = [
    { id: "name", head: "Name", width: "minmax(8rem, 1fr)", isName: true, cell: ({ name }) => name },
    { id: "count", head: "Members", width: "5rem", isNumber: true, cell: ({ members }) => members.length },
    { id: "members", head: "Who", width: "minmax(10rem, 4fr)", cell: ({ members }) => shortened(members) },
    {
      id: "do",
      head: "Actions",
      width: "13rem",
      cell: (one) => (
        <span className="row-actions">
          <Action name={`Change ${one.name}`} does={() => setEdited(one)}>
            Change
          </Action>
          <Action name={`Remove ${one.name}`} does={() => setGone(one)}>
            Remove
          </Action>
        </span>
      ),
    },
  ];
  return (
    <section className="section">
      <div className="section-head">
        <p className="muted">Roles that a project gives to a group are those of all its members.</p>
        <Action does={() => setEdited({ name: "", members: [] })}>New group</Action>
      </div>
      <Wait for={groups} title="The groups could not be read">
        {({ items }) =>
          items.length ? (
            <Table label="Groups" columns={columns} rows={items} keyOf={({ name }) => name} />
          ) : (
            <Empty title="There are no groups" />
          )
        }
      </Wait>
      {edited && <EditGroup group={edited} onClose={() => setEdited(undefined)} />}
      {gone && (
        <Confirm
          title={`Remove the group ${gone.name}`}
          does="Remove"
          danger
          name={gone.name}
          onConfirm={() => remove.mutateAsync({ path: { group: gone.name } })}
          onClose={() => setGone(undefined)}
        >
          Its {gone.members.length} members lose the roles that they have by it, in all projects.
        </Confirm>
      )}
    </section>
  );
}

function shortened(members: readonly string[]): string {
  const shown = members.slice(0, 8).join(", ");
  return members.length > 8 ? `${shown} and ${members.length - 8} more` : shown;
}

function EditGroup({ group, onClose }: { group: GroupData; onClose: () => void }): ReactNode {
  const set = useChange("PUT /groups/{group}", ["GET /groups"]);
  const [name, setName] = useState(group.name);
  const [text, setText] = useState(group.members.join("\n"));
  const members = [...new Set(text.split(/[\s,]+/).filter(Boolean))];
  return (
    <Confirm
      title={group.name ? `The group ${group.name}` : "New group"}
      does={members.length === 1 ? "Set 1 member" : `Set ${members.length} members`}
      onConfirm={async () => {
        const path = { group: name };
        // A new one has nothing to be seen: where there is one of that name, the server says so.
        const sent = group.name ? { match: tagAsShown(group, await ask("GET /groups/{group}", { path })) } : {};
        return set.mutateAsync({ path, body: { members }, sent });
      }}
      onClose={onClose}
    >
      <div className="form">
        {!group.name && (
          <Field label="Name">
            {(control) => (
              <input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
        )}
        <Field label="Members" hint="Names of users, one on each line: all of them, in place of those that it had.">
          {(control) => (
            <textarea
              {...control}
              rows={8}
              required
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
      </div>
    </Confirm>
  );
}
