/** By what the list of jobs is filtered; it is written as words, and stands in the address. */
export interface Filters {
  status?: string;
  workflow?: string;
  ensemble?: string;
  q?: string;
}

const NAMES: Record<string, keyof Filters> = { status: "status", workflow: "workflow", in: "ensemble" };

/** The filters that words say: `status:failed workflow:upgrade in:shop/prod and other text`. */
export function filtersOf(text: string): Filters {
  const found: Filters = {};
  const rest: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const at = word.indexOf(":");
    const name = at > 0 ? NAMES[word.slice(0, at)] : undefined;
    if (name && word.length > at + 1) found[name] = word.slice(at + 1);
    else rest.push(word);
  }
  if (rest.length) found.q = rest.join(" ");
  return found;
}

/** The text with `name:value` in it, in place of what it says of that name; without it for an empty value. */
export function withWord(text: string, name: string, value: string): string {
  const words = text.split(/\s+/).filter((word) => word && !word.startsWith(`${name}:`));
  return (value ? [`${name}:${value}`, ...words] : words).join(" ");
}
