import { type ReactNode, useState } from "react";

import { ask } from "../../api/ask.ts";
import { useParts } from "../../api/parts.ts";
import { type DeliveryData, EVENT_TYPES, type MadeWebhook, type WebhookData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/form.tsx";
import { List } from "../../parts/list.tsx";
import { Menu } from "../../parts/menu.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Choices } from "../../parts/rules.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";

const ALL = "GET /projects/{project}/webhooks";
const DELIVERIES = "GET /projects/{project}/webhooks/{id}/deliveries";

/** Who is told of what happens in a project. */
export function Webhooks({ project, allowed }: { project: string; allowed: readonly string[] | undefined }): ReactNode {
  const unable = useUnable(allowed, project)("configure");
  const isForbidden = allowed !== undefined && !allowed.includes("configure");
  const hooks = useLook(ALL, { path: { project } }, { off: isForbidden || !allowed, topics: [`project:${project}`] });
  const test = useChange("POST /projects/{project}/webhooks/{id}/test", [DELIVERIES]);
  const remove = useChange("DELETE /projects/{project}/webhooks/{id}", [ALL]);
  const [edited, setEdited] = useState<WebhookData | "new">();
  const [gone, setGone] = useState<WebhookData>();
  const [delivered, setDelivered] = useState<WebhookData>();
  const [made, setMade] = useState<MadeWebhook>();
  const [error, setError] = useState<unknown>();

  const pause = async (one: WebhookData): Promise<void> => {
    setError(undefined);
    try {
      const path = { project, id: one.id };
      const { etag } = await ask("GET /projects/{project}/webhooks/{id}", { path });
      await ask("PATCH /projects/{project}/webhooks/{id}", { path, body: { paused: !one.paused } }, { match: etag });
      await hooks.refetch();
    } catch (problem) {
      setError(problem);
    }
  };
  const tryIt = async (one: WebhookData): Promise<void> => {
    setError(undefined);
    try {
      await test.mutateAsync({ path: { project, id: one.id } });
      setDelivered(one);
    } catch (problem) {
      setError(problem);
    }
  };
  const columns: Column<WebhookData>[] = [
    {
      id: "url",
      head: "Address",
      width: "minmax(12rem, 3fr)",
      isName: true,
      cell: ({ url }) => <span className="mono">{url}</span>,
    },
    { id: "events", head: "Events", width: "minmax(8rem, 2fr)", cell: ({ events }) => events.join(", ") || "all" },
    {
      id: "ensembles",
      head: "Of",
      width: "minmax(6rem, 1fr)",
      cell: ({ ensembles }) => ensembles.join(", ") || "all ensembles",
    },
    {
      id: "state",
      head: "State",
      width: "7rem",
      cell: ({ paused }) => (paused ? <Status of="paused" tone="degraded" /> : <Status of="on" tone="ok" />),
    },
    {
      id: "do",
      head: "Actions",
      width: "7rem",
      cell: (one) => (
        <Menu
          changes
          label={
            <>
              Actions <span aria-hidden="true">▾</span>
            </>
          }
          name={`Actions for ${one.url}`}
          items={[
            { label: "Deliveries", does: () => setDelivered(one) },
            { label: "Test", does: () => void tryIt(one), unable: one.paused ? "it is paused" : undefined },
            { label: "Change", does: () => setEdited(one) },
            { label: one.paused ? "Let it go on" : "Pause", does: () => void pause(one) },
            { label: "Remove", does: () => setGone(one), danger: true },
          ]}
        />
      ),
    },
  ];
  return (
    <section className="section" aria-labelledby="webhooks">
      <div className="section-head">
        <h2 id="webhooks">Webhooks</h2>
        <Action does={() => setEdited("new")} unable={unable}>
          New webhook
        </Action>
      </div>
      {error !== undefined && <ProblemPart error={error} title="It was not done" />}
      {isForbidden ? (
        <p className="muted">Seeing webhooks {unable}.</p>
      ) : (
        <Wait for={hooks} title="The webhooks could not be read">
          {({ items }) =>
            items.length ? (
              <Table label="Webhooks" columns={columns} rows={items} keyOf={({ id }) => id} />
            ) : (
              <Empty title="Nobody is told of events">
                <p className="muted">A webhook posts them, signed, to an address that the server may reach.</p>
              </Empty>
            )
          }
        </Wait>
      )}
      {edited && (
        <EditWebhook
          project={project}
          hook={edited === "new" ? undefined : edited}
          onMade={(one) => {
            if (one?.secret) setMade(one);
            void hooks.refetch();
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {made && (
        <ShownOnce
          title="The secret of the webhook"
          label="secret"
          text={made.secret ?? ""}
          onClose={() => setMade(undefined)}
        >
          Give it to the receiver, which checks by it that what comes is from here.
        </ShownOnce>
      )}
      {delivered && <Deliveries project={project} hook={delivered} onClose={() => setDelivered(undefined)} />}
      {gone && (
        <Confirm
          title="Remove the webhook"
          does="Remove"
          danger
          onConfirm={() => remove.mutateAsync({ path: { project, id: gone.id } })}
          onClose={() => setGone(undefined)}
        >
          <span className="mono">{gone.url}</span> is told nothing any more, also not of what waits to be delivered.
        </Confirm>
      )}
    </section>
  );
}

interface EditProps {
  project: string;
  hook: WebhookData | undefined;
  onMade: (made: MadeWebhook | undefined) => void;
  onClose: () => void;
}

function EditWebhook({ project, hook, onMade, onClose }: EditProps): ReactNode {
  const [url, setUrl] = useState(hook?.url ?? "");
  const [events, setEvents] = useState<string[]>(hook?.events ?? []);
  const [ensembles, setEnsembles] = useState((hook?.ensembles ?? []).join(" "));
  const save = async (): Promise<void> => {
    const body = { url, events, ensembles: ensembles.split(/[\s,]+/).filter(Boolean) };
    if (!hook) {
      onMade((await ask("POST /projects/{project}/webhooks", { path: { project }, body })).data);
      return;
    }
    const path = { project, id: hook.id };
    const { etag } = await ask("GET /projects/{project}/webhooks/{id}", { path });
    await ask("PATCH /projects/{project}/webhooks/{id}", { path, body }, { match: etag });
    onMade(undefined);
  };
  return (
    <Confirm
      title={hook ? "Change the webhook" : "New webhook"}
      does={hook ? "Change" : "Make the webhook"}
      onConfirm={save}
      onClose={onClose}
    >
      <div className="form">
        <Field label="Address" hint="Its host must be among those that the server may reach.">
          {(control) => (
            <input
              {...control}
              type="url"
              required
              autoFocus
              placeholder="https://hooks.example/ordito"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
          )}
        </Field>
        <Choices
          legend="Events; none for all"
          all={EVENT_TYPES.filter((one) => one !== "webhook.test")}
          chosen={events}
          onChoose={setEvents}
        />
        <Field label="Ensembles" hint="Names with spaces between; empty for all.">
          {(control) => <input {...control} value={ensembles} onChange={(event) => setEnsembles(event.target.value)} />}
        </Field>
      </div>
    </Confirm>
  );
}

function Deliveries({
  project,
  hook,
  onClose,
}: {
  project: string;
  hook: WebhookData;
  onClose: () => void;
}): ReactNode {
  const found = useParts(DELIVERIES, { path: { project, id: hook.id } }, { topics: ["ensembles"] });
  const again = useChange("POST /projects/{project}/webhooks/{id}/deliveries/{delivery}/again", [DELIVERIES]);
  const columns: Column<DeliveryData>[] = [
    { id: "type", head: "Event", width: "minmax(8rem, 1.5fr)", isName: true, cell: ({ type }) => type },
    {
      id: "state",
      head: "State",
      width: "6rem",
      cell: ({ state }) => (
        <Status of={state === "done" ? "delivered" : "waits"} tone={state === "done" ? "ok" : "pending"} />
      ),
    },
    { id: "outcome", head: "Answer", width: "minmax(8rem, 2fr)", cell: ({ outcome }) => outcome },
    { id: "attempts", head: "Attempts", width: "5rem", isNumber: true, cell: ({ attempts }) => attempts },
    { id: "when", head: "When", width: "6rem", cell: ({ created }) => <Time at={created} inRow /> },
    {
      id: "do",
      head: "Actions",
      width: "6rem",
      cell: (one) => (
        <Action
          name={`Again: ${one.type}`}
          does={() => again.mutate({ path: { project, id: hook.id, delivery: one.id } })}
          unable={hook.paused ? "the webhook is paused" : undefined}
        >
          Again
        </Action>
      ),
    },
  ];
  return (
    <Dialog title="Deliveries" onClose={onClose} wide>
      <div className="section-head">
        <span className="mono">{hook.url}</span>
        <button type="button" className="button" onClick={found.again}>
          Read again
        </button>
      </div>
      {again.isError && <ProblemPart error={again.error} title="It was not posted again" />}
      <List for={found} title="The deliveries could not be read">
        {(items) =>
          items.length ? (
            <Table label="Deliveries" columns={columns} rows={items} keyOf={({ id }) => id} />
          ) : (
            <Empty title="Nothing was posted yet" />
          )
        }
      </List>
    </Dialog>
  );
}
