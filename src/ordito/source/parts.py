"""Finds the places of parts of a node in the text: they are not kept, since they are rarely needed."""

from __future__ import annotations

from collections.abc import Sequence as SequenceType

from ordito.base.span import Span
from ordito.source.loader import read_again
from ordito.source.nodes import Mapping, Node, Scalar, Sequence


def span_inside(span: Span, path: SequenceType[str | int]) -> Span:
    """The place of the value at a path of keys and indexes inside the node at ``span``.

    The path is followed as far as it leads. Where the text cannot be read by itself (it holds an alias, say), the
    result is the whole span.
    """
    node = read_again(span)
    if node is None:
        return span
    for part in path:
        inner = _inside(node, part)
        if inner is None:
            break
        node = inner
    lines = span.line - 1
    return Span(span.source, node.line + lines, node.column, node.end_line + lines, node.end_column)


def _inside(node: Node, part: str | int) -> Node | None:
    if isinstance(node, Mapping):
        return node.values.get(str(part))
    if isinstance(node, Sequence) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    assert isinstance(node, Scalar | Sequence)
    return None
