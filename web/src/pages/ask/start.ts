// What a form begins with: what its address says, or what a plan was asked for.
import type { RequestField } from "../../api/requests.ts";
import type { AskedAgain } from "../../api/types.ts";
import { type InputValue, type InputValues, inputsIn } from "./inputs.ts";
import { type FieldValue, initialOf, type Pair, type Values, valuesOf } from "./values.ts";

export interface Start {
  values: Values;
  options: Values;
  inputs: InputValues;
  /** Inputs that nobody has declared: those of an operation. */
  free: Pair[];
  package: string;
  environment: string;
  comment: string;
  isLatest: boolean;
  /** The inputs of that plan that are not filled in, since they are secret, or may be. */
  withheld: readonly string[];
}

/** As the address says. */
export function startIn(
  fields: readonly RequestField[],
  options: readonly RequestField[],
  query: URLSearchParams,
): Start {
  return {
    values: valuesOf(fields, query),
    options: valuesOf(options, query),
    inputs: inputsIn(query),
    free: [],
    package: query.get("package") ?? "",
    environment: query.get("environment") ?? "",
    comment: query.get("comment") ?? "",
    isLatest: query.get("bind") === "latest",
    withheld: [],
  };
}

/** As it was asked for once. */
export function startAgain(
  fields: readonly RequestField[],
  options: readonly RequestField[],
  { request, options: job, environment, comment, bind, withheld }: AskedAgain,
): Start {
  const texts = (request["input_texts"] ?? {}) as Readonly<Record<string, string>>;
  const values = (request["inputs"] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    values: given(fields, request),
    options: given(options, job),
    inputs: Object.fromEntries([
      ...Object.entries(values).map(([name, value]): [string, InputValue] => [name, inputOf(value)]),
      ...Object.entries(texts).map(([name, text]): [string, InputValue] => [name, { as: "text", text }]),
    ]),
    free: Object.entries(texts),
    package: typeof request["package"] === "string" ? request["package"] : "",
    environment: environment ?? "",
    comment: comment,
    isLatest: bind === "latest",
    withheld,
  };
}

function given(fields: readonly RequestField[], values: Readonly<Record<string, unknown>>): Values {
  return Object.fromEntries(fields.map((field) => [field.name, fieldOf(field, values[field.name])]));
}

function fieldOf(field: RequestField, value: unknown): FieldValue {
  if (value === undefined || value === null || value === field.initial) return initialOf(field);
  if (typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(textOf);
  if (typeof value === "object") return Object.entries(value).map(([name, one]): Pair => [name, textOf(one)]);
  return textOf(value);
}

function inputOf(value: unknown): InputValue {
  const isPlain = (one: unknown): boolean => typeof one !== "object" || one === null;
  if (Array.isArray(value) && value.every(isPlain)) return { as: "texts", rows: value.map(textOf) };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { as: "text", text: textOf(value) };
  const pairs = Object.entries(value);
  const [only] = pairs;
  if (only?.[0] === "secret" && pairs.length === 1 && typeof only[1] === "string") {
    return { as: "secret", name: only[1] };
  }
  if (pairs.every(([, one]) => isPlain(one))) {
    return { as: "pairs", rows: pairs.map(([name, one]): Pair => [name, textOf(one)]) };
  }
  return { as: "text", text: textOf(value) };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
