import type { ReactNode } from "react";
import { useLook } from "../../api/use.ts";
import { useUnable } from "../../parts/action.tsx";
import { useChosen } from "../../parts/chosen.ts";
import { type EnsembleNamed, EnsemblePage, namedIn } from "../../parts/ensemble-head.tsx";
import { GivenTextPart } from "../../parts/given-text.tsx";
import { Members } from "../../parts/members.tsx";
import { RulesPart } from "../../parts/rules.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Webhooks } from "../project/webhooks.tsx";
import type { PageProps } from "../routes.ts";
import { Evaluated } from "./evaluated.tsx";
import { General } from "./general.tsx";
import { GitSource } from "./git-source.tsx";
import { Inventory } from "./inventory.tsx";
import { Schedules } from "./schedules.tsx";
import { Secrets } from "./secrets.tsx";

const TABS = [
  { id: "spec", label: "Spec" },
  { id: "inventory", label: "Inventory" },
  { id: "secrets", label: "Secrets" },
  { id: "rules", label: "Rules" },
  { id: "schedules", label: "Schedules" },
  { id: "git", label: "Source from git" },
  { id: "webhooks", label: "Webhooks" },
  { id: "members", label: "Members" },
  { id: "general", label: "General" },
] as const;

/** Page 8: what an ensemble is given, and who may do what with it. */
export default function SettingsPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  return (
    <EnsemblePage of={of} page="Settings">
      <Settings of={of} />
    </EnsemblePage>
  );
}

function Settings({ of }: { of: EnsembleNamed }): ReactNode {
  const [wanted, choose] = useChosen("tab", "spec");
  const data = useLook("GET /projects/{project}/ensembles/{ensemble}", { path: { ...of } }).data?.data;
  const unable = useUnable(data?.allowed, of.project);
  const chosen = TABS.find(({ id }) => id === wanted)?.id ?? "spec";
  return (
    <Tabs label={`Settings of ${of.project}/${of.ensemble}`} tabs={TABS} chosen={chosen} onChoose={choose}>
      {chosen === "spec" && (
        <section className="section" aria-labelledby="spec">
          <h2 id="spec">Spec</h2>
          <p className="muted">
            The user's part of <code>ensemble.yaml</code>: service, inputs, environments. It takes effect with the next
            plan.
          </p>
          <GivenTextPart of={of} what="spec" label="Spec" unable={unable("configure")} unableToCheck={unable("plan")} />
          <Evaluated of={of} unable={unable("plan")} />
        </section>
      )}
      {chosen === "inventory" && <Inventory of={of} unable={unable} />}
      {chosen === "secrets" && <Secrets of={of} unable={unable("secrets")} />}
      {chosen === "rules" && <RulesPart {...of} unable={unable("configure")} />}
      {chosen === "schedules" && <Schedules of={of} unable={unable("configure")} />}
      {chosen === "git" && data && <GitSource of={of} follows={data.follows} unable={unable("configure")} />}
      {chosen === "webhooks" && <Webhooks project={of.project} allowed={data?.allowed} />}
      {chosen === "members" && <Members {...of} unable={unable("members")} />}
      {chosen === "general" && data && <General of={of} data={data} unable={unable} />}
    </Tabs>
  );
}
