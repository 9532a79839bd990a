import { addressOf, BASE } from "./ask.ts";
import { outside, Problem } from "./problem.ts";
import type { PackageData, ProblemData } from "./types.ts";

const MOST_DIGESTED = 64 * 1024 * 1024;

/** Send the archive of a package. `onSent` is told how much of it has gone, from 0 to 1. Throws a `Problem`. */
export async function sendPackage(
  project: string,
  file: Blob,
  label: string,
  onSent: (share: number) => void,
  signal?: AbortSignal,
): Promise<PackageData> {
  const digest = await digestOf(file);
  return new Promise((done, failed) => {
    // Only this kind of request tells how much of its body has gone.
    const request = new XMLHttpRequest();
    request.open("POST", BASE + addressOf("/projects/{project}/packages", { project }, { label }));
    request.setRequestHeader("Content-Type", "application/zip");
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID());
    if (digest) request.setRequestHeader("Content-Digest", digest);
    request.upload.onprogress = (event) => event.lengthComputable && onSent(event.loaded / event.total);
    request.onload = () => {
      try {
        if (request.status < 300) done(JSON.parse(request.responseText) as PackageData);
        else failed(new Problem(JSON.parse(request.responseText) as ProblemData));
      } catch {
        failed(outside("not-ordito", `the server answered with status ${request.status}`, "try again", request.status));
      }
    };
    request.onerror = () =>
      failed(
        outside(
          "unreachable",
          "the package could not be sent whole",
          "see whether the server runs, and whether it takes packages of this size",
        ),
      );
    signal?.addEventListener("abort", () => request.abort());
    request.onabort = () => failed(signal?.reason ?? new DOMException("not sent", "AbortError"));
    request.send(file);
  });
}

/** What the server compares with what has come; "" where the browser cannot tell, or the file is very large. */
async function digestOf(file: Blob): Promise<string> {
  if (!globalThis.crypto?.subtle || file.size > MOST_DIGESTED) return "";
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", await file.arrayBuffer()));
  return `sha-256=:${btoa(String.fromCharCode(...hash))}:`;
}
