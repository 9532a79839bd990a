import { QueryClientProvider } from "@tanstack/react-query";
import { Component, type ComponentType, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Route, Switch, useLocation } from "wouter";

import { newStore, readAgain, useLook } from "./api/use.ts";
import { BROWSER, LiveStream } from "./live/stream.ts";
import { LiveContext } from "./live/use.ts";
import { Missing } from "./pages/missing/missing.tsx";
import { PAGES, type PageProps } from "./pages/routes.ts";
import { late } from "./parts/late.tsx";
import { ProblemPart } from "./parts/problem.tsx";
import { Wait } from "./parts/wait.tsx";
import { MeContext } from "./shell/me.ts";
import { Shell } from "./shell/shell.tsx";

const ALL = PAGES.map(({ path, isOpen = false, load }) => ({ path, isOpen, page: late(load) }));
const OPEN = ALL.filter(({ isOpen }) => isOpen);
const CLOSED = ALL.filter(({ isOpen }) => !isOpen);

// The page of the address is loaded while it is found out who is signed in.
ALL.find(({ path }) =>
  new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}/?$`).test(window.location.pathname),
)?.page.load();

/** The sign-in page, and back from it to where one was. */
function signInAddress(): string {
  const here = window.location.pathname + window.location.search;
  return here === "/" ? "/sign-in" : `/sign-in?return=${encodeURIComponent(here)}`;
}

export function App(): ReactNode {
  const [, go] = useLocation();
  const [{ store, stream }] = useState(() => {
    const onSignedOut = (): void => {
      if (!OPEN.some(({ path }) => path === window.location.pathname)) go(signInAddress());
    };
    return { store: newStore(onSignedOut), stream: new LiveStream(BROWSER, onSignedOut) };
  });
  useEffect(() => {
    let wasAway = false;
    return stream.watch(() => {
      if (stream.state.is === "live" && wasAway) readAgain(store);
      wasAway = stream.state.is === "offline" || (wasAway && stream.state.is !== "live");
    });
  }, [store, stream]);
  useEffect(() => {
    const onShown = (): void => stream.show(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", onShown);
    return () => document.removeEventListener("visibilitychange", onShown);
  }, [stream]);
  return (
    <QueryClientProvider client={store}>
      <LiveContext value={stream}>
        <Switch>
          {OPEN.map(({ path, page }) => (
            <Route key={path} path={path}>
              {(params) => <Shown page={page.Part} params={params} />}
            </Route>
          ))}
          <Route>
            <SignedIn />
          </Route>
        </Switch>
      </LiveContext>
    </QueryClientProvider>
  );
}

/** The pages for who is signed in. */
function SignedIn(): ReactNode {
  const me = useLook("GET /me", {});
  const [here] = useLocation();
  useArrival(here);
  // Whoever is not signed in is on the way to the page for that.
  return (
    <Wait for={me} title="It could not be found out who is signed in" lines={1}>
      {(data) => (
        <MeContext value={data}>
          <Shell>
            <Switch>
              {CLOSED.map(({ path, page }) => (
                <Route key={path} path={path}>
                  {(params) => <Shown page={page.Part} params={params} />}
                </Route>
              ))}
              <Route>
                <Missing />
              </Route>
            </Switch>
          </Shell>
        </MeContext>
      )}
    </Wait>
  );
}

function Shown({ page: Page, params }: { page: ComponentType<PageProps>; params: object }): ReactNode {
  const [here] = useLocation();
  return (
    <Fault key={here}>
      <Page params={params as Record<string, string>} />
    </Fault>
  );
}

/** On another page one begins at its top, with the keyboard and for who hears it too. For what outlives the pages. */
function useArrival(here: string): void {
  const before = useRef(here);
  // At once: a key that is pressed as soon as the page shows keeps the focus that it moves.
  useLayoutEffect(() => {
    if (before.current === here) return;
    before.current = here;
    window.scrollTo(0, 0);
    const content = document.getElementById("content");
    // A page whose field has the focus already keeps it there.
    if (!content?.contains(document.activeElement)) content?.focus({ preventScroll: true });
  }, [here]);
}

/** Keeps a fault of one page from taking the others with it. */
class Fault extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: undefined };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return (
      <ProblemPart error={this.state.error} title="This page has a fault" onAgain={() => window.location.reload()} />
    );
  }
}
