import { type ReactNode, useId } from "react";

import type { RequestField, RequestForm } from "../../api/requests.ts";
import { useLook } from "../../api/use.ts";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import type { Values } from "./values.ts";

const MOST = 500;

interface Suggestions {
  listOf: (field: RequestField) => string | undefined;
  lists: ReactNode;
}

/** What can stand in fields that name something that is there: nodes, instances, operations. */
export function useSuggestions(of: EnsembleNamed, form: RequestForm, values: Values): Suggestions {
  const id = useId();
  const names = new Set(form.fields.flatMap((field) => field.names));
  const path = { ...of };
  const nodes = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/nodes",
    { path, query: { limit: MOST } },
    { off: !names.has("node") },
  );
  const instances = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/instances",
    { path, query: { limit: MOST } },
    { off: !names.has("instance") },
  );
  const runs = form.fields.some(({ name }) => name === "operation");
  const instance = firstOf(values, "instance");
  const at = firstOf(values, "node") || (instances.data?.data.items.find((one) => one.id === instance)?.node ?? "");
  const described = useLook(
    "GET /projects/{project}/ensembles/{ensemble}/nodes/{name}",
    { path: { ...of, name: at } },
    { off: !runs || !at },
  );
  const known: Record<string, readonly string[]> = {
    node: nodes.data?.data.items.map(({ name }) => name) ?? [],
    instance: instances.data?.data.items.map((one) => one.id) ?? [],
    operation: operationsOf(described.data?.data),
  };
  const kinds = [
    ...new Set([...form.fields.map((field) => field.names.join(" ")).filter(Boolean), ...(runs ? ["operation"] : [])]),
  ];
  return {
    listOf: (field) => {
      const kind = runs && field.name === "operation" ? "operation" : field.names.join(" ");
      return kind ? `${id}-${kind.replace(" ", "-")}` : undefined;
    },
    lists: kinds.map((kind) => (
      <datalist key={kind} id={`${id}-${kind.replace(" ", "-")}`}>
        {kind
          .split(" ")
          .flatMap((one) => known[one] ?? [])
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
    )),
  };
}

function firstOf(values: Values, field: string): string {
  const value = values[field];
  return Array.isArray(value) && typeof value[0] === "string" ? value[0] : "";
}

function operationsOf(found: object | undefined): readonly string[] {
  const operations = found && "operations" in found ? found.operations : undefined;
  return operations && !Array.isArray(operations) ? Object.keys(operations as object) : [];
}
