import { type KeyboardEvent, memo, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

import type { Facet } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { announce } from "../../parts/announce.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { bytes } from "../../parts/moment.ts";
import { ProblemPart } from "../../parts/problem.tsx";
import { Loading } from "../../parts/wait.tsx";
import { useWords } from "../../parts/words.ts";
import { marked, piecesOf } from "./ansi.ts";
import { type Line, lineName, lineNamed } from "./lines.ts";
import { useFind } from "./use-find.ts";
import { type JobPath, type Narrowed, useLog, type Wish } from "./use-log.ts";
import "./log.css";

interface LogViewProps {
  of: JobPath;
  /** Whether the job has ended, so that nothing more is printed. */
  isOver: boolean;
}

/** So many lines beyond what shows are drawn, and so many before an end more is read. */
const BEYOND = 12;
const AHEAD = 200;
/** Of longer lines the beginning shows. */
const LONGEST = 4_000;

/** What the operations of a job printed: any part of it, narrowed, searched, and followed while it grows. */
export function LogView({ of, isOver }: LogViewProps): ReactNode {
  const [words, change] = useWords();
  const narrowed: Narrowed = {
    step: words.get("step") ?? "",
    instance: words.get("instance") ?? "",
    operation: words.get("operation") ?? "",
  };
  const wanted = words.get("line") ?? "";
  const [follows, setFollows] = useState(!isOver && !wanted);
  const named = lineNamed(wanted);
  const first: Wish = named ? { at: "offset", offset: named.offset } : follows ? { at: "end" } : { at: "begin" };
  const view = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [size, setSize] = useState({ line: 18, height: 0 });
  const [unseen, setUnseen] = useState(0);
  const moves = useRef<{ by: number } | { to: number } | undefined>(undefined);
  const [text, setText] = useState("");
  const find = useFind(of, text, narrowed);

  const { log, isLoading, isReading, error, jump, earlier, later } = useLog(
    of,
    narrowed,
    isOver,
    first,
    ({ added, lost }) => {
      if (lost) moves.current = { by: -lost };
      if (!follows) setUnseen((count) => count + added);
    },
  );
  const count = log.lines.length;

  useLayoutEffect(() => {
    const place = view.current;
    if (!place || !probe.current) return undefined;
    const measure = (): void =>
      setSize({ line: probe.current?.getBoundingClientRect().height || 18, height: place.clientHeight });
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(place);
    return () => watcher.disconnect();
  }, []);

  // What shows stays where it is when lines come or go in front of it; the end stays in sight while it is followed.
  useLayoutEffect(() => {
    const place = view.current;
    if (!place) return;
    const move = moves.current;
    moves.current = undefined;
    if (move && "to" in move) place.scrollTop = move.to * size.line;
    else if (follows && log.isAtEnd) place.scrollTop = place.scrollHeight;
    else if (move) place.scrollTop += move.by * size.line;
    if (place.scrollTop !== top) setTop(place.scrollTop);
  });

  const moreInFront = async (): Promise<void> => {
    const added = await earlier();
    if (added) moves.current = { by: added };
  };
  const moreBehind = async (): Promise<void> => {
    const lost = await later();
    if (lost) moves.current = { by: -lost };
  };
  const firstShown = Math.max(0, Math.floor(top / size.line));
  const lastShown = Math.min(count - 1, Math.ceil((top + size.height) / size.line));
  useEffect(() => {
    if (isLoading || isReading || error !== undefined) return;
    if (firstShown < AHEAD && !log.isAtBegin) void moreInFront();
    else if (lastShown > count - AHEAD && !log.isAtEnd) void moreBehind();
  });
  // A line that is named comes into sight, and is read if it is not there.
  useEffect(() => {
    if (!named || isLoading) return;
    const show = (): void => {
      const place = log.placeOf(named.offset, named.line);
      if (place < 0) return;
      moves.current = { to: Math.max(0, place - Math.floor(size.height / size.line / 3)) };
      setTop(-1);
    };
    if (log.placeOf(named.offset, named.line) >= 0) show();
    else void jump({ at: "offset", offset: named.offset }).then(show);
  }, [wanted, isLoading]);

  const onScroll = (): void => {
    const place = view.current;
    if (!place) return;
    setTop(place.scrollTop);
    const isAtBottom = place.scrollTop + place.clientHeight >= place.scrollHeight - 2 * size.line;
    if (isAtBottom && log.isAtEnd) setUnseen(0);
    else if (follows && !isAtBottom) setFollows(false);
  };
  const toEnd = (): void => {
    setUnseen(0);
    setFollows(!isOver);
    moves.current = { to: Number.MAX_SAFE_INTEGER };
    change({ line: "" });
    void jump({ at: "end" }).then(() => {
      moves.current = { to: log.lines.length };
      setTop(-1);
    });
  };
  const toBegin = (): void => {
    setFollows(false);
    change({ line: "" });
    void jump({ at: "begin" }).then(() => {
      moves.current = { to: 0 };
      setTop(-1);
    });
  };
  const toPlace = (offset: number): void => {
    setFollows(false);
    change({ line: "" });
    void jump(offset >= log.size ? { at: "end" } : { at: "about", offset }).then(() => {
      moves.current = { to: offset > 0 ? log.lines.length : 0 };
      setTop(-1);
    });
  };
  const choose = (line: Line | undefined): void => {
    if (!line) return;
    setFollows(false);
    change({ line: lineName(line) });
  };
  const goFound = async (by: 1 | -1): Promise<void> => {
    const line = await find.go(by);
    if (!line) return;
    setFollows(false);
    change({ line: lineName(line) });
    announce(`${line.step}: ${line.text}`);
  };
  const chosen = named ? log.placeOf(named.offset, named.line) : -1;
  const onKey = (event: KeyboardEvent): void => {
    const does = {
      j: () => choose(log.lines[chosen < 0 ? firstShown : chosen + 1]),
      k: () => choose(log.lines[chosen < 0 ? lastShown : chosen - 1]),
      n: () => void goFound(event.shiftKey ? -1 : 1),
      Home: toBegin,
      End: toEnd,
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!does || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    does();
  };

  if (error !== undefined && isLoading === false && !count) {
    return <ProblemPart error={error} title="What was printed could not be read" onAgain={() => void jump(first)} />;
  }
  const isNarrowed = narrowed.step !== "" || narrowed.instance !== "" || narrowed.operation !== "";
  const isEmpty = !isLoading && !count && log.isAtBegin && log.isAtEnd;
  const here = log.lines[firstShown]?.offset ?? log.begin;
  return (
    <section
      className="log"
      aria-label="Log"
      data-one-step={narrowed.step !== ""}
      data-at={log.isAtEnd && lastShown >= count - 1 ? "end" : undefined}
    >
      <div className="log-tools">
        {!isOver && (
          <label className="check">
            <input
              type="checkbox"
              checked={follows}
              onChange={(event) => (event.target.checked ? toEnd() : setFollows(false))}
            />
            Follow
          </label>
        )}
        <Facets of={of} narrowed={narrowed} onChoose={(name, value) => change({ [name]: value, line: "" })} />
        <search className="log-find">
          <input
            type="search"
            aria-label="Find in the log"
            placeholder="find"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              void goFound(event.shiftKey ? -1 : 1);
            }}
          />
          <button
            type="button"
            className="icon"
            aria-label="Previous one found"
            disabled={!text}
            onClick={() => void goFound(-1)}
          >
            ↑
          </button>
          <button
            type="button"
            className="icon"
            aria-label="Next one found"
            disabled={!text}
            onClick={() => void goFound(1)}
          >
            ↓
          </button>
          <span className="log-found figure" role="status">
            {foundSo(find, text)}
          </span>
        </search>
        <span className="log-ends">
          <button type="button" className="button" onClick={toBegin}>
            Begin
          </button>
          <button type="button" className="button" onClick={toEnd}>
            End
          </button>
        </span>
      </div>
      {find.error !== undefined && <ProblemPart error={find.error} title="The log could not be searched" />}
      {error !== undefined && (
        <ProblemPart error={error} title="The log could not be read on" onAgain={() => void later()} />
      )}
      <div
        ref={view}
        className="log-view"
        role="region"
        aria-label="What was printed"
        tabIndex={0}
        onScroll={onScroll}
        onKeyDown={onKey}
        hidden={isEmpty}
      >
        <div ref={probe} className="log-line log-probe" aria-hidden="true">
          &nbsp;
        </div>
        <div className="log-lines" style={{ height: count * size.line }}>
          <div style={{ transform: `translateY(${Math.max(0, firstShown - BEYOND) * size.line}px)` }}>
            {log.lines.slice(Math.max(0, firstShown - BEYOND), lastShown + 1 + BEYOND).map((line, place) => {
              const before = log.lines[Math.max(0, firstShown - BEYOND) + place - 1];
              return (
                <LogLine
                  key={lineName(line)}
                  line={line}
                  step={narrowed.step || (place > 0 && before?.step === line.step) ? "" : line.step}
                  withSteps={!narrowed.step}
                  find={text}
                  isChosen={Math.max(0, firstShown - BEYOND) + place === chosen}
                  onChoose={choose}
                />
              );
            })}
          </div>
        </div>
        {isLoading && <Loading label="the log is being read" />}
      </div>
      {isEmpty && (
        <Nothing
          isNarrowed={isNarrowed}
          isOver={isOver}
          onAll={() => change({ step: "", instance: "", operation: "" })}
        />
      )}
      <div className="log-foot">
        {log.size > 0 && (
          <span className="muted figure">
            {log.isAtBegin && log.isAtEnd ? `${count.toLocaleString("en")} lines` : `at ${bytes(here)}`},{" "}
            {bytes(log.size)}
          </span>
        )}
        {!(log.isAtBegin && log.isAtEnd) && log.size > 0 && (
          <input
            type="range"
            className="log-place"
            aria-label="Place in the log"
            aria-valuetext={`${bytes(here)} of ${bytes(log.size)}`}
            min={0}
            max={log.size}
            value={here}
            onChange={(event) => toPlace(Number(event.target.value))}
          />
        )}
        {named && (
          <Copy text={window.location.href} label="link to the line">
            Link to line
          </Copy>
        )}
        {!follows && (unseen > 0 || (!isOver && !log.isAtEnd)) && (
          <button type="button" className="button" onClick={toEnd}>
            ↓ {unseen > 0 ? `${unseen.toLocaleString("en")} new lines` : "to the end"}
          </button>
        )}
      </div>
    </section>
  );
}

function foundSo({ found, at, isWhole, isSearching }: ReturnType<typeof useFind>, text: string): string {
  if (!text) return "";
  if (isSearching) return "searching";
  if (at >= 0) return `${at + 1} of ${found.length}${isWhole ? "" : "+"}`;
  return isWhole ? "not found" : "";
}

interface LogLineProps {
  line: Line;
  /** The step, where it is another one than that of the line before. */
  step: string;
  withSteps: boolean;
  find: string;
  isChosen: boolean;
  onChoose: (line: Line) => void;
}

const LogLine = memo(function LogLine({ line, step, withSteps, find, isChosen, onChoose }: LogLineProps): ReactNode {
  const pieces = marked(piecesOf(line.text.slice(0, LONGEST)), find);
  const more = line.text.length - LONGEST;
  return (
    <div className="log-line" data-step={step ? true : undefined} aria-current={isChosen ? "location" : undefined}>
      <button
        type="button"
        tabIndex={-1}
        className="log-mark"
        title={`${line.step}: link to this line`}
        onClick={() => onChoose(line)}
      >
        {withSteps ? step : ""}
        <span className="unseen">link to this line</span>
      </button>
      <code>
        {pieces.map(({ text, look }, place) =>
          look ? (
            <span key={place} className={look}>
              {text}
            </span>
          ) : (
            text
          ),
        )}
        {more > 0 && <span className="muted"> … {more.toLocaleString("en")} more characters</span>}
      </code>
    </div>
  );
}, isSame);

function isSame(one: LogLineProps, other: LogLineProps): boolean {
  return (
    one.line === other.line &&
    one.step === other.step &&
    one.find === other.find &&
    one.isChosen === other.isChosen &&
    one.withSteps === other.withSteps
  );
}

function Nothing({
  isNarrowed,
  isOver,
  onAll,
}: {
  isNarrowed: boolean;
  isOver: boolean;
  onAll: () => void;
}): ReactNode {
  const yet = isOver ? "" : " yet";
  if (!isNarrowed) return <Empty title={`Nothing was printed${yet}`} />;
  return (
    <Empty title={`What is chosen has printed nothing${yet}`}>
      <button type="button" className="button" onClick={onAll}>
        Show everything
      </button>
    </Empty>
  );
}

interface FacetsProps {
  of: JobPath;
  narrowed: Narrowed;
  onChoose: (name: keyof Narrowed, value: string) => void;
}

/** By what the log can be narrowed, with how much each has printed. */
function Facets({ of, narrowed, onChoose }: FacetsProps): ReactNode {
  // They are counted over the whole log, so only once somebody is about to choose.
  const [isWanted, setWanted] = useState(false);
  const route = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log/facets";
  const found = useLook(route, { path: { ...of }, query: { limit: 200 } }, { off: !isWanted });
  const data = found.data?.data;
  const lists: [keyof Narrowed, string, readonly Facet[]][] = [
    ["instance", "instances", data?.instances ?? []],
    ["operation", "operations", data?.operations ?? []],
    ["step", "steps", data?.steps ?? []],
  ];
  return lists.map(([name, all, facets]) => {
    const chosen = narrowed[name];
    const isListed = facets.some((one) => one.name === chosen);
    return (
      <select
        key={name}
        className="log-facet"
        aria-label={`Narrow to one of the ${all}`}
        value={chosen}
        onPointerEnter={() => setWanted(true)}
        onFocus={() => (isWanted ? void found.refetch() : setWanted(true))}
        onChange={(event) => onChoose(name, event.target.value)}
      >
        <option value="">all {all}</option>
        {chosen && !isListed && <option value={chosen}>{chosen}</option>}
        {facets.map((one) => (
          <option key={one.name} value={one.name}>
            {one.name} · {bytes(one.bytes)}
          </option>
        ))}
        {(data?.more ?? 0) > 0 && <option disabled>and more</option>}
      </select>
    );
  });
}
