import { type ReactNode, useEffect, useId, useRef } from "react";

import type { FindingData } from "../api/types.ts";
import "./editor.css";

interface EditorProps {
  label: string;
  text: string;
  onText?: (text: string) => void;
  /** What is found about the text; those with a line are marked beside it. */
  findings?: readonly FindingData[];
  /** Lines that differ from another text. */
  marked?: ReadonlySet<number>;
  rows?: number;
}

/** A text with numbered lines, and findings beside them. */
export function Editor({ label, text, onText, findings = [], marked, rows = 24 }: EditorProps): ReactNode {
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const about = useId();
  const count = text.split("\n").length;
  const worst = new Map<number, string>();
  for (const { line, severity } of findings) {
    if (line !== null && worst.get(line) !== "error") worst.set(line, severity);
  }
  const follow = (): void => {
    if (gutter.current && area.current) gutter.current.scrollTop = area.current.scrollTop;
  };
  useEffect(follow, [text]);
  return (
    <div className="editor-whole">
      <div className="editor">
        <div className="editor-gutter" ref={gutter} aria-hidden="true">
          <pre>{Array.from({ length: count }, (_, at) => lineMark(at + 1, worst, marked)).join("\n")}</pre>
        </div>
        <textarea
          ref={area}
          aria-label={label}
          aria-describedby={findings.length ? about : undefined}
          aria-invalid={findings.some(({ severity }) => severity === "error") || undefined}
          value={text}
          rows={rows}
          wrap="off"
          spellCheck={false}
          autoCapitalize="off"
          autoComplete="off"
          readOnly={!onText}
          onScroll={follow}
          onChange={(event) => onText?.(event.target.value)}
        />
      </div>
      <ul id={about} className="editor-findings" aria-live="polite">
        {findings.map((one) => (
          <li key={`${one.line}:${one.column}:${one.code}:${one.message}`}>
            <button
              type="button"
              className="link"
              onClick={() => area.current && goTo(area.current, one.line, one.column)}
            >
              <span className={one.severity === "error" ? "tone-error" : "tone-degraded"}>
                {one.severity === "error" ? "✖" : "▲"} {one.severity}
              </span>{" "}
              {one.line !== null && (
                <span className="mono muted">
                  {one.line}:{one.column ?? 1}{" "}
                </span>
              )}
              {one.message}
              {one.hint && <span className="muted">: {one.hint}</span>}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function lineMark(line: number, worst: ReadonlyMap<number, string>, marked: ReadonlySet<number> | undefined): string {
  const severity = worst.get(line);
  const mark = severity ? (severity === "error" ? "✖" : "▲") : marked?.has(line) ? "●" : " ";
  return `${mark}${line}`;
}

/** Put the cursor to a place, and show it. */
function goTo(area: HTMLTextAreaElement, line: number | null, column: number | null): void {
  const lines = area.value.split("\n");
  const before = lines.slice(0, Math.max(0, (line ?? 1) - 1)).reduce((sum, one) => sum + one.length + 1, 0);
  const at = before + Math.max(0, (column ?? 1) - 1);
  area.focus();
  area.setSelectionRange(at, at);
  area.scrollTop = (area.scrollHeight * Math.max(0, (line ?? 1) - 4)) / lines.length;
}
