/** A line of one text, of the other, or of both. */
export interface DiffLine {
  is: "same" | "gone" | "new";
  text: string;
  /** Its number before, from 1; undefined for one that is new. */
  before?: number;
  /** Its number after; undefined for one that is gone. */
  after?: number;
}

/** Differences that are looked for; what differs more is shown as all gone and all new. */
const MOST = 800;

/** What differs between two texts, line by line, in as few lines as possible (Myers 1986). */
export function lineDiff(before: string, after: string): DiffLine[] {
  const [old, fresh] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = shortest(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  const kinds: DiffLine["is"][] = [...Array<"same">(head).fill("same"), ...middle, ...Array<"same">(tail).fill("same")];
  let [at, then] = [0, 0];
  return kinds.map((is) => {
    if (is === "gone") return { is, text: old[at++] ?? "", before: at };
    if (is === "new") return { is, text: fresh[then++] ?? "", after: then };
    then += 1;
    return { is, text: old[at++] ?? "", before: at, after: then };
  });
}

/** The steps of the shortest way from one list of lines to the other. */
function shortest(old: readonly string[], fresh: readonly string[]): DiffLine["is"][] {
  const everything = (): DiffLine["is"][] => [...old.map(() => "gone" as const), ...fresh.map(() => "new" as const)];
  if (!old.length || !fresh.length) return everything();
  const most = Math.min(MOST, old.length + fresh.length);
  // For each diagonal (place in the old less place in the new) how far one comes in the old; one copy for each length.
  let reach = new Map<number, number>([[1, 0]]);
  const taken: Map<number, number>[] = [];
  for (let length = 0; length <= most; length += 1) {
    taken.push(reach);
    const next = new Map(reach);
    for (let diagonal = -length; diagonal <= length; diagonal += 2) {
      const isDown =
        diagonal === -length || (diagonal !== length && get(reach, diagonal - 1) < get(reach, diagonal + 1));
      let x = isDown ? get(reach, diagonal + 1) : get(reach, diagonal - 1) + 1;
      while (x < old.length && x - diagonal < fresh.length && old[x] === fresh[x - diagonal]) x += 1;
      next.set(diagonal, x);
      if (x >= old.length && x - diagonal >= fresh.length) return wayBack(taken, old.length, fresh.length);
    }
    reach = next;
  }
  return everything();
}

function get(reach: Map<number, number>, diagonal: number): number {
  return reach.get(diagonal) ?? -1;
}

function wayBack(taken: readonly Map<number, number>[], x: number, y: number): DiffLine["is"][] {
  const steps: DiffLine["is"][] = [];
  for (let length = taken.length - 1; length >= 0; length -= 1) {
    const reach = taken[length] as Map<number, number>;
    const diagonal = x - y;
    const isDown = diagonal === -length || (diagonal !== length && get(reach, diagonal - 1) < get(reach, diagonal + 1));
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const startX = length ? get(reach, from) : 0;
    const startY = length ? startX - from : 0;
    while (x > startX && y > startY) {
      steps.push("same");
      x -= 1;
      y -= 1;
    }
    if (!length) break;
    steps.push(isDown ? "new" : "gone");
    [x, y] = [startX, startY];
  }
  return steps.reverse();
}

/** The lines that differ with some around them, and `null` where lines in between are left out. */
export function shortened(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const near = new Set<number>();
  for (const [at, { is }] of lines.entries()) {
    if (is !== "same") for (let one = at - around; one <= at + around; one += 1) near.add(one);
  }
  const found: (DiffLine | null)[] = [];
  for (const [at, line] of lines.entries()) {
    if (near.has(at)) found.push(line);
    else if (found.at(-1) !== null) found.push(null);
  }
  return found;
}
