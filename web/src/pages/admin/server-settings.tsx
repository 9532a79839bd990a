import { type ReactNode, useState } from "react";
import type { ChangedSettings, Limits, SettingsData } from "../../api/types.ts";
import { useChange } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Field } from "../../parts/form.tsx";
import { bytes, exactSpan } from "../../parts/moment.ts";

const RESUMES = {
  server: "those that the server began are resumed",
  always: "all are resumed",
  never: "none is resumed",
};
type Resume = keyof typeof RESUMES;

interface SettingsProps {
  of: SettingsData;
  etag: string;
}

/** How the server is set, and how administrators change it while it runs. */
export function Settings({ of, etag }: SettingsProps): ReactNode {
  const [isEditing, setEditing] = useState(false);
  const [isUndoing, setUndoing] = useState(false);
  const set = useChange("PUT /settings", ["GET /settings", "GET /"]);
  const put = (body: ChangedSettings): Promise<unknown> => set.mutateAsync({ body, sent: { match: etag } });
  const { limits, jobs } = of;
  const isChanged = Object.values(of.changed).some((value) => value !== null);
  const size = (name: keyof Limits): string => bytes(limits[name] ?? 0);
  const count = (name: keyof Limits): string => (limits[name] ?? 0).toLocaleString("en");
  const span = (name: keyof Limits): string => exactSpan(limits[name] ?? 0);
  return (
    <section className="section" aria-labelledby="settings">
      <div className="section-head">
        <h2 id="settings">Settings</h2>
        <span className="row-actions">
          <Action does={() => setEditing(true)}>Change</Action>
          <Action does={() => setUndoing(true)} unable={isChanged ? undefined : "all is as its file says"}>
            Back to the file
          </Action>
        </span>
      </div>
      {of.warning && (
        <p className="admin-warning" role="alert">
          <span aria-hidden="true">▲ </span>
          {of.warning}
        </p>
      )}
      <Facts
        rows={[
          ["Isolation", of.isolation === "none" ? "none: projects run as the same user" : of.isolation],
          ["Message to all", of.banner || "none"],
          ["Jobs at a time", jobs.parallel],
          ["Interrupted jobs", RESUMES[jobs.resume ?? "server"]],
          ["May reach", of.egress.join(", ") || "nothing"],
          [
            "Requests",
            `${count("requests")} a second for each who is signed in, ${count("unknown")} for each address of others`,
          ],
          ["Largest body", size("body")],
          ["Largest package", `${size("package")}, ${size("project_packages")} in a project`],
          ["Ensembles of a project", limits.project_ensembles],
          ["A question", `${span("query_seconds")}, ${size("query_memory")}`],
          ["A plan", `${span("plan_seconds")}, ${size("plan_memory")}`],
        ]}
      />
      {isEditing && <EditSettings of={of} onSet={put} onClose={() => setEditing(false)} />}
      {isUndoing && (
        <Confirm
          title="Back to the file"
          does="Back to the file"
          onConfirm={() => put({})}
          onClose={() => setUndoing(false)}
        >
          What was set here is dropped; <code>server.yaml</code> holds again, at once.
        </Confirm>
      )}
    </section>
  );
}

interface EditProps {
  of: SettingsData;
  onSet: (changed: ChangedSettings) => Promise<unknown>;
  onClose: () => void;
}

/** Only what was changed here is set; the rest stays with the file. */
function EditSettings({ of, onSet, onClose }: EditProps): ReactNode {
  const [banner, setBanner] = useState(of.banner);
  const [parallel, setParallel] = useState(of.jobs.parallel ?? 1);
  const [resume, setResume] = useState<Resume>(of.jobs.resume ?? "server");
  const [egress, setEgress] = useState(of.egress.join("\n"));
  const [limits, setLimits] = useState<Limits>(of.limits);
  const hosts = egress.split(/\s+/).filter(Boolean);
  const set = (): Promise<unknown> => {
    const changed: ChangedSettings = { ...of.changed };
    if (banner !== of.banner) changed.banner = banner;
    if (parallel !== of.jobs.parallel || resume !== of.jobs.resume) changed.jobs = { ...of.jobs, parallel, resume };
    // Addresses of the server's own machine stand in its file alone, and stay.
    if (hosts.join() !== of.egress.join()) changed.egress = hosts.filter((host) => !host.includes("/"));
    if (JSON.stringify(limits) !== JSON.stringify(of.limits)) changed.limits = limits;
    return onSet(changed);
  };
  return (
    <Confirm title="Change the settings" does="Set them" onConfirm={set} onClose={onClose}>
      <div className="form">
        <p className="muted">
          They hold from the next request and the next job on. Isolation stands in the file alone.
        </p>
        <Field label="Message to all" hint="It shows on every page; empty for none.">
          {(control) => (
            <input {...control} maxLength={1_000} value={banner} onChange={(event) => setBanner(event.target.value)} />
          )}
        </Field>
        <Field label="Jobs at a time">
          {(control) => (
            <input
              {...control}
              type="number"
              min={1}
              required
              value={parallel}
              onChange={(event) => setParallel(event.target.valueAsNumber || 1)}
            />
          )}
        </Field>
        <Field label="Interrupted jobs">
          {(control) => (
            <select {...control} value={resume} onChange={(event) => setResume(event.target.value as Resume)}>
              {Object.entries(RESUMES).map(([id, label]) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          label="Hosts that the server may reach"
          hint="One on each line: git repositories, receivers of webhooks."
        >
          {(control) => (
            <textarea
              {...control}
              rows={4}
              spellCheck={false}
              value={egress}
              onChange={(event) => setEgress(event.target.value)}
            />
          )}
        </Field>
        <details>
          <summary>Limits</summary>
          <div className="form">
            {LIMITS.map(([name, label]) => (
              <Field key={name} label={label}>
                {(control) => (
                  <input
                    {...control}
                    type="number"
                    min={1}
                    required
                    value={limits[name] ?? 0}
                    onChange={(event) => setLimits({ ...limits, [name]: event.target.valueAsNumber || 1 })}
                  />
                )}
              </Field>
            ))}
          </div>
        </details>
      </div>
    </Confirm>
  );
}

const LIMITS: readonly [keyof Limits, string][] = [
  ["requests", "Requests a second of each who is signed in"],
  ["unknown", "Requests a second of each address of others"],
  ["body", "Bytes of a body"],
  ["package", "Bytes of a package"],
  ["project_packages", "Bytes of all packages of a project"],
  ["project_ensembles", "Ensembles of a project"],
  ["query_seconds", "Seconds of a question"],
  ["query_memory", "Bytes of memory of a question"],
  ["plan_seconds", "Seconds of a plan"],
  ["plan_memory", "Bytes of memory of a plan"],
];
