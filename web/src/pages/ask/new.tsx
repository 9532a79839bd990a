import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation, useSearch } from "wouter";

import { useChange, useLook, useTitle } from "../../api/use.ts";
import { useUnable } from "../../parts/action.tsx";
import { askAddress } from "../../parts/ensemble-head.tsx";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import type { PageProps } from "../routes.ts";
import { PackageChoice } from "./package-choice.tsx";
import { PairRows } from "./rows.tsx";
import type { Pair } from "./values.ts";
import "./ask.css";

/** A new ensemble of a package; what it is given is asked on the next page, its first deployment. */
export default function NewEnsemblePage({ params }: PageProps): ReactNode {
  const project = params["project"] ?? "";
  useTitle(`New ensemble in ${project}`);
  const query = new URLSearchParams(useSearch());
  const [name, setName] = useState(query.get("name") ?? "");
  const [chosen, setChosen] = useState(query.get("package") ?? "");
  const [labels, setLabels] = useState<Pair[]>([]);
  const about = useLook("GET /projects/{project}", { path: { project } });
  const unable = useUnable(about.data?.data.allowed, project);
  const make = useChange("POST /projects/{project}/ensembles", ["GET /ensembles"]);
  const store = useQueryClient();
  const [, go] = useLocation();
  const send = (): void => {
    const body = { name, package: chosen, labels: Object.fromEntries(labels.filter(([label]) => label)) };
    make.mutate(
      { path: { project }, body },
      {
        onSuccess: () => {
          void store.invalidateQueries({ queryKey: ["GET /projects/{project}/ensembles/{ensemble}"] });
          go(askAddress({ project, ensemble: name }, "deploy"));
        },
      },
    );
  };
  return (
    <>
      <div className="page-head">
        <h1>
          <span className="muted">{project} / </span>New ensemble
        </h1>
      </div>
      {about.isError && <ProblemPart error={about.error} title="The project could not be read" />}
      <form
        className="form ask"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        {make.isError && <ProblemPart error={make.error} title="The ensemble was not made" />}
        <Field label="Name (needed)" hint="small letters, digits and dashes">
          {(control) => (
            <input
              {...control}
              required
              autoFocus
              autoComplete="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <PackageChoice project={project} chosen={chosen} none="" unable={unable("deploy")} onChoose={setChosen} />
        <Field label="Labels" hint="By which it is found in the list, as in team = web">
          {(control) => <PairRows control={control} label="Labels" rows={labels} names="label" onChange={setLabels} />}
        </Field>
        <footer className="buttons ask-send">
          <span className="muted">{unable("configure") ?? "Nothing is deployed yet: that is the next page."}</span>
          <button type="submit" className="button main" disabled={make.isPending || unable("configure") !== undefined}>
            Make the ensemble
          </button>
        </footer>
      </form>
    </>
  );
}
