import { type ReactNode, useState } from "react";
import type { AccountData, TokenData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/form.tsx";
import { Table } from "../../parts/table.tsx";
import { NewToken, tokenColumns } from "../../parts/tokens.tsx";
import { Wait } from "../../parts/wait.tsx";

const ALL = "GET /projects/{project}/accounts";

type Asks = { account: AccountData; token?: TokenData; does: "token" | "remove" | "remove-token" };

/** Service accounts, as which programs act, and their tokens. */
export function Accounts({ project, allowed }: { project: string; allowed: readonly string[] | undefined }): ReactNode {
  const unable = useUnable(allowed, project)("members");
  const isForbidden = allowed !== undefined && !allowed.includes("members");
  const accounts = useLook(
    ALL,
    { path: { project } },
    { off: isForbidden || !allowed, topics: [`project:${project}`] },
  );
  const make = useChange("POST /projects/{project}/accounts", [ALL]);
  const remove = useChange("DELETE /projects/{project}/accounts/{account}", [ALL]);
  const makeToken = useChange("POST /projects/{project}/accounts/{account}/tokens", [ALL]);
  const removeToken = useChange("DELETE /projects/{project}/accounts/{account}/tokens/{id}", [ALL]);
  const [isMaking, setMaking] = useState(false);
  const [name, setName] = useState("");
  const [asks, setAsks] = useState<Asks>();
  const close = (): void => setAsks(undefined);
  return (
    <section className="section" aria-labelledby="accounts">
      <div className="section-head">
        <h2 id="accounts">Accounts</h2>
        <Action does={() => setMaking(true)} unable={unable}>
          New account
        </Action>
      </div>
      <p className="muted">
        Programs act as an account, with a token of it. It may do what its roles permit: give it one among the members.
      </p>
      {isForbidden ? (
        <p className="muted">Seeing accounts {unable}.</p>
      ) : (
        <Wait for={accounts} title="The accounts could not be read">
          {({ items }) =>
            items.length ? (
              items.map((one) => (
                <div key={one.name} className="section">
                  <div className="section-head">
                    <h3>{one.name}</h3>
                    <span className="row-actions">
                      <Action name={`New token for ${one.name}`} does={() => setAsks({ account: one, does: "token" })}>
                        New token
                      </Action>
                      <Action name={`Remove ${one.name}`} does={() => setAsks({ account: one, does: "remove" })}>
                        Remove
                      </Action>
                    </span>
                  </div>
                  {one.tokens.length ? (
                    <Table
                      label={`Tokens of ${one.name}`}
                      columns={tokenColumns((token) => setAsks({ account: one, token, does: "remove-token" }))}
                      rows={one.tokens}
                      keyOf={({ id }) => id}
                    />
                  ) : (
                    <p className="muted">It has no tokens yet.</p>
                  )}
                </div>
              ))
            ) : (
              <Empty title="There are no accounts" />
            )
          }
        </Wait>
      )}
      {isMaking && (
        <Confirm
          title="New account"
          does="Make the account"
          onConfirm={() => make.mutateAsync({ path: { project }, body: { name } })}
          onClose={() => setMaking(false)}
        >
          <Field label="Name" hint="What acts as it, as in pipeline.">
            {(control) => (
              <input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
        </Confirm>
      )}
      {asks?.does === "token" && (
        <NewToken
          title={`New token for ${asks.account.name}`}
          onMake={async (body) =>
            (await makeToken.mutateAsync({ path: { project, account: asks.account.name }, body })).data
          }
          onClose={close}
        />
      )}
      {asks?.does === "remove" && (
        <Confirm
          title={`Remove the account ${asks.account.name}`}
          does="Remove"
          danger
          name={asks.account.name}
          onConfirm={() => remove.mutateAsync({ path: { project, account: asks.account.name } })}
          onClose={close}
        >
          {asks.account.tokens.length === 1 ? "Its token" : `Its ${asks.account.tokens.length} tokens`} and its roles go
          with it; what uses them is refused at once.
        </Confirm>
      )}
      {asks?.token && (
        <Confirm
          title={`Remove the token ${asks.token.name}`}
          does="Remove it"
          danger
          onConfirm={() =>
            removeToken.mutateAsync({ path: { project, account: asks.account.name, id: asks.token?.id ?? "" } })
          }
          onClose={close}
        >
          What uses it is refused at once.
        </Confirm>
      )}
    </section>
  );
}
