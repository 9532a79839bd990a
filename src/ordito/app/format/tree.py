"""The layout of a YAML text: its block maps and lists, with the lines and columns where their parts stand.

What formatting leaves as it is - single values, and whatever stands in brackets - is a ``Leaf``. Lines and columns
count from 0.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec
import yaml
from yaml._yaml import CParser


class NotFormattable(Exception):
    """The text holds something that formatting does not know how to keep; the message says what."""


class Leaf(msgspec.Struct, frozen=True):
    """What is kept as it is. ``style`` is that of YAML: ``|``, ``>``, quotes, "flow" for brackets, else ""."""

    line: int
    column: int
    last: int
    style: str = ""


class Map(msgspec.Struct, eq=False):
    """A block map: its keys with their values."""

    line: int
    entries: list[tuple[Leaf, Part]]
    last: int = 0

    @property
    def column(self) -> int:
        """Where its keys begin."""
        return self.entries[0][0].column


class List(msgspec.Struct, eq=False):
    """A block list: its items, and the lines of their dashes, which all stand in one column."""

    line: int
    items: list[Part]
    dashes: list[int]
    column: int = 0
    last: int = 0


Part: TypeAlias = Leaf | Map | List


class Layout(msgspec.Struct, frozen=True):
    """A text as its lines and the parts in them."""

    lines: list[str]
    root: Part


def read_layout(text: str) -> Layout:
    """The layout of a text that is known to be one sound YAML document. Raises ``NotFormattable``."""
    lines = text.split("\n")
    parser = CParser(text)
    reader = _Reader(parser.get_event, lines)
    try:
        event: Any = parser.get_event()
        while not isinstance(event, yaml.DocumentStartEvent):
            event = parser.get_event()
        mark: Any = event.start_mark
        if event.explicit and lines[mark.line][3:].split("#")[0].strip():
            raise NotFormattable("the document begins on the line of its three dashes")
        root = reader.part(parser.get_event(), 0)
    finally:
        parser.dispose()
    return Layout(lines, root)


class _Reader:
    """Reads events; the loader has seen to it that they are not nested deeply."""

    def __init__(self, get_event: Any, lines: list[str]) -> None:
        self._get_event = get_event
        self._lines = lines

    def part(self, event: Any, above: int) -> Part:
        """The part that begins with an event; ``above`` is the line of what it belongs to."""
        start, end = event.start_mark, event.end_mark
        if isinstance(event, yaml.AliasEvent):
            return Leaf(start.line, start.column, end.line)
        if isinstance(event, yaml.ScalarEvent):
            last = end.line
            if event.style in {"|", ">"} and end.column == 0:
                last = max(end.line - 1, start.line)
            return Leaf(start.line, start.column, last, event.style or "")
        if event.flow_style:
            return self._flow(start)
        return self._map(start) if isinstance(event, yaml.MappingStartEvent) else self._list(start, above)

    def _flow(self, start: Any) -> Leaf:
        depth = 1
        while depth:
            event = self._get_event()
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        return Leaf(start.line, start.column, event.end_mark.line, "flow")

    def _map(self, start: Any) -> Map:
        found = Map(start.line, [])
        while not isinstance(event := self._get_event(), yaml.MappingEndEvent):
            key = self.part(event, start.line)
            if not isinstance(key, Leaf) or key.last != key.line:
                raise NotFormattable("a key over several lines")
            before = self._lines[key.line][: key.column].rstrip()
            if before.endswith("?") or "&" in before or "!" in before:
                raise NotFormattable("a key with a mark before it")
            value = self.part(self._get_event(), key.line)
            found.entries.append((key, value))
            found.last = max(key.line, value.last)
        if any(key.column != found.column for key, _ in found.entries):
            raise NotFormattable("keys that do not stand below each other")
        return found

    def _list(self, start: Any, above: int) -> List:
        found = List(start.line, [], [])
        previous = above - 1
        while not isinstance(event := self._get_event(), yaml.SequenceEndEvent):
            line, column = self._dash(event.start_mark, previous, found)
            found.dashes.append(line)
            found.column = column
            item = self.part(event, line)
            found.items.append(item)
            previous = found.last = max(line, item.last)
        return found

    def _dash(self, mark: Any, after: int, found: List) -> tuple[int, int]:
        """The line and column of the dash before an item."""
        line, column = mark.line, mark.column
        while line > after or line == mark.line:
            before = self._lines[line][:column].rstrip()
            if line != mark.line:
                before = before.split(" #")[0].rstrip()
            if before.endswith("-") and (not found.dashes or len(before) - 1 == found.column):
                return line, len(before) - 1
            if line == 0:
                break
            line -= 1
            column = len(self._lines[line])
        raise NotFormattable("a list whose dashes are not where they are looked for")
