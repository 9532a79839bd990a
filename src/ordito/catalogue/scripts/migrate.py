"""Brings a database to what the files of migrations say; undone, takes back what this execution applied."""

from __future__ import annotations

from collections.abc import Sequence

import block_migrations
import ordito_block as block
from block_databases import database
from block_migrations import AppliedMeanwhile, AppliedMigration, History, Migration


def execute() -> block.Outputs:
    found = block_migrations.find()
    used = database()
    history = History(used, create=block.flag("create", default=False))
    applied = history.applied()
    waiting = _waiting(found, applied)
    by = block.execution()
    # Of an attempt that was cut off this execution finds here what it had done.
    done = [m.name for m in found if by and m.name in applied and applied[m.name].by == by]
    block.say(f"{used.shown}: {len(applied)} migrations applied so far, {len(waiting)} to apply")
    for migration in waiting:
        if migration.down is None:
            block.say(f"{migration.name} has no file {migration.name}.down.sql: it cannot be undone")
        try:
            history.apply(migration, by)
        except AppliedMeanwhile:
            block.say(f"{migration.name} was applied meanwhile")
            if by and history.applied()[migration.name].by == by:
                done.append(migration.name)
        except block.Failed:
            _clear_away(history, found, done)
            raise
        else:
            done.append(migration.name)
            block.say(f"applied {migration.name}")
    newest = max([*applied, *done], key=block_migrations.order, default="")
    return {"applied": done, "version": newest}


def undo(outputs: block.Outputs) -> block.Outputs:
    names = outputs.get("applied") or []
    if not isinstance(names, list) or not names:
        block.say("nothing to undo: no migration was applied")
        return block.UNCHANGED
    known = {migration.name: migration for migration in block_migrations.find()}
    used = database()
    history = History(used, create=False)
    applied = history.applied()
    back = [name for name in sorted(map(str, names), key=block_migrations.order, reverse=True) if name in applied]
    _refuse_stuck(back, known, applied)
    for name in back:
        history.take_back(known[name])
        block.say(f"took back {name}")
    return {"undone": back}


def _waiting(found: Sequence[Migration], applied: dict[str, AppliedMigration]) -> list[Migration]:
    for migration in found:
        before = applied.get(migration.name)
        if before is not None and before.digest != migration.digest:
            raise block.Failed(
                f"{migration.name} was applied with other content than its file has now",
                "leave files as they were applied, and put what is to change into a new migration",
            )
    waiting = [migration for migration in found if migration.name not in applied]
    known = {migration.name for migration in found}
    if others := sorted(set(applied) - known, key=block_migrations.order):
        block.say(f"the database has had migrations that the files do not know: {', '.join(others)}")
    newest = max((block_migrations.order(name) for name in applied if name in known), default=(-1, ""))
    if late := [migration.name for migration in waiting if migration.order < newest]:
        raise block.Failed(
            f"{late[0]} has not been applied, and {newest[1]}, which comes after it, has",
            "give it a number above those that were applied",
        )
    return waiting


def _refuse_stuck(back: Sequence[str], known: dict[str, Migration], applied: dict[str, AppliedMigration]) -> None:
    """Undoing stops at nothing: what cannot be undone is said before anything is."""
    for name in back:
        if name not in known:
            raise block.Failed(f"{name} cannot be undone: its files are not there")
        if known[name].down is None:
            raise block.Failed(f"{name} cannot be undone: it has no file {name}.down.sql; nothing was undone")
    if back and (later := [n for n in applied if n not in back and block_migrations.order(n) > _order(back)]):
        raise block.Failed(
            f"{back[-1]} cannot be undone: {later[0]} was applied after it, by something else; nothing was undone",
            "undo that first",
        )


def _order(back: Sequence[str]) -> tuple[int, str]:
    return block_migrations.order(back[-1])


def _clear_away(history: History, found: Sequence[Migration], done: Sequence[str]) -> None:
    """After a failure: leave the schema as it was before this execution, unless the config wants it otherwise."""
    if not done or block.text("when_one_fails", "undo") == "keep":
        return
    known = {migration.name: migration for migration in found}
    for name in reversed(done):
        if known[name].down is None:
            block.tell(f"{name} stays applied: it has no file {name}.down.sql")
            return
        try:
            history.take_back(known[name])
        except block.Failed as failure:
            block.tell(f"{name} stays applied: {failure.message}")
            return
        block.tell(f"took back {name}, since a later one failed")


if __name__ == "__main__":
    block.run(execute, undo)
