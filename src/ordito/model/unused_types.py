"""Calls in node types that no template is of: what is wrong with them for any template there may ever be.

A type that others derive from is passed over: what it refers to may be defined by them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ordito.model.capabilities import CapabilityShape
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.service import Capability, NodeTemplate
from ordito.model.types import NodeShape, Types
from ordito.model.units import Units
from ordito.syntax.expressions import Call, calls

OF_VALUES = frozenset({"get_property", "get_attribute"})
OF_INPUTS = frozenset({"get_input", "get_artifact", "get_operation_output"})


def check_unused_types(types: Types, units: Units, used: Collection[str], references: References) -> None:
    """Check the calls of the user's node types that no template is of and no other type derives from."""
    parents = {kind for shape in types.nodes.values() for kind in shape.kinds[1:]}
    for kind, shape in types.nodes.items():
        if kind in used or kind in parents or units.definitions["node"][kind].unit.is_bundled:
            continue
        found = [c for c in _calls(shape) if _is_wrong_anywhere(c, shape)]
        if found:
            references.check_all(found, Place(node=_any_template(kind, shape)))


def _is_wrong_anywhere(call: Call, shape: NodeShape) -> bool:
    """Whether a call that leads nowhere is wrong whatever template it is for."""
    if call.function not in OF_VALUES:
        return call.function not in OF_INPUTS
    entity, name = call.arguments[0], call.arguments[1]
    if entity in {"SOURCE", "TARGET"}:
        return True
    if entity != "SELF" or not isinstance(name, str) or name in shape.requirements:
        return False
    return call.function == "get_property" or name in shape.attributes or name in shape.properties


def _any_template(kind: str, shape: NodeShape) -> NodeTemplate:
    """A node template of a type that assigns nothing."""
    return NodeTemplate(
        name=kind,
        kinds=shape.kinds,
        properties={},
        attributes={},
        definitions=shape.properties,
        attribute_definitions=shape.attributes,
        capabilities={n: _any_capability(n, c) for n, c in shape.capabilities.items()},
        requirements=(),
        interfaces={},
        artifacts=shape.artifacts,
    )


def _any_capability(name: str, shape: CapabilityShape) -> Capability:
    return Capability(name, shape.kinds, {}, {}, shape.properties, shape.attributes)


def _calls(shape: NodeShape) -> Iterator[Call]:
    groups = [shape.properties, shape.attributes]
    for capability in shape.capabilities.values():
        groups += [capability.properties, capability.attributes]
    for group in groups:
        for definition in group.values():
            yield from calls(definition.default)
    for interface in shape.interfaces.values():
        for inputs in (interface.inputs, *(o.inputs for o in interface.operations.values())):
            for declared in inputs.values():
                yield from calls(declared.value)
