"""Explain an entity of the grammar: its keynames with their values, and its short form."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from ordito.syntax import shapes
from ordito.syntax.dialects import TOSCA_1_3
from ordito.syntax.grammar import Entity, keynames


class KeynameView(msgspec.Struct, frozen=True):
    """A keyname: its value, for people; and its replacement, if it is deprecated."""

    name: str
    holds: str
    required: bool
    instead: str = ""


class EntityView(msgspec.Struct, frozen=True):
    """An entity: ``short`` is the keyname that a single value in its place sets, "" if it has no short form."""

    name: str
    description: str
    short: str
    keynames: tuple[KeynameView, ...]


def explain_entity(words: str) -> EntityView | None:
    """The entity with this name in the specification or in messages; None for none."""
    wanted = _bare(words)
    for entity in _entities(Entity):
        keys = keynames(entity, TOSCA_1_3)
        if keys and wanted in {_bare(entity.__name__), _bare(entity.WHAT)}:
            views = tuple(KeynameView(n, _holds(k.shape), k.required, k.instead) for n, k in keys.items())
            description = " ".join(inspect.cleandoc(entity.__doc__ or "").split())
            return EntityView(entity.WHAT, description, entity.SHORT, views)
    return None


def places_of(keyname: str) -> tuple[tuple[str, str], ...]:
    """The entities that have a keyname, by name, each with the value of the keyname."""
    found: dict[str, str] = {}
    for entity in _entities(Entity):
        key = keynames(entity, TOSCA_1_3).get(keyname)
        if key is not None:
            found.setdefault(entity.WHAT, _holds(key.shape))
    return tuple(sorted(found.items()))


def keyname_names() -> list[str]:
    """All keynames of the language."""
    return sorted({name for entity in _entities(Entity) for name in keynames(entity, TOSCA_1_3)})


def entity_names() -> list[str]:
    """The names of entities."""
    return sorted({entity.WHAT.replace(" ", "_") for entity in _entities(Entity) if keynames(entity, TOSCA_1_3)})


def _entities(base: type[Entity]) -> Iterator[type[Entity]]:
    for entity in base.__subclasses__():
        yield entity
        yield from _entities(entity)


def _bare(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def _holds(shape: Any) -> str:
    """The value of a shape, for people."""
    if isinstance(shape, shapes.One):
        return _one(shape.entity)
    if isinstance(shape, shapes.Named):
        return f"a map of names, each with {_one(shape.entity)}"
    if isinstance(shape, shapes.NamedList):
        return f"a list of maps with one name each, with {_one(shape.entity)}"
    if isinstance(shape, shapes.Many):
        return f"a list, each entry {_holds(shape.shape)}"
    if isinstance(shape, shapes.Either):
        return f"a single value, or {_holds(shape.otherwise)}"
    if type(shape) in WORDS:
        return WORDS[type(shape)]
    said = inspect.cleandoc(type(shape).__doc__ or "something").split(". ")[0].split(";")[0].rstrip(".")
    return said[:1].lower() + said[1:]


WORDS = {
    shapes.Text: "a single value",
    shapes.Whole: "a whole number",
    shapes.Bounds: "[lower, upper], the upper may be UNBOUNDED",
    shapes.Assignments: "a map of names to values",
    shapes.Texts: "a map of names to texts",
    shapes.Clauses: "a list of constraint clauses",
}


def _one(entity: type[Entity]) -> str:
    return f"{'an' if entity.WHAT[0] in 'aeiou' else 'a'} {entity.WHAT}"
