import { type ReactNode, useId } from "react";

/** What the control of a field must have. */
export interface ControlProps {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": true | undefined;
}

interface FieldProps {
  label: string;
  /** What may stand there. */
  hint?: ReactNode;
  /** What is wrong with what stands there now. */
  findings?: readonly string[];
  children: (control: ControlProps) => ReactNode;
}

/** A field of a form: `<Field label="Port">{(control) => <input {...control} />}</Field>`. */
export function Field({ label, hint, findings = [], children }: FieldProps): ReactNode {
  const id = useId();
  const about = [hint ? `${id}-hint` : "", findings.length ? `${id}-findings` : ""].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": about || undefined, "aria-invalid": findings.length ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="hint">
          {hint}
        </p>
      )}
      {findings.length > 0 && (
        <ul id={`${id}-findings`} className="field-findings" aria-live="polite">
          {findings.map((one) => (
            <li key={one}>
              <span aria-hidden="true">✖ </span>
              {one}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
