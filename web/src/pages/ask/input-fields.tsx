import { type ReactNode, useState } from "react";

import { Field } from "../../parts/form.tsx";
import { choicesOf, type Declared, type InputValue, type InputValues, shapeOf, typeText } from "./inputs.ts";
import { PairRows, TextRows } from "./rows.tsx";

/** An input with what is known of it besides its declaration. */
export interface ShownInput extends Declared {
  /** The value that it has if none is given here, null for none. */
  present: unknown;
  /** Where that comes from, "" for the default. */
  from: string;
  /** What is wrong with what stands in its field. */
  findings: readonly string[];
}

interface InputFieldsProps {
  inputs: readonly ShownInput[];
  values: InputValues;
  secrets: readonly string[];
  onChange: (name: string, value: InputValue) => void;
}

/** The inputs of a service or a workflow, each as it is declared. */
export function InputFields({ inputs, values, secrets, onChange }: InputFieldsProps): ReactNode {
  return inputs.map((one) => (
    <InputField
      key={one.name}
      input={one}
      value={values[one.name]}
      secrets={secrets}
      onChange={(value) => onChange(one.name, value)}
    />
  ));
}

interface InputFieldProps {
  input: ShownInput;
  value: InputValue | undefined;
  secrets: readonly string[];
  onChange: (value: InputValue) => void;
}

function InputField({ input, value, secrets, onChange }: InputFieldProps): ReactNode {
  if (input.sensitive) return <SecretField input={input} value={value} secrets={secrets} onChange={onChange} />;
  // What was given as a text, as on a command line, stays one.
  const shape = value?.as === "text" && !["text", "choice"].includes(shapeOf(input)) ? "yaml" : shapeOf(input);
  const text = value?.as === "text" ? value.text : "";
  const setText = (now: string): void => onChange({ as: "text", text: now });
  return (
    <Field label={labelOf(input)} hint={<Hint input={input} />} findings={input.findings}>
      {(control) => {
        switch (shape) {
          case "choice": {
            const choices = choicesOf(input.constraints) ?? ["true", "false"];
            return (
              <select {...control} value={text} onChange={(event) => setText(event.target.value)}>
                <option value="">{presentText(input) || "not given"}</option>
                {choices.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            );
          }
          case "texts":
            return (
              <TextRows
                control={control}
                label={input.name}
                rows={value?.as === "texts" ? value.rows : []}
                onChange={(rows) => onChange({ as: "texts", rows })}
              />
            );
          case "pairs":
            return (
              <PairRows
                control={control}
                label={input.name}
                rows={value?.as === "pairs" ? value.rows : []}
                names="key"
                onChange={(rows) => onChange({ as: "pairs", rows })}
              />
            );
          case "yaml":
            return (
              <textarea
                {...control}
                rows={3}
                spellCheck={false}
                className="mono"
                value={text}
                placeholder={presentText(input)}
                onChange={(event) => setText(event.target.value)}
              />
            );
          default:
            return (
              <input
                {...control}
                value={text}
                placeholder={presentText(input)}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setText(event.target.value)}
              />
            );
        }
      }}
    </Field>
  );
}

/** A value that is never shown: the name of a secret of the ensemble, or a text that is sealed when it arrives. */
function SecretField({ input, value, secrets, onChange }: InputFieldProps): ReactNode {
  const [isTyped, setTyped] = useState(value?.as === "text");
  const choose = (chosen: string): void => {
    setTyped(chosen === TYPED);
    onChange(chosen === TYPED ? { as: "text", text: "" } : { as: "secret", name: chosen });
  };
  return (
    <div className="ask-secret">
      <Field label={labelOf(input)} hint={<Hint input={input} more={["never shown"]} />} findings={input.findings}>
        {(control) => (
          <select
            {...control}
            value={isTyped ? TYPED : value?.as === "secret" ? value.name : ""}
            onChange={(event) => choose(event.target.value)}
          >
            <option value="">
              {input.present !== null ? "as it is" : input.required ? "not given" : "as by default"}
            </option>
            {secrets.map((one) => (
              <option key={one} value={one}>
                secret {one}
              </option>
            ))}
            <option value={TYPED}>a value typed here</option>
          </select>
        )}
      </Field>
      {isTyped && (
        <input
          type="password"
          aria-label={`Value of ${input.name}`}
          autoComplete="new-password"
          value={value?.as === "text" ? value.text : ""}
          onChange={(event) => onChange({ as: "text", text: event.target.value })}
        />
      )}
    </div>
  );
}

// No name of a secret: names have no space.
const TYPED = "typed here";

function labelOf(input: ShownInput): string {
  return input.required && input.present === null ? `${input.name} (needed)` : input.name;
}

function presentText({ sensitive, present, default: usual }: ShownInput): string {
  if (sensitive) return "";
  const value = present ?? usual;
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function Hint({ input, more = [] }: { input: ShownInput; more?: readonly string[] }): ReactNode {
  const present = presentText(input);
  const isNothing = present === "[]" || present === "{}";
  const parts = [
    input.description,
    [typeText(input), ...more].join(", "),
    present && !isNothing ? (input.from ? `stays ${present}, ${input.from}` : `default ${present}`) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
