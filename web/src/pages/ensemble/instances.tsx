import { type ReactNode, useMemo, useSyncExternalStore } from "react";
import { Link } from "wouter";

import { Empty } from "../../parts/empty.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { shortType } from "./box.tsx";
import { ALL, type Dot, type Dots } from "./dots.ts";

interface InstanceTableProps {
  dots: Dots;
  isNarrowed: boolean;
  chosen: string | undefined;
  onChoose: (instance: string) => void;
  /** The address at which an instance is chosen. */
  addressOf: (instance: string) => string;
}

/** The instances as a table: the same as the picture shows, and the same choice. */
export function InstanceTable({ dots, isNarrowed, chosen, onChoose, addressOf }: InstanceTableProps): ReactNode {
  useSyncExternalStore(
    (told) => dots.watch(ALL, told),
    () => dots.version(ALL),
  );
  const numbers = dots.ids.map((_, number) => number).filter((number) => !dots.isDim(number));
  const columns = useMemo((): readonly Column<number>[] => {
    const cell = (show: (dot: Dot) => ReactNode) => (number: number) => show(dots.at(number));
    return [
      {
        id: "instance",
        head: "Instance",
        width: "minmax(9rem, 1.4fr)",
        isName: true,
        cell: cell(({ id }) => (
          <Link href={addressOf(id)} replace className="row-link">
            {id}
          </Link>
        )),
      },
      {
        id: "status",
        head: "Status",
        width: "minmax(7rem, 0.8fr)",
        cell: cell(({ status }) => <Status of={status} />),
      },
      {
        id: "state",
        head: "State",
        width: "minmax(8rem, 1fr)",
        cell: cell(({ operation, state }) => operation || state),
      },
      { id: "node", head: "Node", width: "minmax(8rem, 1.2fr)", cell: cell(({ title }) => title) },
      { id: "type", head: "Type", width: "minmax(8rem, 1.2fr)", cell: cell(({ type }) => shortType(type)) },
      { id: "host", head: "On", width: "minmax(8rem, 1fr)", cell: cell(({ host }) => host) },
    ];
  }, [dots, addressOf]);
  if (!numbers.length) {
    return <Empty title={isNarrowed ? "No instance is as the filter says" : "No instance exists"} />;
  }
  return (
    <Table
      label="Instances"
      rows={numbers}
      columns={columns}
      keyOf={(number) => dots.ids[number] ?? ""}
      chosen={chosen}
      onChoose={onChoose}
    />
  );
}
