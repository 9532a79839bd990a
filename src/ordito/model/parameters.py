"""The parameters of topologies and workflows: their inputs, and the outputs of a topology (§3.6.14, §3.9)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Placed
from ordito.model.places import Place
from ordito.model.reach import Reach
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.service import Output
from ordito.model.types import Types
from ordito.model.unit import Unit
from ordito.source.nodes import Mapping
from ordito.syntax.entities import ParameterDefinition
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.functions import FORMS, call_in, has_shape, read_untyped
from ordito.syntax.topology import TopologyTemplate


def read_inputs(
    written: MappingType[str, ParameterDefinition], entry: Unit, types: Types, diagnostics: Diagnostics
) -> dict[str, PropertyDefinition]:
    """The inputs of a topology or a workflow, with their defaults."""
    found: dict[str, PropertyDefinition] = {}
    if entry.dialect.is_open:
        for name, item in written.items():
            found[name] = types.definitions.parameter(name, item, entry)
            types.definitions.remember_default(found, name, item)
        types.definitions.settle_defaults(found)
        return found
    for name, item in written.items():
        found[name] = types.definitions.parameter(name, item, entry)
        if not _refuse_function(item, found[name], types, diagnostics):
            types.definitions.remember_default(found, name, item)
    with types.values.without_functions():
        types.definitions.settle_defaults(found)
    for definition in found.values():
        for call in calls(definition.default):
            _report_function(definition, call, diagnostics)
    return found


def _refuse_function(
    item: ParameterDefinition, definition: PropertyDefinition, types: Types, diagnostics: Diagnostics
) -> bool:
    """Whether the value of an input that holds a map is a function and could be nothing else; that is reported."""
    node = item.value if item.value is not None else item.default
    if not isinstance(node, Mapping) or not call_in(node) or not has_shape(node):
        return False
    schema = definition.schema
    if types.values.base(schema) not in {"map", ""} or schema.type not in types.data:
        return False
    with types.values.without_functions():
        fits = item.type is not None and types.values.fits(node, schema)
    if not fits:
        _report_function(definition, node, diagnostics)
    return not fits


def _report_function(definition: PropertyDefinition, place: Placed, diagnostics: Diagnostics) -> None:
    what = f'input "{definition.name}"'
    diagnostics.error(
        "bad-value",
        f"{what} has a fixed value, not a function"
        if definition.fixed
        else f"the default of {what} is a value, not a function",
        place.span,
        hint="write the value itself: inputs are known before anything else",
    )


def read_outputs(topology: TopologyTemplate, entry: Unit, types: Types, diagnostics: Diagnostics) -> dict[str, Output]:
    """The outputs of a topology, each with its value, which may hold calls."""
    found: dict[str, Output] = {}
    for name, item in (topology.outputs or {}).items():
        schema = types.definitions.schema(item, entry) if item.type is not None else None
        if item.type is None and types.definitions.is_misspelt(item):
            continue
        node = item.value if item.value is not None else item.default
        if node is None:
            diagnostics.error("missing-keyname", f'output "{name}" lacks "value"', item.span, hint="say what it shows")
            continue
        value: Value = (
            read_untyped(node, diagnostics)
            if schema is None
            else types.values.read(node, schema, f'output "{name}"', item.type.span if item.type else None)
        )
        found[name] = Output(
            name,
            value,
            schema,
            item.description.text if item.description else "",
            {k: v.text for k, v in (item.metadata or {}).items()},
            item.span,
        )
    return found


# The types of outputs that are written without one: an output has the type of its value (§3.6.14, R-3.6.14-4).

SINGLE: dict[type, str] = {str: "string", int: "integer", float: "float", bool: "boolean"}


class OutputTypes:
    """Finds the types of values that functions and data show by themselves; ``reach`` follows calls silently."""

    def __init__(
        self, reach: Reach, inputs: MappingType[str, PropertyDefinition], data_types: MappingType[str, DataType]
    ) -> None:
        self._reach = reach
        self._inputs = inputs
        self._data_types = data_types

    def complete(self, outputs: dict[str, Output]) -> None:
        """Give outputs without a type that of their value, as far as it is known before anything runs."""
        for name, output in outputs.items():
            if output.schema is None:
                schema = self._schema(output.value)
                outputs[name] = msgspec.structs.replace(output, schema=schema, inferred=schema is not None)

    def _schema(self, value: Value) -> Schema | None:
        if isinstance(value, Call):
            return self._of_call(value)
        if not isinstance(value, list | dict):
            kind = SINGLE.get(type(value))
            return Schema(kind) if kind is not None else None
        entries = [self._schema(v) for v in (value if isinstance(value, list) else value.values())]
        entry = entries[0] if entries and all(e == entries[0] for e in entries) else None
        return Schema("list" if isinstance(value, list) else "map", entry)

    def _of_call(self, call: Call) -> Schema | None:
        if call.function == "get_input":
            definition = self._inputs.get(str(call.arguments[0]))
            return self._inside(definition.schema, call.arguments[1:]) if definition is not None else None
        if call.function in {"get_property", "get_attribute"}:
            slot = self._reach.find(call, Place())
            return self._inside(slot.schema, call.arguments[slot.rest :]) if slot is not None else None
        gives = FORMS[call.function].gives if call.function in FORMS else ""
        return Schema(gives) if gives else None

    def _inside(self, schema: Schema, path: Iterable[Value]) -> Schema | None:
        """The schema to which names and indexes lead from a value of a schema."""
        found: Schema | None = schema
        for part in path:
            data_type = self._data_types.get(found.type) if found is not None else None
            if found is None or data_type is None:
                return None
            if data_type.base:
                found = found.entry or data_type.entry
            else:
                field = data_type.properties.get(str(part))
                found = field.schema if field is not None else None
        return found if found is not None and found.type in self._data_types else None
