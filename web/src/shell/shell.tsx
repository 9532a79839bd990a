import { lazy, type ReactNode, Suspense, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";

import { ask } from "../api/ask.ts";
import { useLook } from "../api/use.ts";
import { useLiveState, useRetry } from "../live/use.ts";
import { announceIn } from "../parts/announce.ts";
import { Menu } from "../parts/menu.tsx";
import { relative } from "../parts/moment.ts";
import { useNow } from "../parts/time.tsx";
import { FreezeText, useFreezes } from "./freeze.tsx";
import { KeyList } from "./key-list.tsx";
import { onKeyDown, useKeys } from "./keys.ts";
import { useMe } from "./me.ts";
import { Palette } from "./palette.tsx";
import { chooseTheme, useTheme } from "./theme.ts";

const PasswordDialog = lazy(() => import("./password.tsx"));

/** The pages that the header leads to. */
const PLACES = [
  { address: "/", label: "Ensembles", key: "g e" },
  { address: "/inbox", label: "Inbox", key: "g i" },
  { address: "/jobs", label: "Jobs", key: "g j" },
  { address: "/packages", label: "Packages", key: "g p" },
] as const;

/** What stands around every page of who is signed in. */
export function Shell({ children }: { children: ReactNode }): ReactNode {
  const [, go] = useLocation();
  const [isSearching, setSearching] = useState(false);
  const [showsKeys, setShowsKeys] = useState(false);
  useEffect(() => {
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  useKeys("Everywhere", {
    "Ctrl+k": { does: "search and do", run: () => setSearching(true) },
    ...Object.fromEntries(
      PLACES.map(({ address, label, key }) => [key, { does: `go to ${label.toLowerCase()}`, run: () => go(address) }]),
    ),
    "/": { does: "filter", run: () => focusOn("[data-filter]") },
    ".": { does: "actions of what is chosen", run: () => press("[data-actions]") },
    Escape: { does: "back", run: back },
    "?": { does: "this list", run: () => setShowsKeys(true) },
  });
  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <Header onSearch={() => setSearching(true)} onKeys={() => setShowsKeys(true)} />
      <Banner />
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <div className="unseen" aria-live="polite" ref={announceIn} />
      {isSearching && <Palette onClose={() => setSearching(false)} onKeys={() => setShowsKeys(true)} />}
      {showsKeys && <KeyList onClose={() => setShowsKeys(false)} />}
    </>
  );
}

function focusOn(selector: string): void | false {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) return false;
  found.focus();
  if (found instanceof HTMLInputElement) found.select();
}

function press(selector: string): void | false {
  const found = document.querySelector<HTMLElement>(selector);
  if (!found) return false;
  found.click();
}

/** Leave a field, or go where one came from. */
function back(): void | false {
  const focused = document.activeElement;
  if (focused instanceof HTMLInputElement || focused instanceof HTMLTextAreaElement) return focused.blur();
  if (window.location.pathname === "/") return false;
  window.history.back();
}

function Header({ onSearch, onKeys }: { onSearch: () => void; onKeys: () => void }): ReactNode {
  const [here] = useLocation();
  const [isSetting, setSetting] = useState(false);
  const inbox = useLook("GET /inbox", {}, { topics: ["inbox"] });
  const waiting = inbox.data?.data.items.length ?? 0;
  return (
    <header className="header">
      <Link href="/" className="brand">
        Ordito
      </Link>
      <nav aria-label="Main">
        {PLACES.map(({ address, label }) => (
          <Link key={address} href={address} aria-current={isWithin(here, address) ? "page" : undefined}>
            {label}
            {address === "/inbox" && waiting > 0 && (
              <span className="count figure">
                {waiting}
                <span className="unseen"> waiting</span>
              </span>
            )}
          </Link>
        ))}
      </nav>
      <button type="button" className="search" onClick={onSearch}>
        Search <kbd>Ctrl K</kbd>
      </button>
      <LiveDot />
      <UserMenu onKeys={onKeys} onPassword={() => setSetting(true)} />
      {isSetting && (
        <Suspense>
          <PasswordDialog onClose={() => setSetting(false)} />
        </Suspense>
      )}
    </header>
  );
}

function isWithin(here: string, address: string): boolean {
  const of = { "/": "/e/", "/packages": "/p/" }[address];
  return here === address || (of !== undefined && here.startsWith(of));
}

/** Whether what shows is of now. */
function LiveDot(): ReactNode {
  const state = useLiveState();
  const retry = useRetry();
  const now = useNow();
  useEffect(() => {
    document.documentElement.dataset["live"] = state.is;
  }, [state.is]);
  if (state.is === "idle") return <span className="live" />;
  if (state.is === "offline") {
    return (
      <button type="button" className="live" data-state="offline" title={`${state.why}. Try now`} onClick={retry}>
        <span aria-hidden="true">✖ </span>
        {state.since > now - 5_000 ? "offline" : `offline since ${relative(state.since, now).replace(" ago", "")}`}
      </button>
    );
  }
  return (
    <span className="live" data-state={state.is}>
      <span aria-hidden="true">{state.is === "live" ? "●" : "◔"} </span>
      {state.is === "live" ? "live" : "catching up"}
    </span>
  );
}

function UserMenu({ onKeys, onPassword }: { onKeys: () => void; onPassword: () => void }): ReactNode {
  const me = useMe();
  const chosen = useTheme();
  const signOut = async (): Promise<void> => {
    await ask("DELETE /sessions/{id}", { path: { id: "current" } });
    window.location.assign(me.sign_out || "/sign-in");
  };
  return (
    <Menu
      label={
        <>
          {me.name} <span aria-hidden="true">▾</span>
        </>
      }
      name={`${me.name}, menu`}
      className="button plain"
      items={[
        ...(me.server.length ? [{ label: "Administration", does: "/admin" }] : []),
        { label: "Account", does: "/me" },
        { label: "Confirm a code", does: "/device" },
        ...(["system", "light", "dark"] as const).map((one) => ({
          label: `${one === chosen ? "✓ " : ""}${one === "system" ? "Theme of the system" : `${one === "light" ? "Light" : "Dark"} theme`}`,
          does: () => chooseTheme(one),
        })),
        { label: "Password", does: onPassword },
        { label: "Keys", does: onKeys },
        { label: "Sign out", does: () => void signOut() },
      ]}
    />
  );
}

/** What concerns everybody: the message of who runs the server, and that nothing begins on it. */
function Banner(): ReactNode {
  const server = useLook("GET /", {});
  const freeze = useFreezes().find(({ project }) => project === "");
  const text = server.data?.data.banner;
  if (!text && !freeze) return null;
  return (
    <section aria-label="For everybody">
      {text && <p className="banner">{text}</p>}
      {freeze && (
        <p className="banner">
          <FreezeText of={freeze} />
        </p>
      )}
    </section>
  );
}
