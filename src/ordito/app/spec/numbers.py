"""Values of the user's part as templates compute with them."""

from __future__ import annotations

from ordito.base.templating.written import Written
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.source.scalars import core_value


class WrittenInt(int, Written):
    """A whole number as it was written."""


class WrittenFloat(float, Written):
    """A number with a point as it was written."""


def computable(node: Node) -> object:
    """A located value as data, by the YAML 1.2 core schema: the declared type is not known where templates are."""
    if isinstance(node, Sequence):
        return [computable(item) for item in node.items]
    if not isinstance(node, Scalar):
        return {key: computable(value) for key, value in node.values.items()}
    value = core_value(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    number = WrittenInt(value) if isinstance(value, int) else WrittenFloat(value)
    number.written = node.text
    return number
