"""Registers a name in DNS, in place of all that it has of that type; undone, makes it what it was."""

from __future__ import annotations

import block_dns
import ordito_block as block


def execute() -> block.Outputs:
    zone = block_dns.zone()
    wanted = block_dns.wanted(zone.type)
    before = block.noted(lambda: zone.now().plain())
    zone.change(None, wanted)
    if (now := zone.now().values) != wanted.values:
        # Servers pass over what cannot be beside other records, and say that all is well.
        raise block.Failed(
            f"{zone.name} {zone.type} is {', '.join(now) or 'nothing'} after the update",
            "see whether the name has records of another type that exclude this one",
        )
    block.say(f"{zone.name} {zone.type}: {', '.join(wanted.values)}")
    return {"name": zone.name, "made": wanted.plain(), "before": before}


if __name__ == "__main__":
    block.run(execute, block_dns.go_back)
