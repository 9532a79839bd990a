"""Values of the model as plain data: what JSON knows, in the order of the declarations.

A structure becomes a map of its fields, a set a sorted list, a place the text ``file:line:column``, and a function call
what TOSCA writes for it. Numbers that JSON does not know are the texts of YAML (``.inf``, ``.nan``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from inspect import get_annotations
from typing import Any, TypeAlias

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive
from ordito.base.span import Span
from ordito.syntax.expressions import Call, as_written

Leave: TypeAlias = Callable[[str, bool], bool]
"""Whether to leave a field out, by its name and whether it holds places."""


def plain_data(
    value: object,
    leave: Leave = lambda name, places: False,  # noqa: ARG005
    once: Mapping[type, str] = {},
    instead: Callable[[msgspec.Struct], Mapping[str, object]] = lambda value: {},  # noqa: ARG005
) -> Any:
    """A value of the model as plain data. What is shared in the model is shared in the result too.

    Structures of the types of ``once`` are written where they are met first, and named by this field of theirs from
    then on. ``instead`` gives other values of fields of a structure, by name.
    Without recursion, since services may contain each other as deep as users like.
    """
    result: list[Any] = [None]
    known: dict[int, tuple[Any, object]] = {}
    """What was made of each value, with the value itself: it may be there for this alone, and its id is its own as long
    as it is kept."""
    todo: list[tuple[object, Any, Any]] = [(value, result, 0)]
    while todo:
        current, owner, place = todo.pop()
        if id(current) in known:
            name = once.get(type(current))
            owner[place] = known[id(current)][0] if name is None else getattr(current, name)
            continue
        made, parts = _shallow(current, leave, instead)
        owner[place] = made
        if parts:
            known[id(current)] = made, current
            todo.extend((part, made, name) for name, part in reversed(parts))
    return result[0]


def _shallow(
    value: object, leave: Leave, instead: Callable[[msgspec.Struct], Mapping[str, object]]
) -> tuple[Any, list[tuple[Any, object]]]:
    """A value without its parts, and the parts that are to be filled in, by name or index."""
    match value:
        case Span():
            return str(value), []
        case Call():
            return as_written(value), []
        case msgspec.Struct():
            names = [name for name, places in _fields(type(value)) if not leave(name, places)]
            other = instead(value)
            parts: list[tuple[Any, object]] = [
                (name, other[name] if name in other else getattr(value, name)) for name in names
            ]
            return dict.fromkeys(names), parts
        case Mapping():
            return dict.fromkeys(map(str, value)), [(str(name), part) for name, part in value.items()]
        case list() | tuple():
            return [None] * len(value), list(enumerate(value))
        case set() | frozenset():
            return sorted(value), []
    return _single(value), []


def _single(value: object) -> object:
    if isinstance(value, str) and not value.isascii():
        # What the names of files hold beyond UTF-8 cannot be said in JSON.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, Sensitive):
        return SHOWN
    return value


@cache
def _fields(kind: type[msgspec.Struct]) -> tuple[tuple[str, bool], ...]:
    """The fields of a structure, each with whether it holds places in files."""
    written = {name: str(hint) for base in reversed(kind.__mro__) for name, hint in get_annotations(base).items()}
    return tuple((name, "Span" in written[name]) for name in kind.__struct_fields__)
