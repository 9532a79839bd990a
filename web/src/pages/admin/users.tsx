import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { ask, tagAsShown } from "../../api/ask.ts";
import { useParts } from "../../api/parts.ts";
import type { LinkData, UserChange, UserData } from "../../api/types.ts";
import { useChange } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Field } from "../../parts/form.tsx";
import { List } from "../../parts/list.tsx";
import { Menu } from "../../parts/menu.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { useMe } from "../../shell/me.ts";

type Asks = { of: UserData; does: "remove" | "reset" | "disable" };

/** The users of the server, and what administrators do with them. */
export function Users(): ReactNode {
  const me = useMe();
  const users = useParts("GET /users", {}, { topics: ["audit"], when: (action) => action.startsWith("user.") });
  const store = useQueryClient();
  const remove = useChange("DELETE /users/{user}", ["GET /users"]);
  const reset = useChange("POST /users/{user}/reset", ["GET /users"]);
  const [isMaking, setMaking] = useState(false);
  const [asks, setAsks] = useState<Asks>();
  const [link, setLink] = useState<LinkData>();
  const [text, setText] = useState("");

  const set = useMutation({
    mutationFn: async ({ of, body }: { of: UserData; body: UserChange }) => {
      const path = { user: of.name };
      const match = tagAsShown(of, await ask("GET /users/{user}", { path }));
      return ask("PATCH /users/{user}", { path, body }, { match });
    },
    // Also where it was refused: somebody else has changed them then.
    onSettled: () => store.invalidateQueries({ queryKey: ["GET /users"] }),
  });
  const columns: Column<UserData>[] = [
    { id: "name", head: "Name", width: "minmax(8rem, 2fr)", isName: true, cell: ({ name }) => name },
    {
      id: "roles",
      head: "On the server",
      width: "minmax(8rem, 2fr)",
      cell: ({ admin, auditor }) =>
        (admin || auditor) && (
          <span className="row-actions">
            {admin && <Badge>administrator</Badge>}
            {auditor && <Badge>auditor</Badge>}
          </span>
        ),
    },
    {
      id: "state",
      head: "State",
      width: "minmax(8rem, 2fr)",
      cell: ({ disabled, has_password: hasPassword }) =>
        disabled ? (
          <Status of="disabled" tone="absent" />
        ) : hasPassword ? (
          <Status of="active" tone="ok" />
        ) : (
          <Status of="no password yet" tone="pending" />
        ),
    },
    { id: "created", head: "Made", cell: ({ created }) => <Time at={created} inRow /> },
    {
      id: "do",
      head: "Actions",
      width: "7rem",
      cell: (one) => {
        const self = one.name === me.name ? "that is you" : undefined;
        return (
          <Menu
            changes
            label={
              <>
                Actions <span aria-hidden="true">▾</span>
              </>
            }
            name={`Actions for ${one.name}`}
            items={[
              { label: "One-time link", does: () => setAsks({ of: one, does: "reset" }), unable: self },
              {
                label: one.admin ? "No longer administrator" : "Make administrator",
                does: () => set.mutate({ of: one, body: { admin: !one.admin } }),
                unable: self,
              },
              {
                label: one.auditor ? "No longer auditor" : "Make auditor",
                does: () => set.mutate({ of: one, body: { auditor: !one.auditor } }),
              },
              one.disabled
                ? { label: "Enable", does: () => set.mutate({ of: one, body: { disabled: false } }) }
                : { label: "Disable", does: () => setAsks({ of: one, does: "disable" }), danger: true, unable: self },
              { label: "Remove", does: () => setAsks({ of: one, does: "remove" }), danger: true, unable: self },
            ]}
          />
        );
      },
    },
  ];
  return (
    <section className="section">
      <div className="section-head">
        <input
          type="search"
          data-filter
          className="admin-filter"
          aria-label="Filter the users"
          placeholder="Name"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Action does={() => setMaking(true)}>New user</Action>
      </div>
      {set.isError && <ProblemPart error={set.error} title="The user was not changed" />}
      <List for={users} title="The users could not be read">
        {(items) => (
          <Table
            label="Users"
            columns={columns}
            rows={items.filter(({ name }) => name.includes(text.trim().toLowerCase()))}
            keyOf={({ name }) => name}
          />
        )}
      </List>
      {isMaking && <NewUser onMade={setLink} onClose={() => setMaking(false)} />}
      {asks?.does === "reset" && (
        <Confirm
          title={`A one-time link for ${asks.of.name}`}
          does="Make the link"
          onConfirm={async () => setLink((await reset.mutateAsync({ path: { user: asks.of.name } })).data)}
          onClose={() => setAsks(undefined)}
        >
          {asks.of.has_password
            ? "The present password stops to be valid, and all sessions end. Whoever opens the link signs in and sets a new one."
            : "Whoever opens the link signs in and sets a password."}
        </Confirm>
      )}
      {asks?.does === "disable" && (
        <Confirm
          title={`Disable ${asks.of.name}`}
          does="Disable"
          danger
          onConfirm={() => set.mutateAsync({ of: asks.of, body: { disabled: true } })}
          onClose={() => setAsks(undefined)}
        >
          Their sessions end at once and their tokens are refused. Roles stay, and so does the name in the audit log.
        </Confirm>
      )}
      {asks?.does === "remove" && (
        <Confirm
          title={`Remove ${asks.of.name}`}
          does="Remove"
          danger
          name={asks.of.name}
          onConfirm={() => remove.mutateAsync({ path: { user: asks.of.name } })}
          onClose={() => setAsks(undefined)}
        >
          Their sessions, tokens and all roles in all projects go with them. To keep the roles, disable the user
          instead.
        </Confirm>
      )}
      {link && (
        <ShownOnce title={`A link for ${link.user}`} label="link" text={link.link} onClose={() => setLink(undefined)}>
          It works once, for five minutes.
        </ShownOnce>
      )}
    </section>
  );
}

function NewUser({ onMade, onClose }: { onMade: (link: LinkData) => void; onClose: () => void }): ReactNode {
  const make = useChange("POST /users", ["GET /users"]);
  const reset = useChange("POST /users/{user}/reset", ["GET /users"]);
  const [name, setName] = useState("");
  const [admin, setAdmin] = useState(false);
  const [auditor, setAuditor] = useState(false);
  const confirm = async (): Promise<void> => {
    await make.mutateAsync({ body: { name, admin, auditor } });
    onMade((await reset.mutateAsync({ path: { user: name } })).data);
  };
  return (
    <Confirm title="New user" does="Make the user and a link" onConfirm={confirm} onClose={onClose}>
      <div className="form">
        <Field label="Name" hint="Small letters, digits, dots and dashes.">
          {(control) => (
            <input
              {...control}
              required
              autoFocus
              autoCapitalize="none"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <div>
          <label className="check">
            <input type="checkbox" checked={admin} onChange={(event) => setAdmin(event.target.checked)} />
            Administrator: may do everything everywhere
          </label>
          <label className="check">
            <input type="checkbox" checked={auditor} onChange={(event) => setAuditor(event.target.checked)} />
            Auditor: may read everything everywhere, and the audit log
          </label>
        </div>
      </div>
    </Confirm>
  );
}
