import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { ask } from "../../api/ask.ts";
import type { SourceData, SourceFields } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Time } from "../../parts/time.tsx";
import { Loading } from "../../parts/wait.tsx";

const SOURCE = "/projects/{project}/ensembles/{ensemble}/source";

const SHOW = "GET /projects/{project}/ensembles/{ensemble}";

interface GitSourceProps {
  of: EnsembleNamed;
  /** Whether it follows a repository. */
  follows: boolean;
  unable: string | undefined;
}

/** The repository that the ensemble follows: each new commit is planned. */
export function GitSource({ of, follows, unable }: GitSourceProps): ReactNode {
  const found = useLook(
    `GET ${SOURCE}`,
    { path: { ...of } },
    { topics: [`ensemble:${of.project}/${of.ensemble}`], off: !follows || unable !== undefined },
  );
  const store = useQueryClient();
  const look = useChange(`POST ${SOURCE}/look`, [`GET ${SOURCE}`]);
  const [isEditing, setEditing] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const [secret, setSecret] = useState("");
  const source = follows ? found.data?.data : undefined;
  const again = async (): Promise<void> => {
    await store.invalidateQueries({ queryKey: [SHOW] });
    await store.invalidateQueries({ queryKey: [`GET ${SOURCE}`] });
  };
  const remove = async (): Promise<void> => {
    await ask(`DELETE ${SOURCE}`, { path: { ...of } });
    await again();
  };
  return (
    <section className="section" aria-labelledby="git">
      <div className="section-head">
        <h2 id="git">Source from git</h2>
        <span className="row-actions">
          {source && (
            <Action
              does={() => look.mutate({ path: { ...of } })}
              unable={unable ?? (look.isPending ? "it is being looked" : undefined)}
            >
              Look now
            </Action>
          )}
          <Action does={() => setEditing(true)} unable={unable}>
            {source ? "Change" : "Follow a repository"}
          </Action>
          {source && (
            <Action does={() => setRemoving(true)} unable={unable}>
              Remove
            </Action>
          )}
        </span>
      </div>
      {look.isError && <ProblemPart error={look.error} title="The repository was not looked at" />}
      {found.isError && (
        <ProblemPart error={found.error} title="The source could not be read" onAgain={() => void found.refetch()} />
      )}
      {!follows && (
        <Empty title="No repository is followed">
          <p className="muted">Of each new commit on a branch a package is made, and an upgrade to it is planned.</p>
        </Empty>
      )}
      {follows && !source && unable !== undefined && <p className="muted">{unable}</p>}
      {follows && found.isLoading && <Loading />}
      {source && <Followed of={source} />}
      {isEditing && (
        <EditSource
          of={of}
          source={source}
          etag={source ? (found.data?.etag ?? "") : ""}
          onSaved={async (made) => {
            if (made.secret) setSecret(made.secret);
            await again();
          }}
          onClose={() => setEditing(false)}
        />
      )}
      {secret && (
        <ShownOnce title="The secret of the hook" label="secret" text={secret} onClose={() => setSecret("")}>
          Give it to the forge together with the address of the hook: by it the server knows that a push is from there.
        </ShownOnce>
      )}
      {isRemoving && (
        <Confirm
          title="Follow the repository no more"
          does="Remove"
          danger
          onConfirm={remove}
          onClose={() => setRemoving(false)}
        >
          What is deployed stays. Packages and plans that were made of commits stay too.
        </Confirm>
      )}
    </section>
  );
}

function Followed({ of }: { of: SourceData }): ReactNode {
  const rows: [string, ReactNode][] = [
    [
      "Repository",
      <span key="r" className="mono">
        {of.repository}
      </span>,
    ],
    ["Branch", of.branch],
    ["Folder", of.path || "all of it"],
    ["New commits are", of.apply === "auto" ? "planned and carried out, as far as the rules allow it" : "planned"],
    ["Looked at", of.every ? `when a push is told, and every ${of.every} s` : "when a push is told"],
    ["Hook", <Copy key="h" text={of.hook} label="address of the hook" />],
    ["Last look", of.looked ? <Time key="l" at={of.looked} /> : "never"],
    [
      "Last commit",
      of.revision ? (
        <Copy key="c" text={of.revision} label="commit">
          {of.revision.slice(0, 12)}
        </Copy>
      ) : (
        "none"
      ),
    ],
    ["Set by", of.by],
  ];
  return (
    <>
      {of.problem && (
        <p className="tone-error" role="alert">
          <span aria-hidden="true">✖ </span>
          {of.problem}
        </p>
      )}
      <Facts rows={rows} />
    </>
  );
}

interface EditProps {
  of: EnsembleNamed;
  source: SourceData | undefined;
  etag: string;
  onSaved: (made: SourceData) => Promise<void>;
  onClose: () => void;
}

function EditSource({ of, source, etag, onSaved, onClose }: EditProps): ReactNode {
  const [repository, setRepository] = useState(source?.repository ?? "");
  const [branch, setBranch] = useState(source?.branch ?? "main");
  const [path, setPath] = useState(source?.path ?? "");
  const [every, setEvery] = useState(String(source?.every ?? 0));
  const [apply, setApply] = useState<"ask" | "auto">(source?.apply ?? "ask");
  const save = async (): Promise<void> => {
    const body: SourceFields = { repository, branch, path, apply, every: Number(every) || 0 };
    const made = await ask(`PUT ${SOURCE}`, { path: { ...of }, body }, etag ? { match: etag } : {});
    await onSaved(made.data);
  };
  return (
    <Confirm
      title={source ? "Change the source" : "Follow a repository"}
      does="Save"
      onConfirm={save}
      onClose={onClose}
    >
      <div className="form">
        <Field label="Repository" hint="By https or ssh; its host must be among those that the server may reach.">
          {(control) => (
            <input
              {...control}
              required
              autoFocus
              spellCheck={false}
              value={repository}
              onChange={(event) => setRepository(event.target.value)}
            />
          )}
        </Field>
        <Field label="Branch">
          {(control) => (
            <input {...control} required value={branch} onChange={(event) => setBranch(event.target.value)} />
          )}
        </Field>
        <Field label="Folder" hint="The folder in it that has the service; empty for all of it.">
          {(control) => <input {...control} value={path} onChange={(event) => setPath(event.target.value)} />}
        </Field>
        <Field label="Seconds between looks without a push" hint="At least 60; 0 for none.">
          {(control) => (
            <input
              {...control}
              type="number"
              min={0}
              value={every}
              onChange={(event) => setEvery(event.target.value)}
            />
          )}
        </Field>
        <div role="radiogroup" aria-label="What is done with new commits" className="choices">
          <label className="check">
            <input type="radio" name="apply" checked={apply === "ask"} onChange={() => setApply("ask")} />
            plan them
          </label>
          <label className="check">
            <input type="radio" name="apply" checked={apply === "auto"} onChange={() => setApply("auto")} />
            carry them out, as far as the rules allow it
          </label>
        </div>
      </div>
    </Confirm>
  );
}
