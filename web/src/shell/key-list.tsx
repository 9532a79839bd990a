import { type ReactNode, useState } from "react";

import { Dialog } from "../parts/dialog.tsx";
import { lettersAreOn, presentKeys, switchLetters } from "./keys.ts";

/** The keys that hold now, and the switch for single letters. */
export function KeyList({ onClose }: { onClose: () => void }): ReactNode {
  const [groups] = useState(presentKeys);
  const [isOn, setOn] = useState(lettersAreOn);
  return (
    <Dialog title="Keys" onClose={onClose}>
      {groups.map(({ of, keys }, at) => (
        <section key={`${of}-${at}`}>
          <h3>{of}</h3>
          <dl className="keys">
            {keys.map(([key, does]) => (
              <div key={key}>
                <dt>
                  {key.split(" ").map((part, place) => (
                    <kbd key={place}>{part.replace("Ctrl+k", "Ctrl K").replace("Escape", "Esc")}</kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <label className="check">
        <input
          type="checkbox"
          checked={isOn}
          onChange={(event) => {
            switchLetters(event.target.checked);
            setOn(event.target.checked);
          }}
        />
        Single letters do something
      </label>
    </Dialog>
  );
}
