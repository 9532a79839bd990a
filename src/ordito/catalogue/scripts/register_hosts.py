"""Registers names of hosts in a file of hosts; undone, makes them what they were."""

from __future__ import annotations

import block_hosts
import ordito_block as block


def execute() -> block.Outputs:
    names, address = block_hosts.names(), block_hosts.address()
    with block_hosts.opened() as hosts:
        hosts.foreign(names)
        before = block.noted(lambda: {name: hosts.ours.get(name.lower()) for name in names})
        hosts.put(dict.fromkeys(names, address))
    block.say(f"{', '.join(names)}: {address}, in {hosts.place}")
    return {"names": names, "address": address, "before": before}


def undo(outputs: block.Outputs) -> block.Outputs:
    before, names = outputs.get("before"), outputs.get("names")
    if not isinstance(before, dict) or not isinstance(names, list):
        raise block.Failed("the record does not say what was there before")
    block_hosts.go_back(before, dict.fromkeys(map(str, names), str(outputs["address"])))
    return {}


if __name__ == "__main__":
    block.run(execute, undo)
