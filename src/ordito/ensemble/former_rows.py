"""Reads what former versions have written: the notes of instances in words, and the rows of journals."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import msgspec

from ordito.instances.records import StatusReason
from ordito.work.former_plans import plan_of_former, step_of_former

_REASONS = {
    "found to be absent": StatusReason.FOUND_ABSENT,
    "removed to be made again": StatusReason.REPLACED,
    "scaled in": StatusReason.SCALED_IN,
    "rolled back": StatusReason.ROLLED_BACK,
    "cannot be reached": StatusReason.UNREACHABLE,
    "it could not be found out how it is": StatusReason.UNANSWERED,
    "adopted": StatusReason.ADOPTED,
}
_WITH_HOST = "went with its host"


def reason_of_note(note: str) -> tuple[StatusReason, bool]:
    """The reason that a note means, and whether it says that the instance went with its host."""
    said = note.split(", ")
    return next((_REASONS[text] for text in said if text in _REASONS), StatusReason.NONE), _WITH_HOST in said


LAST_WITH_NOTES = 4
"""The last version of a journal whose rows have notes in place of reasons."""

LAST_FLAT = 5
"""The last version in whose rows all fields of a plan, and of a step, are side by side."""


def brought_up_to_date(db: sqlite3.Connection, version: int) -> None:
    """Convert all rows of a journal of a former version to those of ``version``, in one transaction. Raises
    ``sqlite3.Error``."""
    with closing(db.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        (found,) = cursor.execute("PRAGMA user_version").fetchone()
        if found <= LAST_WITH_NOTES:
            for table, key, column in _WITH_INSTANCES:
                rows = cursor.execute(f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?)", (_NOTE,))
                _replace(cursor, table, key, column, [(_with_reasons(body), name) for name, body in rows])
        if found <= LAST_FLAT:
            for table, key, column, changed in _WITH_PLANS:
                rows = cursor.execute(f"SELECT {key}, {column} FROM {table}")
                _replace(cursor, table, key, column, [(changed(body), name) for name, body in rows])
        cursor.execute(f"PRAGMA user_version = {version}")
        cursor.execute("COMMIT")


def _replace(cursor: sqlite3.Cursor, table: str, key: str, column: str, rows: list[tuple[bytes, object]]) -> None:
    cursor.executemany(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", rows)


def _grouped_plan(body: bytes) -> bytes:
    return msgspec.msgpack.encode(plan_of_former(msgspec.msgpack.decode(body)))


def _grouped_steps(body: bytes) -> bytes:
    return msgspec.msgpack.encode([step_of_former(step) for step in msgspec.msgpack.decode(body)])


_WITH_PLANS: tuple[tuple[str, str, str, Callable[[bytes], bytes]], ...] = (
    ("job", "id", "plan", _grouped_plan),
    ("steps", "chunk", "body", _grouped_steps),
)
"""The columns that hold plans, or their steps, and what brings these up to date."""

_WITH_INSTANCES = (
    ("instance", "number", "body"),
    ("previous", "id", "body"),
    ("record", "number", "body"),
    ("job", "id", "plan"),
)
"""The columns that hold records of instances: alone, or those that a step changes or a plan begins with."""

_NOTE = msgspec.msgpack.encode("note")


def _with_reasons(body: bytes) -> bytes:
    found = msgspec.msgpack.decode(body)  # What is sealed in it stays as it is.
    for instance in (found, *found.get("instances", ()), *(found.get("delta") or {}).get("instances", ())):
        reason, with_host = reason_of_note(instance.pop("note", ""))
        if reason:
            instance["status_reason"] = reason
        if with_host:
            instance["with_host"] = True
    return msgspec.msgpack.encode(found)
