"""What of a service is sensitive and not shown where its model is."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.sensitive import SHOWN, Sensitive, replaced, shown
from ordito.model.block import BlockType
from ordito.model.imperative import Group, Policy
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.operation import Input
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.sensitivity import Mark, Marks, says_sensitive
from ordito.model.service import Capability, NodeTemplate, Output, Relationship, Service
from ordito.syntax.expressions import Call

TEXT_FUNCTIONS = frozenset({"concat", "join", "token"})
"""Functions whose arguments may be parts of what is sensitive."""


class Hidden:
    """Gives the fields of a service's structures whose values are not shown, as they are shown instead."""

    def __init__(self, service: Service) -> None:
        self._marks = Marks(service.data_types)

    def instead(self, value: msgspec.Struct) -> Mapping[str, object]:
        """The fields of a structure that hold something sensitive, without it."""
        match value:
            case NodeTemplate():
                return self._of_node(value)
            case Capability() | Relationship():
                return self._values(value, whole=False)
            case PropertyDefinition() if value.has_default:
                return self._field("default", value.default, self._marks.of(value))
            case Input() if value.has_value:
                return self._field("value", value.value, self._marks.by(value.schema, value.metadata))
            case Output():
                return self._field("value", value.value, self._marks.by(value.schema, value.metadata))
            case Service():
                known = value.inner_definitions
                inner = {n: self._hidden(v, self._marks.of(known.get(n))) for n, v in value.inner_inputs.items()}
                return {"inner_inputs": inner}
        return self._of_steps(value)

    def _of_steps(self, value: msgspec.Struct) -> Mapping[str, object]:
        """The same of policies, and of lifecycle steps and their blocks."""
        match value:
            case Policy() | Group():
                return self._properties(value)
            case LifecycleStep() if value.block is not None:
                marks = Marks(value.block.data_types)
                known = {n: marks.of(value.definitions.get(n)) for n in value.config}
                return {"config": {n: self._hidden(v, known[n], marks) for n, v in value.config.items()}}
            case BlockType():
                return {"data_types": _used_types(value)}
        return {}

    def _of_node(self, node: NodeTemplate) -> Mapping[str, object]:
        if not says_sensitive(node.metadata):
            return self._values(node, whole=False)
        capabilities = {
            name: msgspec.structs.replace(c, **self._values(c, whole=True)) for name, c in node.capabilities.items()
        }
        return {**self._values(node, whole=True), "capabilities": capabilities}

    def _values(self, holder: NodeTemplate | Capability | Relationship, *, whole: bool) -> dict[str, object]:
        found: dict[str, object] = {}
        for field, values, definitions in (
            ("properties", holder.properties, holder.definitions),
            ("attributes", holder.attributes, holder.attribute_definitions),
        ):
            marks = {n: Mark(whole=True) if whole else self._marks.of(definitions.get(n)) for n in values}
            if any(mark is not None for mark in marks.values()):
                found[field] = {n: self._hidden(v, marks[n]) for n, v in values.items()}
        return found

    def _properties(self, holder: Policy | Group) -> dict[str, object]:
        """The properties of what has no other values."""
        known = {n: self._marks.of(holder.definitions.get(n)) for n in holder.properties}
        if all(mark is None for mark in known.values()):
            return {}
        return {"properties": {n: self._hidden(v, known[n]) for n, v in holder.properties.items()}}

    def _field(self, name: str, value: object, mark: Mark | None) -> dict[str, object]:
        return {} if mark is None else {name: self._hidden(value, mark)}

    def _hidden(self, value: object, mark: Mark | None, marks: Marks | None = None) -> object:
        """A value as it is shown: what refers to something sensitive is none itself."""
        wrapped = replaced((marks or self._marks).wrap(value, mark), _unless_reference)
        return shown(wrapped)


def _used_types(block: BlockType) -> dict[str, DataType]:
    """The data types of which the config of a block is made, but for those that are part of the language."""
    found: dict[str, DataType] = {}
    waiting: list[Schema | None] = [block.config.schema] if block.config is not None else []
    while waiting:
        schema = waiting.pop()
        declared = block.data_types.get(schema.type) if schema is not None else None
        if schema is None or declared is None:
            continue
        waiting += (schema.entry, schema.key)
        if declared.name not in found and declared.name != declared.base:
            found[declared.name] = declared
            waiting += (declared.entry, declared.key, *(f.schema for f in declared.properties.values()))
    return found


def _unless_reference(value: Sensitive) -> object:
    data = value.reveal()
    return data if isinstance(data, Call) and data.function not in TEXT_FUNCTIONS else SHOWN
