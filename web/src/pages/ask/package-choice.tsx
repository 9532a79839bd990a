import { useQueryClient } from "@tanstack/react-query";
import { type DragEvent, type ReactNode, useState } from "react";
import type { PackageLine } from "../../api/types.ts";
import { sendPackage } from "../../api/upload.ts";
import { useLook } from "../../api/use.ts";
import { announce } from "../../parts/announce.ts";
import { Field } from "../../parts/form.tsx";
import { ProblemPart } from "../../parts/problem.tsx";
import { Progress } from "../../parts/status.tsx";

interface PackageChoiceProps {
  project: string;
  /** The digest or label of the chosen one, "" for none. */
  chosen: string;
  /** What it means that none is chosen, as in "as the ensemble is made of"; "" where one must be chosen. */
  none: string;
  /** Why no package can be sent, undefined where one can. */
  unable?: string | undefined;
  onChoose: (chosen: string) => void;
}

/** A package of the project, or one that is sent from here: by a file that is chosen or dropped. */
export function PackageChoice({ project, chosen, none, unable, onChoose }: PackageChoiceProps): ReactNode {
  const known = useLook("GET /projects/{project}/packages", { path: { project }, query: { limit: 200 } });
  const store = useQueryClient();
  const [share, setShare] = useState<number>();
  const [error, setError] = useState<unknown>();
  const [isOver, setOver] = useState(false);
  const items = known.data?.data.items ?? [];
  const isKnown = !chosen || items.some((one) => one.digest === chosen || one.labels.includes(chosen));

  const send = async (file: File | undefined): Promise<void> => {
    if (!file || unable) return;
    setError(undefined);
    setShare(0);
    try {
      const made = await sendPackage(project, file, "", setShare);
      await store.invalidateQueries({ queryKey: ["GET /projects/{project}/packages"] });
      announce(`${file.name} is sent`);
      onChoose(made.digest);
    } catch (problem) {
      setError(problem);
    } finally {
      setShare(undefined);
    }
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    setOver(false);
    void send(event.dataTransfer.files[0]);
  };
  return (
    <div
      className="ask-package"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <Field label="Package">
        {(control) => (
          <select {...control} required={!none} value={chosen} onChange={(event) => onChoose(event.target.value)}>
            <option value="">{none || "choose one"}</option>
            {!isKnown && <option value={chosen}>{chosen}</option>}
            {items.map((one) => (
              <option key={one.digest} value={one.labels.includes(chosen) ? chosen : one.digest}>
                {nameOf(one)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Or send a .csar file" hint={unable ?? "It can be dropped here too."}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".csar,.zip,application/zip"
            disabled={unable !== undefined || share !== undefined}
            onChange={(event) => void send(event.target.files?.[0])}
          />
        )}
      </Field>
      {share !== undefined && <Progress done={Math.round(share * 100)} of={100} label="How much of the file is sent" />}
      {error !== undefined && <ProblemPart error={error} title="The package was not taken" />}
      {known.isError && <ProblemPart error={known.error} title="The packages could not be read" />}
    </div>
  );
}

function nameOf(one: PackageLine): string {
  const short = one.digest.slice(0, 8);
  return one.labels.length
    ? `${one.labels.join(", ")} (${short})`
    : `${one.name || "package"} ${one.version} (${short})`;
}
