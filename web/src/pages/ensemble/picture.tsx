import { type Node, ReactFlow, ReactFlowProvider, useReactFlow, useStore, ViewportPortal } from "@xyflow/react";
import { type ReactNode, useEffect, useMemo, useRef } from "react";

import type { TopologyData } from "../../api/types.ts";
import { useKeys } from "../../shell/keys.ts";
import { Box, type Chosen, PictureContext } from "./box.tsx";
import type { Dots } from "./dots.ts";
import { useColours } from "./marks.ts";
import { dotPlace, lineOf, type Place, placesOf } from "./places.ts";
import "@xyflow/react/dist/base.css";

interface PictureProps {
  dots: Dots;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  /** Show or hide what stands in a box. */
  onOpen: (box: string, isOpen: boolean) => void;
}

/** The topology as nested boxes: it can be moved with the mouse or the wheel, and made larger with Ctrl and the wheel. */
export default function Picture(props: PictureProps): ReactNode {
  return (
    <ReactFlowProvider>
      <Inside {...props} />
    </ReactFlowProvider>
  );
}

type BoxNode = Node<{ at: number }, "box">;

const KINDS = { box: ({ data }: { data: { at: number } }) => <Box at={data.at} /> };
const FIT = { padding: 0.04, maxZoom: 1 } as const;
const SMALLEST = 0.05;
const LARGEST = 2;
/** Below this size buttons in boxes are too small to be hit. */
const FAR = 0.8;
/** With more lines than this their labels would only cover each other. */
const MOST_LABELS = 60;

function Inside({ dots, chosen, onChoose, onOpen }: PictureProps): ReactNode {
  const { topology } = dots;
  const { boxes } = topology;
  const flow = useReactFlow();
  const colours = useColours();
  const places = useMemo(() => placesOf(boxes), [boxes]);
  const holding = useMemo(() => new Set(boxes.map((box) => box.parent)), [boxes]);
  const nodes = useMemo(() => boxes.map((box, at) => nodeOf(at, box.id, places.get(box.id))), [boxes, places]);
  const isFar = useStore((state) => state.transform[2] < FAR);
  const acted = useRef("");
  useAnchor(places, acted);
  useShown(dots, places, chosen);
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
  const fit = (): void => void flow.fitView(FIT);
  const whole = (): void => void flow.zoomTo(1);
  useKeys("Picture", {
    f: { does: "fit the picture into the window", run: fit },
    "1": { does: "show the picture in its own size", run: whole },
    "+": { does: "larger", run: () => void flow.zoomIn() },
    "-": { does: "smaller", run: () => void flow.zoomOut() },
  });
  return (
    <PictureContext value={knows}>
      <ReactFlow<BoxNode>
        className="topology-picture"
        role="group"
        aria-label="Topology"
        nodes={nodes}
        nodeTypes={KINDS}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        zoomOnDoubleClick={false}
        panOnScroll
        minZoom={SMALLEST}
        maxZoom={LARGEST}
        fitView
        fitViewOptions={FIT}
        proOptions={{ hideAttribution: true }}
        onNodeClick={(_, node) => onChoose({ box: node.id })}
        onPaneClick={() => onChoose(undefined)}
      >
        <Lines topology={topology} places={places} chosen={boxOfChosen(dots, chosen)} />
      </ReactFlow>
      <div className="topology-zoom" role="group" aria-label="Size of the picture">
        <button type="button" className="button" onClick={() => void flow.zoomIn()} aria-label="Larger">
          +
        </button>
        <button type="button" className="button" onClick={() => void flow.zoomOut()} aria-label="Smaller">
          −
        </button>
        <button type="button" className="button" onClick={whole}>
          1:1
        </button>
        <button type="button" className="button" onClick={fit}>
          Fit
        </button>
      </div>
    </PictureContext>
  );
}

function nodeOf(at: number, id: string, place: Place | undefined): BoxNode {
  const { x = 0, y = 0, w = 0, h = 0 } = place ?? {};
  return { id, type: "box", position: { x, y }, width: w, height: h, data: { at } };
}

/** The box of what is chosen, "" for none. */
function boxOfChosen(dots: Dots, chosen: Chosen): string {
  if (!chosen) return "";
  if ("box" in chosen) return chosen.box;
  const number = dots.numberOf(chosen.instance);
  return number === undefined ? "" : (dots.topology.boxes[dots.boxOf(number)]?.id ?? "");
}

/** Keep the box that was opened or folded where it was on the screen, although all of them have got new places. */
function useAnchor(places: ReadonlyMap<string, Place>, acted: { current: string }): void {
  const flow = useReactFlow();
  const before = useRef(places);
  useEffect(() => {
    const [from, to] = [before.current.get(acted.current), places.get(acted.current)];
    before.current = places;
    if (!from || !to || from === to) return;
    acted.current = "";
    const { x, y, zoom } = flow.getViewport();
    void flow.setViewport({ x: x + (from.x - to.x) * zoom, y: y + (from.y - to.y) * zoom, zoom });
  }, [places, acted, flow]);
}

const READABLE = 0.6;

/** Move to what was chosen elsewhere, if it does not show. */
function useShown(dots: Dots, places: ReadonlyMap<string, Place>, chosen: Chosen): void {
  const flow = useReactFlow();
  const latest = useRef({ dots, places });
  latest.current = { dots, places };
  const key = chosen && JSON.stringify(chosen);
  useEffect(() => {
    if (!chosen) return;
    const { dots, places } = latest.current;
    const box = places.get(boxOfChosen(dots, chosen));
    const frame = document.querySelector(".topology-picture")?.getBoundingClientRect();
    if (!box || !frame) return;
    const at = placeOfChosen(dots, box, chosen);
    const { zoom } = flow.getViewport();
    const seen = flow.flowToScreenPosition(at);
    const isInside = seen.x > frame.left && seen.x < frame.right && seen.y > frame.top && seen.y < frame.bottom;
    if (!isInside) void flow.setCenter(at.x, at.y, { zoom: Math.max(zoom, READABLE) });
  }, [flow, key]);
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
    <ViewportPortal>
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
    </ViewportPortal>
  );
}
