"""Which outputs of operations are referred to, so that executors know what to return (§4.6.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ordito.model.operation import Interface, interface_named
from ordito.model.service import NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Call, Value, calls

Wanted = dict[tuple[str, str, str], dict[str, None]]
"""The names of outputs by (node or relationship key, interface, operation)."""


def referenced_outputs(service: Service) -> Wanted:
    """The outputs that ``get_operation_output`` names anywhere in a service."""
    wanted: Wanted = {}
    # Templates of one type that change nothing share its interfaces, which mostly refer to no output at all.
    silent: dict[int, bool] = {}
    for node in service.nodes.values():
        if id(node.interfaces) not in silent:
            silent[id(node.interfaces)] = not any(map(_reads_output, _inputs(node.interfaces)))
        values = declared_values(node) if silent[id(node.interfaces)] else values_of_node(node)
        for value in values:
            _note(service, node, value, wanted)
        for relationship in node.requirements:
            for value in values_of_relationship(relationship):
                _note(service, relationship, value, wanted)
    for output in service.outputs.values():
        _note(service, None, output.value, wanted)
    return wanted


def values_of_node(node: NodeTemplate) -> Iterator[Value]:
    """Every value that is written in a node template or its type."""
    yield from declared_values(node)
    yield from _inputs(node.interfaces)


def declared_values(node: NodeTemplate) -> Iterator[Value]:
    """Every value of a property or an attribute of a node, and of its capabilities."""
    yield from node.properties.values()
    yield from node.attributes.values()
    for capability in node.capabilities.values():
        yield from capability.properties.values()
        yield from capability.attributes.values()


def values_of_relationship(relationship: Relationship) -> Iterator[Value]:
    """Every value that is written in a relationship or its type."""
    yield from relationship.properties.values()
    yield from relationship.attributes.values()
    yield from _inputs(relationship.interfaces)


def _inputs(interfaces: Mapping[str, Interface]) -> Iterator[Value]:
    for interface in interfaces.values():
        for operation in interface.operations.values():
            for declared in operation.inputs.values():
                yield declared.value


def _reads_output(value: Value) -> bool:
    return isinstance(value, Call | list | dict) and any(c.function == "get_operation_output" for c in calls(value))


def _note(service: Service, holder: NodeTemplate | Relationship | None, value: Value, wanted: Wanted) -> None:
    if not isinstance(value, Call | list | dict):
        return
    for call in calls(value):
        if call.function == "get_operation_output":
            name, interface, operation, output = (str(a) for a in call.arguments)
            for entity in _entities(service, holder, name):
                found = interface_named(entity.interfaces, interface)
                if found is not None:
                    owner = entity.name if isinstance(entity, NodeTemplate) else entity.key
                    wanted.setdefault((owner, found.name, operation), {})[output] = None


def _entities(
    service: Service, holder: NodeTemplate | Relationship | None, name: str
) -> Iterable[NodeTemplate | Relationship]:
    if name == "SELF":
        return (holder,) if holder is not None else ()
    if name in {"SOURCE", "TARGET"} and isinstance(holder, Relationship):
        return (service.nodes[holder.source if name == "SOURCE" else holder.target],)
    if name in service.nodes:
        return (service.nodes[name],)
    return service.relationship_templates.get(name, ())
