// What is read out to whoever does not see the page: at most every five seconds, and then the latest.
const PAUSE = 5_000;
let place: HTMLElement | undefined;
let waiting = "";
let isResting = false;

/** The element whose text is read out; the shell has it. */
export function announceIn(element: HTMLElement | null): void {
  place = element ?? undefined;
}

/** Read something out, politely. */
export function announce(text: string): void {
  waiting = text;
  if (!isResting) say();
}

function say(): void {
  if (place && waiting) place.textContent = waiting;
  waiting = "";
  isResting = true;
  setTimeout(() => {
    isResting = false;
    if (waiting) say();
  }, PAUSE);
}
