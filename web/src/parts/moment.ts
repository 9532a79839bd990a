const UNITS: readonly [seconds: number, word: string][] = [
  [31_557_600, "y"],
  [2_629_800, "mo"],
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A length of time in one word: `4 min`, `12 d`. */
export function span(seconds: number): string {
  const length = Math.abs(seconds);
  for (const [unit, word] of UNITS) if (length >= unit) return `${Math.floor(length / unit)} ${word}`;
  return "0 s";
}

/** A length of time in at most two words: `2 min 4 s`. */
export function exactSpan(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  for (const [place, [unit, word]] of UNITS.entries()) {
    if (whole < unit) continue;
    const first = `${Math.floor(whole / unit)} ${word}`;
    const [smaller, smallerWord] = UNITS[place + 1] ?? [0, ""];
    const rest = smaller ? Math.floor((whole % unit) / smaller) : 0;
    return rest ? `${first} ${rest} ${smallerWord}` : first;
  }
  return "under 1 s";
}

/** A moment as somebody says it now: `4 min ago`, `in 2 h`, `now`. */
export function relative(at: number, now: number): string {
  const seconds = (now - at) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  return seconds > 0 ? `${span(seconds)} ago` : `in ${span(seconds)}`;
}

/** A moment to the second, with its zone. */
export function exact(at: number): string {
  return new Intl.DateTimeFormat("en-GB", {
    year: "numeric",
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short",
  }).format(at);
}

/** A size in bytes as people read it. */
export function bytes(count: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let place = 0;
  let size = count;
  while (size >= 1024 && place < units.length - 1) {
    size /= 1024;
    place += 1;
  }
  return `${place && size < 10 ? size.toFixed(1) : Math.round(size)} ${units[place]}`;
}
