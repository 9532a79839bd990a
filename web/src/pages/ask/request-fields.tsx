import type { ReactNode } from "react";

import type { RequestField } from "../../api/requests.ts";
import { Field } from "../../parts/form.tsx";
import { PairRows, TextRows } from "./rows.tsx";
import { type FieldValue, type Pair, titleOf, type Values } from "./values.ts";

interface RequestFieldsProps {
  fields: readonly RequestField[];
  values: Values;
  /** The id of the list of suggestions for a field. */
  listOf: (field: RequestField) => string | undefined;
  onChange: (name: string, value: FieldValue) => void;
}

/** Fields of a request, each as the schema of the API says it. */
export function RequestFields({ fields, values, listOf, onChange }: RequestFieldsProps): ReactNode {
  return fields.map((field) => (
    <OneField
      key={field.name}
      field={field}
      value={values[field.name] ?? ""}
      list={listOf(field)}
      onChange={(value) => onChange(field.name, value)}
    />
  ));
}

interface OneFieldProps {
  field: RequestField;
  value: FieldValue;
  list: string | undefined;
  onChange: (value: FieldValue) => void;
}

function OneField({ field, value, list, onChange }: OneFieldProps): ReactNode {
  const label = titleOf(field.name);
  if (field.kind === "flag") {
    return (
      <label className="check ask-flag">
        <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.target.checked)} />
        <span>
          {label}
          {field.about && <span className="hint"> {field.about}</span>}
        </span>
      </label>
    );
  }
  return (
    <Field label={label + (field.required ? " (needed)" : "")} hint={hintOf(field)}>
      {(control) => {
        switch (field.kind) {
          case "choice":
            return (
              <select {...control} value={value as string} onChange={(event) => onChange(event.target.value)}>
                {!field.choices.includes((field.initial as string) ?? "") && <option value="">as usual</option>}
                {field.choices.map((one) => (
                  <option key={one}>{one}</option>
                ))}
              </select>
            );
          case "texts":
            return (
              <TextRows control={control} label={label} rows={value as string[]} list={list} onChange={onChange} />
            );
          case "texts-by-name":
          case "numbers-by-name":
            return (
              <PairRows
                control={control}
                label={label}
                rows={value as Pair[]}
                list={list}
                names={field.names[0] ?? "name"}
                values={field.kind === "numbers-by-name" ? "number" : "value"}
                isNumber={field.kind === "numbers-by-name"}
                onChange={onChange}
              />
            );
          default:
            return (
              <input
                {...control}
                required={field.required}
                value={value as string}
                list={list}
                inputMode={field.kind === "number" ? "numeric" : undefined}
                placeholder={field.kind === "number" && field.initial !== null ? String(field.initial) : undefined}
                autoComplete="off"
                onChange={(event) => onChange(event.target.value)}
              />
            );
        }
      }}
    </Field>
  );
}

function hintOf(field: RequestField): string {
  const { least, most, about } = field;
  const bounds =
    least !== null && most !== null
      ? `${least.toLocaleString("en")} to ${most.toLocaleString("en")}`
      : least !== null
        ? `${least.toLocaleString("en")} or more`
        : "";
  return [about, bounds && `${bounds}.`].filter(Boolean).join(" ");
}
