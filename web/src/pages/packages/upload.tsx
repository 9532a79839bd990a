import { type ReactNode, useRef, useState } from "react";
import { sendPackage } from "../../api/send.ts";
import type { PackageData } from "../../api/types.ts";
import { Action } from "../../parts/action.tsx";
import { announce } from "../../parts/announce.ts";
import { Field } from "../../parts/form.tsx";
import { bytes } from "../../parts/moment.ts";
import { ProblemPart } from "../../parts/problem.tsx";
import { Progress } from "../../parts/status.tsx";

interface UploadProps {
  project: string;
  unable: string | undefined;
  onSent: (made: PackageData) => void;
}

/** Takes an archive that is dropped or chosen, and sends it. */
export function Upload({ project, unable, onSent }: UploadProps): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const stop = useRef<AbortController>(undefined);
  const [label, setLabel] = useState("");
  const [isOver, setOver] = useState(false);
  const [file, setFile] = useState<File>();
  const [sent, setSent] = useState(0);
  const [error, setError] = useState<unknown>();

  const send = async (archive: File | undefined): Promise<void> => {
    if (!archive || unable || file) return;
    setError(undefined);
    setSent(0);
    setFile(archive);
    stop.current = new AbortController();
    try {
      const made = await sendPackage(project, archive, label.trim(), setSent, stop.current.signal);
      announce(`${archive.name} is there`);
      onSent(made);
    } catch (problem) {
      if (!stop.current.signal.aborted) setError(problem);
    } finally {
      setFile(undefined);
      if (field.current) field.current.value = "";
    }
  };
  return (
    <div>
      <div
        className="packages-drop"
        data-over={isOver}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(!unable);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          void send(event.dataTransfer.files[0]);
        }}
      >
        {file ? (
          <p className="packages-sending">
            <span>
              {sent < file.size
                ? `Sending ${file.name}, ${bytes(sent)} of ${bytes(file.size)}`
                : `Reading ${file.name}`}
            </span>
            <Progress done={sent} of={file.size} label={`${file.name}, how much is sent`} />
            <button type="button" className="button" onClick={() => stop.current?.abort()}>
              Stop
            </button>
          </p>
        ) : (
          <>
            <p>
              Drop an archive (<code>.csar</code>) here, or{" "}
              <Action does={() => field.current?.click()} unable={unable}>
                choose one
              </Action>
              {unable && <span className="hint"> {unable}</span>}
            </p>
            <input
              ref={field}
              type="file"
              hidden
              accept=".csar,.zip,application/zip"
              aria-label="Archive"
              onChange={(event) => void send(event.target.files?.[0])}
            />
            <Field
              label="Label"
              hint="name:version, or empty. One whose version ends in -dev may move to another package."
            >
              {(control) => (
                <input
                  {...control}
                  placeholder="shop:2.4"
                  spellCheck={false}
                  autoCapitalize="none"
                  value={label}
                  onChange={(event) => setLabel(event.target.value)}
                />
              )}
            </Field>
          </>
        )}
      </div>
      {error !== undefined && <ProblemPart error={error} title="The package was not taken" />}
    </div>
  );
}
