import type { ReactNode } from "react";

import type { PictureBox, TopologyData } from "../../api/types.ts";

const PAD = 8;
const LINE = 16;
/** Pixels that a letter takes, roughly. */
const LETTER = 7.2;

/** The boxes and lines of a service, as the server has laid them out. */
export function Picture({ of }: { of: TopologyData }): ReactNode {
  const [width, height] = of.size;
  const places = placed(of.boxes);
  const parents = new Set(of.boxes.map(({ parent }) => parent));
  return (
    // It can be scrolled with the keyboard as well.
    <div className="packages-picture" tabIndex={0} role="region" aria-label="Graph of the service">
      <svg
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-label={`${of.nodes} nodes and how they are connected`}
      >
        <defs>
          <marker
            id="packages-arrow"
            viewBox="0 0 8 8"
            refX="8"
            refY="4"
            markerWidth="8"
            markerHeight="8"
            orient="auto-start-reverse"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {[...places.values()].map((box) => (
          <Box key={box.id} of={box} isParent={parents.has(box.id)} />
        ))}
        {of.edges.map((edge) => {
          const [from, to] = [places.get(edge.source), places.get(edge.target)];
          return (
            from &&
            to && (
              <path
                key={`${edge.source} ${edge.requirement} ${edge.target}`}
                d={way(from, to)}
                markerEnd="url(#packages-arrow)"
              />
            )
          );
        })}
      </svg>
    </div>
  );
}

/** The boxes by their ids, with places in the whole picture; each is told behind the one in which it stands. */
function placed(boxes: readonly PictureBox[]): Map<string, PictureBox> {
  const found = new Map<string, PictureBox>();
  for (const box of boxes) {
    const parent = found.get(box.parent);
    found.set(box.id, { ...box, x: box.x + (parent?.x ?? 0), y: box.y + (parent?.y ?? 0) });
  }
  return found;
}

function Box({ of, isParent }: { of: PictureBox; isParent: boolean }): ReactNode {
  const most = Math.max(4, Math.floor((of.w - 2 * PAD) / LETTER));
  const type = of.folded ? `${of.nodes} nodes` : (of.type.split(".").at(-1) ?? "");
  return (
    <g>
      <title>{`${of.title} ${of.type}`}</title>
      <rect x={of.x} y={of.y} width={of.w} height={of.h} rx="6" />
      <text x={of.x + PAD} y={of.y + PAD + LINE * 0.7}>
        {cut(of.title, most)}
      </text>
      {!isParent && (
        // What stands in a box begins right below its title.
        <text className="muted" x={of.x + PAD} y={of.y + PAD + LINE * 1.7}>
          {cut(type, most)}
        </text>
      )}
    </g>
  );
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A curve from the border of one box to that of another. */
function way(from: PictureBox, to: PictureBox): string {
  const isRight = to.x >= from.x + from.w;
  const isLeft = from.x >= to.x + to.w;
  if (isRight || isLeft) {
    const [x1, x2] = isRight ? [from.x + from.w, to.x] : [from.x, to.x + to.w];
    const [y1, y2] = [from.y + from.h / 2, to.y + to.h / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  const isBelow = to.y >= from.y + from.h;
  const [y1, y2] = isBelow ? [from.y + from.h, to.y] : [from.y, to.y + to.h];
  const [x1, x2] = [from.x + from.w / 2, to.x + to.w / 2];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}
