// The inputs of a service or of a workflow: how each is given, and what is sent of them.
import type { Pair } from "./values.ts";

/** An input, as any declaration of one says it. */
export interface Declared {
  name: string;
  type: string;
  required: boolean;
  default: unknown;
  sensitive: boolean;
  description: string;
  constraints: readonly Record<string, unknown>[];
}

/** What stands in the field of an input. */
export type InputValue =
  | { as: "text"; text: string }
  | { as: "secret"; name: string }
  | { as: "texts"; rows: string[] }
  | { as: "pairs"; rows: Pair[] };

export type InputValues = Readonly<Record<string, InputValue>>;

export type Shape = "text" | "choice" | "yaml" | "texts" | "pairs";

const SIMPLE = /^(string|integer|float|boolean|timestamp|version|range|bytes|null|scalar-unit\.\w+|tosca[.:]\S+)$/;
const PARTS = /^(list|map) of (string|integer|float|boolean|timestamp|version|scalar-unit\.\w+)$/;

/** How an input is given: texts of simple types in a line, lists and maps of these by rows, the rest as YAML. */
export function shapeOf({ type, constraints }: Pick<Declared, "type" | "constraints">): Shape {
  if (type === "boolean" || choicesOf(constraints)) return "choice";
  if (SIMPLE.test(type)) return "text";
  const parts = PARTS.exec(type);
  if (parts) return parts[1] === "list" ? "texts" : "pairs";
  // A type of the service itself may be simple or not: both can be written.
  return "yaml";
}

/** The values that are allowed, undefined for any. */
export function choicesOf(constraints: readonly Record<string, unknown>[]): readonly string[] | undefined {
  for (const one of constraints) {
    const values = one["valid_values"];
    if (Array.isArray(values))
      return values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  }
  return undefined;
}

/** What may stand there: type and constraints, as in `integer, in range 1024 to 65535`. */
export function typeText({ type, constraints }: Pick<Declared, "type" | "constraints">): string {
  const said = constraints.flatMap((one) => Object.entries(one)).filter(([name]) => name !== "valid_values");
  return [
    type,
    ...said.map(([name, value]) => `${name.replace(/^\$/, "").replaceAll("_", " ")} ${boundText(value)}`),
  ].join(", ");
}

function boundText(value: unknown): string {
  if (Array.isArray(value)) return value.map(boundText).join(" to ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What is sent: texts as on a command line, and what has a shape as values. Nothing for fields that are empty. */
export function sentOf(
  declared: readonly Declared[],
  values: InputValues,
): { inputs: Record<string, unknown>; input_texts: Record<string, string> } {
  const inputs: Record<string, unknown> = {};
  const texts: Record<string, string> = {};
  for (const one of declared) {
    const value = values[one.name];
    if (!value) continue;
    if (value.as === "secret" && value.name) inputs[one.name] = { secret: value.name };
    else if (value.as === "text" && value.text) texts[one.name] = value.text;
    else if (value.as === "texts") {
      const rows = value.rows.filter(Boolean);
      if (rows.length) inputs[one.name] = rows.map((row) => partOf(one.type, row));
    } else if (value.as === "pairs") {
      const rows = value.rows.filter(([name]) => name);
      if (rows.length) inputs[one.name] = Object.fromEntries(rows.map(([name, row]) => [name, partOf(one.type, row)]));
    }
  }
  return { inputs, input_texts: texts };
}

/** A part of a list or map; what is not of its type stays a text, and the server says so. */
function partOf(type: string, text: string): unknown {
  const of = PARTS.exec(type)?.[2] ?? "string";
  if (of === "boolean" && (text === "true" || text === "false")) return text === "true";
  if ((of === "integer" || of === "float") && text.trim() && Number.isFinite(Number(text))) return Number(text);
  return text;
}

/** What an input begins with: a value in the address, `?input.port=8080`. */
export function inputsIn(query: URLSearchParams): InputValues {
  const found: Record<string, InputValue> = {};
  for (const [key, text] of query) if (key.startsWith("input.") && text) found[key.slice(6)] = { as: "text", text };
  return found;
}
