import { type ReactNode, useState } from "react";

import { announce } from "./announce.ts";

interface CopyProps {
  text: string;
  /** What it is, as in "job id". */
  label: string;
  /** What shows; usually the text itself. */
  children?: ReactNode;
}

/** An id or a command: a click copies it. */
export function Copy({ text, label, children = text }: CopyProps): ReactNode {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      announce(`${label} copied`);
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      announce(`the browser does not allow to copy; the ${label} is ${text}`);
    }
  };
  return (
    <button type="button" className="copy" title={`Copy the ${label}`} onClick={() => void copy()}>
      <span className="mono">{children}</span>
      <span className="unseen">, copy the {label}</span>
      <span className="copied" aria-hidden="true">
        {isCopied ? "✓" : <Sheets />}
      </span>
    </button>
  );
}

/** Two sheets, one on the other. */
function Sheets(): ReactNode {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" fill="none" stroke="currentColor" aria-hidden="true">
      <path d="M3.5 3.5h7v7h-7z M8.5 1.5h-7v7" />
    </svg>
  );
}
