// What stands in the fields of a form, and what is sent of it.
import type { RequestField } from "../../api/requests.ts";

/** A row of a map, and of what has names of its own. */
export type Pair = [name: string, value: string];

/** What stands in a field: a text, a switch, texts, or names with texts. */
export type FieldValue = string | boolean | string[] | Pair[];

export type Values = Record<string, FieldValue>;

/** What a field shows at first. */
export function initialOf(field: RequestField): FieldValue {
  switch (field.kind) {
    case "flag":
      return field.initial === true;
    case "texts":
      return [];
    case "texts-by-name":
    case "numbers-by-name":
      return [];
    case "choice":
      return typeof field.initial === "string" ? field.initial : "";
    default:
      return "";
  }
}

/** The values in the query of an address: by the names of fields, or by what they name, as in `?instances=web_2`. */
export function valuesOf(fields: readonly RequestField[], query: URLSearchParams): Values {
  const values: Values = Object.fromEntries(fields.map((field) => [field.name, initialOf(field)]));
  for (const key of new Set(query.keys())) {
    const given = query.getAll(key).filter(Boolean);
    const field =
      fields.find(({ name }) => name === key) ??
      fields.find((one) => one.main && one.names.includes(key.replace(/s$/, "")));
    if (!field || !given.length) continue;
    values[field.name] = read(field, given, values[field.name] ?? "");
  }
  return values;
}

function read(field: RequestField, given: string[], before: FieldValue): FieldValue {
  switch (field.kind) {
    case "flag":
      return given[0] !== "false" && given[0] !== "0";
    case "texts":
      return [...(Array.isArray(before) ? (before as string[]) : []), ...given.flatMap((one) => one.split(","))];
    case "texts-by-name":
    case "numbers-by-name":
      return given.map((one): Pair => {
        const at = one.lastIndexOf("=");
        return at < 0 ? [one, ""] : [one.slice(0, at), one.slice(at + 1)];
      });
    default:
      return given[0] ?? "";
  }
}

/** What is sent of the fields: only what somebody has given. */
export function requestOf(fields: readonly RequestField[], values: Values): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const field of fields) {
    const value = sentOf(field, values[field.name]);
    if (value !== undefined) found[field.name] = value;
  }
  return found;
}

function sentOf(field: RequestField, value: FieldValue | undefined): unknown {
  if (value === undefined) return undefined;
  if (typeof value === "boolean") return value === (field.initial === true) ? undefined : value;
  if (typeof value === "string") {
    const text = value.trim();
    if (!text || text === field.initial) return undefined;
    // What is no number is sent as it is: the server says what is wrong with it.
    return field.kind === "number" ? numberIn(text) : text;
  }
  if (field.kind === "texts") {
    const texts = (value as string[]).map((one) => one.trim()).filter(Boolean);
    return texts.length ? texts : undefined;
  }
  const pairs = (value as Pair[]).filter(([name]) => name.trim());
  if (!pairs.length) return undefined;
  return Object.fromEntries(
    pairs.map(([name, text]) => [name.trim(), field.kind === "numbers-by-name" ? numberIn(text) : text]),
  );
}

function numberIn(text: string): number | string {
  const number = Number(text);
  return text.trim() && Number.isFinite(number) ? number : text;
}

/** Whether a form shows a field at once; the others stand behind "Further options". */
export function isShown(fields: readonly RequestField[], field: RequestField): boolean {
  if (fields.length <= FEW) return true;
  if (!fields.some((one) => one.main)) return false;
  return field.main || field.required || field.names.length > 0 || field.kind === "number";
}

const FEW = 7;

/** The words of a field's name. */
export function titleOf(name: string): string {
  const words = name.replaceAll("_", " ");
  return words[0]?.toUpperCase() + words.slice(1);
}
