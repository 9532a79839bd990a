"""Backs up files and folders; undone, restores them where the config wants that, and else leaves the backup alone."""

from __future__ import annotations

import os
from pathlib import Path

import block_archives
import block_backups
import ordito_block as block


def execute() -> block.Outputs:
    block_backups.restores_on_undo()
    paths = [Path(os.path.realpath(block.absolute("paths", path))) for path in block.texts("paths")]
    if not paths:
        raise block.misconfigured("paths", "it names nothing")
    if missing := [path for path in paths if not path.exists()]:
        raise block.Failed(f"there is nothing at {missing[0]}", "see whether the path is right")
    folder = block_backups.folder("target")
    real = Path(os.path.realpath(folder))
    if around := [path for path in paths if path == real or path in real.parents]:
        raise block.misconfigured("target", f"{folder} lies in {around[0]}, which is to be backed up")
    place = folder / f"{block.execution_name()}{block_archives.SUFFIX}"
    if place.exists():
        # An attempt that was cut off has made it: it is whole, and is of the earlier moment.
        block.say(f"{place} is there already")
    else:
        with block.replacing(place) as part:
            count = block_archives.pack(paths, part)
        block.say(f"backed up {count} files and folders to {place}")
    return block_backups.described(place)


def undo(outputs: block.Outputs) -> block.Outputs:
    place = block_backups.of_outputs(outputs)
    if not block_backups.restores_on_undo():
        block.say(f"nothing was restored, as the config says; the backup is {place}")
        return block.UNCHANGED
    return {"restored": block_archives.unpack(place)}


if __name__ == "__main__":
    block.run(execute, undo)
