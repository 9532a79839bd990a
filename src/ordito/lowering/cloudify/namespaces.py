"""Files that are imported under a namespace: what they define gets it before its name, and what they refer to as well,
so that nothing that follows needs to know of namespaces (section 2.1)."""

from __future__ import annotations

from collections.abc import Callable

from ordito.lowering.cloudify.schemas import OBJECTS, PRIMITIVES
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence

SEPARATOR = "--"
OF_PRODUCT = "cloudify."
"""How the names begin that are never renamed."""
KEYWORDS = frozenset({"SELF", "SOURCE", "TARGET"})
DEFINED = (
    "inputs",
    "plugins",
    "data_types",
    "node_types",
    "relationships",
    "node_templates",
    "policy_types",
    "policy_triggers",
    "groups",
    "policies",
    "workflows",
    "outputs",
    "capabilities",
    "labels",
    "resource_tags",
)
"""The sections that are maps of names."""
OF_INPUTS = frozenset({"get_input"})
OF_NODES = frozenset({"get_property", "get_attribute", "get_attributes_list", "get_attributes_dict"})
"""The functions whose first argument is a name."""
NAMES = frozenset({"derived_from", "type", "target"})
"""Keynames below which a name stands."""
LISTS = frozenset({"members", "targets", "node_types_required"})
"""Keynames below which names are listed."""
MAPPED = frozenset({"implementation", "mapping"})
OPEN = frozenset({"properties", "parameters", "inputs", "default", "value", "values"})
"""Keynames below which authors choose names, so that a keyname there is none."""
PLUGINS = frozenset({"script", "agent", "default_workflows", "cfy_extensions"})
"""The plugins of the bundled types, whose names stay as they are."""


class Namespace:
    """Puts a namespace before the names in a file. ``path`` gives the path of a script, from the folder of the main
    file, that the file names by its own; "" for what is no file there."""

    def __init__(self, name: str, path: Callable[[str], str]) -> None:
        self._before = f"{name}{SEPARATOR}"
        self._path = path

    def renamed(self, root: Mapping) -> Mapping:
        """The file with its names."""
        entries: list[tuple[Scalar, Node]] = []
        for key, node in root.entries():
            if key.text in DEFINED and isinstance(node, Mapping):
                inner = [(self._name(k), self._definition(key.text, v)) for k, v in node.entries()]
                entries.append((key, mapping(inner, node)))
            else:
                entries.append((key, node))
        return mapping(entries, root)

    def _name(self, written: Scalar) -> Scalar:
        if written.text.startswith(OF_PRODUCT) or written.text in KEYWORDS:
            return written
        return text(f"{self._before}{written.text}", written, plain=written.plain)

    def _type(self, written: Scalar) -> Scalar:
        known = written.text in PRIMITIVES or written.text in OBJECTS
        return written if known else self._name(written)

    def _definition(self, section: str, node: Node) -> Node:
        """A definition of a section with what it refers to."""
        if section == "workflows" and isinstance(node, Scalar):
            return self._implementation(node)
        if section in {"labels", "resource_tags"}:
            return self._value(node)
        if section == "plugins":
            return node
        return self._below(node)

    def _below(self, node: Node) -> Node:
        """A part of a definition: keynames say where names stand."""
        if isinstance(node, Sequence):
            return sequence((self._below(item) for item in node.items), node)
        if not isinstance(node, Mapping):
            return node
        return mapping(((key, self._entry(key.text, value)) for key, value in node.entries()), node)

    def _entry(self, name: str, value: Node) -> Node:
        if name in NAMES and isinstance(value, Scalar):
            return self._type(value)
        if name in LISTS and isinstance(value, Sequence):
            return sequence((self._type(i) if isinstance(i, Scalar) else i for i in value.items), value)
        if name in MAPPED and isinstance(value, Scalar):
            return self._implementation(value)
        if name.endswith("interfaces") and isinstance(value, Mapping):
            return self._interfaces(value)
        if name in OPEN:
            return self._chosen(value)
        return self._below(value)

    def _interfaces(self, node: Mapping) -> Mapping:
        """Interfaces: operations that are single values are implementations."""
        made: list[tuple[Scalar, Node]] = []
        for key, table in node.entries():
            if not isinstance(table, Mapping):
                made.append((key, table))
                continue
            operations = [
                (k, self._implementation(v) if isinstance(v, Scalar) else self._below(v)) for k, v in table.entries()
            ]
            made.append((key, mapping(operations, table)))
        return mapping(made, node)

    def _chosen(self, node: Node) -> Node:
        """A map whose names the author has chosen: of schemas, or of values."""
        if not isinstance(node, Mapping) or self._is_call(node):
            return self._value(node)
        made: list[tuple[Scalar, Node]] = []
        for key, value in node.entries():
            is_schema = isinstance(value, Mapping) and bool(SCHEMA & value.values.keys())
            is_schema = is_schema and isinstance(value, Mapping) and value.values.keys() <= SCHEMA_KEYS
            made.append((key, self._below(value) if is_schema else self._value(value)))
        return mapping(made, node)

    def _is_call(self, node: Mapping) -> bool:
        return len(node.keys) == 1 and node.keys[0].text in OF_INPUTS | OF_NODES

    def _value(self, node: Node) -> Node:
        """A value: only functions in it refer to something."""
        if isinstance(node, Sequence):
            return sequence((self._value(item) for item in node.items), node)
        if not isinstance(node, Mapping):
            return node
        if not self._is_call(node):
            return mapping(((k, self._value(v)) for k, v in node.entries()), node)
        (key,) = node.keys
        written = node.values[key.text]
        if isinstance(written, Scalar):
            return mapping([(key, self._name(written))], node)
        if isinstance(written, Sequence) and written.items:
            first, *rest = written.items
            head = self._name(first) if isinstance(first, Scalar) else self._value(first)
            return mapping([(key, sequence([head, *(self._value(i) for i in rest)], written))], node)
        return node

    def _implementation(self, written: Scalar) -> Scalar:
        """What implements something: a script of the file's own place, or a function of a plugin."""
        place = self._path(written.text)
        if place:
            return text(place, written, plain=written.plain)
        plugin = written.text.partition(".")[0]
        is_function = "." in written.text and "/" not in written.text and "\n" not in written.text
        return self._name(written) if is_function and plugin not in PLUGINS else written


SCHEMA = frozenset({"type", "default"})
SCHEMA_KEYS = frozenset(
    {
        "type",
        "default",
        "description",
        "required",
        "constraints",
        "item_type",
        "display_label",
        "hidden",
        "display",
    }
)
"""The keynames of schemas."""
