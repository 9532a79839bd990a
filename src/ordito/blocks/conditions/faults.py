"""What is wrong with a condition, and where in its text."""

from __future__ import annotations

from enum import Enum

import msgspec


class Place(msgspec.Struct, frozen=True):
    """A part of the text of a condition: characters ``offset`` to ``end`` (from 0, the end exclusive), which begins at
    ``line`` and ``column`` (from 1)."""

    offset: int
    end: int
    line: int
    column: int

    def to(self, other: Place) -> Place:
        """From here to the end of another place."""
        return Place(self.offset, other.end, self.line, self.column)

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class NotACondition(ValueError):
    """A text cannot be read as a condition. ``message`` says what is wrong at ``place``, ``hint`` what would be right
    (or nothing)."""

    def __init__(self, message: str, place: Place, hint: str = "") -> None:
        super().__init__(f"{place}: {message}")
        self.message = message
        self.place = place
        self.hint = hint


class Reason(Enum):
    """Why a condition has no answer."""

    UNDEFINED = "undefined"
    """Something that it names is not there."""
    NOT_A_BOOL = "not a bool"
    """It has a value, which is neither true nor false."""
    OPERANDS = "operands"
    """Something is done with values of kinds with which it cannot be done."""
    CONFLICT = "conflict"
    """Values that are not the same, or out of bounds, are to be one (``&``)."""
    INDEX = "index"
    """A list is not as long, or an index is none."""
    NUMBER = "number"
    """A division by zero, or a number that cannot be computed with exactly."""
    PATTERN = "pattern"
    """A text that is no regular expression, or none of those that are supported."""
    NOT_SUPPORTED = "not supported"
    """What CUE may have an answer for, but conditions do not ask."""
    TOO_MUCH = "too much"
    """Finding out would take too long."""


class ConditionFailed(Exception):
    """A condition has no answer: ``message`` says why at ``place`` of its text, ``hint`` what to do (or nothing).

    Neither holds anything of the values: names, kinds, and the text of the condition only.
    """

    def __init__(self, reason: Reason, message: str, place: Place, hint: str = "") -> None:
        super().__init__(f"{place}: {message}")
        self.reason = reason
        self.message = message
        self.place = place
        self.hint = hint
