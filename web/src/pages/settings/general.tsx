import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import type { EnsembleData, RemovalData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { FreezePart } from "../../parts/freeze.tsx";
import { ProblemPart } from "../../parts/problem.tsx";

const SHOW = "GET /projects/{project}/ensembles/{ensemble}";

interface GeneralProps {
  of: EnsembleNamed;
  data: EnsembleData;
  unable: (permission: string) => string | undefined;
}

/** Labels, the freeze, and the end of an ensemble. */
export function General({ of, data, unable }: GeneralProps): ReactNode {
  const name = `${of.project}/${of.ensemble}`;
  return (
    <>
      <Labels of={of} data={data} unable={unable("configure")} />
      <FreezePart
        {...of}
        does="Freeze the ensemble"
        about={`Nothing begins in ${name}. Jobs that run go on.`}
        unable={unable("control")}
      />
      <Removal of={of} data={data} unable={unable("configure")} />
    </>
  );
}

function Labels({
  of,
  data,
  unable,
}: {
  of: EnsembleNamed;
  data: EnsembleData;
  unable: string | undefined;
}): ReactNode {
  const change = useChange("PATCH /projects/{project}/ensembles/{ensemble}", [SHOW, "GET /ensembles"]);
  const written = Object.entries(data.labels)
    .map(([name, value]) => `${name}=${value}`)
    .join("\n");
  const [text, setText] = useState(written);
  const save = (): void => {
    const next = Object.fromEntries(
      text
        .split("\n")
        .map((line) => line.trim())
        .filter(Boolean)
        .map((line) => {
          const at = line.indexOf("=");
          return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
        }),
    ) as Record<string, string>;
    const gone = Object.keys(data.labels).filter((name) => !(name in next));
    change.mutate({
      path: { ...of },
      body: { labels: { ...next, ...Object.fromEntries(gone.map((name) => [name, null])) } },
    });
  };
  return (
    <section className="section" aria-labelledby="labels">
      <h2 id="labels">Labels</h2>
      <div className="form">
        <Field label="Labels" hint="One on each line, as in team=web. Lists of ensembles are filtered by them.">
          {(control) => (
            <textarea
              {...control}
              className="mono"
              rows={4}
              spellCheck={false}
              readOnly={unable !== undefined}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {change.isError && <ProblemPart error={change.error} title="The labels were not set" />}
        <div>
          <Action does={save} unable={unable ?? (text === written ? "nothing is changed" : undefined)}>
            Save
          </Action>
        </div>
      </div>
    </section>
  );
}

function Removal({
  of,
  data,
  unable,
}: {
  of: EnsembleNamed;
  data: EnsembleData;
  unable: string | undefined;
}): ReactNode {
  const remove = useChange("DELETE /projects/{project}/ensembles/{ensemble}", ["GET /ensembles"]);
  const [isAsking, setAsking] = useState(false);
  const seen = useLook("GET /projects/{project}/ensembles/{ensemble}/removal", { path: { ...of } }, { off: !isAsking });
  const [, go] = useLocation();
  const count = Object.values(data.summary?.instances ?? {}).reduce((sum, one) => sum + one, 0);
  const why = count
    ? `${count} ${count === 1 ? "instance exists" : "instances exist"}: plan an undeployment first`
    : undefined;
  return (
    <section className="section" aria-labelledby="removal">
      <h2 id="removal">Remove</h2>
      <p className="muted">An ensemble of which nothing exists can be removed. Its files are put aside, not deleted.</p>
      <div>
        <Action does={() => setAsking(true)} unable={unable ?? why}>
          Remove the ensemble
        </Action>
      </div>
      {isAsking && (
        <Confirm
          title={`Remove ${of.project}/${of.ensemble}`}
          does="Remove"
          danger
          name={of.ensemble}
          onConfirm={async () => {
            await remove.mutateAsync({ path: { ...of }, query: { digest: seen.data?.data.digest ?? "" } });
            go("/");
          }}
          onClose={() => setAsking(false)}
        >
          {seen.isError ? <ProblemPart error={seen.error} title="What goes with it is not known" /> : null}
          {seen.data && <Going found={seen.data.data} />}
        </Confirm>
      )}
    </section>
  );
}

/** What goes with an ensemble that is removed, in numbers. */
function Going({ found }: { found: RemovalData }): ReactNode {
  const counts: [number, string][] = [
    [found.plans, "plan"],
    [found.approvals, "approval"],
    [found.schedules, "schedule"],
    [found.sources, "git source"],
    [found.rules, "rule"],
    [found.freezes, "freeze"],
    [found.roles, "role"],
  ];
  const goes = counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => `${count} ${noun}${count === 1 ? "" : "s"}`);
  return (
    <>
      {found.open_plans.length > 0 && (
        <p role="alert">
          It is not removed as long as plans are open: {found.open_plans.slice(0, 3).join(", ")}
          {found.open_plans.length > 3 ? ` and ${found.open_plans.length - 3} more` : ""}. Discard them first.
        </p>
      )}
      <p>
        {goes.length
          ? `With it go ${goes.join(", ")}. They are kept as a file beside what is put aside.`
          : "Nothing else goes with it."}
      </p>
    </>
  );
}
