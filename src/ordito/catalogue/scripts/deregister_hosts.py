"""Takes names of hosts out of a file of hosts, those that this block's sister has put there; undone, puts them back."""

from __future__ import annotations

import block_hosts
import ordito_block as block


def execute() -> block.Outputs:
    names = block_hosts.names()
    with block_hosts.opened() as hosts:
        before = block.noted(lambda: {name: hosts.ours.get(name.lower()) for name in names})
        hosts.put(dict.fromkeys(names))
    known = [name for name in names if isinstance(before, dict) and before.get(name)]
    block.say(f"no longer in {hosts.place}: {', '.join(known) or 'nothing, since none of the names was there'}")
    return {"names": names, "before": before}


def undo(outputs: block.Outputs) -> block.Outputs:
    before, names = outputs.get("before"), outputs.get("names")
    if not isinstance(before, dict) or not isinstance(names, list):
        raise block.Failed("the record does not say what was there before")
    block_hosts.go_back(before, dict.fromkeys(map(str, names)))
    return {}


if __name__ == "__main__":
    block.run(execute, undo)
