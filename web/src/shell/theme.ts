import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

const KEPT = "ordito.theme";
const watchers = new Set<() => void>();

export function theme(): Theme {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Show the kept theme; called before anything is drawn. */
export function applyTheme(): void {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = chosen;
}

export function chooseTheme(chosen: Theme): void {
  localStorage.setItem(KEPT, chosen);
  applyTheme();
  for (const watcher of watchers) watcher();
}

export function useTheme(): Theme {
  return useSyncExternalStore((told) => {
    watchers.add(told);
    return () => watchers.delete(told);
  }, theme);
}
