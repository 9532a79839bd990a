import { type ReactNode, useState } from "react";

import { ask, tagAsShown } from "../../api/ask.ts";
import type { ProjectData } from "../../api/types.ts";
import { useChange } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { useChosen } from "../../parts/chosen.ts";
import { Field } from "../../parts/form.tsx";
import { FreezePart } from "../../parts/freeze.tsx";
import { Members } from "../../parts/members.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { ProjectPage } from "../../parts/project-head.tsx";
import { RulesPart } from "../../parts/rules.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import type { PageProps } from "../routes.ts";
import { Accounts } from "./accounts.tsx";
import { Webhooks } from "./webhooks.tsx";

const TABS = [
  { id: "members", label: "Members" },
  { id: "accounts", label: "Accounts" },
  { id: "webhooks", label: "Webhooks" },
  { id: "rules", label: "Rules" },
  { id: "general", label: "General" },
] as const;

/** What is set for a project as a whole. */
export default function ProjectSettingsPage({ params }: PageProps): ReactNode {
  const project = params["project"] ?? "";
  return (
    <ProjectPage project={project} page="Settings">
      {(data) => <Settings of={data} />}
    </ProjectPage>
  );
}

function Settings({ of }: { of: ProjectData }): ReactNode {
  const [wanted, choose] = useChosen("tab", "members");
  const unable = useUnable(of.allowed, of.name);
  const chosen = TABS.find(({ id }) => id === wanted)?.id ?? "members";
  const project = of.name;
  return (
    <Tabs label={`Settings of ${project}`} tabs={TABS} chosen={chosen} onChoose={choose}>
      {chosen === "members" && <Members project={project} unable={unable("members")} />}
      {chosen === "accounts" && <Accounts project={project} allowed={of.allowed} />}
      {chosen === "webhooks" && <Webhooks project={project} allowed={of.allowed} />}
      {chosen === "rules" && <RulesPart project={project} unable={unable("configure")} />}
      {chosen === "general" && (
        <>
          <Description of={of} unable={unable("configure")} />
          <FreezePart
            project={project}
            does="Freeze the project"
            about={`Nothing begins in ${project}. Jobs that run go on.`}
            unable={unable("control")}
          />
        </>
      )}
    </Tabs>
  );
}

function Description({ of, unable }: { of: ProjectData; unable: string | undefined }): ReactNode {
  const change = useChange("PATCH /projects/{project}", ["GET /projects/{project}", "GET /projects"]);
  const [text, setText] = useState(of.description);
  const [seen, setSeen] = useState(of);
  const save = async (): Promise<void> => {
    const path = { project: of.name };
    const sent = { match: tagAsShown(seen, await ask("GET /projects/{project}", { path })) };
    setSeen((await change.mutateAsync({ path, body: { description: text }, sent })).data);
  };
  const isSame = text === of.description;
  return (
    <section className="section" aria-labelledby="description">
      <h2 id="description">Description</h2>
      <div className="form">
        <Field label="What it is for">
          {(control) => (
            <input
              {...control}
              readOnly={unable !== undefined}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {change.isError && <ProblemPart error={change.error} title="It was not saved" />}
        <div>
          <Action
            does={() => void save().catch(() => {})}
            unable={unable ?? (isSame ? "nothing is changed" : undefined)}
          >
            Save
          </Action>
        </div>
      </div>
    </section>
  );
}
