"""Node templates, their capabilities and requirements (section 6)."""

from __future__ import annotations

from ordito.lowering.alien.definitions import DefinitionsOf
from ordito.lowering.alien.functions import FunctionsOf
from ordito.lowering.alien.interfaces import InterfacesOf
from ordito.lowering.alien.shapes import ArchiveShapes, without
from ordito.lowering.making import mapping, named, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null

OF_CAPABILITIES = frozenset({"properties", "attributes", "occurrences"})
ABSTRACT = "abstract"
"""The metadata of templates whose type is one that only says what others have to offer."""
SKIPPED = ("metadata", "tags", "portability")


class NodeTemplatesOf:
    """Lowers the node templates of the main file. ``links`` are, by node template and by the name of a link, the
    requirement that it fulfils; ``spread`` are the nodes whose instances stand on different hosts."""

    def __init__(
        self,
        shapes: ArchiveShapes,
        definitions: DefinitionsOf,
        interfaces: InterfacesOf,
        functions: FunctionsOf,
        spread: frozenset[str],
        later: bool,
    ) -> None:
        self._shapes = shapes
        self._definitions = definitions
        self._interfaces = interfaces
        self._functions = functions
        self._diagnostics = shapes.diagnostics
        self._spread = spread
        self._later = later
        self.links: dict[tuple[str, str], str] = {}

    def lowered(self, node: Node | None) -> Mapping | None:
        """The node templates."""
        return self._shapes.each(node, '"node_templates"', self._template)

    def _template(self, key: Scalar, node: Node) -> Node | None:
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'node template "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "node template")
        kind = written.values.get("type")
        self._interfaces.owner = kind.text if isinstance(kind, Scalar) else ""
        entries: list[tuple[Scalar, Node]] = []
        for name, value in without(written, *SKIPPED):
            lowered = self._part(key, name.text, value)
            if lowered is not None:
                entries.append((name, lowered))
        more: list[tuple[Scalar, Node]] = []
        if key.text in self._spread:
            more.append((text("ordito.placement", key), text("spread", key)))
        if self._interfaces.is_abstract:
            more.append((text(ABSTRACT, key), text("true", key, plain=False)))
        metadata = self._shapes.texts(written.values.get("metadata"), more)
        if metadata is not None:
            entries.append((text("metadata", metadata), metadata))
        return mapping(entries, written)

    def _part(self, key: Scalar, name: str, value: Node) -> Node | None:
        if name in ("properties", "attributes"):
            return self.values(value, name)
        if name == "capabilities":
            return self._shapes.each(value, '"capabilities"', self._capability)
        if name == "requirements":
            return self._requirements(key, value)
        if name == "interfaces":
            return self._interfaces.lowered(value)
        if name == "artifacts":
            return self._definitions.artifacts(value)
        return value

    def values(self, node: Node, what: str) -> Mapping | None:
        """Values by their names, also where a list of maps is written."""
        table = self._shapes.table(node, f'"{what}"')
        if table is None:
            return None
        entries = [(k, self._functions.lowered(v)) for k, v in table.entries() if not is_null(v)]
        return mapping(entries, table)

    def _capability(self, key: Scalar, node: Node) -> Node | None:
        if not isinstance(node, Mapping):
            if not is_null(node):
                self._shapes.wrong(node, f'capability "{key.text}"', "a map with its properties")
            return None
        if OF_CAPABILITIES.isdisjoint(node.values):
            values = self.values(node, "properties")
            return named([("properties", values)], node) if values is not None else None
        entries: list[tuple[Scalar, Node]] = []
        for name, value in without(node):
            if name.text in ("properties", "attributes"):
                found = self.values(value, name.text)
                if found is not None:
                    entries.append((name, found))
            elif name.text in OF_CAPABILITIES:
                entries.append((name, self._shapes.bounds(value)))
        return mapping(entries, node)

    # Requirements.

    def _requirements(self, key: Scalar, node: Node) -> Node | None:
        """Requirements, each below the name of its definition; a link has a name of its own from 2.0.0 on."""
        items = self._entries(node)
        lowered = []
        seen: set[str] = set()
        for name, value in items:
            if name.text in seen and self._later:
                self._diagnostics.warning(
                    "repeated-name",
                    f'two links of "{key.text}" have the name "{name.text}"',
                    name.span,
                    hint="give each a name of its own, and name what it fulfils with type_requirement",
                )
            seen.add(name.text)
            made = self._requirement(key.text, name, value)
            if made is not None:
                lowered.append(mapping([made], value))
        return sequence(lowered, node)

    def _entries(self, node: Node) -> list[tuple[Scalar, Node]]:
        if isinstance(node, Mapping):
            return [*node.entries()]
        if not isinstance(node, Sequence):
            self._shapes.wrong(node, '"requirements"', "a list of maps with one name each")
            return []
        found: list[tuple[Scalar, Node]] = []
        for item in node.items:
            if isinstance(item, Mapping) and item.keys:
                (name, value), *rest = item.entries()
                if rest:
                    below = [*value.entries()] if isinstance(value, Mapping) else [(text("node", value), value)]
                    value = mapping([*below, *rest], item)
                found.append((name, value))
            else:
                self._shapes.wrong(item, 'an entry of "requirements"', "a map with one name")
        return found

    def _requirement(self, node: str, key: Scalar, value: Node) -> tuple[Scalar, Node] | None:
        if isinstance(value, Scalar) and not is_null(value):
            return key, self._functions.template(value)
        if not isinstance(value, Mapping):
            self._lacks_target(node, key)
            return None
        written = self._shapes.keynames.kept(value, "requirement")
        target = written.values.get("node")
        if (not isinstance(target, Scalar) or is_null(target)) and "node_filter" not in written.values:
            self._lacks_target(node, key)
            return None
        kind = written.values.get("type_requirement")
        name = key
        if isinstance(kind, Scalar) and not is_null(kind):
            name = text(kind.text, kind)
            self.links[node, key.text] = kind.text
        entries: list[tuple[Scalar, Node]] = []
        if isinstance(target, Scalar):
            entries.append((written.key("node"), self._functions.template(target)))
        entries += [e for e in without(written) if e[0].text in ("capability", "node_filter")]
        relationship = self._relationship(written)
        if relationship is not None:
            entries.append((text("relationship", relationship), relationship))
        return name, mapping(entries, value)

    def _lacks_target(self, node: str, key: Scalar) -> None:
        self._diagnostics.error(
            "missing-keyname",
            f'requirement "{key.text}" of "{node}" has no target',
            key.span,
            hint="name a node template below it, or remove it",
        )

    def _relationship(self, written: Mapping) -> Node | None:
        """The relationship, with the values that stand beside it."""
        given = written.values.get("relationship")
        entries: list[tuple[Scalar, Node]] = []
        if isinstance(given, Mapping):
            entries = [(k, v) for k, v in without(given) if k.text in ("type", "properties", "interfaces")]
        elif isinstance(given, Scalar) and not is_null(given):
            entries = [(text("type", given), given)]
        entries += [(k, v) for k, v in without(written) if k.text in ("properties", "interfaces")]
        lowered: list[tuple[Scalar, Node]] = []
        for key, value in entries:
            made: Node | None = value
            if key.text == "properties":
                made = self.values(value, "properties")
            elif key.text == "interfaces":
                made = self._interfaces.lowered(value)
            if made is not None:
                lowered.append((key, made))
        return mapping(lowered, given or written) if lowered else None
