import type { ReactNode } from "react";

import { addressOf, BASE } from "../../api/ask.ts";
import { Menu } from "../../parts/menu.tsx";
import type { JobPath } from "./use-course.ts";

const FILES = [
  ["Report, one file for any browser", "report.html"],
  ["Events, as NDJSON", "events.ndjson"],
  ["What was printed, as text", "log.txt"],
] as const;

/** What can be taken along of a job. */
export function Downloads({ of }: { of: JobPath }): ReactNode {
  const take = (file: string): void => {
    const link = document.createElement("a");
    link.href = BASE + addressOf(`/projects/{project}/ensembles/{ensemble}/jobs/{job}/${file}`, { ...of }, {});
    link.download = `${of.ensemble}-${of.job}-${file}`;
    link.click();
  };
  return (
    <Menu
      label={
        <>
          Download <span aria-hidden="true">▾</span>
        </>
      }
      name="Download"
      items={FILES.map(([label, file]) => ({ label, does: () => take(file) }))}
    />
  );
}
