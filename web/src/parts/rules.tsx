import { type ReactNode, useState } from "react";

import { asProblem } from "../api/problem.ts";
import { type GivenRule, RISKS, type Risk, ROLES, WORKFLOWS } from "../api/types.ts";
import { useChange, useLook } from "../api/use.ts";
import { Action } from "./action.tsx";
import { Confirm } from "./dialog.tsx";
import { Empty } from "./empty.tsx";
import { Field } from "./form.tsx";
import { Wait } from "./wait.tsx";

interface RulesProps {
  project: string;
  /** Rules of this ensemble alone, besides those of its project. */
  ensemble?: string;
  unable: string | undefined;
}

const OF_PROJECT = "GET /projects/{project}/rules";
const OF_ENSEMBLE = "GET /projects/{project}/ensembles/{ensemble}/rules";

/** Which plans need approvals, and whose. */
export function RulesPart({ project, ensemble = "", unable }: RulesProps): ReactNode {
  const setProject = useChange("PUT /projects/{project}/rules", [OF_PROJECT]);
  const setEnsemble = useChange("PUT /projects/{project}/ensembles/{ensemble}/rules", [OF_ENSEMBLE]);
  const [edited, setEdited] = useState<{ at: number; rule: GivenRule }>();
  const [gone, setGone] = useState<number>();
  // What somebody is about to change stays as it was seen.
  const topics = edited || gone !== undefined ? [] : [`project:${project}`];
  const ofProject = useLook(OF_PROJECT, { path: { project } }, { topics });
  const ofEnsemble = useLook(OF_ENSEMBLE, { path: { project, ensemble } }, { off: !ensemble, topics });

  const own = ensemble ? ofEnsemble : ofProject;
  const rules = own.data?.data.rules ?? [];
  const put = async (next: GivenRule[]): Promise<void> => {
    const sent = { body: { rules: next }, sent: { match: own.data?.etag ?? "" } };
    try {
      if (ensemble) await setEnsemble.mutateAsync({ path: { project, ensemble }, ...sent });
      else await setProject.mutateAsync({ path: { project }, ...sent });
    } catch (problem) {
      if (asProblem(problem).status === 412) await own.refetch();
      throw problem;
    }
  };
  return (
    <section className="section" aria-labelledby="rules">
      <div className="section-head">
        <h2 id="rules">Rules</h2>
        <Action does={() => setEdited({ at: rules.length, rule: { when: {}, by: {}, count: 1 } })} unable={unable}>
          New rule
        </Action>
      </div>
      <Wait for={own} title="The rules could not be read">
        {() =>
          rules.length ? (
            <ul className="rows">
              {rules.map((rule, at) => (
                <li key={JSON.stringify([at, rule])}>
                  <p>{sentenceOf(rule)}</p>
                  <span className="row-actions">
                    <Action name={`Change rule ${at + 1}`} does={() => setEdited({ at, rule })} unable={unable}>
                      Change
                    </Action>
                    <Action name={`Remove rule ${at + 1}`} does={() => setGone(at)} unable={unable}>
                      Remove
                    </Action>
                  </span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty title="No plan needs an approval by a rule here" />
          )
        }
      </Wait>
      {ensemble && (
        <Wait for={ofProject} title="The rules of the project could not be read" lines={1}>
          {(data) =>
            (data.rules ?? []).length > 0 && (
              <>
                <h3>Of the project, which hold here too</h3>
                <ul className="rows">
                  {(data.rules ?? []).map((rule) => (
                    <li key={JSON.stringify(rule)}>
                      <p>{sentenceOf(rule)}</p>
                    </li>
                  ))}
                </ul>
              </>
            )
          }
        </Wait>
      )}
      {edited && (
        <EditRule
          rule={edited.rule}
          onSet={(rule) => put([...rules.slice(0, edited.at), rule, ...rules.slice(edited.at + 1)])}
          onClose={() => setEdited(undefined)}
        />
      )}
      {gone !== undefined && (
        <Confirm
          title="Remove the rule"
          does="Remove"
          danger
          onConfirm={() => put(rules.filter((_, at) => at !== gone))}
          onClose={() => setGone(undefined)}
        >
          {sentenceOf(rules[gone] ?? {})} Plans that wait only for this are carried out then.
        </Confirm>
      )}
    </section>
  );
}

/** A rule as somebody says it. */
export function sentenceOf({ when = {}, by = {}, count = 1, author_may: authorMay = false }: GivenRule): string {
  const whose = [
    ...(by.roles ?? []).map((role) => `the role ${role}`),
    ...(by.groups ?? []).map((group) => `the group ${group}`),
  ];
  const what = when.workflows?.length ? `Plans for ${when.workflows.join(", ")}` : "All plans";
  const where = when.environments?.length ? ` in ${when.environments.join(", ")}` : "";
  const risks = when.risks?.length ? ` with the risk ${when.risks.join(" or ")}` : "";
  const needs = `need ${count} ${count === 1 ? "approval" : "approvals"}`;
  const of = whose.length ? ` of ${whose.join(" or ")}` : "";
  return `${what}${where}${risks} ${needs}${of}${authorMay ? ", which may be the author's" : ""}.`;
}

interface EditProps {
  rule: GivenRule;
  onSet: (rule: GivenRule) => Promise<unknown>;
  onClose: () => void;
}

const APPROVERS = Object.entries(ROLES)
  .filter(([, permissions]) => (permissions as readonly string[]).includes("approve"))
  .map(([role]) => role);

function EditRule({ rule, onSet, onClose }: EditProps): ReactNode {
  const [workflows, setWorkflows] = useState<string[]>(rule.when?.workflows ?? []);
  const [risks, setRisks] = useState<string[]>(rule.when?.risks ?? []);
  const [environments, setEnvironments] = useState((rule.when?.environments ?? []).join(" "));
  const [roles, setRoles] = useState<string[]>(rule.by?.roles ?? []);
  const [groups, setGroups] = useState((rule.by?.groups ?? []).join(" "));
  const [count, setCount] = useState(rule.count ?? 1);
  const [authorMay, setAuthorMay] = useState(rule.author_may ?? false);
  const next: GivenRule = {
    when: { workflows, risks: risks as Risk[], environments: words(environments) },
    by: { roles, groups: words(groups) },
    count,
    author_may: authorMay,
  };
  return (
    <Confirm title="A rule for approvals" does="Set the rule" onConfirm={() => onSet(next)} onClose={onClose}>
      <div className="form">
        <p role="status">{sentenceOf(next)}</p>
        <Choices legend="Workflows; none for all" all={WORKFLOWS} chosen={workflows} onChoose={setWorkflows} />
        <Choices legend="Risks, any of them; none for all plans" all={RISKS} chosen={risks} onChoose={setRisks} />
        <Field label="Environments" hint="Names with spaces between; empty for all.">
          {(control) => (
            <input {...control} value={environments} onChange={(event) => setEnvironments(event.target.value)} />
          )}
        </Field>
        <Field label="Approvals">
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              max={20}
              required
              value={count}
              onChange={(event) => setCount(event.target.valueAsNumber || 1)}
            />
          )}
        </Field>
        <Choices
          legend="By who has one of the roles; none for all who may approve"
          all={APPROVERS}
          chosen={roles}
          onChoose={setRoles}
        />
        <Field label="Or by who is in one of the groups">
          {(control) => <input {...control} value={groups} onChange={(event) => setGroups(event.target.value)} />}
        </Field>
        <label className="check">
          <input type="checkbox" checked={authorMay} onChange={(event) => setAuthorMay(event.target.checked)} />
          The author of a plan may approve it too
        </label>
      </div>
    </Confirm>
  );
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter(Boolean);
}

interface ChoicesProps {
  legend: string;
  all: readonly string[];
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}

/** Any of some words. */
export function Choices({ legend, all, chosen, onChoose }: ChoicesProps): ReactNode {
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {all.map((one) => (
        <label key={one} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(one)}
            onChange={(event) =>
              onChoose(event.target.checked ? [...chosen, one] : chosen.filter((other) => other !== one))
            }
          />
          {one}
        </label>
      ))}
    </fieldset>
  );
}
