import { type ReactNode, useState } from "react";
import { useChange, useLook, useTitle } from "../../api/use.ts";
import { useAway } from "../../parts/action.tsx";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Time } from "../../parts/time.tsx";
import { useMe } from "../../shell/me.ts";
import "../sign-in/sign-in.css";

/** Confirm the code that `ordito login` shows, so that the command acts for who is signed in here. */
export default function DevicePage(): ReactNode {
  const away = useAway();
  useTitle("Confirm a code");
  const me = useMe();
  const [code, setCode] = useState("");
  const [asked, setAsked] = useState("");
  const login = useLook("GET /logins", { query: { code: asked } }, { off: asked === "" });
  const confirm = useChange("POST /logins/{id}/confirm");
  const found = asked ? login.data?.data : undefined;

  if (confirm.isSuccess) {
    return (
      <div className="narrow" role="status">
        <h1>Confirmed</h1>
        <p>
          <strong>{found?.name}</strong> is signed in as <strong>{me.name}</strong>. You can close this page and go back
          to the command.
        </p>
      </div>
    );
  }
  if (found) {
    return (
      <div className="narrow">
        <h1>Is this you?</h1>
        <p>
          <strong>{found.name}</strong> from <span className="mono">{found.address}</span> wants to act as{" "}
          <strong>{me.name}</strong>, with all that you may do, for 90 days.
        </p>
        <p className="muted">
          Confirm only if you have just called <code>ordito login</code> yourself. The code is over{" "}
          <Time at={found.expires} />.
        </p>
        {confirm.isError && <ProblemPart error={confirm.error} title="It was not confirmed" />}
        <div className="buttons">
          <button type="button" className="button" onClick={() => setAsked("")}>
            No
          </button>
          <button
            type="button"
            className="button main"
            disabled={confirm.isPending || away !== undefined}
            onClick={() => confirm.mutate({ path: { id: found.id }, body: { code: asked } })}
          >
            Yes, sign it in
          </button>
        </div>
      </div>
    );
  }
  return (
    <div className="narrow">
      <h1>Confirm a code</h1>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (asked === code.trim()) void login.refetch();
          setAsked(code.trim());
        }}
      >
        <Field
          label="Code"
          hint={
            <>
              <code>ordito login</code> shows it, as in BCDF-GHJK.
            </>
          }
        >
          {(control) => (
            <input
              {...control}
              className="mono code"
              name="code"
              autoComplete="one-time-code"
              autoCapitalize="characters"
              spellCheck={false}
              required
              autoFocus
              maxLength={20}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
        {asked && login.isError && <ProblemPart error={login.error} title="No sign-in was found" />}
        <button type="submit" className="button main" disabled={asked !== "" && login.isFetching}>
          Go on
        </button>
      </form>
    </div>
  );
}
