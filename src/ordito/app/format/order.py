"""The order of keynames: that of the specification, as the grammar declares it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ordito.app.format.tree import List, Map, Part
from ordito.syntax import policies, shapes
from ordito.syntax.grammar import Dialect, Entity, keynames
from ordito.syntax.service_template import ServiceFile

Ordered = dict[int, dict[str, int]]
"""The maps whose keynames have an order, by their identity, each with the places of its keynames."""


def keyname_orders(root: Part, dialect: Dialect) -> Ordered:
    """The maps of a document that are entities, with the order of their keynames."""
    found: Ordered = {}
    todo: list[tuple[Any, Part]] = [(shapes.One(ServiceFile), root)]
    while todo:
        shape, part = todo.pop()
        for entity, inner in _entities(shape, part):
            keys = keynames(entity, dialect)
            if all(key.text in keys for key, _ in inner.entries):
                found[id(inner)] = {name: place for place, name in enumerate(keys)}
                todo += [(keys[key.text].shape, value) for key, value in inner.entries]
        if isinstance(shape, shapes.Many) and isinstance(part, List):
            todo += [(shape.shape, item) for item in part.items]
        if isinstance(shape, shapes.Either):
            todo.append((shape.otherwise, part))
    return found


def _entities(shape: Any, part: Part) -> Iterator[tuple[type[Entity], Map]]:
    """The maps that are entities where a shape stands."""
    if isinstance(shape, shapes.One) and isinstance(part, Map):
        yield shape.entity, part
    elif isinstance(shape, shapes.Named) and isinstance(part, Map):
        yield from ((shape.entity, value) for _, value in part.entries if isinstance(value, Map))
    elif isinstance(shape, shapes.NamedList | policies.Policies) and isinstance(part, List):
        entity = shape.entity if isinstance(shape, shapes.NamedList) else policies.Policy
        for item in part.items:
            for _, value in item.entries if isinstance(item, Map) else ():
                if isinstance(value, Map):
                    yield entity, value
