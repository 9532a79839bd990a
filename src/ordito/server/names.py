"""The names of projects, ensembles, users, groups and accounts, and hints at names that were meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
from msgspec.inspect import (
    DictType,
    EnumType,
    ListType,
    LiteralType,
    Metadata,
    StructType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from ordito.base.suggest import nearest
from ordito.server.problems import ApiProblem

_UNKNOWN_FIELD = re.compile(r"unknown field `([^`]*)`")
_WRONG_VALUE = re.compile(r"Invalid (?:enum )?value '([^']*)'")
_PLACE = re.compile(r" - at `\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
MOST_LISTED = 20


def hint_at(error: msgspec.ValidationError, kind: type[msgspec.Struct], given: object) -> str:
    """A hint at the field or the value that was meant in what was ``given`` as a struct of some kind, or at all that it
    may be; "" where the error is about neither."""
    text = str(error)
    place = _PLACE.search(text)
    steps = [one[1] or one[2] for one in _STEP.finditer(place[1] if place is not None else "")]
    at, inner, above = given, [type_info(kind)], list[Type]()
    for step in steps:
        above = inner
        inner = [under for one in inner for under in _under(one, step, at)]
        at = _part(at, step)
    inner = [one for found in inner for one in _members(found, at)]
    if (field := _UNKNOWN_FIELD.search(text)) is not None:
        known = [name for one in inner if isinstance(one, StructType) for name in _names(one)]
        return suggested(field[1], known, "it may have")
    if (value := _WRONG_VALUE.search(text)) is not None:
        members = [one for found in above for one in _members(found, None)]
        tags = [str(one.tag) for one in members if isinstance(one, StructType) and one.tag_field == steps[-1]]
        return suggested(value[1], tags or [str(name) for one in inner for name in _values(one)], "it may be")
    return ""


def suggested(name: str, known: Iterable[str], may: str) -> str:
    """A hint at the known name that was meant, or at all of them, "" where there is none."""
    names = list(dict.fromkeys(known))
    if near := nearest(name, names):
        return f'did you mean "{near[0]}"?'
    if not names:
        return ""
    return f"{may}: {', '.join(names[:MOST_LISTED])}{' ...' if len(names) > MOST_LISTED else ''}"


def check_value(field: str, value: str, known: Iterable[str]) -> None:
    """Refuse a value of the query that nothing can have: it would find nothing, and look as if there was nothing.
    Raises ``ApiProblem``."""
    names = tuple(map(str, known))
    if value and value not in names:
        raise ApiProblem("malformed", f'nothing has the {field} "{value[:80]}"', suggested(value, names, "it may be"))


def _part(given: object, step: str) -> object:
    if isinstance(given, dict):
        return given.get(step)
    return given[int(step)] if isinstance(given, list) and step.isdecimal() and int(step) < len(given) else None


def _members(found: Type, at: object) -> Iterator[Type]:
    """The types that something can be: of structs that are told apart by a tag, the one that it names."""
    if isinstance(found, Metadata):
        yield from _members(found.type, at)
    elif isinstance(found, UnionType):
        members = [one for kind in found.types for one in _members(kind, at)]
        tagged = [one for one in members if _has_tag(one, at)]
        yield from tagged or members
    else:
        yield found


def _has_tag(one: Type, at: object) -> bool:
    if not isinstance(one, StructType) or one.tag_field is None or not isinstance(at, dict):
        return False
    return bool(at.get(one.tag_field) == one.tag)


def _names(one: StructType) -> list[str]:
    return [*([one.tag_field] if one.tag_field else []), *(field.encode_name for field in one.fields)]


def _under(found: Type, step: str, at: object) -> Iterator[Type]:
    """The types of what is a step below."""
    for one in _members(found, at):
        if isinstance(one, StructType):
            yield from (field.type for field in one.fields if field.encode_name == step)
        elif isinstance(one, (ListType, VarTupleType)):
            yield one.item_type
        elif isinstance(one, DictType):
            yield one.value_type


def _values(one: Type) -> Iterable[object]:
    if isinstance(one, LiteralType):
        return one.values
    return [member.value for member in one.cls] if isinstance(one, EnumType) else ()


LONGEST_NAME = 63
NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
"""What directories may have in their names, and ensembles may not."""

Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
"""Projects, ensembles and service accounts."""

USER_NAME = r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,62}$"
UserName = Annotated[str, msgspec.Meta(pattern=USER_NAME)]
"""Users and groups."""

Text = Annotated[str, msgspec.Meta(max_length=1_000)]
"""A description."""
