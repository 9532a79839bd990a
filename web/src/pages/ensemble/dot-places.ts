import type { Place } from "../../parts/boxes.ts";

/** The width and height that a dot takes, and the height of a title: as the server has laid them out. */
export const DOT = 12;
export const TITLE = 40;

/** The middle of a dot in the whole picture: the n-th of a box. */
export function dotPlace(box: Place, inset: number, columns: number, n: number): { x: number; y: number } {
  const across = columns || 1;
  return {
    x: box.x + inset + (n % across) * DOT + DOT / 2,
    y: box.y + TITLE + Math.floor(n / across) * DOT + DOT / 2,
  };
}

/** The number of the dot at a point of the field of dots, or -1. */
export function dotAt(x: number, y: number, columns: number, count: number): number {
  const across = Math.floor(x / DOT);
  const n = Math.floor(y / DOT) * columns + across;
  return across >= 0 && across < columns && n >= 0 && n < count ? n : -1;
}
