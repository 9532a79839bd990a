import type { ReactNode } from "react";

import type { PictureBox, PlanTopologyData } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Wait } from "../../parts/wait.tsx";
import { WORDS } from "./changes.ts";

/** The letters of the picture, by what they stand for. */
const LETTERS: Readonly<Record<string, string>> = { "+": "+", "~": "~", r: "-/+", "-": "-", "=": "=", "?": "?" };

/** What the plan changes, as a picture: boxes in their hosts, with what happens in them. The changes are its table. */
export function PlanGraph({ path }: { path: { project: string; ensemble: string; id: string } }): ReactNode {
  const found = useLook("GET /projects/{project}/ensembles/{ensemble}/plans/{id}/topology", { path });
  return (
    <Wait for={found} title="The picture could not be drawn" lines={6}>
      {(data) => (
        <>
          <p className="plan-narrow muted">The picture needs a wider window. What changes stands in Changes.</p>
          <div className="plan-graph" tabIndex={0} role="group" aria-label="Picture, scrolls">
            <Picture of={data} />
          </div>
        </>
      )}
    </Wait>
  );
}

/** The boxes with places in the whole picture: each has its own within the box in which it stands. */
function placed(boxes: readonly PictureBox[]): Map<string, PictureBox> {
  const found = new Map<string, PictureBox>();
  for (const box of boxes) {
    const around = found.get(box.parent);
    found.set(box.id, around ? { ...box, x: box.x + around.x, y: box.y + around.y } : box);
  }
  return found;
}

function Picture({ of: { size, boxes, edges, nodes } }: { of: PlanTopologyData }): ReactNode {
  const by = placed(boxes);
  return (
    <svg
      viewBox={`-8 -8 ${size[0] + 16} ${size[1] + 16}`}
      width={size[0] + 16}
      height={size[1] + 16}
      role="img"
      aria-label={`${nodes} nodes, with what the plan changes in each; the tab Changes says the same in words`}
    >
      {[...by.values()].map((box) => (
        <Box key={box.id} of={box} />
      ))}
      {edges.map((edge) => {
        const from = by.get(edge.source);
        const to = by.get(edge.target);
        // What stands in another says by that where it is hosted.
        if (!from || !to || from.parent === to.id) return null;
        return (
          <path key={`${edge.source}>${edge.target}>${edge.requirement}`} className="plan-edge" d={line(from, to)} />
        );
      })}
    </svg>
  );
}

/** A curve from the side of a box to the nearest side of another. */
function line(from: PictureBox, to: PictureBox): string {
  const middle = (box: PictureBox): [number, number] => [box.x + box.w / 2, box.y + box.h / 2];
  const [x1, y1] = middle(from);
  const [x2, y2] = middle(to);
  if (Math.abs(x2 - x1) >= Math.abs(y2 - y1)) {
    const [begin, end] = x2 > x1 ? [from.x + from.w, to.x] : [from.x, to.x + to.w];
    const half = (begin + end) / 2;
    return `M${begin} ${y1} C${half} ${y1} ${half} ${y2} ${end} ${y2}`;
  }
  const [begin, end] = y2 > y1 ? [from.y + from.h, to.y] : [from.y, to.y + to.h];
  const half = (begin + end) / 2;
  return `M${x1} ${begin} C${x1} ${half} ${x2} ${half} ${x2} ${end}`;
}

function Box({ of }: { of: PictureBox }): ReactNode {
  const counts = Object.entries(of.counts).filter(([, count]) => count > 0);
  const fits = Math.max(4, Math.floor((of.w - 16) / 7.5));
  return (
    <g className={counts.length ? "plan-box changed" : "plan-box"}>
      <title>{`${of.title}, ${of.type}`}</title>
      <rect x={of.x} y={of.y} width={of.w} height={of.h} rx={5} />
      <text x={of.x + 8} y={of.y + 17}>
        {of.title.length > fits ? `${of.title.slice(0, fits - 1)}…` : of.title}
      </text>
      <text x={of.x + 8} y={of.y + 33} className="plan-counts">
        {counts.map(([letter, count]) => {
          const symbol = LETTERS[letter] ?? letter;
          return (
            <tspan key={letter} className={`fill-${WORDS[symbol]?.tone ?? "unknown"}`}>
              {symbol}
              {count}{" "}
            </tspan>
          );
        })}
      </text>
    </g>
  );
}
