import { type ReactNode, useEffect, useId, useRef, useState } from "react";

import { useAway } from "./action.tsx";
import { ProblemPart } from "./problem.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** A dialog, as long as it is rendered. Esc, a click beside it and its button close it. */
export function Dialog({ title, onClose, wide = false, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    // The browser would choose the button that closes it.
    dialog.current?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    // The keys of a dialog are Esc, which the browser handles, and those of what stands in it.
    <dialog
      ref={dialog}
      className={wide ? "dialog wide" : "dialog"}
      aria-labelledby={name}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div className="dialog-inside">
        <div className="dialog-head">
          <h2 id={name}>{title}</h2>
          <button type="button" className="icon" aria-label="Close" onClick={() => dialog.current?.close()}>
            ×
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  /** What will be done, in numbers. */
  children: ReactNode;
  /** What the button says, as in "Undeploy 6 instances". */
  does: string;
  /** A name that must be typed first, for what cannot be undone. */
  name?: string;
  danger?: boolean;
  /** Do not close once it is done: what opened it shows something else then. */
  stays?: boolean;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
}

/** Asks before something is done, says why it was not done, and closes once it is. */
export function Confirm({
  title,
  children,
  does,
  name,
  danger = false,
  stays = false,
  onConfirm,
  onClose,
}: ConfirmProps): ReactNode {
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const field = useId();
  const away = useAway();
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      if (!stays) onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        <div>{children}</div>
        {name !== undefined && (
          <div className="field">
            <label htmlFor={field}>
              Type <strong>{name}</strong> to go on
            </label>
            <input id={field} value={typed} autoComplete="off" onChange={(event) => setTyped(event.target.value)} />
          </div>
        )}
        {error !== undefined && <ProblemPart error={error} title="It was not done" />}
        <div className="buttons">
          {away && <span className="muted">{away}</span>}
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className={danger ? "button danger" : "button main"}
            disabled={isBusy || away !== undefined || (name !== undefined && typed !== name)}
          >
            {does}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
