"""Nodes as the text of a YAML document, with the comments that stood at them where they were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ordito.base.span import SourceText
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.scalars import core_value

WIDTH = 110
"""How long a line with a whole list or map may be."""
SAFE = re.compile(r"[A-Za-z0-9_./$(][^\n\r\t#:\[\]{},&*!|>'\"%@`]*(?:[:][^\s\n\[\]{},#'\"][^\n\r\t#:\[\]{},'\"]*)*")
"""Texts that mean themselves without quotes, also within brackets."""
COMMENT = re.compile(r"\s*#")
BEHIND = re.compile(r"\s+#.*$")


class Written:
    """Writes a document. The comments of a line are written once, where the first node of it is."""

    def __init__(self) -> None:
        self._said: set[tuple[int, int]] = set()
        self._sources: list[SourceText] = []

    def text(self, root: Mapping) -> str:
        """The document."""
        return "\n".join([*self._map(root, 0), ""])

    def _map(self, node: Mapping, indent: int) -> Iterator[str]:
        for key, value in node.entries():
            yield from self._above(key, indent)
            yield from self._entry(f"{' ' * indent}{scalar_text(key)}:", value, indent, key)

    def _entry(self, begin: str, value: Node, indent: int, key: Node) -> Iterator[str]:
        if isinstance(value, Scalar):
            block = _block(value, indent + 2)
            if block:
                yield f"{begin} {block[0]}"
                yield from block[1:]
                return
            yield f"{begin} {scalar_text(value)}".rstrip() + self._behind(value)
            return
        flow = flow_text(value)
        if flow is not None and len(begin) + 1 + len(flow) <= WIDTH and not self._holds_comments(value):
            yield f"{begin} {flow}{self._behind(value)}"
            return
        yield begin + self._behind(key)
        yield from self._map(value, indent + 2) if isinstance(value, Mapping) else self._list(value, indent + 2)

    def _list(self, node: Sequence, indent: int) -> Iterator[str]:
        for item in node.items:
            yield from self._above(item, indent)
            begin = f"{' ' * indent}-"
            if isinstance(item, Mapping) and item.keys and (flow_text(item) is None or self._holds_comments(item)):
                lines = [*self._map(item, indent + 2)]
                first = next(n for n, line in enumerate(lines) if not COMMENT.match(line))
                yield from (line.removeprefix("  ") for line in lines[:first])
                yield f"{begin} {lines[first].lstrip()}"
                yield from lines[first + 1 :]
            else:
                yield from self._entry(begin, item, indent, item)

    # Comments.

    def _above(self, node: Node, indent: int) -> Iterator[str]:
        """The whole lines of comments directly above a node."""
        lines = node.source.lines
        first = node.line - 1
        if not _is_written(node):
            return
        while first > 0 and first - 1 < len(lines) and COMMENT.match(lines[first - 1]):
            first -= 1
        for number in range(first, node.line - 1):
            if self._is_new(node.source, number):
                yield f"{' ' * indent}{lines[number].strip()}"

    def _behind(self, node: Node) -> str:
        """The comment at the end of the line in which a node ends."""
        lines = node.source.lines
        number = node.end_line - 1
        if not 0 <= number < len(lines) or not _is_written(node):
            return ""
        rest = lines[number][max(0, node.end_column - 1) :]
        found = BEHIND.search(rest)
        if found is None or '"' in rest[: found.start()] or "'" in rest[: found.start()]:
            return ""
        return f" {found[0].strip()}" if self._is_new(node.source, number) else ""

    def _holds_comments(self, node: Node) -> bool:
        """Whether there are comments in the lines of a value that nobody has written yet."""
        lines = node.source.lines
        span = range(node.line - 1, min(node.end_line - 1, len(lines)))
        return any(BEHIND.search(f" {lines[n]}") and (id(node.source), n) not in self._said for n in span)

    def _is_new(self, source: SourceText, number: int) -> bool:
        key = (id(source), number)
        if key in self._said:
            return False
        self._said.add(key)
        self._sources.append(source)
        return True


def _is_written(node: Node) -> bool:
    """Whether a node stands in its document as it is, and is not one that was made at the place of another."""
    lines = node.source.lines
    if not isinstance(node, Scalar) or not 0 < node.line <= len(lines):
        return not isinstance(node, Scalar) and 0 < node.line <= len(lines)
    begin = lines[node.line - 1][node.column - 1 :].lstrip("\"'")
    return begin.startswith(node.text.split("\n")[0][:20])


def flow_text(node: Node) -> str | None:
    """A node in one line; None where that would be too long."""
    if isinstance(node, Scalar):
        return scalar_text(node) if "\n" not in node.text else None
    parts: list[str] = []
    if isinstance(node, Sequence):
        for item in node.items:
            one = flow_text(item)
            if one is None:
                return None
            parts.append(one)
        return _joined("[", parts, "]")
    for key, value in node.entries():
        one = flow_text(value)
        if one is None:
            return None
        parts.append(f"{scalar_text(key)}: {one}".rstrip())
    return _joined("{", parts, "}")


def _joined(begin: str, parts: list[str], end: str) -> str | None:
    found = f"{begin} {', '.join(parts)} {end}" if parts else f"{begin}{end}"
    return found if len(found) <= WIDTH else None


def scalar_text(node: Scalar) -> str:
    """A single value: without quotes where it means the same."""
    content = node.text
    if node.plain and (not content or not isinstance(core_value(node), str)):
        return content or "~"
    means_text = isinstance(core_value(Scalar(*_place(node), content, True)), str)
    if means_text and content == content.strip() and SAFE.fullmatch(content):
        return content
    return json.dumps(content, ensure_ascii=False)


def _block(node: Scalar, indent: int) -> list[str]:
    """The lines of a text of several lines; none where it is written in one."""
    content = node.text
    if node.plain or "\n" not in content or content[0] in " \n\t" or "\t" in content or "\r" in content:
        return []
    if any(line != line.rstrip() for line in content.split("\n")):
        return []
    keep = "-" if not content.endswith("\n") else "+" if content.endswith("\n\n") else ""
    lines = content.removesuffix("\n").split("\n")
    return [f"|{keep}", *(f"{' ' * indent}{line}" if line else "" for line in lines)]


def _place(node: Scalar) -> tuple[SourceText, int, int, int, int]:
    return node.source, node.line, node.column, node.end_line, node.end_column
