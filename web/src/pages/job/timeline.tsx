import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";

import { useKeys } from "../../shell/keys.ts";
import { type Course, WORDS } from "./course.ts";
import { barAt, busyness, momentAt, type Paints, paint, paintWhole, ROW, SCALE, type Scene, TONES } from "./paint.ts";
import { moved, type Span, told, within, zoomed } from "./span.ts";

interface TimelineProps {
  course: Course;
  /** Grows with every change of the course. */
  revision: number;
  rows: readonly number[];
  withIdle: boolean;
  /** The id of the step that is chosen, "" for none. */
  chosen: string;
  onChoose: (id: string) => void;
}

const STRIP = 36;
const DRAGGED = 4;
/** How often it is drawn while something runs, in milliseconds. */
const PACE = 1_000;

/** All steps of a job by instance and time, drawn. The table beside it has the same for who cannot see or use this. */
export function Timeline({ course, revision, rows, withIdle, chosen, onChoose }: TimelineProps): ReactNode {
  const scroll = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const strip = useRef<HTMLCanvasElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [height, setHeight] = useState(0);
  const [part, setPart] = useState<Span>();
  const [hovered, setHovered] = useState(-1);
  const [brush, setBrush] = useState<Span>();
  const dragged = useRef<{ from: number; x: number; of: "rows" | "strip" }>(undefined);

  const isRunning = course.status === "running";
  const now = isRunning ? Math.max(course.latest, Date.now() - course.t0) : course.latest;
  const whole = Math.max(1, course.ended >= 0 ? Math.max(course.ended, course.latest) : now);
  const span = part ? within(part, whole) : { from: 0, to: whole };
  const names = Math.min(224, Math.max(96, Math.round(width * 0.24)));
  const bar = chosen ? course.lastOf(chosen) : -1;
  const scene: Scene = {
    course,
    rows,
    span,
    width,
    height,
    names,
    withIdle,
    now,
    chosen: bar,
    brush,
    top: scroll.current?.scrollTop ?? 0,
  };
  const latest = useRef(scene);
  // Found out when the page changes, and not for every frame while it is scrolled.
  const paints = useRef<Paints>(undefined);
  latest.current = scene;
  const failed = useMemo(() => course.failures(), [course, revision]);
  const busy = useMemo(() => busyness(course, whole, width - names, now), [course, revision, width, names, whole, now]);

  useLayoutEffect(() => {
    const place = scroll.current;
    if (!place) return undefined;
    const measure = (): void => {
      setWidth(place.clientWidth);
      setHeight(place.clientHeight);
    };
    measure();
    const watcher = new ResizeObserver(measure);
    watcher.observe(place);
    return () => watcher.disconnect();
  }, []);

  const draw = (): void => {
    const context = prepared(canvas.current, latest.current.width, latest.current.height);
    if (!context || !paints.current || !scroll.current) return;
    paint(context, { ...latest.current, top: scroll.current.scrollTop }, paints.current);
  };
  useEffect(() => {
    paints.current = probe.current ? paintsOf(probe.current) : undefined;
    draw();
    const context = prepared(strip.current, width, STRIP);
    if (context && paints.current && width) {
      paintWhole(context, course, whole, brush ?? span, names, width, STRIP, paints.current, busy, failed);
    }
  });
  useTurns(isRunning);
  useTheme();
  // Scrolling draws at once, without going through the page.
  useEffect(() => {
    const place = scroll.current;
    let frame = 0;
    const soon = (): void => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        draw();
      });
    };
    place?.addEventListener("scroll", soon, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      place?.removeEventListener("scroll", soon);
    };
  }, []);
  // What is chosen elsewhere comes into sight.
  useEffect(() => {
    const place = scroll.current;
    if (!place || bar < 0 || !height) return;
    const row = rows.indexOf(course.row[bar]!) * ROW;
    if (row >= 0 && (row < place.scrollTop || row + ROW > place.scrollTop + height - SCALE)) {
      place.scrollTop = Math.max(0, row - (height - SCALE) / 2);
    }
    const [start, end] = [course.start[bar]!, course.end[bar]! < 0 ? now : course.end[bar]!];
    if (part && (end < span.from || start > span.to)) {
      const half = (span.to - span.from) / 2;
      setPart(within({ from: start - half, to: start + half }, whole));
    }
  }, [chosen, height > 0]);

  const zoom = (factor: number, around?: number): void => {
    const middle = around ?? (bar >= 0 ? course.start[bar]! : (span.from + span.to) / 2);
    const next = zoomed(span, middle, factor, whole);
    setPart(next.to - next.from >= whole ? undefined : next);
  };
  useKeys("Timeline", {
    "+": { does: "show a shorter time", run: () => zoom(0.5) },
    "-": { does: "show a longer time", run: () => zoom(2) },
    "0": { does: "show the whole time", run: () => setPart(undefined) },
  });

  const at = (event: PointerEvent<HTMLElement>): [number, number] => {
    const box = event.currentTarget.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const onDown =
    (of: "rows" | "strip") =>
    (event: PointerEvent<HTMLElement>): void => {
      const [x] = at(event);
      if (event.button !== 0 || x < names) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      dragged.current = { from: of === "rows" ? momentAt(scene, x) : momentOf(x), x, of };
    };
  const momentOf = (x: number): number => momentAt({ names, width, span: { from: 0, to: whole } }, x);
  const onMove = (event: PointerEvent<HTMLElement>): void => {
    const [x, y] = at(event);
    const begun = dragged.current;
    if (!begun) {
      if (event.currentTarget === scroll.current) setHovered(barAt({ ...scene, top: scroll.current.scrollTop }, x, y));
      return;
    }
    if (Math.abs(x - begun.x) < DRAGGED && !brush) return;
    const to = begun.of === "rows" ? momentAt(scene, x) : momentOf(x);
    setBrush({ from: Math.max(0, Math.min(begun.from, to)), to: Math.min(whole, Math.max(begun.from, to)) });
  };
  const onUp = (event: PointerEvent<HTMLElement>): void => {
    const begun = dragged.current;
    dragged.current = undefined;
    if (brush) {
      setPart(within(brush, whole));
      setBrush(undefined);
    } else if (begun?.of === "rows" && scroll.current) {
      const [x, y] = at(event);
      const found = barAt({ ...scene, top: scroll.current.scrollTop }, x, y);
      const id = found >= 0 ? course.id(found) : "";
      // A click on what is chosen lets it go.
      onChoose(id === chosen ? "" : id);
    } else if (begun) {
      const half = (span.to - span.from) / 2;
      setPart(within({ from: begun.from - half, to: begun.from + half }, whole));
    }
  };
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -0.25, ArrowRight: 0.25 }[event.key];
    if (by === undefined || !part) return;
    event.preventDefault();
    setPart(moved(span, by, whole));
  };
  const shown = hovered >= 0 && hovered < course.size ? hovered : bar;
  return (
    <div className="timeline">
      <div className="timeline-tools">
        <p className="timeline-about" aria-hidden="true">
          {shown >= 0 ? aboutBar(course, shown, now) : `${told(span.from)} to ${told(span.to)}`}
        </p>
        <div className="timeline-zoom" role="group" aria-label="Time that shows">
          <button
            type="button"
            className="icon"
            aria-label="Shorter time"
            title="Shorter time (+)"
            onClick={() => zoom(0.5)}
          >
            +
          </button>
          <button
            type="button"
            className="icon"
            aria-label="Longer time"
            title="Longer time (-)"
            onClick={() => zoom(2)}
          >
            −
          </button>
          <button
            type="button"
            className="button"
            disabled={!part}
            title="The whole time (0)"
            onClick={() => setPart(undefined)}
          >
            Whole
          </button>
        </div>
      </div>
      <canvas
        ref={strip}
        className="timeline-strip"
        aria-hidden="true"
        onPointerDown={onDown("strip")}
        onPointerMove={onMove}
        onPointerUp={onUp}
      />
      <div
        ref={scroll}
        className="timeline-rows"
        data-steps={course.size}
        role="group"
        aria-label="Timeline: rows are instances, bars their steps; the table has the same"
        tabIndex={0}
        onKeyDown={onKey}
        onPointerDown={onDown("rows")}
        onPointerMove={onMove}
        onPointerUp={onUp}
        onPointerLeave={() => setHovered(-1)}
        onDoubleClick={() => setPart(undefined)}
        onWheel={(event) =>
          event.ctrlKey && zoom(event.deltaY > 0 ? 1.25 : 0.8, momentAt(scene, event.nativeEvent.offsetX))
        }
      >
        <canvas ref={canvas} className="timeline-canvas" aria-hidden="true" />
        <div style={{ height: Math.max(0, rows.length * ROW + SCALE - height) }} />
      </div>
      <div ref={probe} hidden>
        {Object.entries(TONES).map(([letter, tone]) => (
          <span key={letter} data-letter={letter} className={`tone-${tone}`} />
        ))}
        <span data-name="muted" className="muted" />
        <span data-name="edge" className="timeline-edge" />
        <span data-name="page" className="timeline-page" />
        <span data-name="chosen" className="timeline-chosen" />
        <span data-name="accent" className="timeline-accent" />
      </div>
    </div>
  );
}

/** One bar in words. */
export function aboutBar(course: Course, number: number, now: number): string {
  const { instance, operation, letter, start, end, attempt } = course.bar(number);
  const took = attempt ? `, ${told((end < 0 ? now : end) - start)}` : "";
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const critical = course.critical.has(number) ? ", decides how long the job takes" : "";
  return `${instance} ${operation}: ${WORDS[letter]}${took}${again}${critical}`;
}

function prepared(
  canvas: HTMLCanvasElement | null,
  width: number,
  height: number,
): CanvasRenderingContext2D | undefined {
  if (!canvas || !width || !height) return undefined;
  const scale = window.devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d") ?? undefined;
  context?.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

/** The colours as they are now: they change with the theme. */
function paintsOf(probe: HTMLElement): Paints {
  const own = getComputedStyle(probe);
  const named: Record<string, string> = {};
  const tone: Record<string, string> = {};
  for (const one of probe.children as HTMLCollectionOf<HTMLElement>) {
    const { color } = getComputedStyle(one);
    if (one.dataset["letter"]) tone[one.dataset["letter"]] = color;
    else named[one.dataset["name"] ?? ""] = color;
  }
  const { muted = "", edge = "", page = "", chosen = "", accent = "" } = named;
  return { font: `${own.fontSize} ${own.fontFamily}`, text: own.color, muted, edge, page, chosen, accent, tone };
}

/** Draws again from time to time, as long as something runs. */
function useTurns(isOn: boolean): void {
  const [, turn] = useState(0);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => turn((count) => count + 1), PACE);
    return () => clearInterval(timer);
  }, [isOn]);
}

/** Draws again when the colours change. */
function useTheme(): void {
  const [, turn] = useState(0);
  useEffect(() => {
    const again = (): void => turn((count) => count + 1);
    const system = matchMedia("(prefers-color-scheme: dark)");
    const watcher = new MutationObserver(again);
    system.addEventListener("change", again);
    watcher.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      system.removeEventListener("change", again);
      watcher.disconnect();
    };
  }, []);
}
