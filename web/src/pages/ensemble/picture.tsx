import { type ReactNode, useEffect, useMemo, useRef } from "react";

import type { TopologyData } from "../../api/types.ts";
import { lineOf, type Place, placesOf } from "../../parts/boxes.ts";
import { Stage, type StageView, useIsFar, useStage } from "../../parts/stage.tsx";
import { Box, type Chosen, PictureContext } from "./box.tsx";
import { dotPlace } from "./dot-places.ts";
import type { Dots } from "./dots.ts";
import { useColours } from "./marks.ts";

interface PictureProps {
  dots: Dots;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  /** Show or hide what stands in a box. */
  onOpen: (box: string, isOpen: boolean) => void;
}

/** Below this size buttons in boxes are too small to be hit. */
const FAR = 0.8;
/** With more lines than this their labels would only cover each other. */
const MOST_LABELS = 60;

/** The topology as nested boxes. */
export function Picture({ dots, chosen, onChoose, onOpen }: PictureProps): ReactNode {
  const { topology } = dots;
  const { boxes } = topology;
  const stage = useStage();
  const colours = useColours();
  const places = useMemo(() => placesOf(boxes), [boxes]);
  const holding = useMemo(() => new Set(boxes.map((box) => box.parent)), [boxes]);
  const isFar = useIsFar(stage, FAR);
  const acted = useRef("");
  useAnchor(stage, places, acted);
  useShown(stage, dots, places, chosen);
  const knows = useMemo(
    () => ({
      dots,
      colours,
      chosen,
      holding,
      isFar,
      onChoose,
      onOpen: (box: string, isOpen: boolean) => {
        acted.current = box;
        onOpen(box, isOpen);
      },
    }),
    [dots, colours, chosen, holding, isFar, onChoose, onOpen],
  );
  return (
    <PictureContext value={knows}>
      <Stage stage={stage} size={topology.size} label="Topology" onNothing={() => onChoose(undefined)}>
        {boxes.map(({ id }, at) => {
          const { x = 0, y = 0, w = 0, h = 0 } = places.get(id) ?? {};
          return (
            <div
              key={id}
              className="topology-place"
              style={{ left: x, top: y, width: w, height: h }}
              onClick={() => onChoose({ box: id })}
            >
              <Box at={at} />
            </div>
          );
        })}
        <Lines topology={topology} places={places} chosen={boxOfChosen(dots, chosen)} />
      </Stage>
    </PictureContext>
  );
}

/** The box of what is chosen, "" for none. */
function boxOfChosen(dots: Dots, chosen: Chosen): string {
  if (!chosen) return "";
  if ("box" in chosen) return chosen.box;
  const number = dots.numberOf(chosen.instance);
  return number === undefined ? "" : (dots.topology.boxes[dots.boxOf(number)]?.id ?? "");
}

/** Keep the box that was opened or folded where it was on the screen, although all of them have got new places. */
function useAnchor(stage: StageView, places: ReadonlyMap<string, Place>, acted: { current: string }): void {
  const before = useRef(places);
  useEffect(() => {
    const [from, to] = [before.current.get(acted.current), places.get(acted.current)];
    before.current = places;
    if (!from || !to || from === to) return;
    acted.current = "";
    const { zoom } = stage.view;
    stage.moveBy((from.x - to.x) * zoom, (from.y - to.y) * zoom);
  }, [places, acted, stage]);
}

const READABLE = 0.6;

/** Move to what was chosen elsewhere, if it does not show. */
function useShown(stage: StageView, dots: Dots, places: ReadonlyMap<string, Place>, chosen: Chosen): void {
  const latest = useRef({ dots, places });
  latest.current = { dots, places };
  const key = chosen && JSON.stringify(chosen);
  useEffect(() => {
    if (!chosen) return;
    const { dots, places } = latest.current;
    const box = places.get(boxOfChosen(dots, chosen));
    if (box) stage.reveal(placeOfChosen(dots, box, chosen), READABLE);
  }, [stage, key]);
}

/** The inset of what stands in a box, in its pixels. */
const INSET = 12;

function placeOfChosen(dots: Dots, box: Place, chosen: NonNullable<Chosen>): { x: number; y: number } {
  const number = "instance" in chosen ? dots.numberOf(chosen.instance) : undefined;
  if (number === undefined) return { x: box.x + box.w / 2, y: box.y + box.h / 2 };
  const at = dots.boxOf(number);
  return dotPlace(box, INSET, dots.topology.boxes[at]?.columns ?? 0, dots.inBox[at]?.indexOf(number) ?? 0);
}

interface LinesProps {
  topology: TopologyData;
  places: ReadonlyMap<string, Place>;
  chosen: string;
}

/** The relationships, all in one drawing: there may be thousands. */
function Lines({ topology, places, chosen }: LinesProps): ReactNode {
  const { edges, size } = topology;
  const isLabelled = edges.length <= MOST_LABELS;
  const lines = useMemo(() => edges.map((edge) => ({ edge, line: lineOf(edge, places) })), [edges, places]);
  return (
    <svg className="topology-lines" width={size[0]} height={size[1]} aria-hidden="true">
      {lines.map(({ edge, line }) => {
        if (!line) return null;
        const isNear = edge.source === chosen || edge.target === chosen;
        const label = `${edge.requirement}${edge.count > 1 ? ` ×${edge.count.toLocaleString("en")}` : ""}`;
        return (
          <g key={`${edge.source} ${edge.target} ${edge.requirement}`} className={isNear ? "near" : undefined}>
            <path className="line" d={line.path} />
            <path className="head" d={line.head} />
            {(isLabelled || isNear) && label && (
              <text x={line.x} y={line.y - 4}>
                {label}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}
