"""Properties, attributes, artifacts, capabilities and requirements as types define them (section 4)."""

from __future__ import annotations

from collections.abc import Set

from ordito.lowering.alien.functions import FunctionsOf
from ordito.lowering.alien.shapes import ArchiveShapes, is_function, without
from ordito.lowering.making import mapping, named, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, is_null

COLLECTIONS = frozenset({"list", "map"})
NODE, CONTAINER = "tosca.capabilities.Node", "tosca.capabilities.Container"
HOSTED_ON = "HostedOn"


class DefinitionsOf:
    """Lowers the definitions of one file. ``node_types`` and ``capability_types`` are the names of those that all files
    define."""

    def __init__(
        self, shapes: ArchiveShapes, functions: FunctionsOf, node_types: Set[str], capability_types: Set[str]
    ) -> None:
        self._shapes = shapes
        self._functions = functions
        self._diagnostics = shapes.diagnostics
        self._node_types = node_types
        self._capability_types = capability_types

    def properties(self, node: Node | None, what: str = "properties") -> Mapping | None:
        """The definitions of properties, or of inputs."""
        return self._shapes.each(node, f'"{what}"', self._property)

    def _property(self, key: Scalar, node: Node) -> Node | None:
        if isinstance(node, Scalar) and not is_null(node):
            return named([("type", node)], node)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'property definition "{key.text}"', "a map with its keynames")
            return None
        written = self._shapes.keynames.kept(node, "property definition")
        kind = written.values.get("type")
        entries = without(written, "required", "password", "suggestion", "external_schema", "metadata", "entry_schema")
        entries = [(k, self._functions.lowered(v) if k.text == "default" else v) for k, v in entries]
        if "required" in written.values and not is_null(written.values["required"]):
            required = written.values["required"]
            entries.append((written.key("required"), self._shapes.flag(required, '"required"')))
        if isinstance(kind, Scalar) and kind.text == "boolean" and "default" in written.values:
            entries = [(k, _truth(v) if k.text == "default" else v) for k, v in entries]
        entry = written.values.get("entry_schema")
        if entry is not None and not is_null(entry):
            entries.append((written.key("entry_schema"), self._schema(entry)))
        elif isinstance(kind, Scalar) and kind.text in COLLECTIONS:
            self._diagnostics.error(
                "missing-keyname",
                f'"{key.text}" is a {kind.text} and lacks "entry_schema"',
                kind.span,
                hint="add entry_schema: and the type of its entries",
            )
        secret = written.values.get("password")
        more: list[tuple[Scalar, Node]] = []
        if secret is not None and self._is_true(secret):
            more.append((text("sensitive", secret), text("true", secret)))
        metadata = self._shapes.texts(written.values.get("metadata"), more)
        if metadata is not None:
            entries.append((text("metadata", metadata), metadata))
        return mapping(entries, written)

    def _is_true(self, node: Node) -> bool:
        lowered = self._shapes.flag(node, '"password"')
        return isinstance(lowered, Scalar) and lowered.text == "true"

    def _schema(self, node: Node) -> Node:
        if not isinstance(node, Mapping):
            return node
        kept = without(node, "entry_schema", "required", "default", "password", "suggestion")
        inner = node.values.get("entry_schema")
        if inner is not None and not is_null(inner):
            kept.append((node.key("entry_schema"), self._schema(inner)))
        return mapping(
            [(k, v) for k, v in kept if k.text in ("type", "description", "constraints", "entry_schema")], node
        )

    def attributes(self, node: Node | None) -> Mapping | None:
        """The definitions of attributes; a function in place of one is what the attribute is computed from."""
        return self._shapes.each(node, '"attributes"', self._attribute)

    def _attribute(self, key: Scalar, node: Node) -> Node | None:
        if is_function(node):
            return named([("type", text("string", node)), ("default", self._functions.lowered(node))], node)
        if isinstance(node, Scalar) and not is_null(node):
            return named([("type", node)], node)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'attribute definition "{key.text}"', "a type, a function or a definition")
            return None
        written = self._shapes.keynames.kept(node, "attribute definition")
        entries = [
            (
                k,
                self._functions.lowered(v)
                if k.text == "default"
                else self._schema(v)
                if k.text == "entry_schema"
                else v,
            )
            for k, v in without(written, "metadata")
        ]
        metadata = self._shapes.texts(written.values.get("metadata"))
        if metadata is not None:
            entries.append((text("metadata", metadata), metadata))
        return mapping(entries, written)

    # Artifacts.

    def artifacts(self, node: Node | None) -> Mapping | None:
        """Artifacts; one without a file is a place for a file, which is not there yet."""
        table = self._shapes.table(node, '"artifacts"', beside=True)
        return self._shapes.each(table, '"artifacts"', self._artifact)

    def _artifact(self, key: Scalar, node: Node) -> Node | None:
        if isinstance(node, Scalar) and not is_null(node):
            return self._shapes.move(node)
        file: Node | None = None
        entries: list[tuple[Scalar, Node]] = []
        if isinstance(node, Mapping):
            file = node.values.get("") or node.values.get("file")
            named_ones = mapping([(k, v) for k, v in node.entries() if k.text], node)
            written = self._shapes.keynames.kept(named_ones, "artifact")
            entries = without(written, "file", "archive_name", "archive_version", "archive_file", "artifact_repository")
        if not isinstance(file, Scalar) or is_null(file):
            self._diagnostics.warning(
                "empty-value",
                f'artifact "{key.text}" names no file, so there is none of that name',
                key.span,
                hint="name its file here or in the node template",
            )
            return None
        at_home = not any(k.text == "repository" for k, _ in entries)
        entries.append((text("file", file), self._shapes.move(file) if at_home else file))
        return mapping(entries, node)

    # Capabilities and requirements.

    def capabilities(self, node: Node | None) -> Mapping | None:
        """The definitions of capabilities, whose properties are values for templates."""
        table = self._shapes.table(node, '"capabilities"', beside=True)
        return self._shapes.each(table, '"capabilities"', self._capability)

    def _capability(self, key: Scalar, node: Node) -> Node | None:
        if isinstance(node, Scalar):
            return named([("type", node)], node)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'capability definition "{key.text}"', "a type or a map with its keynames")
            return None
        node = _with_type(node, "type")
        written = self._shapes.keynames.kept(node, "capability definition")
        entries: list[tuple[Scalar, Node]] = []
        for name, value in without(written, "upper_bound", "lower_bound"):
            if name.text == "properties":
                values = self._shapes.each(value, '"properties"', self._value_or_definition)
                if values is not None:
                    entries.append((name, values))
            elif name.text == "attributes":
                attributes = self.attributes(value)
                if attributes is not None:
                    entries.append((name, attributes))
            elif name.text == "occurrences":
                entries.append((name, self._shapes.bounds(value)))
            else:
                listed = self._shapes.listed(value) if name.text == "valid_source_types" else value
                assert listed is not None
                entries.append((name, listed))
        self._bounds(written, entries)
        return mapping(entries, written)

    def _value_or_definition(self, key: Scalar, node: Node) -> Node | None:
        """A value for a property of a capability is its default."""
        if isinstance(node, Mapping) and "type" in node.values:
            return self._property(key, node)
        return named([("default", self._functions.lowered(node))], node)

    def _bounds(self, written: Mapping, entries: list[tuple[Scalar, Node]]) -> None:
        """The bounds of drafts, where no occurrences are given."""
        low, high = written.values.get("lower_bound"), written.values.get("upper_bound")
        place = low or high
        if place is None or any(k.text == "occurrences" for k, _ in entries):
            return
        self._diagnostics.warning(
            "deprecated", "bounds are written as occurrences", place.span, hint="write occurrences: [lower, upper]"
        )
        pair = sequence([low or text("0", place), high or text("UNBOUNDED", place)], place)
        entries.append((text("occurrences", place), self._shapes.bounds(pair)))

    def requirements(self, node: Node | None) -> Node | None:
        """The definitions of requirements, each once."""
        table = self._shapes.table(node, '"requirements"', beside=True)
        lowered = self._shapes.each(table, '"requirements"', self._requirement)
        if lowered is None:
            return None
        return sequence([mapping([(key, value)], value) for key, value in lowered.entries()], lowered)

    def _requirement(self, key: Scalar, node: Node) -> Node | None:
        if isinstance(node, Scalar):
            node = named([("capability", node)], node)
        if not isinstance(node, Mapping):
            self._shapes.wrong(node, f'requirement definition "{key.text}"', "a type or a map with its keynames")
            return None
        node = _with_type(node, "capability")
        written = self._shapes.keynames.kept(node, "requirement definition")
        kind = written.values.get("capability") or written.values.get("type")
        relationship = written.values.get("relationship") or written.values.get("relationship_type")
        entries = without(written, *("capability", "type", "relationship", "relationship_type", "capability_name"))
        entries = [
            (k, self._shapes.bounds(v) if k.text == "occurrences" else v)
            for k, v in entries
            if k.text not in ("description", "upper_bound", "lower_bound")
        ]
        self._bounds(written, entries)
        entries += self._asked(kind, relationship, entries)
        if relationship is not None and not is_null(relationship):
            if isinstance(relationship, Mapping):
                relationship = mapping([(k, v) for k, v in relationship.entries() if k.text == "type"], relationship)
            entries.append((text("relationship", relationship), relationship))
        return mapping(entries, written)

    def _asked(
        self, kind: Node | None, relationship: Node | None, entries: list[tuple[Scalar, Node]]
    ) -> list[tuple[Scalar, Node]]:
        """What a requirement asks for: a capability, or the node of a type."""
        if not isinstance(kind, Scalar):
            return []
        is_node = kind.text in self._node_types or kind.text.startswith("tosca.nodes.")
        if not is_node or kind.text in self._capability_types:
            return [(text("capability", kind), kind)]
        hosting = isinstance(relationship, Scalar) and relationship.text.rpartition(".")[2] == HOSTED_ON
        found: list[tuple[Scalar, Node]] = [
            (text("capability", kind), text(CONTAINER if hosting else NODE, kind)),
        ]
        if not any(k.text == "node" for k, _ in entries):
            found.append((text("node", kind), kind))
        return found


def _with_type(node: Mapping, name: str) -> Mapping:
    """An entry of drafts, in which the type stands behind the name and further keys beside it."""
    if "" not in node.values:
        return node
    entries = [(text(name, k) if not k.text else k, v) for k, v in node.entries() if k.text or name not in node.values]
    return mapping(entries, node)


def _truth(node: Node) -> Node:
    if isinstance(node, Scalar) and node.text.lower() in ("true", "yes", "false", "no"):
        return text("true" if node.text.lower() in ("true", "yes") else "false", node)
    return node
