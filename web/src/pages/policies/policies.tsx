import type { ReactNode } from "react";
import { Link } from "wouter";

import type { EventOfTrigger, NoticeData, PolicyData, TriggerData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Empty } from "../../parts/empty.tsx";
import { askAddress, type EnsembleNamed, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import "./policies.css";

/** The policies of an ensemble: what their triggers wait for, and what they did. */
export default function PoliciesPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/policies",
    { path: { ...of } },
    { topics: ["ensembles", `plans:${of.project}/${of.ensemble}`] },
  );
  return (
    <EnsemblePage of={of} page="Policies">
      <div className="page-head">
        <h2>Policies</h2>
        <Link className="button page-head-end" href={askAddress(of, "notify")}>
          Report an event
        </Link>
      </div>
      <Wait for={found} title="The policies could not be read" lines={6}>
        {(data) => (
          <>
            {data.waiting.length > 0 && <Notices of={of} notices={data.waiting} />}
            {Object.entries(data.policies).map(([name, policy]) => (
              <Policy key={name} of={of} name={name} policy={policy} />
            ))}
            {!Object.keys(data.policies).length && (
              <Empty title="The service has no policy">
                <p>Policies of a service template say what is done when something happens, as scaling or healing.</p>
              </Empty>
            )}
          </>
        )}
      </Wait>
    </EnsemblePage>
  );
}

function Notices({ of, notices }: { of: EnsembleNamed; notices: readonly NoticeData[] }): ReactNode {
  return (
    <section className="policy">
      <h3>
        Waiting notices <span className="count figure">{notices.length}</span>
      </h3>
      <ul>
        {notices.map((one) => (
          <li key={one.number} className="policy-event">
            <Status of={one.dropped ? "failed" : "waiting"}>{one.state}</Status>
            <span>
              {one.event} of {one.entity}
              {one.dropped && <span className="muted">: {one.dropped}</span>}
            </span>
            <JobLink of={of} job={one.job} />
            <Time at={new Date(one.at * 1000).toISOString()} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Policy({ of, name, policy }: { of: EnsembleNamed; name: string; policy: PolicyData }): ReactNode {
  const about = [...policy.targets, ...policy.nodes.filter((node) => !policy.targets.includes(node))];
  return (
    <section className="policy" aria-label={name}>
      <h3>
        {name} {!policy.enforced && <Badge tone="degraded">not enforced</Badge>}
      </h3>
      <p className="muted">
        {policy.type.replace(/^tosca\.policies\./, "")}
        {about.length > 0 && <> on {about.join(", ")}</>}
      </p>
      {policy.description && <p>{policy.description}</p>}
      {Object.entries(policy.triggers).map(([trigger, data]) => (
        <Trigger key={trigger} of={of} name={trigger} trigger={data} />
      ))}
    </section>
  );
}

function Trigger({ of, name, trigger }: { of: EnsembleNamed; name: string; trigger: TriggerData }): ReactNode {
  const held = Object.entries(trigger.held).filter(([, times]) => times > 0);
  return (
    <div className="policy-trigger">
      <h4>{name}</h4>
      <dl>
        <div>
          <dt>when</dt>
          <dd>
            {trigger.event}
            {trigger.method && <span className="muted">, if its condition holds ({trigger.method})</span>}
            {trigger.evaluations > 1 && (
              <span className="muted">
                {" "}
                {trigger.evaluations} times in a row{trigger.period && `, every ${trigger.period}`}
              </span>
            )}
            {Object.entries(trigger.schedule).map(([key, value]) => (
              <span key={key} className="muted">
                , {key.replace("_", " ")} {value}
              </span>
            ))}
          </dd>
        </div>
        <div>
          <dt>does</dt>
          <dd>{trigger.actions.join(", ") || "nothing"}</dd>
        </div>
        {held.length > 0 && (
          <div>
            <dt>holds now</dt>
            <dd>{held.map(([entity, times]) => `${entity} (${times} of ${trigger.evaluations})`).join(", ")}</dd>
          </div>
        )}
      </dl>
      {trigger.events.length ? (
        <ul>
          {trigger.events.map((one) => (
            <Event key={one.number} of={of} event={one} />
          ))}
        </ul>
      ) : (
        <p className="muted">Nothing has triggered it yet.</p>
      )}
    </div>
  );
}

function Event({ of, event }: { of: EnsembleNamed; event: EventOfTrigger }): ReactNode {
  return (
    <li className="policy-event">
      <Status of={event.done ? "done" : "skipped"}>{event.done ? "acted" : "did nothing"}</Status>
      <span>
        {event.entity}
        {event.said && <span className="muted">: {event.said}</span>}
      </span>
      <JobLink of={of} job={event.job} />
      <Time at={event.at} />
    </li>
  );
}

function JobLink({ of, job }: { of: EnsembleNamed; job: string | null }): ReactNode {
  if (!job) return <span />;
  return (
    <Link href={ensembleAddress(of, `jobs/${job}`)} className="mono">
      {job}
    </Link>
  );
}
