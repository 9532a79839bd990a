"""Formatting one text, and being sure that it still means the same."""

from __future__ import annotations

import yaml

from ordito.app.format.lines import Lines
from ordito.app.format.tree import NotFormattable, read_layout
from ordito.base.diagnostics import Diagnostics
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.package import load_text

MOST_ROUNDS = 5
VERSION = "tosca_definitions_version"
STRANGE_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What some readers take for the end of a line."""


def format_text(text: str) -> str:
    """A service template, formatted. Raises ``NotFormattable`` where that could change it."""
    if any(character in text for character in STRANGE_BREAKS):
        raise NotFormattable("a line break that YAML 1.2 does not know")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        formatted = _settled(text)
    except yaml.YAMLError as error:
        raise NotFormattable(f"what cannot be read again: {error}") from error
    if formatted is None:
        raise NotFormattable("a form that formatting does not know how to keep")
    return formatted


def _settled(text: str) -> str | None:
    """A text, formatted until that changes nothing more: a comment may move with its line, and then belong elsewhere.
    None where that does not come to an end, or not to the same."""
    before = text
    for _ in range(MOST_ROUNDS):
        after = Lines(read_layout(before)).formatted()
        if after == before:
            return after if _same(text, after) else None
        before = after
    return None


def _same(before: str, after: str) -> bool:
    """Whether two texts hold the same data, written the same way, and the same lines but for their indentation."""
    if _bare(before) != _bare(after):
        return False
    found = Diagnostics()
    first, second = load_text("before", before, found), load_text("after", after, found)
    if first is None or second is None or found.has_errors:
        return False
    return _equal(first.root, second.root)


def _bare(text: str) -> list[str]:
    """The lines of a text, without empty ones and without indentation and dashes."""
    return [bare for line in text.split("\n") if (bare := line.lstrip(" -").rstrip())]


def _equal(first: Node, second: Node) -> bool:
    """Whether two trees are the same. Their depth is bounded by the loader."""
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        return first.text == second.text and first.plain == second.plain
    if isinstance(first, Sequence) and isinstance(second, Sequence):
        pairs = zip(first.items, second.items, strict=False)
        return len(first.items) == len(second.items) and all(_equal(a, b) for a, b in pairs)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        if [*first.values] != [*second.values]:
            return False
        return all(_equal(value, second.values[name]) for name, value in first.values.items())
    return False
