"""Collections of entities that remember what could not be read, so that nothing follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any, Self


class _Remembering:
    """What was written but could not be read. Nearly always that is nothing, for which no collection has a set."""

    lost: Set[str] = frozenset()
    all_lost = False

    @classmethod
    def unreadable(cls) -> Self:
        """What stands for a collection that could not be read."""
        found = cls()
        found.all_lost = True
        return found

    def lose(self, names: Iterable[str]) -> None:
        """Remember that these could not be read."""
        if not isinstance(self.lost, set):
            self.lost = set()
        self.lost.update(names)


class Entries(dict[str, Any], _Remembering):
    """Entities by name. Those of ``lost`` are written but could not be read; where ``all_lost``, the names themselves
    could not. Nobody needs to report that one of these is missing: why has been said."""


class EntryList(list[Any], _Remembering):
    """Entities in order, each with a name; see ``Entries``."""


def is_lost(entries: object, name: str) -> bool:
    """Whether the entity of a name is written, or may be, but could not be read."""
    return isinstance(entries, _Remembering) and (entries.all_lost or name in entries.lost)


def has_lost(entries: object) -> bool:
    """Whether some entity is written, or may be, but could not be read."""
    return isinstance(entries, _Remembering) and (entries.all_lost or bool(entries.lost))
