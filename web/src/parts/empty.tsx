import type { ReactNode } from "react";

interface EmptyProps {
  title: string;
  /** It is the whole page, so its title is that of the page. */
  isPage?: boolean;
  /** Why there is nothing, and what makes something. */
  children?: ReactNode;
}

/** That there is nothing, and how there would be something. */
export function Empty({ title, isPage = false, children }: EmptyProps): ReactNode {
  return (
    <section className="empty">
      {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children}
    </section>
  );
}
