import { type ReactNode, useState } from "react";
import { Link } from "wouter";

import { ask } from "../../api/ask.ts";
import { type NewSchedule, type ScheduleData, WORKFLOWS } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { type EnsembleNamed, ensembleAddress } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { Menu } from "../../parts/menu.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import { requestOf } from "./request.ts";

const ALL = "GET /projects/{project}/ensembles/{ensemble}/schedules";
const ONE = "/projects/{project}/ensembles/{ensemble}/schedules/{id}";

/** What is asked for by the clock. */
export function Schedules({ of, unable }: { of: EnsembleNamed; unable: string | undefined }): ReactNode {
  const found = useLook(ALL, { path: { ...of } }, { topics: [`ensemble:${of.project}/${of.ensemble}`] });
  const remove = useChange(`DELETE ${ONE}`, [ALL]);
  const [edited, setEdited] = useState<ScheduleData | "new">();
  const [gone, setGone] = useState<ScheduleData>();
  const [error, setError] = useState<unknown>();
  const pause = async (one: ScheduleData): Promise<void> => {
    setError(undefined);
    try {
      await change(of, one.id, { paused: !one.paused });
      await found.refetch();
    } catch (problem) {
      setError(problem);
    }
  };
  const columns: Column<ScheduleData>[] = [
    { id: "name", head: "Name", width: "minmax(7rem, 1fr)", isName: true, cell: ({ name }) => name },
    {
      id: "cron",
      head: "When",
      width: "minmax(8rem, 1.2fr)",
      cell: ({ cron, zone }) => (
        <>
          <code>{cron}</code> <span className="muted">{zone}</span>
        </>
      ),
    },
    {
      id: "what",
      head: "What",
      width: "minmax(8rem, 1.2fr)",
      cell: ({ workflow, apply }) => `${workflow}, ${APPLIES[apply]}`,
    },
    {
      id: "next",
      head: "Next",
      width: "6rem",
      cell: ({ next }) => (next ? <Time at={next} inRow /> : <Status of="paused" tone="degraded" />),
    },
    {
      id: "last",
      head: "Last",
      width: "minmax(8rem, 2fr)",
      cell: ({ last, said, plan }) =>
        last ? (
          <>
            <Time at={last} inRow />{" "}
            {plan ? (
              <Link href={ensembleAddress(of, `plans/${plan}`)}>plan</Link>
            ) : (
              <span className="tone-degraded">{said}</span>
            )}
          </>
        ) : (
          <span className="muted">never</span>
        ),
    },
    { id: "by", head: "By", width: "6rem", cell: ({ by }) => by },
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
          name={`Actions for ${one.name}`}
          items={[
            { label: "Change", does: () => setEdited(one), unable },
            { label: one.paused ? "Let it go on" : "Pause", does: () => void pause(one), unable },
            { label: "Remove", does: () => setGone(one), danger: true, unable },
          ]}
        />
      ),
    },
  ];
  return (
    <section className="section" aria-labelledby="schedules">
      <div className="section-head">
        <h2 id="schedules">Schedules</h2>
        <Action does={() => setEdited("new")} unable={unable}>
          New schedule
        </Action>
      </div>
      {error !== undefined && <ProblemPart error={error} title="The schedule was not changed" />}
      <Wait for={found} title="The schedules could not be read">
        {({ items }) =>
          items.length ? (
            <Table label="Schedules" columns={columns} rows={items} keyOf={({ id }) => id} />
          ) : (
            <Empty title="Nothing is asked for by the clock" />
          )
        }
      </Wait>
      {edited && (
        <EditSchedule
          of={of}
          schedule={edited === "new" ? undefined : edited}
          onSaved={() => found.refetch()}
          onClose={() => setEdited(undefined)}
        />
      )}
      {gone && (
        <Confirm
          title={`Remove the schedule ${gone.name}`}
          does="Remove"
          danger
          onConfirm={() => remove.mutateAsync({ path: { ...of, id: gone.id } })}
          onClose={() => setGone(undefined)}
        >
          {gone.workflow} is not asked for at <code>{gone.cron}</code> any more.
        </Confirm>
      )}
    </section>
  );
}

const APPLIES = { ask: "plan only", auto: "carried out" };

async function change(of: EnsembleNamed, id: string, body: Partial<NewSchedule>): Promise<void> {
  const path = { ...of, id };
  const { etag } = await ask(`GET ${ONE}`, { path });
  await ask(`PATCH ${ONE}`, { path, body }, { match: etag });
}

interface EditProps {
  of: EnsembleNamed;
  schedule: ScheduleData | undefined;
  onSaved: () => Promise<unknown>;
  onClose: () => void;
}

function EditSchedule({ of, schedule, onSaved, onClose }: EditProps): ReactNode {
  const [name, setName] = useState(schedule?.name ?? "");
  const [cron, setCron] = useState(schedule?.cron ?? "30 3 * * *");
  const [zone, setZone] = useState(schedule?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [workflow, setWorkflow] = useState(schedule?.workflow ?? "check");
  const [more, setMore] = useState(() => fieldsOf(schedule));
  const [apply, setApply] = useState<"ask" | "auto">(schedule?.apply ?? "auto");
  const { request, wrong } = requestOf(workflow, more);
  const save = async (): Promise<void> => {
    if (!request) throw new Error(wrong);
    if (schedule) {
      // Inputs are not given back, so that a request that has some stays as it is.
      const isSame = workflow === schedule.workflow && more === fieldsOf(schedule);
      await change(of, schedule.id, { cron, zone, apply, ...(isSame ? {} : { request }) });
    } else {
      const body: NewSchedule = { name, cron, zone, request, apply };
      await ask("POST /projects/{project}/ensembles/{ensemble}/schedules", { path: { ...of }, body });
    }
    await onSaved();
  };
  return (
    <Confirm
      title={schedule ? `Change the schedule ${schedule.name}` : "New schedule"}
      does={schedule ? "Change" : "Make the schedule"}
      onConfirm={save}
      onClose={onClose}
    >
      <div className="form">
        {!schedule && (
          <Field label="Name">
            {(control) => (
              <input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
        )}
        <Field label="When" hint="Minute, hour, day of the month, month, day of the week, as in 30 3 * * mon-fri.">
          {(control) => (
            <input
              {...control}
              className="mono"
              required
              value={cron}
              onChange={(event) => setCron(event.target.value)}
            />
          )}
        </Field>
        <Field label="Time zone">
          {(control) => <input {...control} required value={zone} onChange={(event) => setZone(event.target.value)} />}
        </Field>
        <Field label="Workflow">
          {(control) => (
            <select {...control} value={workflow} onChange={(event) => setWorkflow(event.target.value)}>
              {WORKFLOWS.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="What else it is asked with"
          hint={'As JSON, as in { "names": ["web"] }. The same as of a plan.'}
          findings={wrong ? [wrong] : []}
        >
          {(control) => (
            <textarea
              {...control}
              className="mono"
              rows={3}
              spellCheck={false}
              value={more}
              onChange={(event) => setMore(event.target.value)}
            />
          )}
        </Field>
        {schedule && schedule.inputs.length > 0 && (
          <p className="muted">
            It is given the inputs {schedule.inputs.join(", ")}; whoever changes the request gives them again.
          </p>
        )}
        <div role="radiogroup" aria-label="What is done with the plan" className="choices">
          <label className="check">
            <input type="radio" name="apply" checked={apply === "auto"} onChange={() => setApply("auto")} />
            carry it out, as far as the rules allow it
          </label>
          <label className="check">
            <input type="radio" name="apply" checked={apply === "ask"} onChange={() => setApply("ask")} />
            make the plan only, which shows what differs
          </label>
        </div>
      </div>
    </Confirm>
  );
}

/** What a request says besides its workflow, as JSON. */
function fieldsOf(schedule: ScheduleData | undefined): string {
  const { workflow: _, ...rest } = schedule?.request ?? {};
  return Object.keys(rest).length ? JSON.stringify(rest) : "";
}
