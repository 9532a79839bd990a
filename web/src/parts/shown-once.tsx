import type { ReactNode } from "react";

import { Copy } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

interface ShownOnceProps {
  title: string;
  /** What it is, as in "token". */
  label: string;
  text: string;
  /** What it is good for, and how long. */
  children: ReactNode;
  onClose: () => void;
}

/** A secret that the server gives only now. */
export function ShownOnce({ title, label, text, children, onClose }: ShownOnceProps): ReactNode {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="once">
        <Copy text={text} label={label} />
      </div>
      <p>
        <strong>It is shown only now.</strong> {children}
      </p>
      <footer className="buttons">
        <button type="button" className="button main" onClick={onClose}>
          Done
        </button>
      </footer>
    </Dialog>
  );
}
