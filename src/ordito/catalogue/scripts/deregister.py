"""Removes a name from DNS, all that it has of one type; undone, puts that back."""

from __future__ import annotations

import block_dns
import ordito_block as block


def execute() -> block.Outputs:
    zone = block_dns.zone()
    before = block.noted(lambda: zone.now().plain())
    nothing = block_dns.Records((), 0)
    zone.change(None, nothing)
    was = block_dns.of_plain(before).values
    block.say(f"{zone.name} {zone.type}: removed, {'was ' + ', '.join(was) if was else 'though it was not there'}")
    return {"name": zone.name, "made": nothing.plain(), "before": before}


if __name__ == "__main__":
    block.run(execute, block_dns.go_back)
