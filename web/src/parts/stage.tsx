import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";

import { useKeys } from "../shell/keys.ts";
import { centred, type Extent, fitted, kept, type View, zoomed } from "./view.ts";
import "./stage.css";

const STEP = 1.25;
/** Pixels that an arrow key moves the picture. */
const PACE = 60;
/** Pixels from which on a pointer moves the picture, instead of choosing what is under it. */
const SLIP = 4;
/** Pixels of a line, where a wheel counts lines. */
const LINE = 16;

/** A picture in its frame. It is moved without being rendered again: only who watches its size is told. */
export class StageView {
  #view: View = { x: 0, y: 0, zoom: 1 };
  #picture: Extent = { w: 1, h: 1 };
  #frame: HTMLElement | null = null;
  #content: HTMLElement | null = null;
  #isFitted = false;
  readonly #watchers = new Set<() => void>();

  get view(): View {
    return this.#view;
  }

  watch(told: () => void): () => void {
    this.#watchers.add(told);
    return () => this.#watchers.delete(told);
  }

  /** The size of the picture, and the elements that show it; the first time it is fitted in. */
  show(picture: Extent, frame: HTMLElement | null, content: HTMLElement | null): void {
    this.#picture = picture;
    this.#frame = frame;
    this.#content = content;
    if (frame && !this.#isFitted) this.fit();
    this.#isFitted = frame !== null;
  }

  fit(): void {
    this.set(fitted(this.#picture, this.frame));
  }

  /** So many times as large, about a point of the frame; about its middle without one. */
  zoomBy(times: number, x = this.frame.w / 2, y = this.frame.h / 2): void {
    this.set(zoomed(this.#view, times, x, y));
  }

  moveBy(x: number, y: number): void {
    this.set({ ...this.#view, x: this.#view.x + x, y: this.#view.y + y });
  }

  /** Move to a place of the picture if it does not show, and make it at least so large. */
  reveal(at: { x: number; y: number }, least: number): void {
    const { x, y, zoom } = this.#view;
    const [left, top] = [at.x * zoom + x, at.y * zoom + y];
    const isInside = left > 0 && left < this.frame.w && top > 0 && top < this.frame.h;
    if (!isInside) this.set(centred(at, Math.max(zoom, least), this.frame));
  }

  set(view: View): void {
    const before = this.#view;
    this.#view = kept(view, this.#picture, this.frame);
    if (this.#content) {
      const { x, y, zoom } = this.#view;
      this.#content.style.transform = `translate(${x}px,${y}px) scale(${zoom})`;
    }
    if (before.zoom !== this.#view.zoom) for (const told of this.#watchers) told();
  }

  private get frame(): Extent {
    return { w: this.#frame?.clientWidth ?? 1, h: this.#frame?.clientHeight ?? 1 };
  }
}

export function useStage(): StageView {
  return useState(() => new StageView())[0];
}

/** Whether the picture is smaller than so many times its own size. */
export function useIsFar(stage: StageView, below: number): boolean {
  return useSyncExternalStore(
    (told) => stage.watch(told),
    () => stage.view.zoom < below,
  );
}

interface StageProps {
  stage: StageView;
  /** The width and height of the picture. */
  size: readonly number[];
  label: string;
  /** What is beside everything in it was clicked. */
  onNothing?: () => void;
  children: ReactNode;
}

/**
 * The frame of a picture that may be larger: it is moved with the mouse, the wheel, fingers or arrow keys, and made
 * larger and smaller with Ctrl and the wheel, two fingers, keys or buttons.
 */
export function Stage({ stage, size, label, onNothing, children }: StageProps): ReactNode {
  const [w = 1, h = 1] = size;
  const frame = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    stage.show({ w: Math.max(1, w), h: Math.max(1, h) }, frame.current, content.current);
  }, [stage, w, h]);
  useWheel(frame, stage);
  const drags = useDragging(stage);
  const keys = {
    f: { does: "fit the picture into the window", run: () => stage.fit() },
    "1": { does: "show the picture in its own size", run: () => stage.zoomBy(1 / stage.view.zoom) },
    "+": { does: "larger", run: () => stage.zoomBy(STEP) },
    "-": { does: "smaller", run: () => stage.zoomBy(1 / STEP) },
  };
  useKeys("Picture", keys);
  const onArrow = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (!by || event.target !== event.currentTarget) return;
    event.preventDefault();
    stage.moveBy((by[0] ?? 0) * PACE, (by[1] ?? 0) * PACE);
  };
  return (
    <div className="stage">
      <div
        ref={frame}
        className="stage-frame"
        role="group"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onArrow}
        onClick={(event) => {
          if (event.target === event.currentTarget || event.target === content.current) onNothing?.();
        }}
        // What gets the focus is scrolled to by the browser: the picture is moved there instead.
        onScroll={({ currentTarget: it }) => {
          if (it.scrollLeft || it.scrollTop) stage.moveBy(-it.scrollLeft, -it.scrollTop);
          it.scrollTo(0, 0);
        }}
        {...drags}
      >
        <div ref={content} className="stage-content" style={{ width: w, height: h }}>
          {children}
        </div>
      </div>
      <div className="stage-zoom" role="group" aria-label="Size of the picture">
        <button type="button" className="button" onClick={keys["+"].run} aria-label="Larger">
          +
        </button>
        <button type="button" className="button" onClick={keys["-"].run} aria-label="Smaller">
          −
        </button>
        <button type="button" className="button" onClick={keys["1"].run}>
          1:1
        </button>
        <button type="button" className="button" onClick={keys.f.run}>
          Fit
        </button>
      </div>
    </div>
  );
}

function useWheel(frame: { current: HTMLElement | null }, stage: StageView): void {
  useEffect(() => {
    const element = frame.current;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
      const [across, down] = [event.deltaX * unit, event.deltaY * unit];
      if (event.ctrlKey || event.metaKey) {
        const box = element.getBoundingClientRect();
        stage.zoomBy(2 ** (-down / 100), event.clientX - box.left, event.clientY - box.top);
      } else if (event.shiftKey && !across) stage.moveBy(-down, 0);
      else stage.moveBy(-across, -down);
    };
    // React's own handlers cannot keep the page from being scrolled.
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [frame, stage]);
}

type Handler = (event: PointerEvent<HTMLElement>) => void;

interface Dragging {
  onPointerDown: Handler;
  onPointerMove: Handler;
  onPointerUp: Handler;
  onPointerCancel: Handler;
  onClickCapture: (event: { stopPropagation: () => void }) => void;
}

/** One pointer moves the picture; with two of them it is made larger and smaller too. */
function useDragging(stage: StageView): Dragging {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const state = useRef({ moved: 0 });
  const end: Handler = (event) => void pointers.current.delete(event.pointerId);
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      if (!pointers.current.size) state.current.moved = 0;
      pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    },
    onPointerMove: (event) => {
      const before = pointers.current.get(event.pointerId);
      if (!before) return;
      // It was let go somewhere else.
      if (!event.buttons) return end(event);
      const now = { x: event.clientX, y: event.clientY };
      const moved = Math.hypot(now.x - before.x, now.y - before.y);
      if (state.current.moved < SLIP && moved < SLIP) return;
      state.current.moved += moved;
      event.currentTarget.setPointerCapture(event.pointerId);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const box = event.currentTarget.getBoundingClientRect();
        const far = (one: { x: number; y: number }): number => Math.hypot(one.x - other.x, one.y - other.y) || 1;
        stage.zoomBy(far(now) / far(before), other.x - box.left, other.y - box.top);
      } else stage.moveBy(now.x - before.x, now.y - before.y);
      pointers.current.set(event.pointerId, now);
    },
    onPointerUp: end,
    onPointerCancel: end,
    onClickCapture: (event) => {
      // What was moved is not chosen.
      if (state.current.moved >= SLIP) event.stopPropagation();
      state.current.moved = 0;
    },
  };
}
