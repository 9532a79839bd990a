import { type ReactNode, useState } from "react";
import { ROLES, type SessionData, type TokenData } from "../../api/types.ts";
import { useChange, useLook, useTitle } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { NewToken, tokenColumns } from "../../parts/tokens.tsx";
import { Wait } from "../../parts/wait.tsx";
import { useMe } from "../../shell/me.ts";
import PasswordDialog from "../../shell/password.tsx";
import { chooseTheme, type Theme, useTheme } from "../../shell/theme.ts";

/** Who I am: my tokens, sessions and password, and how pages look to me. */
export default function AccountPage(): ReactNode {
  const me = useMe();
  useTitle("Account");
  return (
    <>
      <div className="page-head">
        <h1>{me.name}</h1>
        {me.server.map((permission) => (
          <Badge key={permission}>{permission}</Badge>
        ))}
      </div>
      <Tokens />
      <Sessions />
      <Password />
      <ThemeChoice />
      <Permitted />
    </>
  );
}

function Tokens(): ReactNode {
  const tokens = useLook("GET /me/tokens", {}, { every: 60 });
  const remove = useChange("DELETE /me/tokens/{id}", ["GET /me/tokens"]);
  const make = useChange("POST /me/tokens", ["GET /me/tokens"]);
  const [isMaking, setMaking] = useState(false);
  const [gone, setGone] = useState<TokenData>();
  return (
    <section className="section" aria-labelledby="tokens">
      <div className="section-head">
        <h2 id="tokens">Tokens</h2>
        <Action does={() => setMaking(true)}>New token</Action>
      </div>
      <p className="muted">Commands and programs act as you with a token, until it ends or is removed.</p>
      <Wait for={tokens} title="Your tokens could not be read">
        {({ items }) =>
          items.length ? (
            <Table label="Tokens" columns={tokenColumns(setGone)} rows={items} keyOf={({ id }) => id} />
          ) : (
            <Empty title="You have no tokens">
              <p className="muted">
                <code>ordito login</code> makes one, and so does the button above.
              </p>
            </Empty>
          )
        }
      </Wait>
      {isMaking && (
        <NewToken
          title="New token"
          mayNarrow
          onMake={async (body) => (await make.mutateAsync({ body })).data}
          onClose={() => setMaking(false)}
        />
      )}
      {gone && (
        <Confirm
          title={`Remove the token ${gone.name}`}
          does="Remove it"
          danger
          onConfirm={() => remove.mutateAsync({ path: { id: gone.id } })}
          onClose={() => setGone(undefined)}
        >
          What uses it is refused at once.
        </Confirm>
      )}
    </section>
  );
}

function Sessions(): ReactNode {
  const sessions = useLook("GET /sessions", {}, { every: 60 });
  const end = useChange("DELETE /sessions/{id}", ["GET /sessions"]);
  const columns: Column<SessionData>[] = [
    {
      id: "agent",
      head: "Browser",
      width: "minmax(10rem, 3fr)",
      isName: true,
      cell: ({ agent, current }) => (
        <>
          {agent || "unknown"} {current && <Badge tone="ok">this one</Badge>}
        </>
      ),
    },
    { id: "address", head: "From", cell: ({ address }) => <span className="mono">{address}</span> },
    { id: "since", head: "Since", cell: ({ since }) => <Time at={since} inRow /> },
    { id: "seen", head: "Last seen", cell: ({ seen }) => <Time at={seen} inRow /> },
    {
      id: "do",
      head: "Actions",
      width: "6rem",
      cell: (one) =>
        one.current ? null : (
          <Action name={`End the session from ${one.address}`} does={() => end.mutate({ path: { id: one.id } })}>
            End
          </Action>
        ),
    },
  ];
  return (
    <section className="section" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      {end.isError && <ProblemPart error={end.error} title="The session was not ended" />}
      <Wait for={sessions} title="Your sessions could not be read">
        {({ items }) => <Table label="Sessions" columns={columns} rows={items} keyOf={({ id }) => id} />}
      </Wait>
    </section>
  );
}

function Password(): ReactNode {
  const [isSetting, setSetting] = useState(false);
  return (
    <section className="section" aria-labelledby="password">
      <div className="section-head">
        <h2 id="password">Password</h2>
        <Action does={() => setSetting(true)}>Set a password</Action>
      </div>
      <p className="muted">With it you sign in; all your other sessions end when it is set.</p>
      {isSetting && <PasswordDialog onClose={() => setSetting(false)} />}
    </section>
  );
}

const THEMES: readonly [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function ThemeChoice(): ReactNode {
  const chosen = useTheme();
  return (
    <section className="section" aria-labelledby="theme">
      <h2 id="theme">Theme</h2>
      <div className="choices" role="radiogroup" aria-labelledby="theme">
        {THEMES.map(([theme, label]) => (
          <label key={theme} className="check">
            <input type="radio" name="theme" checked={theme === chosen} onChange={() => chooseTheme(theme)} />
            {label}
          </label>
        ))}
      </div>
    </section>
  );
}

/** What I may do, by project. */
function Permitted(): ReactNode {
  const { projects } = useMe();
  const rows = Object.entries(projects);
  return (
    <section className="section" aria-labelledby="permitted">
      <h2 id="permitted">What you may do</h2>
      {rows.length ? (
        <Facts rows={rows.map(([name, permissions]) => [name, roleOf(permissions) ?? permissions.join(", ")])} />
      ) : (
        <p className="muted">No role is given to you. Owners of projects give roles.</p>
      )}
    </section>
  );
}

/** The role that permits exactly this. */
function roleOf(permissions: readonly string[]): ReactNode {
  const all = [...permissions].sort().join();
  const found = Object.entries(ROLES).find(([, may]) => [...may].sort().join() === all);
  return found && `${found[0]}: ${found[1].join(", ")}`;
}
