import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { useLocation } from "wouter";

import { useAway } from "./action.tsx";

export interface MenuItem {
  label: string;
  /** An address of a page, or what is done. */
  does: string | (() => void);
  danger?: boolean;
  /** Why it cannot be done now; then it is shown and does nothing. */
  unable?: string | undefined;
}

interface MenuProps {
  label: ReactNode;
  /** What it is called where the label says too little. */
  name?: string;
  items: readonly MenuItem[];
  className?: string;
  id?: string;
  /** Whether its items change something, which is refused while the server cannot be reached. */
  changes?: boolean;
  /** Whether `.` opens it: it has the actions of what is chosen. */
  opensByKey?: boolean;
}

const GAP = 4;

/** A button that opens a list of actions. Arrow keys move, Enter does, Esc closes. */
export function Menu(props: MenuProps): ReactNode {
  const { label, name, className = "button", id, changes = false, opensByKey = false } = props;
  const away = useAway();
  const items = props.items.map((item) => ({ ...item, unable: item.unable ?? (changes ? away : undefined) }));
  const list = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [, go] = useLocation();
  const popover = useId();

  const place = (): void => {
    if (!list.current || !button.current) return;
    const at = button.current.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = list.current;
    const fits = at.bottom + GAP + height <= window.innerHeight;
    list.current.style.left = `${Math.max(GAP, Math.min(at.left, window.innerWidth - width - GAP))}px`;
    list.current.style.top = `${fits ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height)}px`;
  };
  const all = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const onKey = (event: KeyboardEvent): void => {
    const found = all();
    const at = found.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: found.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    found[(next + found.length) % found.length]?.focus();
  };
  const choose = (item: MenuItem): void => {
    if (item.unable) return;
    list.current?.hidePopover();
    if (typeof item.does === "string") go(item.does);
    else item.does();
  };
  return (
    <>
      <button
        ref={button}
        id={id}
        type="button"
        className={className}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-label={name}
        popoverTarget={popover}
        data-actions={opensByKey ? "" : undefined}
      >
        {label}
      </button>
      <div
        ref={list}
        id={popover}
        popover="auto"
        role="menu"
        aria-label={name ?? (typeof label === "string" ? label : undefined)}
        className="menu"
        onKeyDown={onKey}
        onToggle={(event) => {
          const opens = event.newState === "open";
          setOpen(opens);
          if (!opens) return;
          place();
          all()[0]?.focus();
        }}
      >
        {items.map((item) => (
          <button
            key={item.label}
            type="button"
            role="menuitem"
            tabIndex={-1}
            className={item.danger ? "danger" : undefined}
            aria-disabled={item.unable ? true : undefined}
            onClick={() => choose(item)}
          >
            {item.label}
            {item.unable && <small>{item.unable}</small>}
          </button>
        ))}
      </div>
    </>
  );
}
