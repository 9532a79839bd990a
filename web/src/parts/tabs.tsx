import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useId, useRef } from "react";
import { Link, useLocation } from "wouter";

interface LinkTab {
  address: string;
  label: string;
  count?: number | undefined;
}

/** Brings the chosen tab into sight, where not all of them have room. */
function useChosenInSight(chosen: string): { current: HTMLElement | null } {
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    const it = tabs.current?.querySelector<HTMLElement>("[aria-current], [aria-selected=true]");
    if (tabs.current && it) tabs.current.scrollLeft = it.offsetLeft - (tabs.current.clientWidth - it.offsetWidth) / 2;
  }, [chosen]);
  return tabs;
}

/** Tabs that are pages: links, the present one marked, also on the pages below it. */
export function LinkTabs({ label, tabs }: { label: string; tabs: readonly LinkTab[] }): ReactNode {
  const [here] = useLocation();
  const list = useChosenInSight(here);
  // The page above all tabs is none of those below it.
  const isAbove = (address: string): boolean => tabs.some((other) => other.address.startsWith(`${address}/`));
  const isHere = ({ address }: LinkTab): boolean =>
    address === here || (here.startsWith(`${address}/`) && !isAbove(address));
  return (
    <nav ref={list} className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link key={tab.address} href={tab.address} aria-current={isHere(tab) ? "page" : undefined}>
          {tab.label}
          {tab.count !== undefined && <span className="count figure">{tab.count}</span>}
        </Link>
      ))}
    </nav>
  );
}

interface Tab<Id extends string> {
  id: Id;
  label: string;
  count?: number | undefined;
}

interface TabsProps<Id extends string> {
  label: string;
  tabs: readonly Tab<Id>[];
  chosen: Id;
  onChoose: (id: Id) => void;
  children: ReactNode;
}

/** Tabs within a page: arrow keys, Home and End choose; the panel below belongs to the chosen one. */
export function Tabs<Id extends string>({ label, tabs, chosen, onChoose, children }: TabsProps<Id>): ReactNode {
  const id = useId();
  const list = useChosenInSight(chosen);
  const onKey = (event: KeyboardEvent<HTMLElement>): void => {
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const tab = next === undefined ? undefined : tabs[(next + tabs.length) % tabs.length];
    if (!tab) return;
    event.preventDefault();
    onChoose(tab.id);
    document.getElementById(`${id}-${tab.id}`)?.focus();
  };
  return (
    <>
      <div ref={list as RefObject<HTMLDivElement>} className="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${id}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
            {tab.count !== undefined && <span className="count figure">{tab.count}</span>}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {children}
      </div>
    </>
  );
}
