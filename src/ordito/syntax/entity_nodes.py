"""Entities of the grammar as the nodes that they would be read from: for those that nobody has written as they are."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin, get_type_hints

from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.policies import Policies
from ordito.syntax.shapes import NamedList

_fields: dict[type, tuple[tuple[str, Key], ...]] = {}


def node_of(entity: Entity) -> Mapping:
    """The map that an entity is read from."""
    found: list[tuple[Scalar, Node]] = []
    for field, key in _keynames(type(entity)):
        value = getattr(entity, field)
        if value is not None:
            listed = isinstance(key.shape, NamedList | Policies)
            found.append((_keyname(key.written or field, value, entity), _node(value, entity.at, listed)))
    return _mapping(found, entity.at)


def _keyname(name: str, value: Any, entity: Entity) -> Scalar:
    """A keyname: where it is written, if it is, else at the place of what stands below it."""
    written = entity.at
    if isinstance(written, Mapping) and name in written.values:
        return written.key(name)
    return _scalar(name, _place(value, entity.at))


def _keynames(entity: type[Entity]) -> tuple[tuple[str, Key], ...]:
    """The fields of an entity that are keynames."""
    known = _fields.get(entity)
    if known is None:
        hints = get_type_hints(entity, include_extras=True)
        keys = [
            (field, next((a for a in get_args(hint) if isinstance(a, Key)), None))
            for field, hint in hints.items()
            if get_origin(hint) is Annotated
        ]
        known = _fields[entity] = tuple((field, key) for field, key in keys if key is not None)
    return known


def _node(value: Any, at: Node, listed: bool) -> Node:
    if isinstance(value, Scalar | Sequence | Mapping):
        return value
    if isinstance(value, Entity):
        return node_of(value)
    if isinstance(value, dict):
        entries = [(_key(name, item, at), _node(item, at, False)) for name, item in value.items()]
        return _mapping(entries, at)
    if isinstance(value, list):
        if listed:
            items: list[Node] = [_mapping([(item.key, node_of(item))], item.at) for item in value]
        else:
            items = [_node(item, at, False) for item in value]
        return Sequence(at.source, at.line, at.column, at.end_line, at.end_column, items)
    if isinstance(value, tuple):
        bounds: list[Node] = [_scalar("UNBOUNDED" if one is None else str(one), at) for one in value]
        return Sequence(at.source, at.line, at.column, at.end_line, at.end_column, bounds)
    if isinstance(value, bool):
        return _scalar("true" if value else "false", at)
    if isinstance(value, int | float):
        return _scalar(f"{value:g}" if isinstance(value, float) else str(value), at)
    raise TypeError(f"{type(value).__name__} has no node")


def _key(name: str, item: Any, at: Node) -> Scalar:
    key = item.key if isinstance(item, Entity) else None
    return key if key is not None and key.text == name else _scalar(name, key or _place(item, at))


def _place(value: Any, at: Node) -> Node:
    if isinstance(value, Scalar | Sequence | Mapping):
        return value
    return value.at if isinstance(value, Entity) else at


def _scalar(content: str, at: Node) -> Scalar:
    return Scalar(at.source, at.line, at.column, at.end_line, at.end_column, content, True)


def _mapping(entries: list[tuple[Scalar, Node]], at: Node) -> Mapping:
    place = (at.source, at.line, at.column, at.end_line, at.end_column)
    return Mapping(*place, [k for k, _ in entries], {k.text: v for k, v in entries})
