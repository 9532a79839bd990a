"""The types of outputs that are written without one: an output has the type of its value (§3.6.14, R-3.6.14-4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.model.places import Place
from ordito.model.reach import Reach
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.service import Output
from ordito.syntax.expressions import Call, Value
from ordito.syntax.functions import FUNCTIONS

SINGLE: dict[type, str] = {str: "string", int: "integer", float: "float", bool: "boolean"}


class OutputTypes:
    """Finds the types of values that functions and data show by themselves; ``reach`` follows calls silently."""

    def __init__(
        self, reach: Reach, inputs: Mapping[str, PropertyDefinition], data_types: Mapping[str, DataType]
    ) -> None:
        self._reach = reach
        self._inputs = inputs
        self._data_types = data_types

    def complete(self, outputs: dict[str, Output]) -> None:
        """Give outputs without a type that of their value, as far as it can be told before anything runs."""
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
        gives = FUNCTIONS[call.function].gives if call.function in FUNCTIONS else ""
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
