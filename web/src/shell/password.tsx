import { type ReactNode, useState } from "react";
import { useChange } from "../api/use.ts";
import { useAway } from "../parts/action.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field } from "../parts/form.tsx";
import { ProblemPart } from "../parts/problem.tsx";
import { useMe } from "./me.ts";

const SHORTEST = 12;

/** Sets the password of who is signed in; all their other sessions end. */
export default function PasswordDialog({ onClose }: { onClose: () => void }): ReactNode {
  const away = useAway();
  const me = useMe();
  const [old, setOld] = useState("");
  const [wanted, setWanted] = useState("");
  const change = useChange("PUT /me/password");
  if (change.isSuccess) {
    return (
      <Dialog title="Password" onClose={onClose}>
        <p role="status">The password is set. Your other sessions have ended.</p>
        <div className="buttons">
          <button type="button" className="button main" onClick={onClose}>
            Close
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Password" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ body: { new: wanted, old } });
        }}
      >
        <input type="text" name="user" autoComplete="username" value={me.name} readOnly hidden />
        <Field label="Old password" hint="empty if you have none yet">
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="current-password"
              value={old}
              onChange={(event) => setOld(event.target.value)}
            />
          )}
        </Field>
        <Field label="New password" hint={`at least ${SHORTEST} characters; a sentence of several words is good`}>
          {(control) => (
            <input
              {...control}
              type="password"
              autoComplete="new-password"
              required
              minLength={SHORTEST}
              value={wanted}
              onChange={(event) => setWanted(event.target.value)}
            />
          )}
        </Field>
        {change.isError && <ProblemPart error={change.error} title="The password is as before" />}
        <div className="buttons">
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button main" disabled={change.isPending || away !== undefined}>
            Set it
          </button>
        </div>
      </form>
    </Dialog>
  );
}
