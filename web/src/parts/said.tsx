import type { ReactNode } from "react";

/** A text of the server, in which what stands between backticks is a command or a name. */
export function Said({ text }: { text: string }): ReactNode {
  const parts = text.split("`");
  // One that has no counterpart is one of the text itself.
  if (parts.length % 2 === 0) return text;
  return parts.map((part, at) => (at % 2 ? <code key={at}>{part}</code> : part));
}
