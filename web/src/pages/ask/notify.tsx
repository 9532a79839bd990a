import { type ReactNode, useId, useState } from "react";
import { useSearch } from "wouter";
import { useChange, useLook } from "../../api/use.ts";
import { useAway } from "../../parts/action.tsx";
import { announce } from "../../parts/announce.ts";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { PairRows } from "./rows.tsx";
import type { Pair } from "./values.ts";

/** Tells the ensemble that something has happened; policies of its template decide what follows. */
export function Notify({ of }: { of: EnsembleNamed }): ReactNode {
  const away = useAway();
  const query = new URLSearchParams(useSearch());
  const [event, setEvent] = useState(query.get("event") ?? "");
  const [entity, setEntity] = useState(query.get("entity") ?? query.get("instances") ?? "");
  const [values, setValues] = useState<Pair[]>([]);
  const list = useId();
  const instances = useLook("GET /projects/{project}/ensembles/{ensemble}/instances", {
    path: { ...of },
    query: { limit: 500 },
  });
  const notify = useChange("POST /projects/{project}/ensembles/{ensemble}/notifications");
  const send = (): void => {
    const body = {
      event,
      entity,
      values: Object.fromEntries(values.filter(([name]) => name).map(([name, text]) => [name, valueIn(text)])),
    };
    notify.mutate({ path: { ...of }, body }, { onSuccess: () => announce("the notice is taken") });
  };
  return (
    <form
      className="form ask"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        send();
      }}
    >
      <div>
        <h2>Notify</h2>
        <p className="muted">To tell the ensemble that something has happened. Its policies decide what follows.</p>
      </div>
      {notify.isError && <ProblemPart error={notify.error} title="The notice was not taken" />}
      {notify.isSuccess && (
        <p role="status" className="tone-ok">
          ● The notice is taken.
        </p>
      )}
      <Field label="Event (needed)" hint="The name of an event, or interface.notification">
        {(control) => (
          <input
            {...control}
            required
            autoComplete="off"
            value={event}
            onChange={(changed) => setEvent(changed.target.value)}
          />
        )}
      </Field>
      <Field label="Entity (needed)" hint="A node with one instance, an instance, or a pair of instances">
        {(control) => (
          <input
            {...control}
            required
            list={list}
            autoComplete="off"
            value={entity}
            onChange={(changed) => setEntity(changed.target.value)}
          />
        )}
      </Field>
      <datalist id={list}>
        {(instances.data?.data.items ?? []).map((one) => (
          <option key={one.id} value={one.id} />
        ))}
      </datalist>
      <Field label="Values" hint="Values of the outputs of the notification">
        {(control) => <PairRows control={control} label="Values" rows={values} onChange={setValues} />}
      </Field>
      <footer className="buttons ask-send">
        <button type="submit" className="button main" disabled={notify.isPending || away !== undefined}>
          Notify
        </button>
      </footer>
    </form>
  );
}

/** What reads as JSON is that, the rest is text. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
