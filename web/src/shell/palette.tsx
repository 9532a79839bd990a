import { type KeyboardEvent, type ReactNode, useDeferredValue, useId, useState } from "react";
import { useLocation } from "wouter";
import type { SearchResult } from "../api/types.ts";
import { useLook } from "../api/use.ts";
import { Dialog } from "../parts/dialog.tsx";
import { chooseTheme } from "./theme.ts";

interface Choice {
  id: string;
  group: string;
  label: string;
  more?: string;
  does: string | (() => void);
}

const PAGES: readonly [label: string, address: string][] = [
  ["Ensembles", "/"],
  ["Inbox", "/inbox"],
  ["Jobs", "/jobs"],
  ["Packages", "/packages"],
  ["Account", "/me"],
  ["Administration", "/admin"],
  ["Confirm a code", "/device"],
];

function actions(onKeys: () => void): Choice[] {
  return [
    ...PAGES.map(([label, address]) => ({ id: address, group: "Go to", label, does: address })),
    ...(["system", "light", "dark"] as const).map((theme) => ({
      id: theme,
      group: "Do",
      label: `Theme: ${theme}`,
      does: () => chooseTheme(theme),
    })),
    { id: "keys", group: "Do", label: "Show the keys", does: onKeys },
  ];
}

function choicesOf(found: SearchResult | undefined): Choice[] {
  if (!found) return [];
  return [
    ...found.ensembles.map(({ project, name }) => ({
      id: `e/${project}/${name}`,
      group: "Ensembles",
      label: `${project}/${name}`,
      does: `/e/${project}/${name}`,
    })),
    ...found.instances.map(({ project, ensemble, instance, type }) => ({
      id: `i/${project}/${ensemble}/${instance}`,
      group: "Instances",
      label: instance,
      more: `${type} in ${project}/${ensemble}`,
      does: `/e/${project}/${ensemble}?instance=${encodeURIComponent(instance)}`,
    })),
    ...found.jobs.map(({ project, ensemble, job, workflow, outcome }) => ({
      id: `j/${project}/${ensemble}/${job}`,
      group: "Jobs",
      label: job,
      more: `${workflow} ${outcome} in ${project}/${ensemble}`,
      does: `/e/${project}/${ensemble}/jobs/${job}`,
    })),
    ...found.packages.map(({ project, digest, labels }) => ({
      id: `p/${project}/${digest}`,
      group: "Packages",
      label: labels[0] ?? digest.slice(0, 12),
      more: `in ${project}`,
      does: `/p/${project}/packages/${digest}`,
    })),
  ];
}

/** Search in everything, and do what can be done from everywhere. */
export function Palette({ onClose, onKeys }: { onClose: () => void; onKeys: () => void }): ReactNode {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const [, go] = useLocation();
  const list = useId();
  const q = useDeferredValue(text.trim());
  const found = useLook("GET /search", { query: { q } }, { off: q.length < 2, keeps: true });
  const isMeant = (choice: Choice): boolean => choice.label.toLowerCase().includes(text.trim().toLowerCase());
  const choices = [...actions(onKeys).filter(isMeant), ...(q.length < 2 ? [] : choicesOf(found.data?.data))];
  const place = Math.min(at, choices.length - 1);

  const choose = (choice: Choice | undefined): void => {
    if (!choice) return;
    onClose();
    if (typeof choice.does === "string") go(choice.does);
    else choice.does();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Enter") choose(choices[place]);
    else if (event.key === "ArrowDown") setAt((place + 1) % choices.length);
    else if (event.key === "ArrowUp") setAt((place - 1 + choices.length) % choices.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" onClose={onClose} wide>
      <input
        className="palette-field"
        type="search"
        role="combobox"
        aria-label="Search ensembles, instances, jobs, packages and actions"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={choices[place] ? `${list}-${place}` : undefined}
        placeholder="Ensemble, instance, job, package, action"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul className="palette" role="listbox" id={list} aria-label="Found">
        {choices.map((choice, index) => (
          <li
            key={choice.id}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === place}
            ref={index === place ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            onClick={() => choose(choice)}
          >
            <span className="muted">{choice.group}</span>
            <span>{choice.label}</span>
            {choice.more && <span className="muted">{choice.more}</span>}
          </li>
        ))}
      </ul>
      {!choices.length && <p className="muted">{found.isFetching ? "searching" : "Nothing is called so."}</p>}
      {found.data?.data.complete === false && (
        <p className="muted">Not all ensembles could be searched yet. Type on for the rest.</p>
      )}
    </Dialog>
  );
}
