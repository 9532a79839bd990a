import { type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react";

interface SplitProps {
  /** What the line between the parts sets, as in "width of the details". */
  label: string;
  /** The share of the first part, in percent. */
  initial?: number;
  children: [ReactNode, ReactNode];
}

const LEAST = 20;
const STEP = 4;

/** Two parts side by side; the line between them can be moved. On narrow screens one stands below the other. */
export function Split({ label, initial = 60, children }: SplitProps): ReactNode {
  const [share, setShare] = useState(initial);
  const whole = useRef<HTMLDivElement>(null);
  const set = (value: number): void => setShare(Math.min(100 - LEAST, Math.max(LEAST, Math.round(value))));
  const onMove = (event: PointerEvent<HTMLElement>): void => {
    if (!event.currentTarget.hasPointerCapture(event.pointerId) || !whole.current) return;
    const box = whole.current.getBoundingClientRect();
    set((100 * (event.clientX - box.left)) / box.width);
  };
  const onKey = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: share - STEP, ArrowRight: share + STEP, Home: LEAST, End: 100 - LEAST }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    set(next);
  };
  return (
    <div ref={whole} className="split" style={{ "--share": `${share}%` } as CSSProperties}>
      <div className="split-part">{children[0]}</div>
      <div
        className="split-line"
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label={label}
        aria-valuemin={LEAST}
        aria-valuemax={100 - LEAST}
        aria-valuenow={share}
        onKeyDown={onKey}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onMove}
      />
      <div className="split-part">{children[1]}</div>
    </div>
  );
}
