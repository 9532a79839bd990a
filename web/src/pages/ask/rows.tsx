import { type ReactNode, useRef } from "react";

import type { ControlProps } from "../../parts/form.tsx";
import type { Pair } from "./values.ts";

interface TextRowsProps {
  control: ControlProps;
  label: string;
  rows: readonly string[];
  /** The id of a list of suggestions. */
  list?: string | undefined;
  onChange: (rows: string[]) => void;
}

/** Texts, one a row. The last row is always free. */
export function TextRows({ control, label, rows, list, onChange }: TextRowsProps): ReactNode {
  const whole = useRef<HTMLDivElement>(null);
  const shown = rows.length ? rows : [""];
  const set = (at: number, text: string): void => onChange(shown.map((one, place) => (place === at ? text : one)));
  return (
    <div className="ask-rows" ref={whole}>
      {shown.map((row, at) => (
        <div key={at} className="ask-row">
          <input
            {...(at === 0
              ? control
              : { "aria-describedby": control["aria-describedby"], "aria-label": `${label}, row ${at + 1}` })}
            value={row}
            list={list}
            autoComplete="off"
            onChange={(event) => set(at, event.target.value)}
          />
          {shown.length > 1 && (
            <Remove what={row || `row ${at + 1}`} onClick={() => onChange(shown.filter((_, place) => place !== at))} />
          )}
        </div>
      ))}
      <Add label={label} onClick={() => onChange([...shown, ""])} whole={whole} />
    </div>
  );
}

interface PairRowsProps {
  control: ControlProps;
  label: string;
  rows: readonly Pair[];
  list?: string | undefined;
  names?: string;
  values?: string;
  isNumber?: boolean;
  onChange: (rows: Pair[]) => void;
}

/** Names with their values, one pair a row. */
export function PairRows(props: PairRowsProps): ReactNode {
  const { control, label, rows, list, names = "name", values = "value", isNumber = false, onChange } = props;
  const whole = useRef<HTMLDivElement>(null);
  const shown: readonly Pair[] = rows.length ? rows : [["", ""]];
  const set = (at: number, pair: Pair): void => onChange(shown.map((one, place) => (place === at ? pair : one)));
  return (
    <div className="ask-rows" ref={whole}>
      {shown.map(([name, value], at) => (
        <div key={at} className="ask-row">
          <input
            {...(at === 0 ? control : { "aria-label": `${label}, ${names} ${at + 1}` })}
            value={name}
            list={list}
            placeholder={names}
            autoComplete="off"
            onChange={(event) => set(at, [event.target.value, value])}
          />
          <input
            aria-label={`${label}, ${values} ${at + 1}`}
            value={value}
            placeholder={values}
            inputMode={isNumber ? "numeric" : undefined}
            autoComplete="off"
            onChange={(event) => set(at, [name, event.target.value])}
          />
          {shown.length > 1 && (
            <Remove what={name || `row ${at + 1}`} onClick={() => onChange(shown.filter((_, place) => place !== at))} />
          )}
        </div>
      ))}
      <Add label={label} onClick={() => onChange([...shown, ["", ""]])} whole={whole} />
    </div>
  );
}

function Remove({ what, onClick }: { what: string; onClick: () => void }): ReactNode {
  return (
    <button type="button" className="icon" aria-label={`Remove ${what}`} onClick={onClick}>
      ×
    </button>
  );
}

function Add({
  label,
  onClick,
  whole,
}: {
  label: string;
  onClick: () => void;
  whole: { current: HTMLElement | null };
}): ReactNode {
  const add = (): void => {
    onClick();
    // Once it is drawn.
    requestAnimationFrame(() => whole.current?.querySelector<HTMLElement>(".ask-row:last-of-type input")?.focus());
  };
  return (
    <button type="button" className="button plain ask-add" aria-label={`Add a row to ${label}`} onClick={add}>
      + Add
    </button>
  );
}
