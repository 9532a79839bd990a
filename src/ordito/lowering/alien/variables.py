"""Variables with values of properties that scripts read without having declared them: ``SELF_PORT`` is the property
``port`` of the node, ``SELF_CAPABILITIES_ENDPOINT_PORT`` that of its capability ``endpoint``, and in operations of
relationships ``SOURCE_`` and ``TARGET_`` stand before those of the ends (section 7).

Only those that a script names become inputs of its operation, so that nothing else is handed over.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable

from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.package import Package, read_file

NAMED = re.compile(rb"\b(?:SELF|SOURCE|TARGET)_[A-Z0-9_]+")
MOST_BYTES = 1 << 18
OF_CAPABILITIES = "CAPABILITIES_"
UNSAFE = re.compile(r"\W")


class VariablesOf:
    """Finds the properties that the variables of scripts mean. ``types`` are all node types that are written."""

    def __init__(self, package: Package, types: dict[str, Mapping]) -> None:
        self._package = package
        self._types = types
        self._read: dict[str, frozenset[str]] = {}

    def is_abstract(self, name: str) -> bool:
        """Whether a node type says that it is abstract."""
        item = self._types.get(name)
        written = item.values.get("abstract") if item is not None else None
        return isinstance(written, Scalar) and written.text.lower() in ("true", "yes")

    def inputs(self, implementation: Node | None, owner: str, written: Node | None) -> list[tuple[Scalar, Node]]:
        """The inputs for the variables that a script names and that no input has. ``owner`` is the node type, "" for
        a relationship, the properties of whose ends are not known here."""
        script = _file(implementation)
        if script is None:
            return []
        given = written.values if isinstance(written, Mapping) else {}
        found: list[tuple[Scalar, Node]] = []
        for name in sorted(self._names(script.text) - given.keys()):
            path = self._path(name, owner)
            if path:
                call = mapping(
                    [(text("get_property", script), sequence((text(p, script) for p in path), script))], script
                )
                found.append((text(name, script), call))
        return found

    def _path(self, name: str, owner: str) -> list[str]:
        entity, _, rest = name.partition("_")
        if entity != "SELF" or not owner:
            return []
        if rest.startswith(OF_CAPABILITIES):
            for capability, property_name in self._of_capabilities(owner):
                if variable(f"{capability}_{property_name}") == rest.removeprefix(OF_CAPABILITIES):
                    return [entity, capability, property_name]
            return []
        known = next((p for p in self._properties(owner) if variable(p) == rest), "")
        return [entity, known] if known else []

    def _properties(self, owner: str) -> Iterable[str]:
        for item in self._chain(owner):
            yield from _names(item.values.get("properties"))

    def _of_capabilities(self, owner: str) -> Iterable[tuple[str, str]]:
        for item in self._chain(owner):
            written = item.values.get("capabilities")
            for entry in written.items if isinstance(written, Sequence) else [written]:
                for key, value in entry.entries() if isinstance(entry, Mapping) else ():
                    inner = value.values.get("properties") if isinstance(value, Mapping) else None
                    yield from ((key.text, name) for name in _names(inner))

    def _chain(self, owner: str) -> Iterable[Mapping]:
        seen: set[str] = set()
        while owner in self._types and owner not in seen:
            seen.add(owner)
            item = self._types[owner]
            yield item
            parent = item.values.get("derived_from")
            parent = parent.items[0] if isinstance(parent, Sequence) and parent.items else parent
            owner = parent.text if isinstance(parent, Scalar) else ""

    def _names(self, file: str) -> frozenset[str]:
        known = self._read.get(file)
        if known is None:
            try:
                place = posixpath.join(posixpath.dirname(self._package.main), file)
                content = read_file(self._package.tree, place, MOST_BYTES)
            except (OSError, ValueError):
                content = b""
            known = self._read[file] = frozenset(n.decode() for n in NAMED.findall(content))
        return known


def variable(name: str) -> str:
    """A name as it is in variables."""
    return UNSAFE.sub("_", name).upper()


def _names(node: Node | None) -> Iterable[str]:
    items = node.items if isinstance(node, Sequence) else [node]
    for item in items:
        yield from item.values if isinstance(item, Mapping) else ()


def _file(node: Node | None) -> Scalar | None:
    """The file of an implementation as it was lowered."""
    while isinstance(node, Mapping):
        node = node.values.get("primary") or node.values.get("file")
    return node if isinstance(node, Scalar) and "://" not in node.text else None
