import type { ReactNode } from "react";

interface FactsProps {
  /** What is told, by name; what is empty is left out. */
  rows: readonly (readonly [name: string, value: ReactNode])[];
}

/** Names, and what is told of each. */
export function Facts({ rows }: FactsProps): ReactNode {
  return (
    <dl className="facts">
      {rows
        .filter(([, value]) => value !== "" && value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name} className="facts-row">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
