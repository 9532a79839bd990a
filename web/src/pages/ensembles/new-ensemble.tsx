import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { ask } from "../../api/ask.ts";
import type { ProjectData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { useAway } from "../../parts/action.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/form.tsx";
import { bytes } from "../../parts/moment.ts";
import { ProblemPart } from "../../parts/problem.tsx";
import { Wait } from "../../parts/wait.tsx";
import { useMe } from "../../shell/me.ts";

const NAME = "[a-z0-9][a-z0-9\\-]{0,62}";
const NEW = "";

/** Makes an ensemble of a package that is there, or of one that is sent. */
export default function NewEnsemble({ onClose }: { onClose: () => void }): ReactNode {
  const projects = useLook("GET /projects", {});
  return (
    <Dialog title="New ensemble" onClose={onClose}>
      <Wait for={projects} title="The projects could not be read">
        {({ items }) => <Form projects={items} onClose={onClose} />}
      </Wait>
    </Dialog>
  );
}

function Form({ projects, onClose }: { projects: readonly ProjectData[]; onClose: () => void }): ReactNode {
  const away = useAway();
  const me = useMe();
  const mine = projects.filter(({ allowed }) => allowed.includes("configure"));
  const mayMake = me.server.includes("administer");
  const [chosen, choose] = useState(mine[0]?.name ?? NEW);
  const [project, setProject] = useState("");
  const [name, setName] = useState("");
  const [digest, setDigest] = useState("");
  const [file, setFile] = useState<File>();
  const [doing, setDoing] = useState("");
  const [error, setError] = useState<unknown>();
  const [, go] = useLocation();
  const store = useQueryClient();
  const packages = useLook("GET /projects/{project}/packages", { path: { project: chosen } }, { off: chosen === NEW });
  const known = chosen === NEW ? [] : (packages.data?.data.items ?? []);

  if (!mine.length && !mayMake) {
    return (
      <p>
        This needs the permission <code>configure</code> in a project. Ask the owners of one for a role that has it.
      </p>
    );
  }

  const make = async (): Promise<void> => {
    setError(undefined);
    const into = chosen || project;
    try {
      if (chosen === NEW) {
        setDoing("Making the project");
        await ask("POST /projects", { body: { name: project } });
        // What fails from here on does not make it once more.
        await store.invalidateQueries({ queryKey: ["GET /projects"] });
        choose(project);
      }
      let made = digest;
      if (digest === "" && file) {
        setDoing(`Sending ${bytes(file.size)}`);
        const body = file.slice(0, file.size, "application/zip");
        made = (await ask("POST /projects/{project}/packages", { path: { project: into }, body })).data.digest;
      }
      setDoing("Making the ensemble");
      await ask("POST /projects/{project}/ensembles", { path: { project: into }, body: { name, package: made } });
      await store.invalidateQueries({ queryKey: ["GET /ensembles"] });
      onClose();
      go(`/e/${into}/${name}/deploy`);
    } catch (problem) {
      setError(problem);
      setDoing("");
    }
  };

  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <Field label="Project">
        {(control) => (
          <select {...control} value={chosen} onChange={(event) => choose(event.target.value)}>
            {mine.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
            {mayMake && <option value={NEW}>a new one</option>}
          </select>
        )}
      </Field>
      {chosen === NEW && (
        <Field label="Name of the project" hint="small letters, digits and dashes">
          {(control) => (
            <input
              {...control}
              required
              pattern={NAME}
              autoComplete="off"
              value={project}
              onChange={(event) => setProject(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field label="Name of the ensemble" hint="small letters, digits and dashes">
        {(control) => (
          <input
            {...control}
            required
            pattern={NAME}
            autoComplete="off"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      {known.length > 0 && (
        <Field label="Package">
          {(control) => (
            <select {...control} value={digest} onChange={(event) => setDigest(event.target.value)}>
              <option value="">a file</option>
              {known.map((one) => (
                <option key={one.digest} value={one.digest}>
                  {one.labels[0] ?? `${one.name} ${one.digest.slice(0, 8)}`}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {digest === "" && (
        <Field
          label="File of the package"
          hint={
            <>
              a CSAR, as <code>ordito package</code> makes it; it can be dropped here
            </>
          }
        >
          {(control) => (
            <input
              {...control}
              type="file"
              className="drop"
              accept=".csar,.zip,application/zip"
              required
              onChange={(event) => setFile(event.target.files?.[0])}
            />
          )}
        </Field>
      )}
      {error !== undefined && <ProblemPart error={error} title="It was not made" />}
      <div className="buttons">
        <button type="button" className="button" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" className="button main" disabled={doing !== "" || away !== undefined}>
          {doing || "Make it"}
        </button>
      </div>
    </form>
  );
}
