import { useEffect, useState } from "react";

import type { Tone } from "../../parts/status.tsx";
import { useTheme } from "../../shell/theme.ts";
import { DOT } from "./dot-places.ts";
import type { Dots } from "./dots.ts";
import { WORST_FIRST } from "./dots.ts";

/** The colours with which the canvas draws, as the page has them now. */
export interface Colours {
  tones: Record<Tone, string>;
  faint: string;
  chosen: string;
}

function coloursNow(): Colours {
  const probe = document.createElement("span");
  document.body.append(probe);
  const colour = (name: string): string => {
    probe.className = name;
    return getComputedStyle(probe).color;
  };
  const found = {
    tones: Object.fromEntries(WORST_FIRST.map((tone) => [tone, colour(`tone-${tone}`)])) as Record<Tone, string>,
    faint: colour("topology-faint"),
    chosen: colour("topology-ring"),
  };
  probe.remove();
  return found;
}

/** The colours, read again whenever the theme changes. */
export function useColours(): Colours {
  const theme = useTheme();
  const [colours, set] = useState(coloursNow);
  useEffect(() => {
    set(coloursNow());
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const onChange = (): void => set(coloursNow());
    dark.addEventListener("change", onChange);
    return () => dark.removeEventListener("change", onChange);
  }, [theme]);
  return colours;
}

/** With how many dots in all a canvas has no more pixels than the screen: more would take much memory, and time. */
const MANY = 2_000;
const RADIUS = 4;

function scaleFor(count: number): number {
  const screen = Math.min(2, window.devicePixelRatio || 1);
  return count > MANY ? screen : 2 * screen;
}

/** Draws a mark in the middle of a square of 12 pixels: a form for each tone, so that colour is never alone. */
function drawMark(on: CanvasRenderingContext2D, tone: Tone, colour: string): void {
  const middle = DOT / 2;
  const circle = (radius: number, from = 0, to = 2 * Math.PI): void => {
    on.beginPath();
    on.arc(middle, middle, radius, from, to);
  };
  on.strokeStyle = on.fillStyle = colour;
  on.lineWidth = 1.25;
  switch (tone) {
    case "ok":
      circle(RADIUS);
      on.fill();
      break;
    case "pending":
      circle(RADIUS - 0.6);
      on.stroke();
      circle(RADIUS - 0.6, -Math.PI / 2, 0);
      on.lineTo(middle, middle);
      on.fill();
      break;
    case "degraded":
      circle(RADIUS - 0.6);
      on.stroke();
      circle(RADIUS - 0.6, Math.PI / 2, 1.5 * Math.PI);
      on.fill();
      break;
    case "error":
      on.lineWidth = 2.5;
      on.beginPath();
      on.moveTo(middle - 3.25, middle - 3.25);
      on.lineTo(middle + 3.25, middle + 3.25);
      on.moveTo(middle + 3.25, middle - 3.25);
      on.lineTo(middle - 3.25, middle + 3.25);
      on.stroke();
      break;
    case "absent":
      circle(RADIUS - 0.6);
      on.stroke();
      break;
    case "unknown":
      on.font = "bold 11px sans-serif";
      on.textAlign = "center";
      on.textBaseline = "middle";
      on.fillText("?", middle, middle + 0.5);
      break;
  }
}

// A mark is drawn once, and copied to all dots that have it.
const drawn = new Map<string, HTMLCanvasElement>();

function markOf(tone: Tone, colour: string, scale: number): HTMLCanvasElement {
  const key = `${tone} ${colour} ${scale}`;
  const known = drawn.get(key);
  if (known) return known;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = DOT * scale;
  const on = canvas.getContext("2d");
  if (on) {
    on.scale(scale, scale);
    drawMark(on, tone, colour);
  }
  drawn.set(key, canvas);
  return canvas;
}

/** Draw the dots of a box; `chosen` is the number of one that has a ring around it, or -1. */
export function drawDots(
  canvas: HTMLCanvasElement,
  dots: Dots,
  box: number,
  columns: number,
  colours: Colours,
  chosen: number,
): void {
  const all = dots.inBox[box] ?? [];
  const scale = scaleFor(dots.size);
  const width = columns * DOT * scale;
  const height = Math.ceil(all.length / columns) * DOT * scale;
  // Setting a size clears the canvas, and costs much.
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const on = canvas.getContext("2d");
  if (!on) return;
  on.clearRect(0, 0, width, height);
  const side = DOT * scale;
  all.forEach((number, n) => {
    const tone = dots.toneOf(number);
    const mark = markOf(tone, dots.isDim(number) ? colours.faint : colours.tones[tone], scale);
    const x = (n % columns) * side;
    const y = Math.floor(n / columns) * side;
    on.drawImage(mark, x, y);
    if (number === chosen) {
      on.strokeStyle = colours.chosen;
      on.lineWidth = 1.5 * scale;
      on.strokeRect(x + scale, y + scale, side - 2 * scale, side - 2 * scale);
    }
  });
}
