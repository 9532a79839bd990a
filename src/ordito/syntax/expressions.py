"""Values as they are written: plain data with function calls inside (TOSCA 1.3 chapter 4)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

import msgspec

from ordito.base.span import Span
from ordito.source.parts import span_inside


class Needs(StrEnum):
    """What a call must give where it is an argument of another call."""

    TEXT = "a text"
    LIST = "a list"
    INDEX = "an integer"
    NAME = "a name or an index"
    FLAG = "true or false"


class Call(msgspec.Struct, frozen=True, eq=False):
    """A call of an intrinsic function: its name and arguments, which may hold further calls.

    ``needs`` says what its result must be: the model's schema, one of ``Needs`` where it is an argument, and None where
    nothing is declared.
    """

    function: str
    arguments: tuple[Value, ...]
    span: Span
    needs: object = None

    def argument_span(self, *position: int) -> Span:
        """Where an argument is written, or an entry of an argument that is a list. It is searched for in the text each
        time: there are very many calls, and few are wrong."""
        return span_inside(self.span, (self.function.removeprefix("cloudify."), *position))


Value: TypeAlias = "None | bool | int | float | str | list[Value] | dict[str, Value] | Call"
"""The value of a property, attribute, input or output: JSON-like data, with calls that are not evaluated yet.

Scalar units, versions and timestamps are strings in canonical form ("10 GB", "1.2.3"); their declared type says how to
compare them.
"""


def calls(value: Value) -> Iterator[Call]:
    """Every call inside a value, the outermost first. Iterative, since users choose the depth."""
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
        is_single = len(arguments) == 1 and not isinstance(arguments[0], list)
        return {value.function.removeprefix("cloudify."): arguments[0] if is_single else arguments}
    if isinstance(value, list):
        return [as_written(v) for v in value]
    if isinstance(value, dict):
        return {k: as_written(v) for k, v in value.items()}
    return value
