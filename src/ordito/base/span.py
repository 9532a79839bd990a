"""Where something stands in a text: the source text itself and a range of lines and columns in it."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import msgspec

HIDDEN = "*"


class SourceText:
    """The text of one file as it was read, kept so that a message can show the line in question.

    ``name`` is shown to people: the path as the user gave it, or ``archive.csar:/path/inside``. ``note`` is added to
    every place in it, such as that the file holds another text by now; "" for nothing.
    """

    def __init__(self, name: str, text: str, note: str = "") -> None:
        self.name = name
        self.text = text
        self.note = note
        self.hidden: list[tuple[tuple[int, int], tuple[int, int]]] = []
        self.guessed: frozenset[int] = frozenset()
        """The lines whose meaning was guessed after a fault: findings in them may only follow from the guess."""

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.splitlines()

    def line(self, number: int) -> str:
        """The text of line ``number`` (from 1), "" where the file has no such line."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def hide(self, begin: tuple[int, int], end: tuple[int, int]) -> None:
        """Do not show the text between two places (line, column), the second exclusive."""
        self.hidden.append((begin, end))

    def line_for_people(self, number: int) -> str:
        """As ``line``, with a star for each character that is not shown."""
        line = self.line(number)
        for (first, column), (last, end) in self.hidden:
            if first <= number <= last and line:
                begin = column - 1 if number == first else 0
                stop = end - 1 if number == last else len(line)
                line = line[:begin] + HIDDEN * (min(stop, len(line)) - begin) + line[stop:]
        return line

    def span_at(self, offset: int) -> Span:
        """The span of the one character at an offset of the text, which may be its end."""
        before = (self.text[:offset] + ".").splitlines()
        return Span(self, len(before), len(before[-1]), len(before), len(before[-1]) + 1)

    def __repr__(self) -> str:
        return f"SourceText({self.name!r})"


class Placed(Protocol):
    """Something that has a place in a text, which is computed only where it is needed."""

    @property
    def span(self) -> Span:
        """Its place."""


class Span(msgspec.Struct, frozen=True, eq=False):
    """A range in a source text: lines and columns count from 1, the end column is exclusive."""

    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether another range begins in this one."""
        begin = other.line, other.column
        return self.source is other.source and (self.line, self.column) <= begin < (self.end_line, self.end_column)

    def __str__(self) -> str:
        return f"{self.source.name}:{self.line}:{self.column}{self.source.note}"
