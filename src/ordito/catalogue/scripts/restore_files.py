"""Restores files and folders from a backup; what is there now is backed up before that, and put back when undone."""

from __future__ import annotations

from pathlib import Path

import block_archives
import block_backups
import ordito_block as block


def execute() -> block.Outputs:
    source = block_backups.chosen(block_archives.SUFFIX)
    packed = block_archives.read(source)
    folder = block_backups.folder("before") if block.given("before") else source.parent
    before = folder / f"before-{block.execution_name()}{block_archives.SUFFIX}"
    if not before.exists():
        with block.replacing(before) as part:
            block_archives.pack([Path(path) for path, _ in packed.paths], part)
        block.say(f"what is there now was backed up to {before}")
    restored = block_archives.unpack(source)
    return {**block_backups.described(before), "restored": restored, "source": str(source)}


def undo(outputs: block.Outputs) -> block.Outputs:
    return {"restored": block_archives.unpack(block_backups.of_outputs(outputs))}


if __name__ == "__main__":
    block.run(execute, undo)
