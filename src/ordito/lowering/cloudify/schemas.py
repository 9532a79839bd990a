"""Schemas of properties and inputs: the types of Cloudify, as types of TOSCA."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.values import Values, is_call
from ordito.lowering.making import text
from ordito.source.nodes import Mapping as MappingNode
from ordito.source.nodes import Node, Scalar, Sequence, is_null
from ordito.source.scalars import core_value
from ordito.syntax import entities
from ordito.syntax.cloudify.entities import PropertySchema
from ordito.syntax.shapes import is_lost

ANY = "any"
PRIMITIVES = {
    "string": "string",
    "integer": "integer",
    "float": "float",
    "boolean": "boolean",
    "list": "list",
    "dict": "map",
    "regex": "string",
    "textarea": "string",
}
"""The types of single values, lists and maps, and what they are in TOSCA."""
OBJECTS = {
    **dict.fromkeys(
        (
            "deployment_id",
            "blueprint_id",
            "capability_value",
            "secret_key",
            "node_id",
            "node_type",
            "node_instance",
            "scaling_group",
        ),
        "cloudify_dsl_1_4",
    ),
    "operation_name": "cloudify_dsl_1_5",
}
"""The types whose values name something, and the versions that have brought them."""
KINDS = {"list": Sequence, "map": MappingNode}
NUMBERS = {"integer": (int,), "float": (int, float)}
MISTAKEN = {"int": "integer", "str": "string", "bool": "boolean", "map": "dict", "number": "float", "text": "string"}


class Schemas:
    """Lowers schemas. ``data_types`` are those of the blueprint, by name."""

    def __init__(
        self, values: Values, data_types: Mapping[str, object], version: str, diagnostics: Diagnostics
    ) -> None:
        self._values = values
        self._data_types = data_types
        self._version = version
        self._diagnostics = diagnostics

    def property(self, written: PropertySchema, *, parameter: bool = False) -> entities.PropertyDefinition:
        """The definition of a property; of a ``parameter`` where it is one."""
        if not parameter and is_null(written.at) and written.key is not None and written.at is not written.key:
            self._diagnostics.warning(
                "empty-value",
                f'property "{written.name}" has nothing below it, and may be anything',
                written.key.span,
                hint=f"write {written.name}: {{}}",
            )
        default = self._values.lowered(written.default) if written.default is not None else None
        kind, entry = self._type(written.type, written.at)
        if written.type is not None and written.type.text == "regex" and default is not None:
            self.check_pattern(default)
        made = entities.ParameterDefinition if parameter else entities.PropertyDefinition
        return made(
            at=written.at,
            key=written.key,
            type=kind,
            description=written.description,
            required=written.required,
            default=default,
            entry_schema=entry,
            replaces=True,
        )

    def properties(self, written: Mapping[str, PropertySchema] | None) -> dict[str, entities.PropertyDefinition] | None:
        """The definitions of a type."""
        if written is None:
            return None
        return {name: self.property(item) for name, item in written.items()}

    def fits(self, schema: PropertySchema, node: Node) -> bool:
        """Whether a value that is no function is of the kind that a schema asks for."""
        kind = PRIMITIVES.get(schema.type.text) if schema.type is not None else None
        if kind is None or is_call(node):
            return True
        if kind in KINDS:
            return isinstance(node, KINDS[kind])
        value = core_value(self._values.single(node)) if isinstance(node, Scalar) else None
        if kind == "boolean":
            return isinstance(value, bool)
        if kind in NUMBERS:
            return isinstance(value, NUMBERS[kind]) and not isinstance(value, bool)
        return isinstance(node, Scalar)

    def check_pattern(self, node: Node) -> bool:
        """Report a regular expression that is none. Whether it is one."""
        if not isinstance(node, Scalar):
            return True
        try:
            re.compile(node.text)
        except re.error as error:
            self._diagnostics.error("bad-value", f'"{node.text}" is not a regular expression: {error}', node.span)
            return False
        return True

    def known(self, written: Scalar) -> bool:
        """Whether a name is that of a type; one that is not is reported."""
        name = written.text
        if name in PRIMITIVES or name in self._data_types or is_lost(self._data_types, name):
            return True
        since = OBJECTS.get(name)
        if since is not None and self._version >= since:
            return True
        if since is not None:
            hint = f"it has come with {since}: raise tosca_definitions_version"
            message = f"there is no type {name} in {self._version}"
            self._diagnostics.error("unknown-type", message, written.span, hint=hint)
            return False
        known = self.names()
        hint = f'did you mean "{MISTAKEN[name]}"?' if name in MISTAKEN else self._diagnostics.suggestion(name, known)
        self._diagnostics.error("unknown-type", f'no data type named "{name}"', written.span, hint=hint)
        return False

    def names(self) -> Iterable[str]:
        """The names of all types of values."""
        return [*PRIMITIVES, *(n for n, since in OBJECTS.items() if self._version >= since), *self._data_types]

    def _type(self, written: Scalar | None, at: Node) -> tuple[Scalar, entities.SchemaDefinition | None]:
        """The type of a schema, and that of its entries."""
        if written is None or not self.known(written):
            return text(ANY, at), None
        kind = PRIMITIVES.get(written.text, "string" if written.text in OBJECTS else written.text)
        if written.text in self._data_types:
            kind = written.text
        found = written if kind == written.text else text(kind, written)
        entry = None
        if kind in {"list", "map"}:
            entry = entities.SchemaDefinition(at=written, type=text(ANY, written))
        return found, entry
