import type { ReactNode } from "react";

import { Status, type Tone } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { type Bar, type Course, WORDS } from "./course.ts";
import { TONES } from "./paint.ts";
import { told } from "./span.ts";

interface StepsTableProps {
  course: Course;
  rows: readonly number[];
  withIdle: boolean;
  chosen: string;
  onChoose: (id: string) => void;
}

/** The same as the timeline, as a table: one row for each attempt, those that began first in front. */
export function StepsTable({ course, rows, withIdle, chosen, onChoose }: StepsTableProps): ReactNode {
  const wanted = new Set(rows);
  const bars: number[] = [];
  for (let bar = 0; bar < course.size; bar += 1) {
    if (course.shows(bar, withIdle) && wanted.has(course.row[bar]!)) bars.push(bar);
  }
  const keyOf = (bar: number): string => String(bar);
  const last = chosen ? course.lastOf(chosen) : -1;
  const columns: readonly Column<number>[] = COLUMNS.map(({ cell, ...column }) => ({
    ...column,
    cell: (bar) => cell(course.bar(bar), course, onChoose),
  }));
  return (
    <Table
      label="Steps"
      className="steps-table"
      columns={columns}
      rows={bars}
      keyOf={keyOf}
      chosen={last >= 0 ? String(last) : undefined}
      onChoose={(key) => onChoose(course.id(Number(key)))}
    />
  );
}

type Cell = Omit<Column<number>, "cell"> & {
  cell: (bar: Bar, course: Course, choose: (id: string) => void) => ReactNode;
};

const COLUMNS: readonly Cell[] = [
  {
    id: "instance",
    head: "Instance",
    width: "minmax(5rem, 1.5fr)",
    isName: true,
    cell: ({ instance, id }, _, choose) => (
      <button type="button" className="steps-table-name" onClick={() => choose(id)}>
        {instance}
      </button>
    ),
  },
  { id: "operation", head: "Operation", width: "minmax(6rem, 1.6fr)", cell: ({ operation }) => operation },
  {
    id: "state",
    head: "State",
    width: "minmax(10.5rem, 1.6fr)",
    cell: ({ letter, number }, course) => (
      <>
        <Status of={WORDS[letter]!} tone={TONES[letter] as Tone} />
        {course.critical.has(number) && <span className="muted"> · critical</span>}
      </>
    ),
  },
  { id: "start", head: "Begins", width: "5rem", isNumber: true, cell: ({ start }) => told(start) },
  {
    id: "took",
    head: "Takes",
    width: "5rem",
    isNumber: true,
    cell: ({ start, end, attempt }) => (end >= 0 && attempt ? told(end - start) : ""),
  },
  {
    id: "attempt",
    head: "Attempt",
    width: "4rem",
    isNumber: true,
    cell: ({ attempt }) => (attempt > 1 ? attempt : ""),
  },
];
