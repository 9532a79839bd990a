import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";

import type { Answer } from "../api/ask.ts";
import { ProblemPart } from "./problem.tsx";

const PATIENCE = 250;

/** That something is being read: shows after a quarter of a second, and takes its place from the beginning. */
export function Loading({ label = "loading", lines = 3 }: { label?: string; lines?: number }): ReactNode {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="loading" data-late={isLate} role="status">
      <span className="unseen">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className="line" aria-hidden="true" />
      ))}
    </div>
  );
}

interface WaitProps<T> {
  for: UseQueryResult<Answer<T>, Error>;
  /** What could not be read, as in "The jobs could not be read". */
  title: string;
  lines?: number;
  children: (data: T, answer: Answer<T>) => ReactNode;
}

/** What was read, or that it is being read, or why it cannot be. What was there stays when reading it again fails. */
export function Wait<T>({ for: found, title, lines = 3, children }: WaitProps<T>): ReactNode {
  return (
    <>
      {found.isError && <ProblemPart error={found.error} title={title} onAgain={() => void found.refetch()} />}
      {found.data ? children(found.data.data, found.data) : found.isError ? null : <Loading lines={lines} />}
    </>
  );
}
