import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import type { FindingData, PackageFile, PackageSummary } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { useChosen } from "./chosen.ts";
import { Code } from "./code.tsx";
import { Empty } from "./empty.tsx";
import { bytes } from "./moment.ts";
import { TypePart } from "./type-part.tsx";
import { Wait } from "./wait.tsx";

/** Whose files: those of a package, or of what is or was deployed in an ensemble. */
export type FilesOf = { project: string; digest: string } | { project: string; ensemble: string; revision: number };

interface FilesProps {
  of: FilesOf;
  summary: PackageSummary;
  /** Files that another version has besides, and what is shown of a file in place of its text. */
  others?: readonly string[];
  instead?: (file: string) => ReactNode;
}

/** Files that are shown in the list at once. */
const MOST = 500;

/** The files of a service: which there are, the text of one, what was found in it, and what its types are. */
export function ServiceFiles({ of, summary, others = [], instead }: FilesProps): ReactNode {
  const [chosen] = useChosen("file", summary.entry);
  const [wanted, setWanted] = useState("");
  const all = [...new Set([...summary.files, ...others])].sort();
  const fitting = all.filter((file) => file.toLowerCase().includes(wanted.trim().toLowerCase()));
  const found = new Map<string, number>();
  for (const one of summary.diagnostics) found.set(fileOf(one), (found.get(fileOf(one)) ?? 0) + 1);
  return (
    <div className="files">
      <nav className="files-list" aria-label="Files">
        {all.length > 12 && (
          <input
            type="search"
            aria-label="Filter the files"
            placeholder="Filter"
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
        )}
        <ul>
          {fitting.slice(0, MOST).map((file) => (
            <li key={file}>
              <Entry file={file} isChosen={file === chosen} findings={found.get(file) ?? 0} />
            </li>
          ))}
        </ul>
        {fitting.length > MOST && (
          <p className="muted">and {(fitting.length - MOST).toLocaleString("en")} more: filter</p>
        )}
      </nav>
      {instead ? (
        instead(chosen)
      ) : (
        <OneFile
          key={chosen}
          of={of}
          file={chosen}
          findings={summary.diagnostics.filter((one) => fileOf(one) === chosen)}
        />
      )}
    </div>
  );
}

function Entry({ file, isChosen, findings }: { file: string; isChosen: boolean; findings: number }): ReactNode {
  return (
    <Link href={fileAddress(file)} replace aria-current={isChosen ? "true" : undefined}>
      <span>{file}</span>
      {findings > 0 && (
        <span className="tone-degraded">
          <span aria-hidden="true">▲ </span>
          {findings}
          <span className="unseen"> {findings === 1 ? "finding" : "findings"}</span>
        </span>
      )}
    </Link>
  );
}

/** The address of a file on the page that shows, with all else that stands in the address but the line. */
function fileAddress(file: string, line = 0): string {
  const query = new URLSearchParams(window.location.search);
  query.set("file", file);
  if (line) query.set("line", String(line));
  else query.delete("line");
  return `${window.location.pathname}?${query}`;
}

/** The file that a finding is about, as the lists of files call it. */
export function fileOf({ file }: FindingData): string {
  return (file ?? "").replace(/^package:\//, "");
}

interface OneFileProps {
  of: FilesOf;
  file: string;
  findings: readonly FindingData[];
}

/** A file of a package or of a deployed service. */
export function useFile(of: FilesOf, file: string, isOff = false) {
  const { project } = of;
  const [digest, ensemble, revision] = "digest" in of ? [of.digest, "", 0] : ["", of.ensemble, of.revision];
  const ofPackage = useLook(
    "GET /projects/{project}/packages/{digest}/files/{path}",
    { path: { project, digest, path: file } },
    { off: !digest || isOff },
  );
  const ofEnsemble = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/service/files/{path}",
    { path: { project, ensemble, path: file }, query: revision ? { revision } : {} },
    { off: !ensemble || isOff },
  );
  return digest ? ofPackage : ofEnsemble;
}

function OneFile({ of, file, findings }: OneFileProps): ReactNode {
  const found = useFile(of, file);
  const [line, setLine] = useChosen("line");
  const [type, setType] = useState("");
  return (
    <section className={type ? "files-with-type" : undefined} aria-label={file}>
      <div>
        <Wait for={found} title="The file could not be read" lines={12}>
          {(data) => (
            <>
              <FileHead of={data} />
              {data.text === null ? (
                <Empty title="It is no text that can be shown">
                  <p className="muted">
                    Files that are not UTF-8, or longer than 4 MiB, can only be downloaded with the package.
                  </p>
                </Empty>
              ) : (
                <Code
                  file={file}
                  text={data.text}
                  findings={findings}
                  line={Number(line) || 0}
                  onLine={(number) => setLine(String(number))}
                  addressOf={(number) => fileAddress(file, number)}
                  {...(/\.ya?ml$/.test(file) ? { onType: setType } : {})}
                />
              )}
            </>
          )}
        </Wait>
      </div>
      {type && <TypePart of={of} name={type} onClose={() => setType("")} />}
    </section>
  );
}

function FileHead({ of }: { of: PackageFile }): ReactNode {
  return (
    <p className="files-head">
      <strong className="mono">{of.file}</strong>
      <span className="muted">
        {bytes(of.size)}
        {of.executable && ", executable"}
      </span>
    </p>
  );
}

/** Forget a line that was chosen in another version of the files. */
export function useNoLine(version: string): void {
  const [here, go] = useLocation();
  const [seen, setSeen] = useState(version);
  useEffect(() => {
    if (seen === version) return;
    setSeen(version);
    const query = new URLSearchParams(window.location.search);
    query.delete("line");
    go(`${here}?${query}`, { replace: true });
  }, [seen, version, here, go]);
}
