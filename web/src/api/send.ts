import { BASE } from "./ask.ts";
import { outside, Problem } from "./problem.ts";
import type { PackageData, ProblemData } from "./types.ts";

const DONE = 201;

/** Send the archive of a service, told how much of it has gone. Throws a `Problem`. */
export function sendPackage(
  project: string,
  archive: Blob,
  label: string,
  onSent: (bytes: number) => void,
  signal: AbortSignal,
): Promise<PackageData> {
  // Only this way a browser tells how much it has sent.
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    const query = label ? `?label=${encodeURIComponent(label)}` : "";
    request.open("POST", `${BASE}/projects/${encodeURIComponent(project)}/packages${query}`);
    request.setRequestHeader("Accept", "application/json");
    request.setRequestHeader("Content-Type", "application/zip");
    request.setRequestHeader("Idempotency-Key", crypto.randomUUID());
    request.upload.onprogress = (event) => onSent(event.loaded);
    request.onload = () => {
      if (request.status === DONE) resolve(JSON.parse(request.responseText) as PackageData);
      else reject(refusal(request));
    };
    request.onerror = () =>
      reject(outside("unreachable", "the archive did not arrive", "see whether the server runs, then send it again"));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(archive);
  });
}

function refusal(request: XMLHttpRequest): Problem {
  if (request.getResponseHeader("Content-Type")?.startsWith("application/problem+json")) {
    return new Problem(JSON.parse(request.responseText) as ProblemData);
  }
  const hint = "something between here and the server answers in its place";
  return outside("not-ordito", `sending was answered with status ${request.status}`, hint, request.status);
}
