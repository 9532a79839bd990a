import { type ReactNode, useEffect, useState } from "react";

import { ask } from "../../api/ask.ts";
import { useLook, useTitle } from "../../api/use.ts";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Loading } from "../../parts/wait.tsx";
import { pageAfter } from "./page-after.ts";
import "./sign-in.css";

/** The secret of the link with which this page was opened, "" for none. */
const LINK = takeLink();

/** Takes it out of the address and the history. */
function takeLink(): string {
  const secret = window.location.hash.slice(1);
  if (secret) window.history.replaceState(null, "", window.location.pathname + window.location.search);
  return secret;
}

/** The code of the problem with which the provider's way back has ended, "" for none. */
const PROBLEM = /^oidc-[a-z]+$/.exec(new URLSearchParams(window.location.search).get("problem") ?? "")?.[0] ?? "";

const SAID: Record<string, string> = {
  "oidc-away": "The provider does not answer as it should. Try again in a while.",
  "oidc-refused": "The provider did not sign you in, or its word does not hold.",
  "oidc-state": "That sign-in was not begun in this browser, was used before, or is over. Begin again.",
  "oidc-user": "The provider knows you, but you may not use this server. Ask an administrator.",
};

/** Sign in with a password, by the provider that the server knows, or with the one-time link that a server or an administrator gives. */
export default function SignInPage(): ReactNode {
  useTitle("Sign in");
  const [isBusy, setBusy] = useState(LINK !== "");
  const [error, setError] = useState<unknown>();
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const server = useLook("GET /", {}).data?.data;
  const provider = server?.provider;
  const hasPasswords = server?.sign_in.includes("password") ?? true;

  const signIn = async (given: { user: string; password: string } | { link: string }): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await ask("POST /sessions", { body: given });
      // A new page: nothing of who was signed in before is left in this one.
      window.location.replace(pageAfter(window.location.search));
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  useEffect(() => {
    if (LINK) void signIn({ link: LINK });
    // A link that is opened where this page shows already changes nothing but what stands behind its `#`.
    const onLink = (): void => window.location.reload();
    window.addEventListener("hashchange", onLink);
    return () => window.removeEventListener("hashchange", onLink);
  }, []);

  return (
    <main className="narrow">
      <p className="brand">Ordito</p>
      <h1>Sign in</h1>
      {LINK && isBusy ? (
        <Loading label="signing in" lines={2} />
      ) : (
        <>
          {PROBLEM && (
            <div className="problem" role="alert">
              <p>{SAID[PROBLEM] ?? "You are not signed in."}</p>
              <p className="hint">
                <a href={`/problems/${PROBLEM}`}>What this means</a>
              </p>
            </div>
          )}
          {provider && (
            <a
              className="button main"
              href={`/api/v1/oidc/start?return=${encodeURIComponent(pageAfter(window.location.search))}`}
            >
              Sign in by {provider}
            </a>
          )}
          {hasPasswords && (
            <form
              className="form"
              onSubmit={(event) => {
                event.preventDefault();
                void signIn({ user, password });
              }}
            >
              {error !== undefined && <ProblemPart error={error} title="You are not signed in" />}
              <Field label="Name">
                {(control) => (
                  <input
                    {...control}
                    name="user"
                    autoComplete="username"
                    autoCapitalize="none"
                    spellCheck={false}
                    required
                    autoFocus
                    value={user}
                    onChange={(event) => setUser(event.target.value)}
                  />
                )}
              </Field>
              <Field label="Password">
                {(control) => (
                  <input
                    {...control}
                    name="password"
                    type="password"
                    autoComplete="current-password"
                    required
                    value={password}
                    onChange={(event) => setPassword(event.target.value)}
                  />
                )}
              </Field>
              <button type="submit" className="button main" disabled={isBusy}>
                {isBusy ? "Signing in" : "Sign in"}
              </button>
              <p className="hint">
                Without a password yet: open the link that the server printed when it started, or ask an administrator
                for one.
              </p>
            </form>
          )}
        </>
      )}
    </main>
  );
}
