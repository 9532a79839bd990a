import { type ReactNode, useMemo } from "react";

import type { PictureBox, PictureEdge } from "../api/types.ts";
import { lineOf, type Place, placesOf } from "./boxes.ts";
import { Stage, useStage } from "./stage.tsx";
import "./drawing.css";

const PAD = 8;
/** Pixels that a letter takes, roughly. */
const LETTER = 7.2;

interface DrawingProps {
  of: { size: readonly number[]; boxes: readonly PictureBox[]; edges: readonly PictureEdge[] };
  /** What it is a picture of, and where the same stands in words. */
  label: string;
  about: string;
  /** The second line of a box: SVG text. */
  line: (box: PictureBox, isHolding: boolean) => ReactNode;
  isFaint?: (box: PictureBox) => boolean;
}

/** Boxes in their hosts with lines between them, as the server has laid them out. Windows are too narrow below 480 px. */
export function Drawing({ of: { size, boxes, edges }, label, about, line, isFaint }: DrawingProps): ReactNode {
  const stage = useStage();
  const places = useMemo(() => placesOf(boxes), [boxes]);
  const holding = useMemo(() => new Set(boxes.map(({ parent }) => parent)), [boxes]);
  const parents = useMemo(() => new Map(boxes.map(({ id, parent }) => [id, parent])), [boxes]);
  return (
    <div className="drawing">
      <Stage stage={stage} size={size} label={label}>
        <svg width={size[0]} height={size[1]} role="img" aria-label={about}>
          {boxes.map((box) => {
            const at = places.get(box.id);
            if (!at) return null;
            return (
              <g key={box.id} className={isFaint?.(box) ? "faint" : undefined}>
                <title>{`${box.title} ${box.type}`}</title>
                <rect x={at.x} y={at.y} width={at.w} height={at.h} rx={6} />
                <text x={at.x + PAD} y={at.y + 19}>
                  {cut(box.title, at)}
                </text>
                <text className="line" x={at.x + PAD} y={at.y + 35}>
                  {line(box, holding.has(box.id))}
                </text>
              </g>
            );
          })}
          {edges.map((edge) => {
            // What stands in another says by that where it is hosted.
            const found = parents.get(edge.source) === edge.target ? undefined : lineOf(edge, places);
            return (
              found && (
                <g key={`${edge.source} ${edge.requirement} ${edge.target}`} className="edge">
                  <path d={found.path} />
                  <path className="head" d={found.head} />
                </g>
              )
            );
          })}
        </svg>
      </Stage>
    </div>
  );
}

/** A text as far as it has room in a box. */
export function cut(text: string, { w }: Pick<Place, "w">): string {
  const most = Math.max(4, Math.floor((w - 2 * PAD) / LETTER));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
