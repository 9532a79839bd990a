import { useEffect, useRef } from "react";

/** What a key does: `{ "g e": { does: "go to the ensembles", run } }`. */
export interface Binding {
  /** For the list of keys, as in "next row". */
  does: string;
  /** Do it; `false` says that there is nothing to do now, and the key is left to others. */
  run: () => void | false;
}

export type Bindings = Record<string, Binding>;

interface Layer {
  /** Whose keys these are, for the list. */
  of: string;
  bindings: { current: Bindings };
}

const SEQUENCE = 1_000;
const SWITCH = "ordito.keys";

const layers: Layer[] = [];
let begun = "";
let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether single letters do something; who dictates or types by accident can switch that off. */
export function lettersAreOn(): boolean {
  return localStorage.getItem(SWITCH) !== "off";
}

export function switchLetters(isOn: boolean): void {
  localStorage.setItem(SWITCH, isOn ? "on" : "off");
}

/** Keys that hold as long as this part shows. Those of what came last are asked first. */
export function useKeys(of: string, bindings: Bindings): void {
  const latest = useRef(bindings);
  latest.current = bindings;
  useEffect(() => {
    const layer = { of, bindings: latest };
    layers.push(layer);
    return () => {
      layers.splice(layers.indexOf(layer), 1);
    };
  }, [of]);
}

/** All keys that hold now, the nearest first. */
export function presentKeys(): { of: string; keys: [string, string][] }[] {
  return [...layers].reverse().map(({ of, bindings }) => ({
    of,
    keys: Object.entries(bindings.current).map(([key, { does }]): [string, string] => [key, does]),
  }));
}

/** The name of a key as bindings say it: `j`, `Enter`, `Ctrl+k`, `?`. */
export function keyName(event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey">): string {
  if (event.altKey) return "";
  const isModified = event.ctrlKey || event.metaKey;
  return isModified ? `Ctrl+${event.key.toLowerCase()}` : event.key;
}

function isTyped(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button])"))
  );
}

/** Whether Enter and Space belong to what has the focus. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("a[href], button, summary, [role=menuitem], [role=option]");
}

export function onKeyDown(event: KeyboardEvent): void {
  const name = keyName(event);
  if (!name || event.defaultPrevented || event.isComposing) return;
  const isLetter = name.length === 1;
  if (isTyped(event.target) && isLetter) return;
  if (isTyped(event.target) && name === "Enter") return;
  if (isPressed(event.target) && (name === "Enter" || name === " ")) return;
  if (isLetter && !lettersAreOn()) return;
  // What a dialog or a menu covers has no keys, save those that are not letters.
  if (document.querySelector("dialog[open], [popover]:popover-open") && !name.startsWith("Ctrl+")) return;
  clearTimeout(timer);
  const sequence = begun ? `${begun} ${name}` : "";
  begun = "";
  if (runs(sequence) || runs(name)) {
    event.preventDefault();
  } else if (begins(name)) {
    begun = name;
    timer = setTimeout(() => (begun = ""), SEQUENCE);
  }
}

function runs(name: string): boolean {
  for (const { bindings } of [...layers].reverse()) {
    const binding = name ? bindings.current[name] : undefined;
    if (binding && binding.run() !== false) return true;
  }
  return false;
}

function begins(name: string): boolean {
  return layers.some(({ bindings }) => Object.keys(bindings.current).some((key) => key.startsWith(`${name} `)));
}
