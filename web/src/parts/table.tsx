import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useLocation } from "wouter";

import { useKeys } from "../shell/keys.ts";

export interface Column<Row> {
  id: string;
  head: string;
  /** How wide, as a track of a grid: `minmax(8rem, 2fr)`. */
  width?: string;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** What the row is called by: the cell that links to it, and its name for who hears it. */
  isName?: boolean;
  cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The page of a row, for Enter. */
  addressOf?: (row: Row) => string;
  /** The row that is chosen, where the page keeps it; else the table does. */
  chosen?: string | undefined;
  onChoose?: (key: string) => void;
  /** Moves of `j` and `k` are also told as a choice. */
  className?: string;
}

/** With fewer rows all are drawn, and the browser can search in them. */
const MANY = 100;
const ROW_HEIGHT = 36;

/** A table of rows: `j` and `k` choose, Enter opens. Long ones draw only what shows; narrow ones stack their cells. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, columns, rows, keyOf, addressOf, className = "" } = props;
  const [own, setOwn] = useState<string>();
  const [, go] = useLocation();
  const chosen = props.onChoose ? props.chosen : own;
  const told = useRef(chosen);
  const choose = (key: string): void => {
    told.current = key;
    (props.onChoose ?? setOwn)(key);
  };
  const body = useRef<HTMLDivElement>(null);
  const wanted = useRef<string>(undefined);
  const isMany = rows.length > MANY;
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => setAbove(body.current?.offsetTop ?? 0), []);
  const virtual = useWindowVirtualizer({
    count: isMany ? rows.length : 0,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    scrollMargin: above,
    getItemKey: (at) => keyOf(rows[at] as Row),
  });

  const move = (by: number): void | false => {
    if (!rows.length) return false;
    const at = rows.findIndex((row) => keyOf(row) === chosen);
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by));
    const key = keyOf(rows[next] as Row);
    wanted.current = key;
    if (isMany) virtual.scrollToIndex(next);
    // What is chosen already is not drawn again for it, and the focus may have gone elsewhere since.
    if (key === chosen) focusWanted();
    else choose(key);
  };
  const open = (): void | false => {
    const row = rows.find((one) => keyOf(one) === chosen);
    if (!row || !addressOf) return false;
    go(addressOf(row));
  };
  useKeys(label, {
    j: { does: "next row", run: () => move(1) },
    k: { does: "previous row", run: () => move(-1) },
    ...(addressOf ? { Enter: { does: "open the chosen row", run: open } } : {}),
  });
  // The focus follows the choice once the row is there.
  const focusWanted = (): void => {
    if (wanted.current === undefined) return;
    const row = body.current?.querySelector<HTMLElement>(`[data-key="${CSS.escape(wanted.current)}"]`);
    if (!row) return;
    wanted.current = undefined;
    row.querySelector<HTMLElement>("a, button")?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };
  useEffect(focusWanted);

  // What the page has chosen elsewhere comes into sight.
  useEffect(() => {
    if (chosen === told.current) return;
    told.current = chosen;
    const at = chosen === undefined ? -1 : rows.findIndex((row) => keyOf(row) === chosen);
    if (at < 0) return;
    if (isMany) virtual.scrollToIndex(at, { align: "center" });
    else body.current?.querySelector(`[data-index="${at}"]`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  const shown = isMany
    ? virtual.getVirtualItems().map((item) => ({ at: item.index, start: item.start - above }))
    : rows.map((_, at) => ({ at, start: undefined }));
  const template = columns.map((column) => column.width ?? "minmax(0, 1fr)").join(" ");
  return (
    <div
      className={`table ${className}`}
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      style={{ "--columns": template } as CSSProperties}
    >
      <div role="rowgroup" className="table-head">
        <div role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div key={column.id} role="columnheader" className={column.isNumber ? "number" : undefined}>
              {column.head}
            </div>
          ))}
        </div>
      </div>
      <div
        ref={body}
        role="rowgroup"
        className={isMany ? "table-body virtual" : "table-body"}
        style={isMany ? { height: virtual.getTotalSize() } : undefined}
      >
        {shown.map(({ at, start }) => {
          const row = rows[at] as Row;
          const key = keyOf(row);
          return (
            <div
              key={key}
              role="row"
              data-key={key}
              data-index={at}
              ref={isMany ? virtual.measureElement : undefined}
              aria-rowindex={at + 2}
              className={key === chosen ? "chosen" : undefined}
              style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
              onFocus={() => key !== chosen && choose(key)}
              onClick={() => choose(key)}
            >
              {columns.map((column) => (
                <div
                  key={column.id}
                  role={column.isName ? "rowheader" : "cell"}
                  data-head={column.head}
                  className={column.isNumber ? "number figure" : undefined}
                >
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
