import { outside, Problem } from "./problem.ts";
import type { ProblemData, Routes } from "./types.ts";

export const BASE = "/api/v1";

export type RouteName = keyof Routes;
export type Method<R extends RouteName> = R extends `${infer M} ${string}` ? M : never;
/** The routes that change nothing. */
export type LookName = { [R in RouteName]: Method<R> extends "GET" ? R : never }[RouteName];
/** The routes that change something. */
export type ChangeName = Exclude<RouteName, LookName>;
export type AnswerOf<R extends RouteName> = Routes[R]["answer"];

type Part<Name extends string, T> = [T] extends [undefined | Record<string, never>]
  ? { [N in Name]?: undefined }
  : object extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T };

/** What a route is asked with: the names in its path, its query, its body. */
export type Asked<R extends RouteName> = Part<"path", Routes[R]["path"]> &
  Part<"query", Routes[R]["query"]> &
  Part<"body", Routes[R]["body"]>;

export interface Sent {
  signal?: AbortSignal | undefined;
  /** The `ETag` of what is replaced; needed where the server says `match-required`. */
  match?: string;
  /** The same key again gets the stored answer: give one to repeat something after its answer was lost. */
  key?: string;
  /** Seconds for which the server may hold the answer until the work has ended. */
  wait?: number;
}

export interface Answer<T> {
  data: T;
  /** Names this version of it, "" where there are no versions. */
  etag: string;
  /** Where a stream goes on that knows nothing of this answer yet, "" where there is none. */
  cursor: string;
  status: number;
}

/** Ask a route. Throws a `Problem` for everything that is not done. */
export async function ask<R extends RouteName>(
  route: R,
  asked: NoInfer<Asked<R>>,
  sent: Sent = {},
): Promise<Answer<AnswerOf<R>>> {
  const [method = "", template = ""] = route.split(" ");
  const { path, query, body } = asked as unknown as { path?: Record<string, string>; query?: object; body?: unknown };
  const response = await reach(BASE + addressOf(template, path ?? {}, query ?? {}), {
    method,
    headers: headersOf(method, body, sent),
    body: body === undefined ? null : body instanceof Blob ? body : JSON.stringify(body),
    signal: sent.signal ?? null,
  });
  const text = response.status === 204 ? "" : await response.text();
  return {
    data: (text ? parsed(text, response) : undefined) as AnswerOf<R>,
    etag: response.headers.get("ETag") ?? "",
    cursor: response.headers.get("Ordito-Cursor") ?? "",
    status: response.status,
  };
}

/** The version of something that a list has shown, to change it as it was seen: if it is different by now, one that fits
 * nothing, so that the server refuses, and says so. */
export function tagAsShown<T>(shown: T, now: Answer<T>): string {
  return JSON.stringify(shown) === JSON.stringify(now.data) ? now.etag : '"seen"';
}

/** Fetch something of this server. Throws a `Problem` for what is no success. */
export async function reach(address: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { ...init, credentials: "same-origin", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw outside("unreachable", "the server does not answer", "see whether it runs, and whether the network is there");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response: Response): Promise<Problem> {
  if (response.headers.get("Content-Type")?.startsWith("application/problem+json")) {
    return new Problem((await response.json()) as ProblemData, Number(response.headers.get("Retry-After") ?? 0));
  }
  return notOrdito(response);
}

function notOrdito(response: Response): Problem {
  const hint = "something between here and the server answers in its place";
  return outside("not-ordito", `${response.url} answered with status ${response.status}`, hint, response.status);
}

function parsed(text: string, response: Response): unknown {
  if (!response.headers.get("Content-Type")?.includes("json")) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw notOrdito(response);
  }
}

function headersOf(method: string, body: unknown, sent: Sent): Record<string, string> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = body instanceof Blob ? body.type : "application/json";
  if (method === "POST") headers["Idempotency-Key"] = sent.key ?? crypto.randomUUID();
  if (sent.match !== undefined) headers["If-Match"] = sent.match;
  if (sent.wait !== undefined) headers["Prefer"] = `wait=${sent.wait}`;
  return headers;
}

/** The address of a route: names in braces filled in, what is undefined left out of the query, lists repeated. */
export function addressOf(template: string, path: Record<string, string>, query: object): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    // What is the path of a file keeps its slashes.
    const value = path[name] ?? "";
    return name === "path" ? value.split("/").map(encodeURIComponent).join("/") : encodeURIComponent(value);
  });
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== "") words.append(name, String(one));
    }
  }
  const text = words.toString();
  return (filled === "/" ? "" : filled) + (text ? `?${text}` : "");
}
