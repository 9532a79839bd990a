import {
  createContext,
  type MouseEvent,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from "react";

import type { PictureBox } from "../../api/types.ts";
import { Status } from "../../parts/status.tsx";
import { DOT, dotAt } from "./dot-places.ts";
import { type Dots, WORST_FIRST } from "./dots.ts";
import { type Colours, drawDots } from "./marks.ts";

/** What is chosen: an instance by its id, or a box. */
export type Chosen = { instance: string } | { box: string } | undefined;

/** What all boxes of a picture know. */
export interface PictureKnows {
  dots: Dots;
  colours: Colours;
  chosen: Chosen;
  /** The ids of boxes in which others stand. */
  holding: ReadonlySet<string>;
  /** The picture is so small that nobody could hit what stands in a box: boxes are chosen as a whole. */
  isFar: boolean;
  onChoose: (chosen: Chosen) => void;
  onOpen: (box: string, isOpen: boolean) => void;
}

export const PictureContext = createContext<PictureKnows | undefined>(undefined);

/** A box: its name, its type or what runs in it, a dot for each instance. */
export function Box({ at }: { at: number }): ReactNode {
  const knows = useContext(PictureContext);
  if (!knows) throw new Error("boxes stand in a picture");
  const { dots, chosen, holding, isFar, onOpen } = knows;
  useSyncExternalStore(
    (told) => dots.watch(at, told),
    () => dots.version(at),
  );
  const box = dots.topology.boxes[at];
  if (!box) return null;
  const isOpen = holding.has(box.id);
  const isChosen = chosen !== undefined && "box" in chosen && chosen.box === box.id;
  return (
    <div className={`topology-box${isOpen ? " holding" : ""}${isChosen ? " chosen" : ""}`} data-box={box.id}>
      <div className="topology-title">
        {isFar ? (
          <span className="topology-name">{box.title}</span>
        ) : (
          <button type="button" className="topology-name" aria-pressed={isChosen} aria-label={spoken(box, dots, at)}>
            {box.title}
          </button>
        )}
        {!isFar && (box.folded || isOpen) && (
          <button
            type="button"
            className="topology-fold"
            aria-expanded={isOpen}
            aria-label={`Content of ${box.title}`}
            onClick={(event) => {
              event.stopPropagation();
              onOpen(box.id, !isOpen);
            }}
          >
            {isOpen ? "−" : "+"}
          </button>
        )}
      </div>
      <Line box={box} at={at} dots={dots} />
      {box.columns > 0 && <Field box={box} at={at} knows={knows} />}
    </div>
  );
}

/** The name of a box for who hears it: with how its instances are. */
function spoken(box: PictureBox, dots: Dots, at: number): string {
  const counts = dots.counts(at);
  const told = WORST_FIRST.filter((tone) => counts[tone]).map((tone) => `${counts[tone]} ${tone}`);
  return [box.title, shortType(box.type), ...told].join(", ");
}

/** The second line: what runs, or how many there are where they cannot all be drawn, or the type. */
function Line({ box, at, dots }: { box: PictureBox; at: number; dots: Dots }): ReactNode {
  const [first, ...others] = dots.running(at);
  if (first) {
    // Boxes are narrow: what is done comes first, and where there is one instance it is clear of which.
    const [id, operation] = [dots.inBox[at]?.length === 1 ? "" : first[0], first[1].split(".").at(-1)];
    const more = others.length > 0 ? ` +${others.length}` : "";
    return (
      <p
        className="topology-line tone-pending"
        title={[first, ...others.slice(0, 9)].map((one) => one.join(": ")).join("\n")}
      >
        {`${operation} ${id}${more}`}
      </p>
    );
  }
  const counts = dots.counts(at);
  if (!box.columns && WORST_FIRST.some((tone) => counts[tone])) {
    return (
      <p className="topology-line figure">
        {WORST_FIRST.filter((tone) => counts[tone]).map((tone) => (
          <Status key={tone} of={tone}>
            {counts[tone].toLocaleString("en")}
          </Status>
        ))}
      </p>
    );
  }
  return (
    <p className="topology-line" title={box.type}>
      {shortType(box.type)}
    </p>
  );
}

/** A type without its namespace and without the prefix of normative types. */
export function shortType(type: string): string {
  return type.replace(/^.*:\/\/.*:/, "").replace(/^tosca\.(nodes|groups)\./, "");
}

/** The field of dots. Who does not use a mouse has the table, with the same instances. */
function Field({ box, at, knows }: { box: PictureBox; at: number; knows: PictureKnows }): ReactNode {
  const { dots, colours, chosen, onChoose } = knows;
  const canvas = useRef<HTMLCanvasElement>(null);
  const version = dots.version(at);
  const all = dots.inBox[at] ?? [];
  const ring = chosen !== undefined && "instance" in chosen ? (dots.numberOf(chosen.instance) ?? -1) : -1;
  const mine = ring >= 0 && dots.boxOf(ring) === at ? ring : -1;
  useLayoutEffect(() => {
    if (canvas.current) drawDots(canvas.current, dots, at, box.columns, colours, mine);
  }, [dots, at, box.columns, colours, mine, version]);
  const under = (event: MouseEvent): number | undefined =>
    all[dotAt(event.nativeEvent.offsetX, event.nativeEvent.offsetY, box.columns, all.length)];
  return (
    <canvas
      ref={canvas}
      className="topology-dots"
      aria-hidden="true"
      style={{ width: box.columns * DOT, height: Math.ceil(all.length / box.columns) * DOT }}
      onMouseMove={(event) => {
        const number = under(event);
        const dot = number === undefined ? undefined : dots.at(number);
        event.currentTarget.title = dot ? `${dot.id}: ${dot.status}, ${dot.operation || dot.state}` : "";
      }}
      onClick={(event) => {
        const number = under(event);
        if (number === undefined) return;
        event.stopPropagation();
        onChoose({ instance: dots.at(number).id });
      }}
    />
  );
}
