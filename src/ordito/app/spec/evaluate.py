"""Values of the user's part of `ensemble.yaml`, evaluated when they are read."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.app.spec.sources import LITERAL, Sources, kind_of
from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence


class Evaluated(msgspec.Struct, frozen=True):
    """Values by name, located; and the names of those that came, wholly or in part, from a secret."""

    values: Mapping[str, Node] = {}
    secret: frozenset[str] = frozenset()


class Evaluation:
    """Evaluates values for one command. The depth of documents is bounded where they are read, so it may recurse."""

    def __init__(self, sources: Sources, diagnostics: Diagnostics) -> None:
        self._sources = sources
        self._diagnostics = diagnostics
        self._secret = False

    def all(self, written: Mapping[str, Node]) -> Evaluated:
        """The values of a map; those that have none are reported, and left out."""
        values: dict[str, Node] = {}
        secret: set[str] = set()
        for name, node in written.items():
            value, is_secret = self.one(node)
            if value is not None:
                values[name] = value
            if is_secret:
                secret.add(name)
        return Evaluated(values, frozenset(secret))

    def one(self, node: Node) -> tuple[Node | None, bool]:
        """A value, and whether a secret is in it; None where something in it has no value, which is reported."""
        self._secret = False
        before = self._diagnostics.errors
        value = self._value(node)
        return (None if self._diagnostics.errors > before else value), self._secret

    def _value(self, node: Node) -> Node:
        if isinstance(node, Scalar):
            return node
        kind = kind_of(node)
        if kind and isinstance(node, MappingNode):
            return node.values[LITERAL] if kind == LITERAL else self._elsewhere(node, kind)
        if isinstance(node, Sequence):
            items = [self._value(item) for item in node.items]
            if all(new is old for new, old in zip(items, node.items, strict=True)):
                return node
            return Sequence(node.source, node.line, node.column, node.end_line, node.end_column, items)
        values = {key: self._value(value) for key, value in node.values.items()}
        if all(values[key] is value for key, value in node.values.items()):
            return node
        return MappingNode(node.source, node.line, node.column, node.end_line, node.end_column, node.keys, values)

    def _elsewhere(self, node: MappingNode, kind: str) -> Node:
        found = self._sources.read(node, kind)
        if found is None:
            return node
        self._secret = self._secret or found.secret
        return self._value(found.node) if found.written else found.node
