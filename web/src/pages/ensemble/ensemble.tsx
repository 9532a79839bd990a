import type { UseQueryResult } from "@tanstack/react-query";
import {
  type ReactNode,
  useCallback,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { Link, useLocation, useSearch } from "wouter";

import type { Answer } from "../../api/ask.ts";
import type { TopologyData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { usePaced } from "../../live/paced.ts";
import { useTopic } from "../../live/use.ts";
import { announce } from "../../parts/announce.ts";
import { Empty } from "../../parts/empty.tsx";
import {
  askAddress,
  type EnsembleNamed,
  EnsemblePage,
  ensembleAddress,
  isEnd,
  namedIn,
  useEnsembleAgain,
} from "../../parts/ensemble-head.tsx";
import { Menu } from "../../parts/menu.tsx";
import { Split } from "../../parts/split.tsx";
import { Status } from "../../parts/status.tsx";
import { Wait } from "../../parts/wait.tsx";
import { useKeys } from "../../shell/keys.ts";
import type { PageProps } from "../routes.ts";
import type { Chosen } from "./box.tsx";
import { ChosenPanel } from "./chosen.tsx";
import { ALL, Dots, type ToldInstances, type ToldStatuses, WORST_FIRST } from "./dots.ts";
import { InstanceTable } from "./instances.tsx";
import { narrowingOf } from "./narrowing.ts";
import { Picture } from "./picture.tsx";
import "./ensemble.css";

const TOPOLOGY = "GET /projects/{project}/ensembles/{ensemble}/topology";

/** Page 2: what exists in an ensemble, as boxes or as a table, while it changes. */
export default function TopologyPage({ params }: PageProps): ReactNode {
  const of = namedIn(params);
  const shown = new URLSearchParams(useSearch());
  const boxes = Number(shown.get("boxes"));
  const [open, fold] = [shown.getAll("open"), shown.getAll("fold")];
  const query = { ...(boxes > 0 ? { boxes } : {}), ...(open.length ? { open } : {}), ...(fold.length ? { fold } : {}) };
  const found = useLook(TOPOLOGY, { path: { ...of }, query }, { keeps: true, isFollowed: true });
  const dots = useDots(of, found);
  return (
    <EnsemblePage of={of} page="Topology" isFollowed={!found.isError}>
      <Wait for={found} title="The topology could not be read" lines={10}>
        {(data) =>
          data.boxes.length && dots ? (
            <Shown of={of} dots={dots} />
          ) : (
            <Empty title="Nothing is deployed yet">
              <p>The nodes of its service and their instances show here, from the moment a deployment begins.</p>
              <Link className="button main" href={askAddress(of, "deploy")}>
                Plan a deployment
              </Link>
            </Empty>
          )
        }
      </Wait>
    </EnsemblePage>
  );
}

/** Milliseconds for which events are kept before reading begins: what is read may not have them yet. */
const SLACK = 1_000;

/** The instances of what was read, kept up to date by the topic of the ensemble. */
function useDots(of: EnsembleNamed, found: UseQueryResult<Answer<TopologyData>, Error>): Dots | undefined {
  const recent = useRef<{ at: number; take: (dots: Dots) => boolean }[]>([]);
  const before = useRef<Dots>(undefined);
  const { refetch, isFetching, dataUpdatedAt, isPlaceholderData } = found;
  const again = usePaced(() => refetch());
  const ensembleAgain = useEnsembleAgain(of);
  useEffect(() => {
    if (isFetching) recent.current = recent.current.filter(({ at }) => at > Date.now() - SLACK);
  }, [isFetching]);
  const data = found.data?.data;
  const dots = useMemo(() => {
    if (!data) return undefined;
    const made = new Dots(data);
    if (before.current) made.goOnFrom(before.current);
    // What was told while it was read may not be in it.
    for (const { take } of recent.current) take(made);
    before.current = made;
    return made;
    // What was read again is new, even where it says the same as before.
  }, [data, dataUpdatedAt, isPlaceholderData]);
  useTopic(
    found.isError ? "" : `ensemble:${of.project}/${of.ensemble}`,
    found.data?.cursor,
    (event) => {
      ensembleAgain(event);
      if (event.type === "ensemble.changed") return again(isEnd(event));
      const take = takerOf(event.type, event.data);
      if (!take || !before.current) return;
      recent.current.push({ at: Date.now(), take });
      if (take(before.current)) again();
    },
    () => {
      before.current = undefined;
      recent.current = [];
      again();
      ensembleAgain();
    },
  );
  return dots;
}

/** How a picture takes an event: gives whether it has to be read again. `undefined` for what changes no dot. */
function takerOf(type: string, data: unknown): ((dots: Dots) => boolean) | undefined {
  if (type === "instances.changed") return (dots) => dots.take(data as ToldInstances);
  if (type !== "statuses.changed") return undefined;
  return (dots) => {
    dots.takeStatuses(data as ToldStatuses);
    return false;
  };
}

/** The choices of how much is shown at once. */
const FOLDINGS = [400, 100, 30, 10, 1] as const;

function useNarrow(media: string): boolean {
  return useSyncExternalStore(
    (told) => {
      const query = matchMedia(media);
      query.addEventListener("change", told);
      return () => query.removeEventListener("change", told);
    },
    () => matchMedia(media).matches,
  );
}

function Shown({ of, dots }: { of: EnsembleNamed; dots: Dots }): ReactNode {
  const [, go] = useLocation();
  const search = useSearch();
  const shown = useMemo(() => new URLSearchParams(search), [search]);
  const filter = shown.get("filter") ?? "";
  const narrowing = useMemo(() => narrowingOf(filter), [filter]);
  // Below 480 px a table stands in place of the picture.
  const isSmall = useNarrow("(width < 30rem)");
  const isStacked = useNarrow("(width < 60rem)");
  const isTable = isSmall || shown.get("view") === "table";
  useMemo(() => dots.narrow(narrowing), [dots, narrowing]);

  const address = ensembleAddress(of);
  const change = useCallback(
    (set: (words: URLSearchParams) => void): string => {
      // As the address is now: it may have changed since this was rendered.
      const words = new URLSearchParams(window.location.search);
      set(words);
      const text = words.toString();
      return address + (text && `?${text}`);
    },
    [address],
  );
  const put = useCallback((set: (words: URLSearchParams) => void) => go(change(set), { replace: true }), [go, change]);
  const chosen = useMemo((): Chosen => {
    const [instance, box] = [shown.get("instance"), shown.get("box")];
    return instance ? { instance } : box ? { box } : undefined;
  }, [shown]);
  const choose = useCallback((what: Chosen) => put((words) => chooseIn(words, what)), [put]);
  const addressOf = useCallback((instance: string) => change((words) => chooseIn(words, { instance })), [change]);
  const openBox = useCallback(
    (box: string, isOpen: boolean) =>
      put((words) => {
        const without = (name: string): string[] => words.getAll(name).filter((one) => one !== box);
        const [open, fold] = [without("open"), without("fold")];
        words.delete("open");
        words.delete("fold");
        for (const one of isOpen ? [...open, box] : open) words.append("open", one);
        for (const one of isOpen ? fold : [...fold, box]) words.append("fold", one);
      }),
    [put],
  );
  const setFilter = (text: string): void => put((words) => (text ? words.set("filter", text) : words.delete("filter")));
  const instance = chosen && "instance" in chosen ? chosen.instance : undefined;

  const step = (by: 1 | -1, isWanted: (number: number) => boolean): void | false => {
    const at = instance === undefined ? -1 : (dots.numberOf(instance) ?? -1);
    for (let n = 1; n <= dots.size; n += 1) {
      const number = ((((at < 0 && by < 0 ? 0 : at) + by * n) % dots.size) + dots.size) % dots.size;
      if (isWanted(number)) return choose({ instance: dots.ids[number] ?? "" });
    }
    return false;
  };
  const isFailure = (number: number): boolean => dots.toneOf(number) === "error";
  const toggleView = (): void => put((words) => (isTable ? words.delete("view") : words.set("view", "table")));
  useKeys("Topology", {
    t: { does: "picture or table", run: () => (isSmall ? false : toggleView()) },
    "]": { does: "next failure", run: () => step(1, isFailure) },
    "[": { does: "previous failure", run: () => step(-1, isFailure) },
    Escape: { does: "choose nothing", run: () => (chosen && !isInField() ? choose(undefined) : false) },
  });

  const stage = isTable ? (
    <InstanceTable
      dots={dots}
      isNarrowed={narrowing !== undefined}
      chosen={instance}
      onChoose={(id) => choose({ instance: id })}
      addressOf={addressOf}
    />
  ) : (
    <div className="topology-stage">
      <Picture dots={dots} chosen={chosen} onChoose={choose} onOpen={openBox} />
    </div>
  );
  const panel = <ChosenPanel of={of} dots={dots} chosen={chosen} onChoose={choose} onOpen={openBox} />;
  return (
    <>
      <div className="topology-bar">
        <Finding
          text={filter}
          onText={setFilter}
          onNext={(text) => {
            dots.narrow(narrowingOf(text));
            step(1, (number) => !dots.isDim(number));
          }}
        />
        <Counts dots={dots} filter={filter} onFilter={setFilter} />
        <div className="topology-views">
          {!isTable && (
            <Menu
              label={
                <>
                  Fold <span aria-hidden="true">▾</span>
                </>
              }
              name="Fold"
              items={FOLDINGS.map((most) => ({
                label: most === 1 ? "Everything in one box" : `At most ${most} boxes`,
                does: () =>
                  put((words) => {
                    words.delete("open");
                    words.delete("fold");
                    words.set("boxes", String(most));
                  }),
              }))}
            />
          )}
          {!isSmall && (
            <button type="button" className="button" aria-pressed={isTable} onClick={toggleView}>
              Table
            </button>
          )}
        </div>
      </div>
      {isStacked ? (
        <>
          {chosen && panel}
          {stage}
        </>
      ) : (
        <Split label="width of the details" initial={70}>
          {[stage, panel]}
        </Split>
      )}
    </>
  );
}

/** Whether Esc is to leave a field first. */
function isInField(): boolean {
  return document.activeElement instanceof HTMLInputElement;
}

function chooseIn(words: URLSearchParams, what: Chosen): void {
  words.delete("instance");
  words.delete("box");
  if (!what) return;
  if ("instance" in what) words.set("instance", what.instance);
  else words.set("box", what.box);
}

interface FindingProps {
  text: string;
  onText: (text: string) => void;
  onNext: (text: string) => void;
}

/** The filter. What is typed shows at once, what it means a moment later. */
function Finding({ text, onText, onNext }: FindingProps): ReactNode {
  const [typed, setTyped] = useState(text);
  const meant = useDeferredValue(typed);
  const sent = useRef(text);
  const latest = useRef(onText);
  latest.current = onText;
  const send = (what: string): void => {
    if (what === sent.current) return;
    sent.current = what;
    latest.current(what);
  };
  useEffect(() => send(meant), [meant]);
  // Somebody else has set it: what was typed since is not taken back.
  useEffect(() => {
    if (text === sent.current) return;
    sent.current = text;
    setTyped(text);
  }, [text]);
  return (
    <input
      type="search"
      data-filter
      className="topology-filter"
      aria-label="Find instances; Enter goes to the next one"
      placeholder="Find: web_2 status:error state:started node:web"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        send(typed);
        onNext(typed);
      }}
    />
  );
}

/** How many instances there are of each status; a click filters by it. */
function Counts({
  dots,
  filter,
  onFilter,
}: {
  dots: Dots;
  filter: string;
  onFilter: (text: string) => void;
}): ReactNode {
  useSyncExternalStore(
    (told) => dots.watch(ALL, told),
    () => dots.version(ALL),
  );
  const counts = dots.counts();
  const words = filter.split(/\s+/).filter(Boolean);
  const spoken = `${dots.size} instances: ${WORST_FIRST.filter((tone) => counts[tone])
    .map((tone) => `${counts[tone]} ${tone}`)
    .join(", ")}`;
  const first = useRef(spoken);
  useEffect(() => {
    if (spoken !== first.current) announce(spoken);
    first.current = spoken;
  }, [spoken]);
  return (
    <div className="topology-counts" role="group" aria-label="Instances by status">
      {WORST_FIRST.filter((tone) => counts[tone] || words.includes(`status:${tone}`)).map((tone) => {
        const word = `status:${tone}`;
        const isOn = words.includes(word);
        const toggled = isOn
          ? words.filter((one) => one !== word)
          : [...words.filter((one) => !one.startsWith("status:")), word];
        return (
          <button
            key={tone}
            type="button"
            className="button plain"
            aria-pressed={isOn}
            onClick={() => onFilter(toggled.join(" "))}
          >
            <Status of={tone}>
              <span className="figure">{counts[tone].toLocaleString("en")}</span> {tone}
            </Status>
          </button>
        );
      })}
    </div>
  );
}
