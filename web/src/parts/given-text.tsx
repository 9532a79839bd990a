import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useState } from "react";

import { type Answer, ask } from "../api/ask.ts";
import { asProblem } from "../api/problem.ts";
import type { CheckedText, FindingData, GivenText } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { Action } from "./action.tsx";
import { announce } from "./announce.ts";
import { lineDiff } from "./diff.ts";
import { Editor } from "./editor.tsx";
import { ProblemPart } from "./problem.tsx";
import { Status } from "./status.tsx";
import { Wait } from "./wait.tsx";

const E = "/projects/{project}/ensembles/{ensemble}" as const;

interface GivenTextProps {
  of: { project: string; ensemble: string };
  /** Which text: `spec` or `inventory`. */
  what: "spec" | "inventory";
  label: string;
  unable: string | undefined;
  unableToCheck: string | undefined;
}

/** A text that the ensemble is given: edited, checked as one types, and saved where nobody else has saved meanwhile. */
export function GivenTextPart(props: GivenTextProps): ReactNode {
  const { of, what } = props;
  const route = what === "spec" ? (`GET ${E}/spec` as const) : (`GET ${E}/inventory` as const);
  const found = useLook(route, { path: { ...of } }, { topics: [`ensemble:${of.project}/${of.ensemble}`] });
  return (
    <Wait for={found} title="The text could not be read">
      {(_, answer) => <Edited {...props} present={answer} onRead={() => found.refetch()} />}
    </Wait>
  );
}

interface EditedProps extends GivenTextProps {
  present: Answer<GivenText>;
  onRead: () => Promise<unknown>;
}

function Edited({ of, what, label, unable, unableToCheck, present, onRead }: EditedProps): ReactNode {
  const store = useQueryClient();
  // What one edits began with this version.
  const [begun, setBegun] = useState(present);
  const [text, setText] = useState(present.data.text);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const isTouched = text !== begun.data.text;
  const isOther = present.etag !== begun.etag;
  useEffect(() => {
    // Whoever has not written anything sees what is there now.
    if (isOther && !isTouched) {
      setBegun(present);
      setText(present.data.text);
    }
  }, [present, isOther, isTouched]);
  const checked = useCheck(of, what, text, isTouched && unableToCheck === undefined);
  const findings = error === undefined ? (checked?.diagnostics ?? []) : findingsIn(error);

  const save = async (match: string): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const sent = { path: { ...of }, body: { text } };
      const done =
        what === "spec"
          ? await ask(`PUT ${E}/spec`, sent, { match })
          : await ask(`PUT ${E}/inventory`, sent, { match });
      setBegun({ ...done, data: { text } });
      announce("saved");
      await store.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith(`GET ${E}/`) });
    } catch (problem) {
      setError(problem);
      if (asProblem(problem).status === 412) await onRead();
    } finally {
      setBusy(false);
    }
  };
  const isConflict = isOther && isTouched;
  return (
    <div className="given">
      {isConflict ? (
        <Conflict
          label={label}
          mine={text}
          other={present.data.text}
          onMine={setText}
          onTakeOther={() => {
            setBegun(present);
            setText(present.data.text);
            setError(undefined);
          }}
          onKeepMine={() => void save(present.etag)}
        />
      ) : (
        <Editor label={label} text={text} {...(unable ? {} : { onText: setText })} findings={findings} />
      )}
      {error !== undefined && !isConflict && !findings.length && <ProblemPart error={error} title="It was not saved" />}
      {!isConflict && (
        <div className="given-foot">
          <Action
            className="button main"
            does={() => void save(begun.etag)}
            unable={unable ?? (isBusy ? "it is being saved" : isTouched ? undefined : "nothing is changed")}
          >
            Save
          </Action>
          <Action does={() => setText(begun.data.text)} unable={isTouched ? undefined : "nothing is changed"}>
            Discard
          </Action>
          <span role="status">{isTouched && checked && <Verdict of={checked} />}</span>
        </div>
      )}
    </div>
  );
}

function Verdict({ of }: { of: CheckedText }): ReactNode {
  if (!of.valid) return <Status of="with errors: nothing would be saved" tone="error" />;
  return of.diagnostics.length ? <Status of="valid, with warnings" tone="degraded" /> : <Status of="valid" tone="ok" />;
}

function findingsIn(error: unknown): FindingData[] {
  return asProblem(error).data.diagnostics;
}

const WRONG = 422;

/** A refusal of the whole text as something that was found in it. */
function asFinding(error: unknown): FindingData {
  const { code, message, hint } = asProblem(error);
  const nowhere = { file: null, line: null, column: null, end_line: null, end_column: null };
  return { code, severity: "error", message, hint, related: [], ...nowhere };
}

/** Milliseconds without a key after which it is checked. */
const REST = 400;

/** What would be found about a text, asked when whoever writes it rests. */
function useCheck(
  of: GivenTextProps["of"],
  what: "spec" | "inventory",
  text: string,
  isOn: boolean,
): CheckedText | undefined {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), REST);
    return () => clearTimeout(timer);
  }, [text]);
  const checked = useQuery({
    queryKey: ["check", what, of.project, of.ensemble, rested],
    queryFn: async ({ signal }) => {
      const sent = { path: { ...of }, body: { text: rested } };
      const route = what === "spec" ? (`POST ${E}/spec/check` as const) : (`POST ${E}/inventory/check` as const);
      try {
        return (await ask(route, sent, { signal })).data;
      } catch (problem) {
        // What cannot be read at all is a finding as well.
        const found = findingsIn(problem);
        if (found.length) return { valid: false, diagnostics: found };
        if (asProblem(problem).status === WRONG) return { valid: false, diagnostics: [asFinding(problem)] };
        throw problem;
      }
    },
    enabled: isOn && rested === text,
    gcTime: 10_000,
  });
  const latest = useDeferredValue(checked.data);
  return isOn ? latest : undefined;
}

interface ConflictProps {
  label: string;
  mine: string;
  other: string;
  onMine: (text: string) => void;
  onTakeOther: () => void;
  onKeepMine: () => void;
}

/** What somebody else has saved meanwhile, beside one's own. */
function Conflict({ label, mine, other, onMine, onTakeOther, onKeepMine }: ConflictProps): ReactNode {
  const lines = lineDiff(other, mine);
  const [gone, fresh] = [new Set<number>(), new Set<number>()];
  for (const line of lines) {
    if (line.is === "gone" && line.before) gone.add(line.before);
    if (line.is === "new" && line.after) fresh.add(line.after);
  }
  return (
    <section className="given-conflict" aria-label="Somebody else has changed it meanwhile">
      <p role="alert">
        <Status of="Somebody else has saved another version meanwhile." tone="degraded" /> Lines that differ are marked{" "}
        <span aria-hidden="true">●</span>.
      </p>
      <div className="given-sides">
        <div>
          <h3>Yours, not saved</h3>
          <Editor label={`${label}, yours`} text={mine} onText={onMine} marked={fresh} rows={20} />
        </div>
        <div>
          <h3>What is saved now</h3>
          <Editor label={`${label}, what is saved now`} text={other} marked={gone} rows={20} />
        </div>
      </div>
      <div className="given-foot">
        <button type="button" className="button" onClick={onTakeOther}>
          Take what is saved, drop yours
        </button>
        <button type="button" className="button danger" onClick={onKeepMine}>
          Save yours in its place
        </button>
      </div>
    </section>
  );
}
