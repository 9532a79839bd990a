import type { Course } from "./course.ts";
import { marksOf, type Span, told } from "./span.ts";

/** Sizes in pixels of CSS. */
export const ROW = 24;
export const SCALE = 24;
const BAR = 16;
const LEAST = 2;
const GAP = 6;

/** The colours and the font of the page, as a canvas needs them. */
export interface Paints {
  font: string;
  text: string;
  muted: string;
  edge: string;
  page: string;
  chosen: string;
  accent: string;
  tone: Record<string, string>;
}

export const TONES: Record<string, string> = {
  r: "pending",
  w: "pending",
  s: "ok",
  n: "absent",
  f: "error",
  a: "degraded",
  k: "absent",
  u: "absent",
  i: "degraded",
};

/** What is drawn. */
export interface Scene {
  course: Course;
  /** The rows that show, by their numbers, in their order. */
  rows: readonly number[];
  span: Span;
  /** How far it is scrolled. */
  top: number;
  width: number;
  height: number;
  /** How wide the names of rows are. */
  names: number;
  withIdle: boolean;
  /** The bar of the step that is chosen, -1 for none. */
  chosen: number;
  /** The time that is being marked. */
  brush: Span | undefined;
  /** The moment up to which running bars reach. */
  now: number;
}

/** Where a moment is, in pixels. */
export function placeOf(scene: Scene, at: number): number {
  return scene.names + ((at - scene.span.from) / (scene.span.to - scene.span.from)) * (scene.width - scene.names);
}

export function momentAt(scene: Pick<Scene, "names" | "span" | "width">, x: number): number {
  const share = (x - scene.names) / Math.max(1, scene.width - scene.names);
  return scene.span.from + share * (scene.span.to - scene.span.from);
}

/** The bar at a place, -1 for none; a narrow one is met within a few pixels. */
export function barAt(scene: Scene, x: number, y: number): number {
  if (x < scene.names || y < SCALE) return -1;
  const row = scene.rows[Math.floor((y - SCALE + scene.top) / ROW)];
  if (row === undefined) return -1;
  let found = -1;
  let nearest = 4;
  for (const bar of scene.course.ofRow[row] ?? []) {
    if (!scene.course.shows(bar, scene.withIdle)) continue;
    const [left, right] = edges(scene, bar);
    const far = x < left ? left - x : x > right ? x - right : 0;
    if (far < nearest || (far === 0 && nearest === 0)) {
      nearest = far;
      found = bar;
    }
  }
  return found;
}

function edges(scene: Scene, bar: number): [number, number] {
  const { course } = scene;
  const end = course.end[bar]!;
  const left = placeOf(scene, course.start[bar]!);
  return [left, Math.max(left + LEAST, placeOf(scene, end < 0 ? scene.now : end))];
}

export function paint(context: CanvasRenderingContext2D, scene: Scene, paints: Paints): void {
  const { width, height, names, rows, top, course } = scene;
  context.clearRect(0, 0, width, height);
  context.font = paints.font;
  context.textBaseline = "middle";
  const marks = marksOf(scene.span, (width - names) / 90);
  context.fillStyle = paints.edge;
  for (const at of marks) context.fillRect(Math.round(placeOf(scene, at)), SCALE, 1, height - SCALE);
  const first = Math.max(0, Math.floor(top / ROW));
  const last = Math.min(rows.length - 1, Math.floor((top + height - SCALE) / ROW));
  const chosenRow = scene.chosen < 0 ? -1 : course.row[scene.chosen]!;
  context.save();
  context.beginPath();
  context.rect(0, SCALE, width, height - SCALE);
  context.clip();
  for (let place = first; place <= last; place += 1) {
    const row = rows[place]!;
    const y = SCALE + place * ROW - top;
    if (row === chosenRow) {
      context.fillStyle = paints.chosen;
      context.fillRect(0, y, width, ROW);
    }
    context.fillStyle = paints.text;
    context.fillText(cut(context, course.rows[row]!, names - GAP * 2), GAP, y + ROW / 2);
    paintRow(context, scene, paints, row, y);
  }
  if (scene.brush) {
    const [left, right] = [placeOf(scene, scene.brush.from), placeOf(scene, scene.brush.to)];
    context.fillStyle = paints.accent;
    context.globalAlpha = 0.15;
    context.fillRect(left, SCALE, right - left, height - SCALE);
    context.globalAlpha = 1;
  }
  context.restore();
  context.fillStyle = paints.page;
  context.fillRect(0, 0, width, SCALE);
  context.fillStyle = paints.muted;
  for (const at of marks) {
    const text = told(at);
    const x = placeOf(scene, at);
    if (x + context.measureText(text).width < width) context.fillText(text, x + 3, SCALE / 2);
  }
  context.fillStyle = paints.edge;
  context.fillRect(0, SCALE - 1, width, 1);
  context.fillRect(names - 1, 0, 1, height);
}

function paintRow(context: CanvasRenderingContext2D, scene: Scene, paints: Paints, row: number, y: number): void {
  const { course, span, names, width } = scene;
  const bars = course.ofRow[row]!;
  const above = y + (ROW - BAR) / 2;
  context.save();
  context.beginPath();
  context.rect(names, y, width - names, ROW);
  context.clip();
  // Bars that would lie on the same pixel are drawn once.
  let covered = -1;
  let letter = "";
  for (const bar of bars) {
    if (course.start[bar]! > span.to) break;
    const end = course.end[bar]!;
    if ((end >= 0 && end < span.from) || !course.shows(bar, scene.withIdle)) continue;
    const [left, right] = edges(scene, bar);
    const isSpecial = bar === scene.chosen;
    if (right <= covered && course.letter[bar] === letter && !isSpecial) continue;
    covered = Math.ceil(right);
    letter = course.letter[bar]!;
    paintBar(context, scene, paints, bar, left, right, above);
  }
  context.restore();
}

function paintBar(
  context: CanvasRenderingContext2D,
  scene: Scene,
  paints: Paints,
  bar: number,
  left: number,
  right: number,
  y: number,
): void {
  const { course } = scene;
  const letter = course.letter[bar]!;
  const tone = paints.tone[letter] ?? paints.muted;
  const width = right - left;
  const isOpen = letter === "r";
  // Narrow ones have no outline, and are filled the more.
  const isNarrow = width <= 5;
  context.globalAlpha = (letter === "f" || letter === "a" ? 0.34 : 0.2) + (isNarrow ? 0.3 : 0);
  context.fillStyle = tone;
  context.fillRect(left, y, isNarrow ? Math.max(1, width - 1) : width, BAR);
  context.globalAlpha = 1;
  // What runs is open at its end; what was not run, or did nothing, is only outlined.
  if (!isNarrow) {
    context.fillRect(left, y, LEAST, BAR);
    context.strokeStyle = tone;
    context.lineWidth = 1;
    context.setLineDash(letter === "n" || letter === "u" || letter === "k" ? [2, 2] : []);
    context.beginPath();
    context.moveTo(right - 0.5, y + 0.5);
    context.lineTo(left + 0.5, y + 0.5);
    context.lineTo(left + 0.5, y + BAR - 0.5);
    context.lineTo(right - 0.5, y + BAR - 0.5);
    if (!isOpen) context.closePath();
    context.stroke();
    context.setLineDash([]);
  }
  if (course.critical.has(bar)) {
    context.fillStyle = paints.text;
    context.fillRect(left, y + BAR, Math.max(width, LEAST), 2);
  }
  if (bar === scene.chosen) {
    context.strokeStyle = paints.accent;
    context.lineWidth = 2;
    context.strokeRect(left - 1, y - 1, width + 2, BAR + 2);
  }
  const mark = letter === "f" ? "✖" : letter === "a" ? "↻" : letter === "i" ? "!" : "";
  if (mark && width < 14) {
    context.fillStyle = tone;
    context.fillText(mark, right + 2, y + BAR / 2);
  } else if (width > 24) {
    const words = mark ? `${mark} ${short(course, bar)}` : short(course, bar);
    // What began before the part that shows is named where it shows.
    const from = Math.max(left, scene.names);
    const text = cut(context, words, Math.min(right, scene.width) - from - GAP);
    context.fillStyle = paints.text;
    if (text.length > 3 || text === words) context.fillText(text, from + 4, y + BAR / 2 + 0.5);
  }
}

function short(course: Course, bar: number): string {
  const name = course.operations[course.operation[bar]!]!;
  return name.slice(name.lastIndexOf(".") + 1);
}

const widths = new Map<string, number>();

function widthOf(context: CanvasRenderingContext2D, text: string): number {
  let width = widths.get(text);
  if (width === undefined) {
    if (widths.size > 20_000) widths.clear();
    width = context.measureText(text).width;
    widths.set(text, width);
  }
  return width;
}

/** A text that fits, with the end left out where it does not. */
function cut(context: CanvasRenderingContext2D, text: string, most: number): string {
  const width = widthOf(context, text);
  if (width <= most) return text;
  let letters = Math.floor((text.length * most) / width);
  while (letters > 0 && widthOf(context, `${text.slice(0, letters)}…`) > most) letters -= 1;
  return letters > 0 ? `${text.slice(0, letters)}…` : "";
}

/** The whole job in one strip: how much ran at each time, where something failed, and which part shows. */
export function paintWhole(
  context: CanvasRenderingContext2D,
  course: Course,
  whole: number,
  span: Span,
  names: number,
  width: number,
  height: number,
  paints: Paints,
  busy: Float64Array,
  failed: readonly number[],
): void {
  context.clearRect(0, 0, width, height);
  const wide = width - names;
  const most = busy.reduce((found, one) => Math.max(found, one), 0) || 1;
  context.fillStyle = paints.tone["r"]!;
  context.globalAlpha = 0.45;
  for (let x = 0; x < busy.length; x += 1) {
    const high = busy[x]! ? Math.max(1, (busy[x]! / most) * (height - 6)) : 0;
    context.fillRect(names + x, height - high, 1, high);
  }
  context.globalAlpha = 1;
  context.fillStyle = paints.tone["f"]!;
  for (const bar of failed) context.fillRect(names + (course.start[bar]! / whole) * wide - 1, 0, 2, height);
  const left = names + (span.from / whole) * wide;
  const right = names + (span.to / whole) * wide;
  context.fillStyle = paints.text;
  context.globalAlpha = 0.08;
  context.fillRect(names, 0, left - names, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = paints.accent;
  context.lineWidth = 1;
  context.strokeRect(left + 0.5, 0.5, Math.max(1, right - left - 1), height - 1);
}

/** How much ran at each pixel of a strip. */
export function busyness(course: Course, whole: number, width: number, now: number): Float64Array {
  const found = new Float64Array(Math.max(1, Math.floor(width)) + 1);
  const scale = (found.length - 1) / whole;
  for (let bar = 0; bar < course.size; bar += 1) {
    if (!course.attempt[bar]) continue;
    const end = course.end[bar]! < 0 ? now : course.end[bar]!;
    const first = Math.min(found.length - 1, Math.floor(course.start[bar]! * scale));
    const behind = Math.max(first + 1, Math.floor(end * scale));
    found[first]! += 1;
    if (behind < found.length) found[behind]! -= 1;
  }
  for (let x = 1; x < found.length; x += 1) found[x]! += found[x - 1]!;
  return found;
}
