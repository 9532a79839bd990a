"""What a stream follows: a topic as a list of items that grows, each with the place behind it."""

from __future__ import annotations

import asyncio
from typing import Protocol

import msgspec

Place = int | str

AT_ONCE = 500
"""About how many items are read at once."""


class Item(msgspec.Struct, frozen=True):
    """One event of a topic: the JSON of its data, and the place behind it."""

    type: str
    data: bytes
    place: Place


class Feed(Protocol):
    """A topic that is followed by one stream."""

    @property
    def start(self) -> Place:
        """Where it begins for who has no cursor."""

    def read(self, place: Place) -> list[Item]:
        """What is told behind a place, not all at once. Raises ``EnsembleError``."""

    def changed(self) -> asyncio.Event:
        """Is set when there may be more; to be taken before ``read``."""

    def close(self) -> None:
        """It is not followed any more."""
