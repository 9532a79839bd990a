"""The types that archives define (section 4)."""

from __future__ import annotations

from collections.abc import Callable

from ordito.lowering.alien.definitions import DefinitionsOf
from ordito.lowering.alien.interfaces import InterfacesOf
from ordito.lowering.alien.shapes import ArchiveShapes, without
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

ROOTS = {
    "node type": "tosca.nodes.Root",
    "relationship type": "tosca.relationships.Root",
    "capability type": "tosca.capabilities.Root",
    "artifact type": "tosca.artifacts.Root",
    "data type": "tosca.datatypes.Root",
    "policy type": "tosca.policies.Root",
}
SECTIONS = {f"{name.replace(' ', '_')}s": name for name in ROOTS}
"""The sections of types, and what an entry of each is called."""
OF_RELATIONSHIPS = ("valid_target_types", "valid_targets")


class ArchiveTypes:
    """Lowers the types of one file."""

    def __init__(
        self, shapes: ArchiveShapes, definitions: DefinitionsOf, interfaces: InterfacesOf, node_types: frozenset[str]
    ) -> None:
        self._shapes = shapes
        self._interfaces = interfaces
        self._node_types = node_types
        self._diagnostics = shapes.diagnostics
        self._parts: dict[str, Callable[[Node | None], Node | None]] = {
            "properties": definitions.properties,
            "attributes": definitions.attributes,
            "artifacts": definitions.artifacts,
            "capabilities": definitions.capabilities,
            "requirements": definitions.requirements,
            "interfaces": interfaces.lowered,
            "valid_source_types": shapes.listed,
            "file_ext": shapes.listed,
            "targets": shapes.listed,
        }

    def section(self, node: Node | None, section: str) -> Mapping | None:
        """The types of one section."""
        what = SECTIONS[section]
        return self._shapes.each(node, f'"{section}"', lambda key, value: self._type(key, value, what))

    def _type(self, key: Scalar, node: Node, what: str) -> Node | None:
        if is_null(node):
            node = mapping([], key)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'{what} "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, what)
        self._interfaces.owner = key.text if what == "node type" else ""
        entries: list[tuple[Scalar, Node]] = []
        skipped = ("metadata", "tags", "abstract", "portability", "derived_from", "version", "valid_sources")
        for name, value in without(written, *skipped):
            lowered = self._part(name, value, what)
            if lowered is not None:
                entries.append((text("valid_target_types", name) if name.text in OF_RELATIONSHIPS else name, lowered))
        if "derived_from" in written.values or key.text not in ROOTS.values():
            entries.append(self._parent(key, written, what))
        metadata = self._metadata(written)
        if metadata is not None:
            entries.append((text("metadata", metadata), metadata))
        return mapping(entries, written)

    def _part(self, name: Scalar, value: Node, what: str) -> Node | None:
        if what == "relationship type" and name.text in ("valid_source_types", "artifacts"):
            return None
        if name.text in OF_RELATIONSHIPS:
            listed = self._shapes.listed(value)
            items = listed.items if isinstance(listed, Sequence) else []
            kept = [i for i in items if not (isinstance(i, Scalar) and self._is_node_type(i.text))]
            return sequence(kept, value) if kept else None
        lower = self._parts.get(name.text)
        return lower(value) if lower is not None else value

    def _is_node_type(self, name: str) -> bool:
        return name in self._node_types or name.startswith("tosca.nodes.")

    def _parent(self, key: Scalar, written: Mapping, what: str) -> tuple[Scalar, Node]:
        parent = self._shapes.first(written.values.get("derived_from"))
        if isinstance(parent, Scalar) and not is_null(parent):
            return written.key("derived_from"), parent
        if what not in ("data type", "artifact type", "policy type"):
            self._diagnostics.warning(
                "no-root",
                f'{what} "{key.text}" derives from nothing, so it derives from {ROOTS[what]}',
                key.span,
                hint=f"add derived_from: {ROOTS[what]}",
            )
        return text("derived_from", key), text(ROOTS[what], key)

    def _metadata(self, written: Mapping) -> Mapping | None:
        """Metadata; and tags, the version, and whether the type is abstract, which nothing acts on."""
        more: list[tuple[Scalar, Node]] = []
        for key, value in self._tags(written):
            more.append((text(f"tags.{key.text}", key), value))
        abstract = written.values.get("abstract")
        if abstract is not None and not is_null(abstract):
            more.append((text("abstract", abstract), self._shapes.flag(abstract, '"abstract"')))
        return self._shapes.texts(written.values.get("metadata"), more)

    def _tags(self, written: Mapping) -> list[tuple[Scalar, Node]]:
        tags = self._shapes.table(written.values.get("tags"), '"tags"')
        return [(k, v) for k, v in tags.entries() if isinstance(v, Scalar) and not is_null(v)] if tags else []
