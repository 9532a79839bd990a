"""Files of text that come with the command, in YAML, in which every scalar is a text."""

from __future__ import annotations

from pathlib import Path

from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.source.package import load_file


def page_data(path: Path) -> object:
    """What a file holds: texts, lists and dictionaries. Raises ``ValueError`` where it cannot be read."""
    found = Diagnostics()
    document = load_file(str(path), found)
    if document is None or found.has_errors:
        raise ValueError(f"{path}: {'; '.join(str(d) for d in found)}")
    return _plain(document.root)


def _plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text.strip("\n") if node.plain else node.text
    if isinstance(node, Sequence):
        return [_plain(item) for item in node.items]
    assert isinstance(node, MappingNode)
    return {key.text: _plain(value) for key, value in node.entries()}
