"""Collections of entities that remember what could not be read, so that nothing follows from it."""

from __future__ import annotations

from typing import Any


class Entries(dict[str, Any]):
    """Entities by name. Those of ``lost`` are written but could not be read; where ``all_lost``, the names themselves
    could not. Nobody needs to report that one of these is missing: why has been said."""

    def __init__(self, *, all_lost: bool = False) -> None:
        super().__init__()
        self.lost: set[str] = set()
        self.all_lost = all_lost


class EntryList(list[Any]):
    """Entities in order, each with a name; see ``Entries``."""

    def __init__(self, *, all_lost: bool = False) -> None:
        super().__init__()
        self.lost: set[str] = set()
        self.all_lost = all_lost


def is_lost(entries: object, name: str) -> bool:
    """Whether the entity of a name is written, or may be, but could not be read."""
    return isinstance(entries, Entries | EntryList) and (entries.all_lost or name in entries.lost)


def has_lost(entries: object) -> bool:
    """Whether some entity is written, or may be, but could not be read."""
    return isinstance(entries, Entries | EntryList) and (entries.all_lost or bool(entries.lost))
