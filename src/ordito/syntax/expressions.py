"""Values as they are written: plain data with function calls inside (TOSCA 1.3 chapter 4)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

import msgspec

from ordito.base.span import Span
from ordito.source.parts import span_inside


class Needs(StrEnum):
    """What an argument must be that is a call itself."""

    TEXT = "a text"
    LIST = "a list"
    INDEX = "an integer"
    NAME = "a name or an index"
    FLAG = "true or false"


class Call(msgspec.Struct, frozen=True, eq=False):
    """A call of an intrinsic function: its name and arguments, which may hold calls again.

    ``needs`` is what its place needs: the model's schema for it, one of ``Needs`` where it is an argument, and None
    where nothing is declared.
    """

    function: str
    arguments: tuple[Value, ...]
    span: Span
    needs: object = None

    def argument_span(self, *position: int) -> Span:
        """Where an argument is written, or an entry of a list that is one. Found again in the text when it is asked
        for, since a call is one of very many and rarely wrong."""
        return span_inside(self.span, (self.function, *position))


Value: TypeAlias = "None | bool | int | float | str | list[Value] | dict[str, Value] | Call"
"""What a property, attribute, input or output may hold: JSON-like data, with calls where they are not evaluated yet.

Scalar units, versions and timestamps are strings in their canonical text ("10 GB", "1.2.3"); their declared type
says how to compare them.
"""


def calls(value: Value) -> Iterator[Call]:
    """Every call inside a value, outermost first; iterative, since users choose the depth."""
    open_values: list[Value] = [value]
    while open_values:
        current = open_values.pop()
        if isinstance(current, Call):
            yield current
            open_values.extend(reversed(current.arguments))
        elif isinstance(current, list):
            open_values.extend(reversed(current))
        elif isinstance(current, dict):
            open_values.extend(reversed(current.values()))


def is_static(value: Value) -> bool:
    """Whether a value holds no call."""
    return next(calls(value), None) is None


def as_written(value: Value) -> object:
    """The value as plain data, each call in its TOSCA form ``{function: arguments}``."""
    if isinstance(value, Call):
        arguments = [as_written(a) for a in value.arguments]
        return {
            value.function: arguments[0] if len(arguments) == 1 and not isinstance(arguments[0], list) else arguments
        }
    if isinstance(value, list):
        return [as_written(v) for v in value]
    if isinstance(value, dict):
        return {k: as_written(v) for k, v in value.items()}
    return value
