import { type ReactNode, useState } from "react";

import type { AskedPlan, WantedApprovals } from "../../api/types.ts";
import { useChange } from "../../api/use.ts";
import { Action, useAway } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { Time } from "../../parts/time.tsx";
import { useMe } from "../../shell/me.ts";
import { plural, RISKS, titleOf } from "./changes.ts";
import type { PlanProps } from "./plan.tsx";

const PLAN = "/projects/{project}/ensembles/{ensemble}/plans/{id}";
const AGAIN = [`GET ${PLAN}`, "GET /inbox", "GET /projects/{project}/ensembles/{ensemble}/plans"] as const;

type Asking = "approve" | "reject" | "apply" | "discard";

/** What can be decided about a plan now, and what was. */
export function Decisions({ of, plan }: PlanProps): ReactNode {
  const [asking, setAsking] = useState<Asking>();
  const [comment, setComment] = useState("");
  const [error, setError] = useState<unknown>();
  const me = useMe();
  const away = useAway();
  const path = { ...of, id: plan.id };
  const decide = useChange(`POST ${PLAN}/approvals`, AGAIN);
  const takeBack = useChange(`DELETE ${PLAN}/approvals/mine`, AGAIN);
  const apply = useChange(`POST ${PLAN}/apply`, AGAIN);
  const discard = useChange(`POST ${PLAN}/discard`, AGAIN);

  const isOpen = plan.state === "ready" || plan.state === "waiting";
  const unable = (action: string, why: string): string | undefined => {
    if (away) return away;
    return plan.allowed.includes(action) ? undefined : why;
  };
  const mine = plan.approvals.given.some((one) => one.who === me.name);
  const wants = plan.approvals.wanted.some((one) => one.given < one.count);
  const isOwn = plan.by.kind === "user" && plan.by.name === me.name;
  const mayNot = isOwn
    ? "nobody approves a plan of their own; somebody else who may approve has to look at it"
    : `needs the permission "approve", which the owners of ${of.project} give`;
  const name = `${of.project}/${of.ensemble}`;
  const close = (): void => setAsking(undefined);
  const decision = (what: "approve" | "reject"): Promise<unknown> =>
    decide.mutateAsync({ path, body: { decision: what, digest: plan.digest, comment } });

  return (
    <>
      <div className="plan-actions">
        {isOpen && plan.approvals.wanted.length > 0 && (
          <>
            <Action does={() => setAsking("approve")} unable={unable("approve", mayNot)}>
              Approve…
            </Action>
            <Action does={() => setAsking("reject")} unable={unable("approve", mayNot)}>
              Reject…
            </Action>
          </>
        )}
        {isOpen && mine && (
          <Action does={() => void takeBack.mutateAsync({ path }).then(() => setError(undefined), setError)}>
            Take my approval back
          </Action>
        )}
        {plan.state === "ready" && (
          <Action
            className="button main"
            does={() => setAsking("apply")}
            unable={unable(
              "apply",
              `carrying out ${plan.workflow} needs a permission that the owners of ${of.project} give`,
            )}
          >
            {wants ? "Apply once approved…" : "Apply…"}
          </Action>
        )}
        {plan.allowed.includes("discard") && (
          <Action does={() => setAsking("discard")} unable={unable("discard", "")}>
            Discard
          </Action>
        )}
      </div>
      <Approvals plan={plan} />
      {error !== undefined && <ProblemPart error={error} title="It was not done" />}
      {asking === "apply" && (
        <Confirm
          title={`${titleOf(plan.workflow)} ${name}`}
          does={wants ? "Apply once approved" : `Apply to ${name}`}
          danger={plan.risks.length > 0}
          {...(plan.risks.length > 0 ? { name } : {})}
          onConfirm={() => apply.mutateAsync({ path, body: { digest: plan.digest } })}
          onClose={close}
        >
          <What plan={plan} />
        </Confirm>
      )}
      {(asking === "approve" || asking === "reject") && (
        <Confirm
          title={asking === "approve" ? "Approve the plan" : "Reject the plan"}
          does={asking === "approve" ? "Approve" : "Reject"}
          danger={asking === "reject"}
          onConfirm={() => decision(asking)}
          onClose={close}
        >
          <div className="form">
            <What plan={plan} />
            <p className="hint">
              It holds for exactly this plan, <span className="mono">{plan.digest.slice(0, 16)}</span>, and falls when
              that is made anew.
            </p>
            <Field label="Comment" hint="What others read about your decision">
              {(control) => (
                <textarea {...control} rows={2} value={comment} onChange={(event) => setComment(event.target.value)} />
              )}
            </Field>
          </div>
        </Confirm>
      )}
      {asking === "discard" && (
        <Confirm
          title="Discard the plan"
          does="Discard"
          onConfirm={() => discard.mutateAsync({ path })}
          onClose={close}
        >
          Nothing of it has been carried out. It can be asked for again.
        </Confirm>
      )}
    </>
  );
}

/** What will be done, in numbers. */
function What({ plan }: { plan: AskedPlan }): ReactNode {
  const { totals, risks } = plan;
  if (!totals) return null;
  const counts = [
    [totals.made, "made"],
    [totals.changed, "changed"],
    [totals.replaced, "replaced"],
    [totals.removed, "removed"],
    [totals.looked_at, "checked"],
  ] as const;
  const told = counts.filter(([count]) => count > 0).map(([count, word]) => `${count.toLocaleString("en")} ${word}`);
  return (
    <>
      <p>
        Instances: {told.join(", ") || "none changes"}. {plural(totals.operations, "operation")}.
      </p>
      {risks.length > 0 && (
        <p>
          {risks.map((risk) => (
            <Badge key={risk} tone="degraded">
              ▲ {RISKS[risk] ?? risk}
            </Badge>
          ))}
        </p>
      )}
    </>
  );
}

function Approvals({ plan: { approvals } }: { plan: AskedPlan }): ReactNode {
  if (!approvals.wanted.length && !approvals.given.length) return null;
  return (
    <ul className="plan-approvals" aria-label="Approvals">
      {approvals.wanted.map((one, at) => (
        <li key={at}>
          <Status of={one.given >= one.count ? "ok" : "waiting"}>
            {one.given} of {plural(one.count, "approval")}
          </Status>{" "}
          <span className="muted">{whose(one)}</span>
        </li>
      ))}
      {approvals.given.map((one) => (
        <li key={one.who}>
          <Status of={one.decision} tone={one.decision === "approve" ? "ok" : "error"}>
            {one.decision === "approve" ? "approved" : "rejected"} by {one.who}
          </Status>{" "}
          <Time at={one.at} />
          {one.comment && <span className="muted"> “{one.comment}”</span>}
        </li>
      ))}
    </ul>
  );
}

function whose(one: WantedApprovals): string {
  const names = [...one.roles.map((role) => `role ${role}`), ...one.groups.map((group) => `group ${group}`)];
  return `by ${names.join(" or ") || "whoever may approve"}${one.author_may ? ", the author too" : ""}`;
}
