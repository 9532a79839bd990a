"""The forms in which archives may write one thing: lists for maps, single values for lists, words for flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.alien.keynames import Keynames
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import integer
from ordito.syntax.functions import call_in

TRUE, FALSE = frozenset({"true", "yes", "y", "on"}), frozenset({"false", "no", "n", "off"})
UNBOUNDED = "UNBOUNDED"

Sequential = Iterable[tuple[Scalar, Node]]
"""Entries of a map, in their order."""


class ArchiveShapes:
    """Brings what is written in one file to the forms of TOSCA. ``file`` and ``main`` are the file and that of the
    service, from whose folder all paths begin afterwards."""

    def __init__(self, keynames: Keynames, move: Callable[[Scalar], Scalar], diagnostics: Diagnostics) -> None:
        self.keynames = keynames
        self.move = move
        self.diagnostics = diagnostics

    def wrong(self, node: Node, what: str, expected: str) -> None:
        """Report a node of the wrong kind."""
        given = "and is empty" if is_null(node) else f"not {node.kind}"
        self.diagnostics.error("wrong-form", f"{what} must be {expected}, {given}", node.span)

    def table(self, node: Node | None, what: str, *, beside: bool = False) -> Mapping | None:
        """A map of names, also where a list of maps with one name each is written; of a name that the list has twice
        the last counts. With ``beside``, further keys of an entry belong to what its first one names."""
        if node is None or is_null(node):
            return None
        if isinstance(node, Mapping):
            return node
        if not isinstance(node, Sequence):
            self.wrong(node, what, "a map of names")
            return None
        found: dict[str, tuple[Scalar, Node]] = {}
        for item in node.items:
            if not isinstance(item, Mapping) or not item.keys:
                self.wrong(item, f"an entry of {what}", "a map with a name")
                continue
            for key, value in self._entry(item) if beside else item.entries():
                if key.text in found:
                    self.diagnostics.warning(
                        "repeated-name", f'"{key.text}" is given twice in {what}; the last one counts', key.span
                    )
                found[key.text] = key, value
        return mapping(found.values(), node)

    def _entry(self, item: Mapping) -> list[tuple[Scalar, Node]]:
        """The name of an entry of a list, and what is written below and beside it."""
        (key, value), *rest = item.entries()
        if not rest:
            return [(key, value)]
        if isinstance(value, Mapping):
            return [(key, mapping([*value.entries(), *rest], item))]
        named = [] if is_null(value) else [(text("", value), value)]
        return [(key, mapping([*named, *rest], item))]

    def listed(self, node: Node | None) -> Node | None:
        """A list, also where a single value is written."""
        if isinstance(node, Scalar) and not is_null(node):
            return sequence([node], node)
        return node

    def first(self, node: Node | None) -> Node | None:
        """A single value, also where a list is written, of which the first counts."""
        return node.items[0] if isinstance(node, Sequence) and node.items else node

    def each(self, node: Node | None, what: str, lower: Callable[[Scalar, Node], Node | None]) -> Mapping | None:
        """A map of names with each entry lowered; those that cannot be are left out."""
        table = self.table(node, what)
        if table is None:
            return None
        lowered = ((key, lower(key, value)) for key, value in table.entries())
        return mapping([(k, v) for k, v in lowered if v is not None], table)

    def flag(self, node: Node, what: str) -> Node:
        """true or false, in any of the words that archives have for them."""
        word = node.text.lower() if isinstance(node, Scalar) else ""
        if word in TRUE or word in FALSE:
            return text("true" if word in TRUE else "false", node)
        if isinstance(node, Scalar):
            self.diagnostics.error("bad-value", f'{what} must be true or false, not "{node.text}"', node.span)
            return text("false", node)
        self.wrong(node, what, "true or false")
        return text("false", node)

    def bounds(self, node: Node) -> Node:
        """Occurrences: a lower and an upper bound, or one number for both; ``unbounded`` in any case."""
        items = [node, node] if isinstance(node, Scalar) else node.items if isinstance(node, Sequence) else []
        if isinstance(node, Scalar) and node.text.upper() == UNBOUNDED:
            items = [text("0", node), node]
        if not items:
            return node
        return sequence([self._bound(item) for item in items], node)

    def _bound(self, item: Node) -> Node:
        if isinstance(item, Scalar) and item.text.upper() == UNBOUNDED:
            return text(UNBOUNDED, item)
        return text(item.text, item) if isinstance(item, Scalar) and integer(item.text) is not None else item

    def texts(self, node: Node | None, more: Sequential = ()) -> Mapping | None:
        """Metadata and tags, of which single values are kept, and ``more``."""
        table = self.table(node, "metadata")
        found = {k.text: (k, v) for k, v in table.entries() if _is_text(v)} if table is not None else {}
        found.update((k.text, (k, v)) for k, v in more)
        place = table or next((k for k, _ in found.values()), None)
        return mapping(found.values(), place) if found and place is not None else None


def _is_text(node: Node) -> bool:
    return isinstance(node, Scalar) and not is_null(node)


def without(node: Mapping, *names: str) -> list[tuple[Scalar, Node]]:
    """The entries of a map save some."""
    return [(k, v) for k, v in node.entries() if k.text not in names and not is_null(v)]


def is_function(node: Node) -> bool:
    """Whether a node calls a function."""
    return bool(call_in(node))
