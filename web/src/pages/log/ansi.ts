/** A piece of a line that looks the same throughout. */
export interface Piece {
  text: string;
  /** Classes for its look, "" for none. */
  look: string;
}

const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

interface Look {
  colour: string;
  ground: string;
  isBold: boolean;
  isFaint: boolean;
  isItalic: boolean;
  isUnderlined: boolean;
}

const PLAIN: Look = { colour: "", ground: "", isBold: false, isFaint: false, isItalic: false, isUnderlined: false };

// Colours and the like; other orders to a terminal, which move its cursor or name its window; and what is no text.
const ORDERS =
  /\u001b\[([\d;:]*)m|\u001b\[[\d;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b.?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f]/g;

/** A line as a terminal would show it: with what it writes over itself written over, its colours as classes. */
export function piecesOf(line: string): Piece[] {
  const text = written(line);
  const found: Piece[] = [];
  let look = PLAIN;
  let at = 0;
  const add = (to: number): void => {
    if (to > at) found.push({ text: text.slice(at, to), look: classesOf(look) });
  };
  for (const order of text.matchAll(ORDERS)) {
    add(order.index);
    at = order.index + order[0].length;
    if (order[1] !== undefined) look = changed(look, order[1]);
  }
  add(text.length);
  return found;
}

/** The text of a line alone. */
export function plainOf(line: string): string {
  return written(line).replace(ORDERS, "");
}

/** What stands behind the last return to the beginning of the line, as of what tells its progress. */
function written(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf("\r") + 1);
}

function changed(before: Look, codes: string): Look {
  const look = { ...before };
  const numbers = codes.split(/[;:]/).map(Number);
  for (let place = 0; place < numbers.length; place += 1) {
    const code = numbers[place]!;
    if (code === 0) Object.assign(look, PLAIN);
    else if (code === 1) look.isBold = true;
    else if (code === 2) look.isFaint = true;
    else if (code === 3) look.isItalic = true;
    else if (code === 4) look.isUnderlined = true;
    else if (code === 22) look.isBold = look.isFaint = false;
    else if (code === 23) look.isItalic = false;
    else if (code === 24) look.isUnderlined = false;
    else if (code === 39) look.colour = "";
    else if (code === 49) look.ground = "";
    else if (code === 38 || code === 48) {
      const [colour, used] = farColour(numbers, place + 1);
      if (code === 38) look.colour = colour;
      else look.ground = colour;
      place += used;
    } else if (code >= 30 && code <= 37) look.colour = COLOURS[code - 30]!;
    else if (code >= 90 && code <= 97) look.colour = COLOURS[code - 90]!;
    else if (code >= 40 && code <= 47) look.ground = COLOURS[code - 40]!;
    else if (code >= 100 && code <= 107) look.ground = COLOURS[code - 100]!;
  }
  return look;
}

/** The nearest of the eight colours to one of 256 or of millions, and how many numbers say it. */
function farColour(numbers: readonly number[], place: number): [colour: string, used: number] {
  if (numbers[place] === 2) {
    const [red = 0, green = 0, blue = 0] = numbers.slice(place + 1, place + 4);
    return [nearest(red, green, blue), 4];
  }
  const number = numbers[place + 1] ?? 0;
  if (number < 16) return [COLOURS[number % 8]!, 2];
  if (number > 231) return [number < 244 ? "black" : "white", 2];
  const cube = number - 16;
  const part = (share: number): number => (share * 255) / 5;
  return [nearest(part(Math.floor(cube / 36)), part(Math.floor(cube / 6) % 6), part(cube % 6)), 2];
}

function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  if (most < 48) return "black";
  const bit = (value: number): number => (value > most * 0.6 ? 1 : 0);
  return COLOURS[bit(red) + 2 * bit(green) + 4 * bit(blue)]!;
}

function classesOf(look: Look): string {
  const found = [
    look.colour && `ansi-${look.colour}`,
    look.ground && `ansi-on-${look.ground}`,
    look.isBold && "ansi-bold",
    look.isFaint && "ansi-faint",
    look.isItalic && "ansi-italic",
    look.isUnderlined && "ansi-underlined",
  ];
  return found.filter(Boolean).join(" ");
}

/** The same pieces, cut where a text is found in them; what is found has the class `found` as well. */
export function marked(pieces: readonly Piece[], wanted: string): Piece[] {
  if (!wanted) return [...pieces];
  const whole = pieces
    .map((one) => one.text)
    .join("")
    .toLowerCase();
  const text = wanted.toLowerCase();
  const ends: [number, number][] = [];
  for (let at = whole.indexOf(text); at >= 0; at = whole.indexOf(text, at + text.length))
    ends.push([at, at + text.length]);
  if (!ends.length) return [...pieces];
  const found: Piece[] = [];
  let from = 0;
  for (const { text: own, look } of pieces) {
    const cuts = [from, ...ends.flat().filter((at) => at > from && at < from + own.length), from + own.length];
    for (let place = 0; place + 1 < cuts.length; place += 1) {
      const [begin, end] = [cuts[place]!, cuts[place + 1]!];
      const isFound = ends.some(([first, last]) => begin >= first && end <= last);
      found.push({ text: own.slice(begin - from, end - from), look: isFound ? `${look} found`.trim() : look });
    }
    from += own.length;
  }
  return found;
}
