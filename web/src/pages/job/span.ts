/** A part of the time of a job, in milliseconds since it began. */
export interface Span {
  from: number;
  to: number;
}

/** Nothing is shown larger than so many milliseconds. */
const SHORTEST = 5;

/** A part of the whole, neither empty nor beyond it. */
export function within(span: Span, whole: number): Span {
  const length = Math.min(Math.max(span.to - span.from, SHORTEST), Math.max(whole, SHORTEST));
  const from = Math.min(Math.max(0, span.from), Math.max(0, whole - length));
  return { from, to: from + length };
}

/** The same around a moment, larger or smaller by a factor. */
export function zoomed(span: Span, around: number, factor: number, whole: number): Span {
  const before = (around - span.from) * factor;
  const length = (span.to - span.from) * factor;
  return within({ from: around - before, to: around - before + length }, whole);
}

/** Moved by a share of its length. */
export function moved(span: Span, share: number, whole: number): Span {
  const by = (span.to - span.from) * share;
  return within({ from: span.from + by, to: span.to + by }, whole);
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 43_200_000, 86_400_000,
];

/** The moments at which a scale has marks, so that there are at most so many. */
export function marksOf(span: Span, most: number): number[] {
  const least = (span.to - span.from) / Math.max(1, most);
  const step = STEPS.find((one) => one >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000;
  const found: number[] = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to; at += step) found.push(at);
  return found;
}

/** A moment or a length of a job, as short as it can be told: `80 ms`, `4.2 s`, `2:04`, `1:02:04`. */
export function told(milliseconds: number): string {
  if (milliseconds === 0) return "0";
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) {
    const seconds = milliseconds / 1_000;
    return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  }
  const whole = Math.round(milliseconds / 1_000);
  const two = (number: number): string => String(number).padStart(2, "0");
  const [hours, minutes, seconds] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
