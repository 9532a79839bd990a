import type { ReactNode } from "react";

interface EmptyProps {
  title: string;
  /** Why there is nothing, and what makes something. */
  children?: ReactNode;
}

/** That there is nothing, and how there would be something. */
export function Empty({ title, children }: EmptyProps): ReactNode {
  return (
    <section className="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
