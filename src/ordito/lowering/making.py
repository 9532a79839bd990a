"""Makes nodes that nobody has written, at the place of those from which they follow."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.source.nodes import Mapping, Node, Scalar, Sequence


def text(content: str, at: Node, *, plain: bool = True) -> Scalar:
    """A single value."""
    return Scalar(at.source, at.line, at.column, at.end_line, at.end_column, content, plain)


def mapping(entries: Iterable[tuple[Scalar, Node]], at: Node) -> Mapping:
    """A map with these entries."""
    listed = list(entries)
    place = (at.source, at.line, at.column, at.end_line, at.end_column)
    return Mapping(*place, [k for k, _ in listed], {k.text: v for k, v in listed})


def sequence(items: Iterable[Node], at: Node) -> Sequence:
    """A list with these entries."""
    return Sequence(at.source, at.line, at.column, at.end_line, at.end_column, list(items))


def named(names: Iterable[tuple[str, Node]], at: Node) -> Mapping:
    """A map whose names stand where its values do."""
    return mapping(((text(name, value), value) for name, value in names), at)
