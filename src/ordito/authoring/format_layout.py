"""The layout of a YAML text: its block maps and lists, with the lines and columns of their parts.

What formatting does not change - single values, and everything in brackets - is a ``Leaf``. Lines and columns count
from 0.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, TypeAlias

import msgspec
import yaml
from yaml._yaml import CParser


class NotFormattable(Exception):
    """The text has something that formatting cannot preserve; the message says what."""


class Leaf(msgspec.Struct, frozen=True):
    """A part that is not changed. ``style`` is that of YAML: ``|``, ``>``, quotes, "flow" for brackets, else ""."""

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
        """The column of its keys."""
        return self.entries[0][0].column


class List(msgspec.Struct, eq=False):
    """A block list: its items, and the lines of their dashes, which are all in one column."""

    line: int
    items: list[Part]
    dashes: list[int]
    column: int = 0
    last: int = 0


Part: TypeAlias = Leaf | Map | List


class TextLayout(msgspec.Struct, frozen=True):
    """A text as its lines and the parts in them."""

    lines: list[str]
    root: Part


def read_layout(text: str) -> TextLayout:
    """The layout of a text that is known to be one valid YAML document. Raises ``NotFormattable``."""
    lines = text.split("\n")
    parser = CParser(text)
    reader = _EventReader(parser.get_event, lines)
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
    return TextLayout(lines, root)


class _EventReader:
    """Reads the events of the loader, which limits how deep they are nested."""

    def __init__(self, get_event: Any, lines: list[str]) -> None:
        self._get_event = get_event
        self._lines = lines

    def part(self, event: Any, above: int) -> Part:
        """The part that begins with an event; ``above`` is the line of its parent."""
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
        raise NotFormattable("a list whose dashes are not where they are expected")


# Formatting by lines: each line keeps its text and its place, and gets another indentation.
#
# Keys stand two columns right of what they belong to, and so do dashes. Comments go with the line below them, or
# where they are indented deeper than that, with what stands above. Inside of brackets, quotes and block texts only
# whole lines move. Of several empty lines one stays, and none below a heading.

STEP = 2
MARKER = re.compile(r"---|\.\.\.|%")
HEADER = re.compile(r"[|>](?:[+-]?(?P<indent>[1-9])[+-]?|[+-]?)")


class Lines:
    """Moves the lines of a text to other columns."""

    def __init__(self, layout: TextLayout) -> None:
        self._lines = layout.lines
        self._root = layout.root
        self._tokens: dict[int, list[tuple[int, int]]] = {}
        """For each line with keys or dashes: their columns, and those that they will have."""
        self._shifts: dict[int, int] = {}
        """How far lines inside of single values and brackets move."""
        self._kept: set[int] = set()
        """Lines whose ends belong to a text."""
        self._open: dict[int, list[tuple[int, int]]] = {}
        """For each line with keys or dashes: the columns of all that is open there, and those that they will have."""

        self._headings: set[int] = set()
        """Lines with keys below which a map or list begins: no empty line follows them."""
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}

    def formatted(self) -> str:
        """The new text."""
        self._place(self._root, 0, [])
        self._find_neighbours()
        found: list[str] = []
        below_heading = True
        for number in range(len(self._lines)):
            text = self._line(number)
            is_empty = not text and number not in self._kept and number not in self._shifts
            if is_empty and (below_heading or not found[-1]):
                continue
            found.append(text)
            below_heading = number in self._headings
        while found and not found[-1]:
            found.pop()
        return "\n".join(found) + "\n"

    def _find_neighbours(self) -> None:
        """Find for each comment the lines with keys or dashes before and after it."""
        last: int | None = None
        waiting: list[int] = []
        for number, text in enumerate(self._lines):
            if number in self._tokens:
                self._next.update(dict.fromkeys(waiting, number))
                waiting, last = [], number
            elif text.lstrip().startswith("#"):
                waiting.append(number)
                if last is not None:
                    self._previous[number] = last

    # ------------------------------------------------------------------------------------------------- indentation

    def _place(self, part: Part, column: int, around: list[tuple[int, int]]) -> None:
        """Set the new columns of a part that is to begin in a column; ``around`` are the columns of its parents."""
        if isinstance(part, Leaf):
            return
        inside = [*around, (part.column, column)]
        if isinstance(part, Map):
            for key, value in part.entries:
                self._token(key.line, key.column, column, inside)
                self._value(value, key.line, (part.column, column), inside)
        else:
            for line, item in zip(part.dashes, part.items, strict=True):
                self._token(line, part.column, column, inside)
                self._value(item, line, (part.column, column), inside)

    def _token(self, line: int, old: int, new: int, inside: list[tuple[int, int]]) -> None:
        self._tokens.setdefault(line, []).append((old, new))
        self._open[line] = inside

    def _value(self, value: Part, line: int, moved: tuple[int, int], inside: list[tuple[int, int]]) -> None:
        """Set the new columns of a value whose key or dash is on a line and has moved from one column to another."""
        old, new = moved
        if not isinstance(value, Leaf):
            if value.line > line:
                self._headings.add(line)
            self._place(value, new + STEP, inside)
            return
        shift = new - old
        if value.line > line:
            shift = new + STEP - value.column
        elif value.style in {"|", ">"}:
            shift = self._block_shift(value, new, shift)
        for number in range(line + 1, value.last + 1):
            self._shifts[number] = shift
        if value.style and value.style != "flow" and value.last > value.line:
            self._kept.update(range(value.line, value.last + 1))

    def _block_shift(self, value: Leaf, new: int, shift: int) -> int:
        header = HEADER.match(self._lines[value.line][value.column :])
        if header is None:
            raise NotFormattable("a block text with a mark before it")
        if header["indent"]:
            return shift
        content = (self._lines[n] for n in range(value.line + 1, value.last + 1))
        first = next((line for line in content if line.strip()), None)
        return shift if first is None else new + STEP - (len(first) - len(first.lstrip(" ")))

    # ------------------------------------------------------------------------------------------------------- lines

    def _line(self, number: int) -> str:
        """A line of the new text."""
        text = self._lines[number]
        if number in self._tokens:
            text = self._with_tokens(text, sorted(self._tokens[number]))
        elif number in self._shifts:
            text = _shifted(text, self._shifts[number])
        elif text.lstrip().startswith("#"):
            text = " " * self._comment_column(number) + text.strip()
        elif text.strip() and not MARKER.match(text) and not isinstance(self._root, Leaf):
            raise NotFormattable(f"line {number + 1} is of no known kind")
        return text if number in self._kept else text.rstrip()

    def _with_tokens(self, text: str, tokens: list[tuple[int, int]]) -> str:
        found = " " * tokens[0][1]
        for (_, new), (_, following) in pairwise(tokens):
            found += "-".ljust(following - new)
        rest = text[tokens[-1][0] :]
        if rest.startswith("- "):
            rest = "- " + rest[1:].lstrip(" ")
        return found + rest

    def _comment_column(self, number: int) -> int:
        """The new column of a comment: that of the line below it, or a deeper one that is open above it."""
        old = len(self._lines[number]) - len(self._lines[number].lstrip(" "))
        next_line = self._next.get(number)
        below = self._tokens[next_line][0] if next_line is not None else (0, 0)
        if old <= below[0]:
            return below[1]
        above = self._previous.get(number)
        deeper = [place for place in self._open[above] if place[0] > below[0]] if above is not None else []
        if not deeper:
            return below[1]
        return min((below, *deeper), key=lambda place: (abs(place[0] - old), place[0]))[1]


def _shifted(text: str, shift: int) -> str:
    """A moved line; a line with only spaces loses them if it has too few."""
    if shift >= 0:
        return " " * shift + text if text else text
    blank = len(text) - len(text.lstrip(" "))
    return text[min(-shift, blank) :]
