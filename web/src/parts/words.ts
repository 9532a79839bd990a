import { useLocation, useSearch } from "wouter";

/** What stands in the address behind the question mark, and what changes it; an empty text takes a word out. */
export function useWords(): [words: URLSearchParams, change: (changes: Record<string, string>) => void] {
  const [, go] = useLocation();
  const words = new URLSearchParams(useSearch());
  const change = (changes: Record<string, string>): void => {
    // Not the words of the last rendering: several may be changed in one go.
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(changes)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    const text = next.toString();
    go(window.location.pathname + (text ? `?${text}` : ""), { replace: true });
  };
  return [words, change];
}
