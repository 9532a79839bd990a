"""What the fields of structures hold, in words, with what a file of the reference says of each.

``meanings/FILE.yaml`` holds, by the name of a structure, ``about`` it and its ``fields`` by name, each with its meaning
in half a sentence. A field without a meaning, or a meaning without a field, stops the making of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from msgspec import inspect

from tools.reference.markdown import cell, table

FOLDER = Path(__file__).parent / "meanings"


class Meanings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of a structure."""

    about: str = ""
    fields: Mapping[str, str] = {}


def meanings(name: str) -> Mapping[str, Meanings]:
    """What a file says of structures."""
    data = yaml.load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), yaml.CSafeLoader)
    return msgspec.convert(data, dict[str, Meanings])


def fields(kind: type[msgspec.Struct], said: Meanings) -> Iterator[str]:
    """The table of a structure's fields. Raises ``ValueError`` where what is said is not about these fields."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    names = [field.encode_name for field in info.fields]
    if names != [*said.fields]:
        wrong = set(names).symmetric_difference(said.fields) or names
        raise ValueError(f"{kind.__name__}: what is said of its fields does not fit them, in their order: {wrong}")
    rows = [
        (f"`{f.encode_name}`", words(f.type), "yes" if f.required else "", cell(said.fields[f.encode_name]))
        for f in info.fields
    ]
    if rows:
        yield from table(("field", "holds", "always", "meaning"), rows)


SIMPLE: Mapping[type[inspect.Type], str] = {
    inspect.StrType: "text",
    inspect.IntType: "whole number",
    inspect.FloatType: "number",
    inspect.BoolType: "true or false",
    inspect.NoneType: "null",
    inspect.AnyType: "anything",
    inspect.CustomType: "anything",
}


UNTOLD = frozenset({"Plan", "BlockScript"})
"""Structures of which nothing more is said."""


def words(kind: Any) -> str:
    """A type in words."""
    if type(kind) in SIMPLE:
        return SIMPLE[type(kind)]
    if isinstance(kind, inspect.ListType | inspect.VarTupleType | inspect.SetType | inspect.FrozenSetType):
        return f"list: {words(kind.item_type)}"
    if isinstance(kind, inspect.TupleType):
        return f"list of {' and '.join(words(item) for item in kind.item_types)}"
    if isinstance(kind, inspect.DictType):
        return f"map: {words(kind.value_type)}"
    if isinstance(kind, inspect.UnionType):
        return " or ".join(dict.fromkeys(words(each) for each in kind.types))
    if isinstance(kind, inspect.EnumType):
        return ", ".join(f"`{each.value}`" for each in kind.cls)
    if isinstance(kind, inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.StructType):
        name = kind.cls.__name__
        return f"[{name}](#{name.lower()})" if name not in UNTOLD else "map"
    raise ValueError(f"no words for {kind}")
