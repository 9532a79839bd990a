"""What was said of instances in plain words before there were reasons: in files, and in journals."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import msgspec

from ordito.instances.records import StatusReason

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
    """The reason that a note stands for, and whether it says that the instance went with its host."""
    said = note.split(", ")
    return next((_REASONS[text] for text in said if text in _REASONS), StatusReason.NONE), _WITH_HOST in said


def with_reasons(db: sqlite3.Connection) -> None:
    """Have the rows of a journal say by reasons what they say by notes; they may do so already."""
    with closing(db.cursor()) as cursor:
        cursor.execute("BEGIN IMMEDIATE")
        for table, key, column in _WITH_INSTANCES:
            rows = cursor.execute(f"SELECT {key}, {column} FROM {table} WHERE instr({column}, ?)", (_NOTE,)).fetchall()
            changed = [(_changed(body), name) for name, body in rows]
            cursor.executemany(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", changed)
        cursor.execute("COMMIT")


_WITH_INSTANCES = (
    ("instance", "number", "body"),
    ("previous", "id", "body"),
    ("record", "number", "body"),
    ("job", "id", "plan"),
)
"""The columns that hold records of instances: alone, or those that a step changes or a plan begins with."""

_NOTE = msgspec.msgpack.encode("note")


def _changed(body: bytes) -> bytes:
    found = msgspec.msgpack.decode(body)  # What is sealed in it stays as it is.
    for instance in (found, *found.get("instances", ()), *(found.get("delta") or {}).get("instances", ())):
        reason, with_host = reason_of_note(instance.pop("note", ""))
        if reason:
            instance["status_reason"] = reason
        if with_host:
            instance["with_host"] = True
    return msgspec.msgpack.encode(found)
