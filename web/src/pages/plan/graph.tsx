import type { ReactNode } from "react";

import type { PictureBox } from "../../api/types.ts";
import { useLook } from "../../api/use.ts";
import { Drawing } from "../../parts/drawing.tsx";
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
          <Drawing
            of={data}
            label="Picture of the plan"
            about={`${data.nodes} nodes, with what the plan changes in each; the tab Changes says the same in words`}
            line={(box) => <Counts of={box} />}
            isFaint={(box) => !countsOf(box).length}
          />
        </>
      )}
    </Wait>
  );
}

function countsOf(box: PictureBox): [letter: string, count: number][] {
  return Object.entries(box.counts).filter(([, count]) => count > 0);
}

function Counts({ of }: { of: PictureBox }): ReactNode {
  return countsOf(of).map(([letter, count]) => {
    const symbol = LETTERS[letter] ?? letter;
    return (
      <tspan key={letter} className={`plan-count fill-${WORDS[symbol]?.tone ?? "unknown"}`}>
        {symbol}
        {count}{" "}
      </tspan>
    );
  });
}
