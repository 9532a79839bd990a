"""Located values, as they stand in documents, for rooms that ask for the data only."""

from __future__ import annotations

from ordito.source.nodes import Node, Scalar, Sequence
from ordito.source.scalars import core_value


def plain(node: Node | None) -> object:
    """A located value as plain data, by the YAML 1.2 core schema; None for nothing."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return core_value(node)
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    return {key: plain(value) for key, value in node.values.items()}
