import type { ReactNode } from "react";

import { asProblem } from "../../api/problem.ts";
import type { PackageSummary, RevisionLine } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { useChosen } from "../../parts/chosen.ts";
import { lineDiff, shortened } from "../../parts/diff.ts";
import { Empty } from "../../parts/empty.tsx";
import { type EnsembleNamed, EnsemblePage, namedIn } from "../../parts/ensemble-head.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { ServiceFiles, useFile, useNoLine } from "../../parts/service-files.tsx";
import { Status } from "../../parts/status.tsx";
import { Loading } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import "./source.css";

const SERVICE = "GET /projects/{project}/ensembles/{ensemble}/service";

/** Page 8: the files of what is deployed, or was in an earlier revision, and what differs between two of them. */
export default function SourcePage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  return (
    <EnsemblePage of={of} page="Source">
      <Source of={of} />
    </EnsemblePage>
  );
}

function useService({ project, ensemble }: EnsembleNamed, revision: number, isOff = false) {
  return useLook(
    SERVICE,
    { path: { project, ensemble }, query: revision ? { revision } : {} },
    { off: isOff, keeps: true, ...(revision ? {} : { topics: [`ensemble:${project}/${ensemble}`] }) },
  );
}

function Source({ of }: { of: EnsembleNamed }): ReactNode {
  const [revision, setRevision] = useChosen("revision");
  const [compared, setCompared] = useChosen("with");
  const revisions = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/revisions",
    { path: { ...of } },
    { topics: [`ensemble:${of.project}/${of.ensemble}`] },
  );
  const known = revisions.data?.data.revisions.filter((one) => !one.was_removed) ?? [];
  const shown = useService(of, Number(revision) || 0);
  const other = useService(of, Number(compared) || 0, !compared);
  useNoLine(`${revision} ${compared}`);
  return (
    <section className="section" aria-labelledby="source">
      <div className="section-head">
        <h2 id="source">Source</h2>
        <span className="source-choice">
          <Choice label="Revision" known={known} chosen={revision} usual="as deployed now" onChoose={setRevision} />
          <Choice label="Compared with" known={known} chosen={compared} usual="nothing" onChoose={setCompared} />
        </span>
      </div>
      {shown.isError && <NotThere error={shown.error} onAgain={() => void shown.refetch()} />}
      {compared && other.isError && <NotThere error={other.error} onAgain={() => void other.refetch()} />}
      {!shown.data && !shown.isError && <Loading lines={12} />}
      {shown.data && !compared && (
        <ServiceFiles of={{ ...of, revision: Number(revision) || 0 }} summary={shown.data.data} />
      )}
      {shown.data && compared && other.data && (
        <ServiceFiles
          of={{ ...of, revision: Number(revision) || 0 }}
          summary={shown.data.data}
          others={other.data.data.files}
          instead={(file) => (
            <Compared
              key={file}
              of={of}
              file={file}
              before={{ revision: Number(compared), summary: other.data.data }}
              after={{ revision: Number(revision) || 0, summary: shown.data.data }}
            />
          )}
        />
      )}
    </section>
  );
}

function NotThere({ error, onAgain }: { error: unknown; onAgain: () => void }): ReactNode {
  if (asProblem(error).code === "not-deployed") {
    return (
      <Empty title="Nothing was deployed yet">
        <p className="muted">
          The files of a service are here once it was deployed. Until then they are in its package.
        </p>
      </Empty>
    );
  }
  return <ProblemPart error={error} title="The service could not be read" onAgain={onAgain} />;
}

interface ChoiceProps {
  label: string;
  known: readonly RevisionLine[];
  chosen: string;
  /** What is meant by none. */
  usual: string;
  onChoose: (revision: string) => void;
}

function Choice({ label, known, chosen, usual, onChoose }: ChoiceProps): ReactNode {
  return (
    <label>
      <span className="muted">{label} </span>
      <select value={chosen} onChange={(event) => onChoose(event.target.value)}>
        <option value="">{usual}</option>
        {known.map((one) => (
          <option key={one.job} value={one.revision}>
            {one.revision}, {one.workflow} {one.ended.slice(0, 10)}
          </option>
        ))}
        {chosen && !known.some((one) => String(one.revision) === chosen) && <option>{chosen}</option>}
      </select>
    </label>
  );
}

interface Side {
  revision: number;
  summary: PackageSummary;
}

interface ComparedProps {
  of: EnsembleNamed;
  file: string;
  before: Side;
  after: Side;
}

/** What differs in a file between two revisions. */
function Compared({ of, file, before, after }: ComparedProps): ReactNode {
  const [wasThere, isThere] = [before.summary.files.includes(file), after.summary.files.includes(file)];
  const old = useFile({ ...of, revision: before.revision }, file, !wasThere);
  const fresh = useFile({ ...of, revision: after.revision }, file, !isThere);
  const error = old.error ?? fresh.error;
  if (error) return <ProblemPart error={error} title="The file could not be read" />;
  if ((wasThere && !old.data) || (isThere && !fresh.data)) return <Loading lines={12} />;
  const [one, other] = [old.data?.data, fresh.data?.data];
  if (!one && !other) return <Empty title="Neither revision has this file" />;
  if (one?.text === null || other?.text === null) return <Empty title="It is no text that can be compared" />;
  const lines = lineDiff(withoutEnd(one?.text), withoutEnd(other?.text));
  const gone = lines.filter(({ is }) => is === "gone").length;
  const added = lines.filter(({ is }) => is === "new").length;
  return (
    <section aria-label={file}>
      <p className="files-head">
        <strong className="mono">{file}</strong>
        {!one && <Status of="new" tone="ok" />}
        {!other && <Status of="gone" tone="error" />}
        {one && other && !gone && !added && <Status of="the same" tone="absent" />}
        {(gone > 0 || added > 0) && (
          <span className="figure">
            +{added} -{gone} lines
          </span>
        )}
      </p>
      {(gone > 0 || added > 0) && (
        <div className="code" role="region" aria-label={`What differs in ${file}`}>
          {shortened(lines).map((line, at) =>
            line === null ? (
              <p key={at} className="code-left-out">
                lines that are the same
              </p>
            ) : (
              <div key={at} className={`source-row code-${line.is}`}>
                <span className="code-number">{line.before}</span>
                <span className="code-number">{line.after}</span>
                <span aria-label={SAID[line.is]}>{MARKS[line.is]}</span>
                <code className="code-text">{line.text}</code>
              </div>
            ),
          )}
        </div>
      )}
    </section>
  );
}

/** Without the end of the last line, behind which no other begins. */
function withoutEnd(text: string | undefined): string {
  return (text ?? "").replace(/\n$/, "");
}

const MARKS = { same: " ", gone: "−", new: "+" };
const SAID = { same: undefined, gone: "gone", new: "new" };
