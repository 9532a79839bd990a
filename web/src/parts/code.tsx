import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";

import type { FindingData } from "../api/types.ts";
import { useKeys } from "../shell/keys.ts";
import { placesIn, type Word, wordsOf } from "./code-words.ts";
import "./code.css";

interface CodeProps {
  file: string;
  text: string;
  /** What was found in this file. */
  findings: readonly FindingData[];
  /** The line that is chosen, 0 for none. */
  line: number;
  onLine: (line: number) => void;
  /** The address of a line, for who wants to give it to somebody. */
  addressOf: (line: number) => string;
  onType?: (name: string) => void;
}

/** Pixels that a line takes before it is measured. */
const HEIGHT = 25;
const ALL = 300;

/** A file to read: numbered lines that have addresses, findings below their lines, a search. */
export function Code({ file, text, findings, line, onLine, addressOf, onType }: CodeProps): ReactNode {
  const lines = text.replace(/\n$/, "").split("\n");
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const body = useRef<HTMLDivElement>(null);
  const [above, setAbove] = useState(0);
  useLayoutEffect(() => setAbove(body.current?.offsetTop ?? 0), []);
  const isMany = lines.length > ALL;
  const virtual = useWindowVirtualizer({
    count: isMany ? lines.length : 0,
    estimateSize: () => HEIGHT,
    overscan: 30,
    scrollMargin: above,
  });
  const hits = wanted ? lines.flatMap((one, index) => (placesIn(one, wanted).length ? [index + 1] : [])) : [];
  const byLine = new Map<number, FindingData[]>();
  for (const one of findings) if (one.line) byLine.set(one.line, [...(byLine.get(one.line) ?? []), one]);

  const show = (number: number): void => {
    if (isMany) virtual.scrollToIndex(number - 1, { align: "center" });
    else body.current?.querySelector(`[data-line="${number}"]`)?.scrollIntoView({ block: "center" });
  };
  const shown = useRef(0);
  useEffect(() => {
    if (line && line !== shown.current) {
      shown.current = line;
      show(line);
    }
  });
  const goToHit = (by: number): void | false => {
    if (!hits.length) return false;
    const next = (at + by + hits.length) % hits.length;
    setAt(next);
    onLine(hits[next] ?? 1);
  };
  const goToFinding = (by: number): void | false => {
    const places = [...byLine.keys()].sort((one, other) => one - other);
    const next = by > 0 ? places.find((one) => one > line) : places.findLast((one) => one < line);
    if (next === undefined) return false;
    onLine(next);
  };
  useKeys("File", {
    "]": { does: "next finding", run: () => goToFinding(1) },
    "[": { does: "previous finding", run: () => goToFinding(-1) },
    n: { does: "next place that is searched", run: () => goToHit(1) },
    N: { does: "previous place that is searched", run: () => goToHit(-1) },
  });
  const rows = isMany
    ? virtual.getVirtualItems().map((item) => ({ number: item.index + 1, start: item.start - above }))
    : lines.map((_, index) => ({ number: index + 1, start: undefined }));
  return (
    <div className="code-whole">
      <form
        className="code-search"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          goToHit(1);
        }}
      >
        <input
          type="search"
          data-filter
          aria-label="Search in the file"
          placeholder="Search in the file"
          value={wanted}
          onChange={(event) => {
            setWanted(event.target.value);
            setAt(-1);
          }}
        />
        <span className="muted" role="status">
          {wanted &&
            (hits.length
              ? `${at < 0 ? "" : `${at + 1} of `}${hits.length} ${hits.length === 1 ? "line" : "lines"}`
              : "not found")}
        </span>
        <button type="submit" className="button" disabled={!hits.length}>
          Next
        </button>
      </form>
      <div
        ref={body}
        className={isMany ? "code virtual" : "code"}
        role="region"
        aria-label={`${file}, ${lines.length} lines`}
        style={isMany ? { height: virtual.getTotalSize() } : undefined}
      >
        {rows.map(({ number, start }) => (
          <div
            key={number}
            className="code-row"
            data-index={number - 1}
            data-line={number}
            data-chosen={number === line}
            ref={isMany ? virtual.measureElement : undefined}
            style={start === undefined ? undefined : { transform: `translateY(${start}px)` }}
          >
            <a
              className="code-number"
              href={addressOf(number)}
              aria-label={`line ${number}`}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                shown.current = number;
                onLine(number);
              }}
            >
              <span aria-hidden="true">{markOf(byLine.get(number))}</span>
              {number}
            </a>
            <code className="code-text">
              {wordsOf(lines[number - 1] ?? "", file).map((word, place) => (
                <Piece key={place} of={word} wanted={wanted} onType={onType} />
              ))}
            </code>
            {byLine.get(number)?.map((one) => (
              <p key={`${one.code}${one.column}${one.message}`} className="code-finding">
                <span className={one.severity === "error" ? "tone-error" : "tone-degraded"}>
                  {one.severity === "error" ? "✖" : "▲"} {one.severity}
                </span>{" "}
                {one.message}
                {one.hint && <span className="muted">: {one.hint}</span>}
              </p>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function markOf(findings: readonly FindingData[] | undefined): string {
  if (!findings) return "";
  return findings.some(({ severity }) => severity === "error") ? "✖ " : "▲ ";
}

interface PieceProps {
  of: Word;
  wanted: string;
  onType: ((name: string) => void) | undefined;
}

function Piece({ of, wanted, onType }: PieceProps): ReactNode {
  const text = <Marked text={of.text} wanted={wanted} />;
  if (of.is === "type" && onType) {
    return (
      <button
        type="button"
        className="code-type"
        title={`What ${of.text} is`}
        onClick={() => onType(of.text)}
        onFocus={() => onType(of.text)}
      >
        {text}
      </button>
    );
  }
  return of.is === "plain" ? text : <span className={`code-${of.is}`}>{text}</span>;
}

/** A text with the places that are searched marked. */
function Marked({ text, wanted }: { text: string; wanted: string }): ReactNode {
  const places = placesIn(text, wanted);
  if (!places.length) return text;
  let from = 0;
  return (
    <>
      {places.map((place) => {
        const before = text.slice(from, place);
        from = place + wanted.length;
        return (
          <span key={place}>
            {before}
            <mark>{text.slice(place, from)}</mark>
          </span>
        );
      })}
      {text.slice(from)}
    </>
  );
}
