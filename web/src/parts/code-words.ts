/** A piece of a line. */
export interface Word {
  is: "plain" | "key" | "comment" | "type";
  text: string;
}

const TYPED = new Set([
  "type",
  "derived_from",
  "node",
  "relationship",
  "capability",
  "node_type",
  "relationship_type",
  "entry_schema",
]);
const KEY = /^(\s*(?:- )*)([\w.:/"' -]*?[\w"'])(:)(?=\s|$)/;
const NAME = /^(\s*)([A-Za-z_][\w.:-]*)(.*)$/;
const COMMENT = /(^|\s)#.*$/;

/** A line of a file in pieces: keys and comments stand out, and names of types can be asked about. */
export function wordsOf(line: string, file: string): Word[] {
  const isYaml = /\.ya?ml$/.test(file);
  const isScript = /\.(sh|bash|py|rb|tf|cfg|conf|ini|toml)$/.test(file) || !file.includes(".");
  if (!isYaml && !isScript) return [{ is: "plain", text: line }];
  const comment = commentOf(line);
  const rest = comment ? line.slice(0, line.length - comment.length) : line;
  return [
    ...(isYaml ? yaml(rest) : [{ is: "plain", text: rest } as const]),
    { is: "comment", text: comment } as const,
  ].filter(({ text }) => text !== "");
}

/** The comment at the end of a line, "" for none; a `#` in quotes begins none. */
function commentOf(line: string): string {
  const found = COMMENT.exec(line);
  if (!found) return "";
  const before = line.slice(0, found.index);
  const isQuoted = (before.split('"').length - 1) % 2 === 1 || (before.split("'").length - 1) % 2 === 1;
  return isQuoted ? "" : line.slice(found.index + (found[1]?.length ?? 0));
}

function yaml(line: string): Word[] {
  const found = KEY.exec(line);
  if (!found) return [{ is: "plain", text: line }];
  const [whole, indent = "", key = "", colon = ""] = found;
  const words: Word[] = [
    { is: "plain", text: indent },
    { is: "key", text: key },
    { is: "plain", text: colon },
  ];
  const rest = line.slice(whole.length);
  if (!TYPED.has(key)) {
    // A whole entry on one line: `web: { type: Compute }`.
    const inner = /^(.*\btype: *)([A-Za-z_][\w.:-]*)(.*)$/.exec(rest);
    return inner
      ? [
          ...words,
          { is: "plain", text: inner[1] ?? "" },
          { is: "type", text: inner[2] ?? "" },
          { is: "plain", text: inner[3] ?? "" },
        ]
      : [...words, { is: "plain", text: rest }];
  }
  const [, space = "", name = "", after = ""] = NAME.exec(rest) ?? [];
  if (!name) return [...words, { is: "plain", text: rest }];
  return [...words, { is: "plain", text: space }, { is: "type", text: name }, { is: "plain", text: after }];
}

/** The places of a text in a line, regardless of case. */
export function placesIn(line: string, wanted: string): number[] {
  const found: number[] = [];
  if (!wanted) return found;
  const [where, what] = [line.toLowerCase(), wanted.toLowerCase()];
  for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) found.push(at);
  return found;
}
