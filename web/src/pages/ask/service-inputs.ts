import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { ask } from "../../api/ask.ts";
import type { FindingData } from "../../api/types.ts";
import type { EnsembleNamed } from "../../parts/ensemble-head.tsx";
import type { ShownInput } from "./input-fields.tsx";
import { type InputValues, sentOf } from "./inputs.ts";

/** Milliseconds without typing after which values are checked. */
const PAUSE = 400;
/** Said of each field already. */
const MISSING = "missing-input";

interface Asked {
  off: boolean;
  package: string;
  environment: string;
  values: InputValues;
  forget: readonly string[];
}

export interface ServiceInputs {
  inputs: readonly ShownInput[];
  environment: string;
  environments: readonly string[];
  /** What is wrong besides values of inputs. */
  findings: readonly FindingData[];
  isKnown: boolean;
  error: Error | null;
  again: () => void;
}

const NONE: ServiceInputs = {
  inputs: [],
  environment: "",
  environments: [],
  findings: [],
  isKnown: false,
  error: null,
  again: () => undefined,
};

/** The inputs of the service that is to be deployed, and what is wrong with the values that stand in the form. */
export function useServiceInputs(of: EnsembleNamed, asked: Asked): ServiceInputs {
  const route = "POST /projects/{project}/ensembles/{ensemble}/inputs/check";
  const about = { package: asked.package, environment: asked.environment || null };
  // Declarations first: they say how values are sent.
  const plain = useQuery({
    queryKey: ["inputs of a service", of, about],
    queryFn: ({ signal }) => ask(route, { path: { ...of }, body: about }, { signal }),
    enabled: !asked.off,
    placeholderData: keepPreviousData,
  });
  const declared = useMemo(() => plain.data?.data.inputs.map(({ input }) => input) ?? [], [plain.data]);
  const text = JSON.stringify({ ...sentOf(declared, asked.values), forget_input: asked.forget });
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const body = { ...about, ...(JSON.parse(settled) as object) };
  const isGiven = settled !== JSON.stringify({ inputs: {}, input_texts: {}, forget_input: [] });
  const checked = useQuery({
    queryKey: ["values of a service", of, body],
    queryFn: ({ signal }) => ask(route, { path: { ...of }, body }, { signal }),
    enabled: !asked.off && plain.isSuccess && isGiven,
    placeholderData: keepPreviousData,
    // What was typed is not kept longer than it shows.
    gcTime: 0,
  });
  return useMemo(() => {
    if (asked.off) return NONE;
    const base = plain.data?.data;
    const found = isGiven ? (checked.data?.data ?? base) : base;
    const findings = new Map(found?.inputs.map((one) => [one.input.name, one.findings]));
    const inputs = (base?.inputs ?? []).map(({ input, value, remembered, written }): ShownInput => {
      const of = (findings.get(input.name) ?? []).filter((one) => one.code !== MISSING);
      return {
        ...input,
        present: value ?? null,
        from: remembered ? "given with an earlier command" : written ? "written in the ensemble" : "",
        findings: of.map((one) => one.message),
      };
    });
    const error = plain.error ?? checked.error;
    return {
      inputs,
      environment: base?.environment ?? "",
      environments: base?.environments ?? [],
      findings: (found?.diagnostics ?? []).filter((one) => one.severity === "error"),
      isKnown: base !== undefined,
      error,
      again: () => void (plain.error ? plain.refetch() : checked.refetch()),
    };
  }, [asked.off, plain, checked, isGiven]);
}
