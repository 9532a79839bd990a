"""YAML nodes as the loader makes them from a text, each with its place in it.

Scalars keep the text that was written; its meaning depends on the TOSCA type declared for the place, which this room
does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from ordito.base.span import SourceText, Span


class _Located(msgspec.Struct, gc=False, eq=False):
    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def span(self) -> Span:
        """Where the node stands."""
        return Span(self.source, self.line, self.column, self.end_line, self.end_column)


class Scalar(_Located, gc=False, eq=False):
    """A scalar: its text as written (quotes and escapes resolved), and whether it was written without quotes."""

    text: str
    plain: bool

    kind = "a single value"


class Sequence(_Located, gc=False, eq=False):
    """A list of nodes."""

    items: list[Node]

    kind = "a list"


class Mapping(_Located, gc=False, eq=False):
    """A map with scalar keys, in written order; ``keys`` are the located keys of ``values``, in the same order."""

    keys: list[Scalar]
    values: dict[str, Node]

    kind = "a map"

    def entries(self) -> Iterator[tuple[Scalar, Node]]:
        """The keys, with their places, and their values."""
        return zip(self.keys, self.values.values(), strict=True)

    def key(self, name: str) -> Scalar:
        """The key of a name that is in the map, with its place."""
        return next(k for k in self.keys if k.text == name)


class Data(Mapping, gc=False, eq=False):
    """A map that is data also where it looks like the call of a function."""


Node: TypeAlias = Scalar | Sequence | Mapping


def texts(node: Node) -> Iterator[str]:
    """The text of every scalar inside a node, without keys. Iterative, since users choose the depth."""
    open_nodes: list[Node] = [node]
    while open_nodes:
        current = open_nodes.pop()
        if isinstance(current, Scalar):
            yield current.text
        else:
            open_nodes.extend(current.items if isinstance(current, Sequence) else current.values.values())


def is_null(node: Node) -> bool:
    """Whether a node is the YAML null: nothing, ``~`` or ``null`` without quotes."""
    return isinstance(node, Scalar) and node.plain and node.text in NULLS


NULLS = frozenset({"", "~", "null", "Null", "NULL"})


def same_data(one: Node, other: Node) -> bool:
    """Whether two nodes hold the same data, wherever they stand. The order of a map's entries does not count."""
    waiting: list[tuple[Node, Node]] = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if isinstance(a, Scalar) and isinstance(b, Scalar):
            if (a.text, a.plain) != (b.text, b.plain):
                return False
        elif isinstance(a, Sequence) and isinstance(b, Sequence) and len(a.items) == len(b.items):
            waiting += zip(a.items, b.items, strict=True)
        elif isinstance(a, Mapping) and isinstance(b, Mapping) and a.values.keys() == b.values.keys():
            waiting += ((value, b.values[name]) for name, value in a.values.items())
        else:
            return False
    return True


def shape_of(node: Node) -> tuple[object, ...]:
    """A hashable form of the data of a node: it is equal for nodes with the same data in the same order."""
    found: list[object] = []
    waiting: list[Node] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Scalar):
            found.append((current.text, current.plain))
        elif isinstance(current, Mapping):
            found.append(("map", *current.values))
            waiting += current.values.values()
        else:
            found.append(len(current.items))
            waiting += current.items
    return tuple(found)
