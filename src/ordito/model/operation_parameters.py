"""The inputs of operations, which types define and templates assign, and the attributes that outputs are mapped to
(§3.6.15, §3.6.17)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.definitions import Definitions
from ordito.model.operation import Input
from ordito.model.unit import Unit
from ordito.model.values import Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import integer
from ordito.syntax import entities
from ordito.syntax.expressions import Value, calls
from ordito.syntax.functions import read_untyped
from ordito.syntax.grammar import Reading, read_entity

NODE_OUTPUTS = ("SELF",)
RELATIONSHIP_OUTPUTS = ("SELF", "SOURCE", "TARGET")


class Parameters:
    """Reads inputs and outputs of operations."""

    def __init__(self, values: Values, definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._values = values
        self._definitions = definitions
        self._diagnostics = diagnostics

    def defined(self, written: Mapping | None, declared: MappingType[str, Input], unit: Unit) -> dict[str, Input]:
        """Inputs as types write them: parameter definitions, or a value alone (given early), which is of the type that
        an ancestor ``declared`` for it."""
        if written is None:
            return {}
        found = {}
        reading = Reading(self._diagnostics, unit.dialect)
        for key, node in written.entries():
            item = read_entity(entities.ParameterDefinition, node, reading, key)
            if item is None:
                continue
            value = item.value if item.value is not None else item.default
            is_default = item.value is None and value is not None
            inherited = declared.get(key.text) or Input(key.text)
            if item.type is None:
                if value is not None:
                    inherited = msgspec.structs.replace(self._valued(inherited, value, key), is_default=is_default)
                found[key.text] = inherited
                continue
            schema = self._definitions.schema(item, unit)
            metadata = {k: v.text for k, v in (item.metadata or {}).items()}
            what = f'input "{key.text}"'
            data = self._values.read(value, schema, what, item.type.span, metadata) if value is not None else None
            found[key.text] = Input(
                key.text, schema, item.required is not False, value is not None, data, metadata, key.span, is_default
            )
        return found

    def assigned(self, written: Mapping | None, declared: MappingType[str, Input]) -> dict[str, Input]:
        """Inputs as templates write them: values, typed where the input is declared."""
        if written is None:
            return {}
        found = {}
        for key, node in written.entries():
            found[key.text] = self._valued(declared.get(key.text) or Input(key.text), node, key)
        return found

    def mapped(self, written: Mapping | None, begin_with: tuple[str, ...]) -> dict[str, tuple[str | int, ...]]:
        """Attribute mappings (§3.6.15): output -> [SELF, (capability,) attribute, ...]."""
        found: dict[str, tuple[str | int, ...]] = {}
        for key, node in written.entries() if written is not None else ():
            path = mapping_path(node)
            if path is None:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" must be mapped by a list of an entity and an attribute',
                    node.span,
                    hint="for example [ SELF, private_address ]",
                )
            elif path[0] not in begin_with:
                self._diagnostics.error(
                    "bad-mapping",
                    f'output "{key.text}" cannot be mapped to "{path[0]}" here',
                    node.items[0].span if isinstance(node, Sequence) else node.span,
                    hint=f"begin with {' or '.join(begin_with)}",
                )
            else:
                found[key.text] = path
        return found

    def _valued(self, definition: Input, node: Node, key: Scalar) -> Input:
        """An input with a value, typed where it is declared."""
        value: Value
        if definition.schema is not None and not is_null(node):
            what = f'input "{key.text}"'
            value = self._values.read(node, definition.schema, what, definition.span, definition.metadata)
        else:
            value = read_untyped(node, self._diagnostics)
            self._values.found_calls.extend(calls(value))
        return msgspec.structs.replace(
            definition, has_value=not is_null(node), value=value, span=key.span, is_default=False
        )


def mapping_path(node: Node) -> tuple[str | int, ...] | None:
    """The path that a mapping names, None where it is no list of texts with at least two parts."""
    if not isinstance(node, Sequence) or len(node.items) < 2:
        return None
    path: list[str | int] = []
    for position, item in enumerate(node.items):
        if not isinstance(item, Scalar):
            return None
        index = integer(item.text) if item.plain and position > 1 else None
        path.append(item.text if index is None else index)
    return tuple(path)
