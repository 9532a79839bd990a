"""The lists of a plan row by row, so that a page of one is read without all the others: a plan may have hundreds of
thousands of steps, and a server shows fifty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ordito.results.answer import Asked, Result, UseCase

EACH = 100
"""The place of every hundredth row is known."""


class RowsIndex(msgspec.Struct, frozen=True):
    """Where the rows of a list are: how many, and the offsets of every hundredth one and of the end."""

    count: int
    at: tuple[int, ...]


class PlanRows(Result, frozen=True):
    """The rows of the lists of a plan, one JSON text a line, with an index of them."""

    index: Mapping[str, RowsIndex]
    rows: bytes

    @property
    def json(self) -> bytes:
        """The index as JSON on the first line, and behind it the rows."""
        return msgspec.json.encode(self.index) + b"\n" + self.rows


class PlanRowsAsked(Asked, frozen=True):
    """About the rows of a plan."""

    plan: msgspec.Raw
    """The plan: who answers cannot read the files of a server."""


LISTS = ("changes", "steps", "edges")


def _rows(_: str, asked: PlanRowsAsked) -> PlanRows:
    whole = msgspec.json.decode(asked.plan, type=dict[str, msgspec.Raw])
    index: dict[str, RowsIndex] = {}
    pieces: list[bytes] = []
    at = 0
    for name in LISTS:
        places, count = [], 0
        for count, row in enumerate(msgspec.json.decode(whole[name], type=list[msgspec.Raw]), 1):
            if count % EACH == 1:
                places.append(at)
            line = _on_one_line(row)
            pieces.append(line)
            at += len(line)
        index[name] = RowsIndex(count, (*places, at))
    return PlanRows(index, b"".join(pieces))


def _on_one_line(row: msgspec.Raw) -> bytes:
    text = bytes(row)
    if b"\n" in text:
        plain: Any = msgspec.json.decode(text)
        text = msgspec.json.encode(plain)
    return text + b"\n"


PLAN_ROWS = UseCase("plans rows", PlanRowsAsked, (PlanRows,), _rows)
