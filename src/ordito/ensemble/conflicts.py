"""Conflicts that a merge of git has left in `ensemble.yaml`.

In the machine's part they are no loss: what it says is written again from the records of the jobs, which git merges by
itself. What the user wrote, only the user can decide.
"""

from __future__ import annotations

import re

from ordito.ensemble.errors import EnsembleError

_BEGIN = re.compile(rb"^<{7}(?: [^\n]*)?\r?$", re.MULTILINE)
_MIDDLE = re.compile(rb"^={7}\r?$", re.MULTILINE)
_END = re.compile(rb"^>{7}(?: [^\n]*)?\r?$", re.MULTILINE)

AGAIN = "`ordito jobs replay --write` makes the status again from the records of both sides; then commit the merge"


def first_conflict(content: bytes) -> int:
    """The place of the first conflict, -1 where there is none."""
    if b"<<<<<<<" not in content:
        return -1
    begin = _BEGIN.search(content)
    middle = _MIDDLE.search(content, begin.end()) if begin else None
    end = _END.search(content, middle.end()) if middle else None
    return begin.start() if begin and end else -1


def refuse_conflict(content: bytes, name: str, machine: int) -> None:
    """Raise ``EnsembleError`` where a file holds a conflict; ``machine`` is where its machine part begins, -1 for
    none."""
    place = first_conflict(content)
    if place < 0:
        return
    where = f"{name}:{content.count(bytes([10]), 0, place) + 1}"
    if 0 <= machine <= place or not content[place:machine].count(b"\n") > 1:
        raise EnsembleError(f"{where}: a merge of git has left a conflict in the status", AGAIN)
    raise EnsembleError(
        f"{where}: a merge of git has left a conflict in the part that is yours",
        f"choose what holds, down to the marker line, and remove the marks of git; below it, {AGAIN}",
    )


def without_conflict(user: bytes) -> bytes:
    """The user's part of a file whose machine part alone is in conflict: the conflict may begin right above it."""
    lines = user.splitlines(keepends=True)
    return b"".join(lines[:-1]) if lines and _BEGIN.fullmatch(lines[-1].rstrip(b"\n")) else user
