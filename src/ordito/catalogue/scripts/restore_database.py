"""Restores a database from a backup; as it is now it is backed up before that, and becomes so again when undone."""

from __future__ import annotations

from pathlib import Path

import block_backups
import ordito_block as block
from block_databases import Sqlite, database


def execute() -> block.Outputs:
    used = database()
    source = block_backups.chosen(used.suffix)
    folder = block_backups.folder("before") if block.given("before") else source.parent
    before = folder / f"before-{block.execution_name()}{used.suffix}"
    if not before.exists():
        with block.replacing(before) as part:
            # Of a database that is not there the file stays empty.
            if used.exists:
                used.dump(part)
        block.say(f"{used.shown} as it is now was backed up to {before}")
    used.load(source)
    block.say(f"restored {used.shown} from {source}")
    return {**block_backups.described(before), "source": str(source)}


def undo(outputs: block.Outputs) -> block.Outputs:
    used = database()
    before = block_backups.of_outputs(outputs)
    if before.stat().st_size == 0 and isinstance(used, Sqlite):
        for suffix in ("", "-wal", "-shm", "-journal"):
            Path(f"{used.place}{suffix}").unlink(missing_ok=True)
        block.say(f"removed {used.shown}, which was not there")
        return {}
    used.load(before)
    block.say(f"restored {used.shown} from {before}")
    return {"restored": str(before)}


if __name__ == "__main__":
    block.run(execute, undo)
