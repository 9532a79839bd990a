"""Functions in values (section 6.1): the names of nodes and interfaces that they refer to, as the model has them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.making import mapping, sequence, text
from ordito.source.nodes import Mapping, Node, Scalar, Sequence

STANDARD, CONFIGURE = "Standard", "Configure"
NAMES = {
    "standard": STANDARD,
    "lifecycle": STANDARD,
    "tosca.interfaces.node.lifecycle.standard": STANDARD,
    "tosca.interfaces.lifecycle.standard": STANDARD,
    "tosca.interfaces.node.lifecycle": STANDARD,
    "configure": CONFIGURE,
    "tosca.interfaces.relationship.configure": CONFIGURE,
}
OF_ENTITIES = frozenset({"get_property", "get_attribute", "get_operation_output", "get_artifact"})
NUMBER_OR_FLAG = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?|true|false")
NOT_HERE = frozenset({"get_input_artifact"})
OUTPUT = "get_operation_output"
SECRET = "secret:"
"""How the names of inputs begin that are secrets."""


def interface_name(written: str) -> str:
    """The name of an interface: those of the lifecycle have short and full ones, in any case."""
    return NAMES.get(written.lower(), written)


class FunctionsOf:
    """Lowers values. ``templates`` are the names of the node templates."""

    def __init__(self, templates: Iterable[str], diagnostics: Diagnostics) -> None:
        self.secrets: dict[str, Scalar] = {}
        """The secrets that functions ask for, by name."""
        self._templates = frozenset(templates)
        self._safe = {name.replace("-", "_"): name for name in self._templates}
        self._diagnostics = diagnostics

    def template(self, name: Scalar) -> Scalar:
        """A reference to a node template, which may have ``_`` where the template's name has ``-``."""
        if name.text in self._templates:
            return name
        known = self._safe.get(name.text.replace("-", "_"))
        return text(known, name, plain=name.plain) if known is not None else name

    def lowered(self, node: Node) -> Node:
        """A value, with all functions in it."""
        if isinstance(node, Sequence):
            return sequence([self.lowered(item) for item in node.items], node)
        if isinstance(node, Scalar):
            # Exported topologies put all values in quotes; the text stays, and what it is its type says.
            return text(node.text, node) if not node.plain and NUMBER_OR_FLAG.fullmatch(node.text) else node
        if len(node.keys) == 1:
            (key,) = node.keys
            value = node.values[key.text]
            if key.text == "get_secret" and not isinstance(value, Mapping):
                return self._secret(key, value, node)
            if key.text in NOT_HERE:
                self._diagnostics.error(
                    "not-supported-yet",
                    f"{key.text} is not evaluated here",
                    key.span,
                    hint="use an input of the topology, and get_input",
                )
                return node
            if key.text in OF_ENTITIES and isinstance(value, Sequence) and len(value.items) > 1:
                return mapping([(key, self._path(key.text, value))], node)
        return mapping([(k, self.lowered(v)) for k, v in node.entries()], node)

    def _secret(self, key: Scalar, value: Node, node: Node) -> Node:
        """A secret: an input that the secrets of the ensemble give, by the text of its path."""
        items = value.items if isinstance(value, Sequence) else [value]
        path = "/".join(item.text for item in items if isinstance(item, Scalar))
        if not path or len(path.split("/")) < len(items):
            self._diagnostics.error("bad-call", "get_secret takes the path of a secret", value.span)
            return node
        self.secrets.setdefault(path, key)
        return mapping([(text("get_input", key), text(f"{SECRET}{path}", value, plain=False))], node)

    def _path(self, function: str, value: Sequence) -> Node:
        """What a function refers to: an entity, an interface where it asks for an output, and names, the last of which
        may be a path with dots and indexes."""
        items = [self.lowered(item) for item in value.items]
        if isinstance(items[0], Scalar):
            items[0] = self.template(items[0])
        if function == OUTPUT:
            if isinstance(items[1], Scalar):
                items[1] = text(interface_name(items[1].text), items[1], plain=items[1].plain)
            return sequence(items, value)
        last = items[-1]
        if isinstance(last, Scalar) and ("." in last.text or "[" in last.text):
            parts = last.text.replace("[", ".").replace("]", "").split(".")
            if all(parts):
                items[-1:] = [text(part, last) for part in parts]
        return sequence(items, value)
