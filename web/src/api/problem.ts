import type { ProblemData } from "./types.ts";

/** What the server refuses or finds wrong, told as RFC 9457 says; the code, text and hint are those of the command. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly data: ProblemData;
  /** Seconds after which it may be asked again, 0 where that is not said. */
  readonly againIn: number;

  constructor(data: ProblemData, againIn = 0) {
    super(data.detail || data.title);
    this.data = data;
    this.againIn = againIn;
  }

  get code(): string {
    return this.data.code;
  }

  get status(): number {
    return this.data.status;
  }

  get hint(): string {
    return this.data.hint ?? "";
  }
}

/** A problem that is none of the server's: it cannot be reached, or what answers is not Ordito. */
export function outside(code: "unreachable" | "not-ordito", detail: string, hint: string, status = 0): Problem {
  const title = code === "unreachable" ? "The server cannot be reached" : "This is no answer of Ordito";
  return new Problem({
    type: "about:blank",
    title,
    status,
    code,
    detail,
    hint,
    next: [],
    diagnostics: [],
    request_id: "",
  });
}

/** Any error as a problem, so that a page has one way to show what went wrong. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new Problem({
    type: "about:blank",
    title: "A fault of this page",
    status: 0,
    code: "fault",
    detail,
    hint: "load the page again; if that does not help, report it",
    next: [],
    diagnostics: [],
    request_id: "",
  });
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof Problem && error.status === 401 && error.code !== "bad-credentials";
}
