import type { PictureBox, PictureEdge } from "../api/types.ts";

/** Where a box stands in the whole picture, in its pixels. */
export interface Place {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The places of boxes in the whole picture; the API says them from the box in which each stands. */
export function placesOf(boxes: readonly PictureBox[]): ReadonlyMap<string, Place> {
  const found = new Map<string, Place>();
  for (const { id, parent, x, y, w, h } of boxes) {
    const outer = found.get(parent);
    found.set(id, { x: x + (outer?.x ?? 0), y: y + (outer?.y ?? 0), w, h });
  }
  return found;
}

/** A line between two boxes. */
export interface Line {
  path: string;
  /** The head of its arrow. */
  head: string;
  /** Where its label stands. */
  x: number;
  y: number;
}

const HEAD = 6;
const BEND = 0.4;

/** The line of an edge: it leaves and enters at the sides that face each other, so that it crosses little. */
export function lineOf(
  edge: Pick<PictureEdge, "source" | "target">,
  places: ReadonlyMap<string, Place>,
): Line | undefined {
  const from = places.get(edge.source);
  const to = places.get(edge.target);
  if (!from || !to || from === to) return undefined;
  const isRight = from.x + from.w <= to.x;
  const isLeft = to.x + to.w <= from.x;
  if (!isRight && !isLeft) return vertical(from, to);
  const sign = isRight ? 1 : -1;
  const x1 = isRight ? from.x + from.w : from.x;
  const x2 = (isRight ? to.x : to.x + to.w) - sign * HEAD;
  const y1 = from.y + from.h / 2;
  const y2 = to.y + to.h / 2;
  const bend = Math.max(16, Math.abs(x2 - x1) * BEND) * sign;
  return {
    path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
    head: `M${x2 + sign * HEAD} ${y2}l${-sign * HEAD} -${HEAD / 2}v${HEAD}z`,
    x: (x1 + x2) / 2,
    y: (y1 + y2) / 2,
  };
}

function vertical(from: Place, to: Place): Line {
  const isDown = from.y + from.h / 2 <= to.y + to.h / 2;
  const sign = isDown ? 1 : -1;
  const x1 = from.x + from.w / 2;
  const x2 = to.x + to.w / 2;
  const y1 = isDown ? from.y + from.h : from.y;
  const y2 = (isDown ? to.y : to.y + to.h) - sign * HEAD;
  const bend = Math.max(16, Math.abs(y2 - y1) * BEND) * sign;
  return {
    path: `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`,
    head: `M${x2} ${y2 + sign * HEAD}l-${HEAD / 2} ${-sign * HEAD}h${HEAD}z`,
    x: (x1 + x2) / 2,
    y: (y1 + y2) / 2,
  };
}
