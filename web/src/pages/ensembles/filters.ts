/** What the list is filtered by; it stands in the address, and is written as words. */
export interface Filters {
  status?: string;
  label?: string[];
  attention?: boolean;
  q?: string;
}

/** The filters that words say: `status:error label:team=web attention and other text`. */
export function filtersOf(text: string): Filters {
  const found: Filters = {};
  const rest: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const [name, value] = splitOnce(word);
    if (name === "status" && value) found.status = value;
    else if (name === "label" && value) found.label = [...(found.label ?? []), value];
    else if (word === "needs:attention") found.attention = true;
    else rest.push(word);
  }
  if (rest.length) found.q = rest.join(" ");
  return found;
}

function splitOnce(word: string): [string, string] {
  const at = word.indexOf(":");
  return at < 0 ? ["", word] : [word.slice(0, at), word.slice(at + 1)];
}

/** The text with a word in it or without it. */
export function toggled(text: string, word: string): string {
  const words = text.split(/\s+/).filter(Boolean);
  return (words.includes(word) ? words.filter((one) => one !== word) : [...words, word]).join(" ");
}
