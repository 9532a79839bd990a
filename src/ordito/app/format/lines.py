"""Formatting by lines: each line keeps its text and its place, and gets another indentation.

Keys stand two columns right of what they belong to, and so do dashes. Comments go with the line below them, or where
they are indented deeper than that, with what stands above. Inside of brackets, quotes and block texts only whole lines
move. Of several empty lines one stays, and none below a heading.
"""

from __future__ import annotations

import re
from itertools import pairwise

from ordito.app.format.tree import Layout, Leaf, Map, NotFormattable, Part

STEP = 2
MARKER = re.compile(r"---|\.\.\.|%")
HEADER = re.compile(r"[|>](?:[+-]?(?P<indent>[1-9])[+-]?|[+-]?)")


class Lines:
    """The lines of a text on their way to other columns."""

    def __init__(self, layout: Layout) -> None:
        self._lines = layout.lines
        self._root = layout.root
        self._tokens: dict[int, list[tuple[int, int]]] = {}
        """For each line with keys or dashes: their columns, and those that they will have."""
        self._shifts: dict[int, int] = {}
        """How far the lines move that lie inside of single values and brackets."""
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
        """Say where a part goes that is to begin in a column; ``around`` are the columns of what it stands in."""
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
        """Say where a value goes whose key or dash stands on a line and has moved from one column to another."""
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
        """A line as it will be."""
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
        """Where a comment goes: with the line below it, or deeper with what is open above it."""
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
    """A line moved; one that is empty but for spaces loses them where there are not enough."""
    if shift >= 0:
        return " " * shift + text if text else text
    blank = len(text) - len(text.lstrip(" "))
    return text[min(-shift, blank) :]
