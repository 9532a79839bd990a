import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useSearch } from "wouter";

import { ask } from "../../api/ask.ts";
import { OPTIONS, REQUESTS, type RequestField, type RequestForm } from "../../api/requests.ts";
import type { EnsembleData, PlanWanted } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { useAway } from "../../parts/action.tsx";
import { Empty } from "../../parts/empty.tsx";
import { askAddress, type EnsembleNamed, EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { Findings, ProblemPart } from "../../parts/problem.tsx";
import { Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import { Differs } from "./differs.tsx";
import { InputFields } from "./input-fields.tsx";
import { type Declared, type InputValue, sentOf } from "./inputs.ts";
import { Notify } from "./notify.tsx";
import { PackageChoice } from "./package-choice.tsx";
import { RequestFields } from "./request-fields.tsx";
import { PairRows } from "./rows.tsx";
import { useServiceInputs } from "./service-inputs.ts";
import { type Start, startAgain, startIn } from "./start.ts";
import { useSuggestions } from "./suggestions.tsx";
import { type FieldValue, isShown, requestOf, titleOf } from "./values.ts";
import "./ask.css";

/** The workflows that change what runs into what a service describes: they take a package, and inputs of the service. */
const OF_A_SERVICE: ReadonlySet<string> = new Set(["deploy", "upgrade"]);

/** Page 7: the form of a workflow, made of the schema of its request and of declared inputs; it ends in a plan. */
export default function AskPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const workflow = params["workflow"] ?? "deploy";
  const form = REQUESTS[workflow];
  const found = useLook("GET /projects/{project}/ensembles/{ensemble}", { path: { ...of } });
  const again = new URLSearchParams(useSearch()).get("again");
  const title = workflow === "notify" ? "Notify" : titleOf(workflow);
  return (
    <EnsemblePage of={of} page={title}>
      {workflow === "notify" ? (
        <Notify of={of} />
      ) : form ? (
        <Wait for={found} title="The ensemble could not be read">
          {(ensemble) =>
            again ? (
              <Again key={workflow} of={of} workflow={workflow} form={form} ensemble={ensemble} plan={again} />
            ) : (
              <AskForm
                key={workflow}
                of={of}
                workflow={workflow}
                form={form}
                ensemble={ensemble}
                start={startIn(form.fields, OPTIONS, new URLSearchParams(window.location.search))}
              />
            )
          }
        </Wait>
      ) : (
        <Empty title={`There is no workflow "${workflow}"`}>
          <p>
            {[...Object.keys(REQUESTS), "notify"].map((name) => (
              <Link key={name} className="ask-other" href={askAddress(of, name)}>
                {name}
              </Link>
            ))}
          </p>
        </Empty>
      )}
    </EnsemblePage>
  );
}

interface AskFormProps {
  of: EnsembleNamed;
  workflow: string;
  form: RequestForm;
  ensemble: EnsembleData;
  start: Start;
}

/** The form as a plan was asked for. */
function Again({ plan, ...form }: Omit<AskFormProps, "start"> & { plan: string }): ReactNode {
  const found = useLook("GET /projects/{project}/ensembles/{ensemble}/plans/{id}/request", {
    path: { ...form.of, id: plan },
  });
  return (
    <Wait for={found} title="What the plan was asked for could not be read">
      {(data) => <AskForm {...form} start={startAgain(form.form.fields, OPTIONS, data)} />}
    </Wait>
  );
}

function AskForm({ of, workflow, form, ensemble, start }: AskFormProps): ReactNode {
  const search = useSearch();
  const [values, setValues] = useState(start.values);
  const [options, setOptions] = useState(start.options);
  const [inputs, setInputs] = useState(start.inputs);
  const [free, setFree] = useState(start.free);
  const [chosen, setChosen] = useState(start.package);
  const [environment, setEnvironment] = useState(start.environment);
  const [comment, setComment] = useState(start.comment);
  const [isLatest, setLatest] = useState(start.isLatest);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const problem = useRef<HTMLDivElement>(null);
  const away = useAway();
  const store = useQueryClient();
  const [, go] = useLocation();
  useEffect(() => {
    if (error !== undefined) problem.current?.focus();
  }, [error]);

  const ofService = OF_A_SERVICE.has(workflow);
  const template = workflow === "workflow" ? textOf(values["name"]) : "";
  const service = useServiceInputs(of, {
    off: !ofService,
    package: chosen,
    environment,
    values: inputs,
    forget: listOf(values["forget_input"]),
  });
  const written = useWorkflowInputs(of, template);
  const declared: readonly Declared[] = ofService ? service.inputs : written;
  const secrets = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/secrets",
    { path: { ...of } },
    { off: !declared.some((one) => one.sensitive) },
  );
  const suggestions = useSuggestions(of, form, values);
  const may = ensemble.allowed.includes("plan");

  const send = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    const given =
      ofService || template
        ? sentOf(declared, inputs)
        : { inputs: {}, input_texts: Object.fromEntries(free.filter(([name]) => name)) };
    const body = {
      request: {
        workflow,
        ...requestOf(form.fields, values),
        ...(form.inputs ? given : {}),
        ...(ofService && chosen ? { package: chosen } : {}),
      },
      options: requestOf(OPTIONS, options),
      comment,
      bind: isLatest ? "latest" : "exact",
      ...(environment ? { environment } : {}),
      // Which fields a workflow has is written once, in the schema that the fields are made of.
    } as unknown as PlanWanted;
    try {
      const made = await ask("POST /projects/{project}/ensembles/{ensemble}/plans", { path: { ...of }, body });
      await store.invalidateQueries({ queryKey: ["GET /inbox"] });
      go(ensembleAddress(of, `plans/${made.data.id}`));
    } catch (refused) {
      setError(refused);
      setBusy(false);
    }
  };

  const set = (name: string, value: FieldValue): void => setValues((before) => ({ ...before, [name]: value }));
  const setInput = (name: string, value: InputValue): void => setInputs((before) => ({ ...before, [name]: value }));
  const isFieldShown = (field: RequestField): boolean =>
    isShown(form.fields, field) && !(workflow === "workflow" && field.name === "name");
  const shown = form.fields.filter(isFieldShown);
  const further = form.fields.filter((field) => !isShown(form.fields, field));
  return (
    <form
      className="form ask"
      data-search={search || undefined}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <div>
        <h2>{titleOf(workflow)}</h2>
        <p className="muted">{form.about}</p>
      </div>
      {!may && (
        <ProblemPart
          error={
            new Error(
              `making a plan needs the permission "plan": ask the owners of ${of.project} for a role that has it`,
            )
          }
          title="You may not make plans here"
        />
      )}
      <div ref={problem} tabIndex={-1} className="ask-problem">
        {error !== undefined && <ProblemPart error={error} title="The plan was not asked for" />}
      </div>
      {ofService && (
        <PackageChoice
          project={of.project}
          chosen={chosen}
          none={
            ensemble.package
              ? `as it is: ${ensemble.package_labels[0] ?? ensemble.package.slice(0, 8)}`
              : "the service of the ensemble"
          }
          unable={ensemble.allowed.includes("deploy") ? undefined : 'Needs the permission "deploy".'}
          onChoose={setChosen}
        />
      )}
      {ofService && may && chosen !== "" && (ensemble.summary?.revision ?? 0) > 0 && (
        <Differs of={of} to={chosen} environment={environment} />
      )}
      {workflow === "workflow" && <WorkflowChoice of={of} chosen={template} onChoose={(name) => set("name", name)} />}
      {shown.length > 0 && (
        <div className="ask-fields">
          <RequestFields fields={shown} values={values} listOf={suggestions.listOf} onChange={set} />
        </div>
      )}
      {suggestions.lists}
      {ofService && service.environments.length > 1 && (
        <Field label="Environment">
          {(control) => (
            <select {...control} value={environment} onChange={(event) => setEnvironment(event.target.value)}>
              <option value="">as it is: {service.environment || "none"}</option>
              {service.environments.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          )}
        </Field>
      )}
      {form.inputs && (
        <fieldset className="ask-inputs">
          <legend>Inputs</legend>
          {start.withheld.length > 0 && (
            <p className="muted">Secret, or maybe so, and not filled in again: {start.withheld.join(", ")}</p>
          )}
          {ofService && service.error !== null && (
            <ProblemPart error={service.error} title="The inputs could not be read" onAgain={service.again} />
          )}
          <Findings of={service.findings} />
          {ofService && !service.isKnown && service.error === null && (
            <p className="muted">The service is being read.</p>
          )}
          {ofService && service.isKnown && !declared.length && <p className="muted">The service has no inputs.</p>}
          <div className="ask-fields">
            <InputFields
              inputs={
                ofService ? service.inputs : written.map((one) => ({ ...one, present: null, from: "", findings: [] }))
              }
              values={inputs}
              secrets={secrets.data?.data.secrets ?? []}
              onChange={setInput}
            />
          </div>
          {workflow === "workflow" && template && !written.length && (
            <p className="muted">This workflow has no inputs.</p>
          )}
          {workflow === "run" && (
            <Field
              label="Inputs of the operation"
              hint="Values as on a command line: the type of an input says what they mean."
            >
              {(control) => (
                <PairRows control={control} label="Inputs of the operation" rows={free} onChange={setFree} />
              )}
            </Field>
          )}
        </fieldset>
      )}
      {further.length > 0 && (
        <details className="ask-more">
          <summary>Further options</summary>
          <div className="ask-fields">
            <RequestFields fields={further} values={values} listOf={suggestions.listOf} onChange={set} />
          </div>
        </details>
      )}
      <details className="ask-more">
        <summary>How the job runs</summary>
        <div className="ask-fields">
          <RequestFields
            fields={OPTIONS}
            values={options}
            listOf={() => undefined}
            onChange={(name, value) => setOptions((before) => ({ ...before, [name]: value }))}
          />
          <label className="check ask-flag">
            <input type="checkbox" checked={isLatest} onChange={(event) => setLatest(event.target.checked)} />
            <span>
              Plan anew on its turn
              <span className="hint"> Without this exactly the steps that you see are carried out, or none.</span>
            </span>
          </label>
        </div>
      </details>
      <Field label="Comment" hint="What others read about it">
        {(control) => (
          <textarea {...control} rows={2} value={comment} onChange={(event) => setComment(event.target.value)} />
        )}
      </Field>
      <footer className="buttons ask-send">
        <span className="muted">Nothing is carried out before you have seen the plan.</span>
        <button type="submit" className="button main" disabled={isBusy || !may || away !== undefined}>
          {isBusy ? "Asking" : "Make the plan"}
        </button>
      </footer>
    </form>
  );
}

function textOf(value: FieldValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: FieldValue | undefined): string[] {
  return Array.isArray(value) ? (value as string[]).filter(Boolean) : [];
}

const WORKFLOWS = "GET /projects/{project}/ensembles/{ensemble}/workflows";

/** The workflows of the template that is deployed. */
function WorkflowChoice({
  of,
  chosen,
  onChoose,
}: {
  of: EnsembleNamed;
  chosen: string;
  onChoose: (name: string) => void;
}): ReactNode {
  const found = useLook(WORKFLOWS, { path: { ...of } });
  return (
    <Wait for={found} title="The workflows could not be read" lines={1}>
      {({ workflows }) => {
        const own = workflows.filter((one) => one.command[0] === "workflow");
        const about = own.find(({ name }) => name === chosen)?.description;
        if (!own.length) return <p className="muted">The template that is deployed has no workflows of its own.</p>;
        return (
          <Field label="Workflow (needed)" hint={about}>
            {(control) => (
              <select {...control} required value={chosen} onChange={(event) => onChoose(event.target.value)}>
                <option value="">choose one</option>
                {own.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
        );
      }}
    </Wait>
  );
}

/** The inputs of a workflow of the template. */
function useWorkflowInputs(of: EnsembleNamed, name: string): readonly Declared[] {
  const found = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/workflows/{name}",
    { path: { ...of, name } },
    { off: !name },
  );
  return useMemo(
    () =>
      (found.data?.data.inputs ?? []).map((one) => ({
        name: one.name,
        type: one.type,
        required: one.required ?? false,
        default: one.default ?? null,
        sensitive: one.sensitive ?? false,
        description: one.description ?? "",
        constraints: [],
      })),
    [found.data],
  );
}
