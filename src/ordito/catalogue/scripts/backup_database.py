"""Backs up a database while it is in use; undone, restores it where the config wants that."""

from __future__ import annotations

import block_backups
import ordito_block as block
from block_databases import database


def execute() -> block.Outputs:
    block_backups.restores_on_undo()
    used = database()
    place = block_backups.folder("target") / f"{block.execution_name()}{used.suffix}"
    if place.exists():
        # An attempt that was cut off has made it: it is whole, and is of the earlier moment.
        block.say(f"{place} is there already")
    else:
        with block.replacing(place) as part:
            used.dump(part)
        block.say(f"backed up {used.shown} to {place}")
    return block_backups.described(place)


def undo(outputs: block.Outputs) -> block.Outputs:
    place = block_backups.of_outputs(outputs)
    if not block_backups.restores_on_undo():
        block.say(f"nothing was restored, as the config says; the backup is {place}")
        return block.UNCHANGED
    used = database()
    used.load(place)
    block.say(f"restored {used.shown} from {place}")
    return {"restored": str(place)}


if __name__ == "__main__":
    block.run(execute, undo)
