import { useLocation, useSearch } from "wouter";

/** A value that stands in the address, as a tab or a filter; what is usual is left out there. */
export function useChosen(name: string, usual = ""): [value: string, choose: (value: string) => void] {
  const search = useSearch();
  const [here, go] = useLocation();
  const choose = (value: string): void => {
    const query = new URLSearchParams(window.location.search);
    if (value === usual || value === "") query.delete(name);
    else query.set(name, value);
    const text = query.toString();
    go(text ? `${here}?${text}` : here, { replace: true });
  };
  return [new URLSearchParams(search).get(name) ?? usual, choose];
}
