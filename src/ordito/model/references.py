"""What function calls refer to: every entity, property, attribute, artifact and operation that a call names must
exist (chapter 4), which is known before anything runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Mapping as MappingType
from itertools import islice

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.operation import Interface, Notification, Operation
from ordito.model.schema import PropertyDefinition, Schema
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.types import Types
from ordito.model.values import STRING
from ordito.syntax.entries import EntryList, is_lost
from ordito.syntax.expressions import Call, Value
from ordito.syntax.topology import TopologyTemplate

ENDPOINT = "tosca.capabilities.Endpoint"
INDEX = "INDEX"
MOST_LISTED = 8


class Place(msgspec.Struct, frozen=True):
    """Where a call stands: in a node template, in a relationship, or in neither (outputs)."""

    node: NodeTemplate | None = None
    relationship: Relationship | None = None
    inputs: MappingType[str, PropertyDefinition] = {}
    """Inputs that come before those of the topology: of the workflow around it (§7.3.6)."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that mean something here (§4.1)."""
        if self.node is not None:
            return ("SELF", "HOST")
        return ("SELF", "SOURCE", "TARGET") if self.relationship is not None else ()


class References:
    """Checks calls against a whole topology."""

    def __init__(
        self,
        topology: TopologyTemplate,
        types: Types,
        nodes: MappingType[str, NodeTemplate],
        relationship_templates: MappingType[str, tuple[Relationship, ...]],
        inputs: MappingType[str, PropertyDefinition],
        diagnostics: Diagnostics,
    ) -> None:
        self._topology = topology
        self._types = types
        self._nodes = nodes
        self._relationship_templates = relationship_templates
        self._inputs = inputs
        self._diagnostics = diagnostics
        self._reported: set[int] = set()
        self._outputs: dict[int, list[Operation | Notification]] = {}

    def check_all(self, found: Iterable[Call], place: Place) -> None:
        """Check calls; each is reported once, however many templates share it."""
        for call in found:
            if call.function in CHECKS and id(call) not in self._reported:
                CHECKS[call.function](self, call, place)

    def direct(self, call: Call, node: NodeTemplate) -> bool:
        """Whether a call is right for every template of the node's type, since it refers to what the type has."""
        if call.function == "get_input":
            return call.arguments[0] in self._inputs
        if call.function in {"get_property", "get_attribute"} and call.arguments[0] == "SELF":
            name = call.arguments[1]
            own = (
                node.definitions
                if call.function == "get_property"
                else {**node.attribute_definitions, **node.definitions}
            )
            return name in own and name not in node.capabilities
        return call.function in {"concat", "join", "token"}

    def check_mappings(self, interfaces: MappingType[str, Interface], place: Place) -> None:
        """Check that every operation output is mapped to an attribute that exists (R-3.6.15-5)."""
        mapping = self._outputs.get(id(interfaces))
        if mapping is None:
            mapping = []
            for interface in interfaces.values():
                mapping += [o for o in interface.operations.values() if o.outputs]
                mapping += [n for n in interface.notifications.values() if n.outputs]
            self._outputs[id(interfaces)] = mapping
        for operation in mapping:
            for output, path in operation.outputs.items():
                known = self._mapped(path, place)
                if known:
                    shown = ", ".join(str(p) for p in path)
                    self._diagnostics.error(
                        "unknown-attribute",
                        f'output "{output}" is mapped to [{shown}], which does not exist',
                        operation.output_spans.get(output),
                        hint=self._diagnostics.suggestion(str(path[-1] if len(path) > 2 else path[1]), known),
                    )

    def _mapped(self, path: tuple[str | int, ...], place: Place) -> list[str]:
        """What could have been meant where a mapping leads to nothing; nothing where it leads to an attribute."""
        relationship = place.relationship
        if relationship is not None and path[0] == "SELF":
            own = {**relationship.definitions, **relationship.attribute_definitions}
            return [] if path[1] in own else [*own]
        node = place.node
        if relationship is not None:
            node = self._nodes.get(relationship.source if path[0] == "SOURCE" else relationship.target)
        if node is None:
            return []
        known = {**node.definitions, **node.attribute_definitions}
        capability = node.capabilities.get(str(path[1]))
        if path[1] in known or (capability is not None and not capability.kinds):
            return []
        if capability is not None and len(path) > 2:
            inner = {**capability.definitions, **capability.attribute_definitions}
            return [] if path[2] in inner else [*inner]
        return [*known, *node.capabilities]

    def error(self, call: Call, code: str, message: str, hint: str = "") -> None:
        """Report a fault of a call."""
        self._reported.add(id(call))
        self._diagnostics.error(code, message, call.span, hint=hint)

    def _input(self, call: Call, place: Place) -> None:
        name = str(call.arguments[0])
        definition = place.inputs.get(name) or self._inputs.get(name)
        if definition is not None:
            self._check_path(call, f'input "{name}"', definition.schema, call.arguments[1:])
        elif not is_lost(self._topology.inputs, name):
            hint = self._diagnostics.suggestion(name, {**self._inputs, **place.inputs})
            self.error(call, "unknown-input", f'no input named "{name}"', hint)

    def _check_path(self, call: Call, what: str, schema: Schema, path: Iterable[Value]) -> None:
        """Check the names and indexes that lead into a value of a schema."""
        for part in path:
            data_type = self._types.data.get(schema.type)
            if data_type is None:
                return
            if data_type.base == "":
                field = data_type.properties.get(str(part))
                if field is None:
                    self._unknown(call, "field", str(part), f"{what} ({data_type.name})", data_type.properties)
                    return
                schema = field.schema
            elif data_type.base == "map" or (data_type.base == "list" and (isinstance(part, int) or part == INDEX)):
                schema = schema.entry or data_type.entry or STRING
            elif data_type.base == "list":
                self.error(call, "bad-call", f'{what} is a list: an index is needed, not "{part}"', "count from 0")
                return
            else:
                self.error(
                    call, "bad-call", f'{what} is a {schema.type}, which has no part "{part}"', "end the list before it"
                )
                return

    def _value(self, call: Call, place: Place) -> None:
        """get_property and get_attribute: [entity, (capability or requirement,) name, ...]."""
        entity, name = call.arguments[0], str(call.arguments[1])
        what = "property" if call.function == "get_property" else "attribute"
        if entity == "HOST":
            self._host_value(call, place, name, what)
            return
        relationship = place.relationship if entity == "SELF" and place.relationship is not None else None
        if relationship is None and isinstance(entity, str) and entity not in self._nodes:
            relationship = next(iter(self._relationship_templates.get(entity, ())), None)
        if relationship is not None:
            known = _values(relationship.definitions, relationship.attribute_definitions, what)
            if name in known:
                self._check_definition(call, what, known[name], call.arguments[2:])
            else:
                self._unknown(call, what, name, f'relationship "{relationship.key}"', known)
            return
        node = self._node(call, place)
        if node is not None and not self._has(node, call, what, name):
            known = _values(node.definitions, node.attribute_definitions, what)
            self._unknown(call, what, name, f'"{node.name}" ({node.type})', [*known, *node.capabilities])

    def _check_definition(self, call: Call, what: str, definition: PropertyDefinition, path: tuple[Value, ...]) -> None:
        """Check the path into a property; what an attribute holds at run time may be more than its definition says."""
        if path and (what == "property" or self._types.values.base(definition.schema) == ""):
            self._check_path(call, f'{what} "{definition.name}"', definition.schema, path)

    def _has(self, node: NodeTemplate, call: Call, what: str, name: str) -> bool:
        """Whether a node has the value that a call names; a fault further along its path is reported here."""
        own = _values(node.definitions, node.attribute_definitions, what)
        if name in own:
            self._check_definition(call, what, own[name], call.arguments[2:])
            return True
        capability = node.capabilities.get(name)
        relationship = next((r for r in node.requirements if r.requirement == name), None)
        if capability is None and relationship is None:
            return self._unbound(node, call, name) or (what == "attribute" and self._inherited(node, name, call))
        if len(call.arguments) == 2:
            self.error(
                call, "bad-call", f'{call.function} needs the name of a {what} after "{name}"', "add it to the list"
            )
            return True
        if capability is None or not self._in_capability(node, capability, call, what, relationship is None):
            assert relationship is not None
            self._through(node, relationship, call, what)
        return True

    def _in_capability(self, node: NodeTemplate, capability: Capability, call: Call, what: str, final: bool) -> bool:
        """Whether a capability has the value that a call names; if not, and it is ``final``, that is reported."""
        inner = str(call.arguments[2])
        known = _values(capability.definitions, capability.attribute_definitions, what)
        if inner in known:
            self._check_definition(call, what, known[inner], call.arguments[3:])
        elif final and capability.kinds:
            self._unknown(call, what, inner, f'capability "{capability.name}" of "{node.name}"', known)
        return final or inner in known or not capability.kinds

    def _through(self, node: NodeTemplate, relationship: Relationship, call: Call, what: str) -> None:
        """Check what a call reads from the node at the other end of a requirement."""
        inner = str(call.arguments[2])
        target = self._nodes[relationship.target]
        capability = target.capabilities[relationship.capability]
        known = {
            **_values(target.definitions, target.attribute_definitions, what),
            **_values(capability.definitions, capability.attribute_definitions, what),
        }
        if inner in known:
            self._check_definition(call, what, known[inner], call.arguments[3:])
        elif not (what == "attribute" and self._inherited(target, inner, call)):
            where = f'"{target.name}", which requirement "{relationship.requirement}" of "{node.name}" leads to'
            self._unknown(call, what, inner, where, known)

    def _unbound(self, node: NodeTemplate, call: Call, name: str) -> bool:
        """Whether a node has a requirement of that name, which is bound to nothing."""
        shape = self._types.nodes[node.type].requirements.get(name)
        if shape is None:
            return False
        written = (self._topology.node_templates or {})[node.name].requirements or ()
        faulty = shape.occurrences[0] > 0 or is_lost(written, name) or any(r.name == name for r in written)
        if not faulty:  # otherwise that has been reported
            self.error(
                call,
                "unassigned-requirement",
                f'requirement "{name}" of "{node.name}" is not assigned, so nothing can be read through it',
                f"add below requirements of {node.name}: - {name}: <node template>",
            )
        return True

    def _inherited(self, node: NodeTemplate, name: str, call: Call) -> bool:
        """An attribute that the node itself does not have, but an Endpoint of it or a host up the chain has."""
        for host in self._chain(node):
            own = host is not node and name in host.attribute_definitions
            endpoint = next((c for c in host.capabilities.values() if _is_endpoint_with(c, name)), None)
            if own or endpoint is not None:
                where = "" if own or endpoint is None else f'capability "{endpoint.name}" of '
                if id(call) not in self._reported:
                    self._reported.add(id(call))
                    self._diagnostics.warning(
                        "inherited-attribute",
                        f'"{node.name}" has no attribute "{name}"; the one of {where}"{host.name}" is taken',
                        call.span,
                    )
                return True
        return False

    def _host_value(self, call: Call, place: Place, name: str, what: str) -> None:
        if place.node is None:
            self.error(call, "bad-call", "HOST means something in node templates only", _keywords(place))
            return
        hosts: list[NodeTemplate] = []
        for host in islice(self._chain(place.node), 1, None):
            if self._has_quietly(host, call, what, name):
                return
            hosts.append(host)
        if not hosts:
            self._no_host(call, place.node)
            return
        chain = " -> ".join(h.name for h in hosts[:MOST_LISTED]) + (" -> ..." if len(hosts) > MOST_LISTED else "")
        known = [n for h in hosts for n in _values(h.definitions, h.attribute_definitions, what)]
        self._unknown(call, what, name, f'any host of "{place.node.name}" ({chain})', known)

    def _no_host(self, call: Call, node: NodeTemplate) -> None:
        """Report HOST in a node that nothing hosts, unless a requirement is at fault, which was reported."""
        written = (self._topology.node_templates or {})[node.name].requirements
        shapes = self._types.nodes[node.type].requirements.values()
        bound = {r.requirement for r in node.requirements}
        at_fault = len(written or ()) > len(node.requirements) or (isinstance(written, EntryList) and written.lost)
        if node.host is None and not at_fault and all(s.name in bound for s in shapes if s.occurrences[0]):
            self.error(
                call,
                "bad-call",
                f'"{node.name}" is hosted on nothing, so HOST means nothing here',
                "name a node template, or give it a host",
            )

    def _has_quietly(self, node: NodeTemplate, call: Call, what: str, name: str) -> bool:
        if name in _values(node.definitions, node.attribute_definitions, what):
            return True
        inner = str(call.arguments[2]) if len(call.arguments) > 2 else ""
        capability = node.capabilities.get(name)
        if capability is not None and inner in _values(capability.definitions, capability.attribute_definitions, what):
            return True
        return what == "attribute" and any(_is_endpoint_with(c, name) for c in node.capabilities.values())

    def _chain(self, node: NodeTemplate) -> Iterator[NodeTemplate]:
        """A node and its hosts, the nearest first."""
        seen = set()
        current: NodeTemplate | None = node
        while current is not None and current.name not in seen:
            yield current
            seen.add(current.name)
            host = current.host
            current = self._nodes.get(host.target) if host is not None else None

    def _artifact(self, call: Call, place: Place) -> None:
        name = str(call.arguments[1])
        if call.arguments[0] == "HOST":
            hosts = islice(self._chain(place.node), 1, None) if place.node is not None else iter(())
            known: dict[str, None] = {}
            for host in hosts:
                if name in host.artifacts:
                    return
                known.update(dict.fromkeys(host.artifacts))
            self._unknown(call, "artifact", name, "any host", known)
            return
        if call.arguments[0] == "SELF" and place.relationship is not None:
            owner: NodeTemplate | Relationship | None = place.relationship
        else:
            owner = self._node(call, place)
        if owner is not None and name not in owner.artifacts:
            shown = owner.name if isinstance(owner, NodeTemplate) else owner.key
            self._unknown(call, "artifact", name, f'"{shown}"', owner.artifacts)

    def _output(self, call: Call, place: Place) -> None:
        """get_operation_output: [entity, interface, operation, output]."""
        entity, interface, operation = (str(a) for a in call.arguments[:3])
        if entity == "HOST":
            self.error(call, "bad-call", "get_operation_output knows no HOST", _keywords(place))
            return
        interfaces: MappingType[str, Interface] | None = None
        if entity == "SELF" and place.relationship is not None:
            interfaces = place.relationship.interfaces
        elif entity in self._relationship_templates and entity not in self._nodes:
            interfaces = self._relationship_templates[entity][0].interfaces
        else:
            node = self._node(call, place)
            interfaces = node.interfaces if node is not None else None
        if interfaces is None:
            return
        found = interfaces.get(interface) or next(
            (i for i in interfaces.values() if any(k in {interface, f"tosca.interfaces.{interface}"} for k in i.kinds)),
            None,
        )
        if found is None:
            self._unknown(call, "interface", interface, f'"{entity}"', interfaces)
        elif operation not in found.operations and found.kinds:
            self._unknown(call, "operation", operation, f'interface "{found.name}"', found.operations)

    def _node(self, call: Call, place: Place) -> NodeTemplate | None:
        """The node template that a call's first argument means; a fault is reported."""
        entity = call.arguments[0]
        relationship = place.relationship
        if entity in {"SELF", "SOURCE", "TARGET"}:
            if entity not in place.keywords:
                self.error(call, "bad-call", f'"{entity}" means nothing here', _keywords(place))
                return None
            if entity == "SELF":
                return place.node
            assert relationship is not None
            return self._nodes.get(relationship.source if entity == "SOURCE" else relationship.target)
        node = self._nodes.get(str(entity))
        templates, relationships = self._topology.node_templates, self._topology.relationship_templates
        if node is not None or entity in (templates or ()) or is_lost(templates, str(entity)):
            return node
        if entity in (relationships or ()) or is_lost(relationships, str(entity)):
            return None  # it is used by no requirement, which is reported
        known = [*(templates or ()), *(relationships or ()), *place.keywords]
        hint = self._diagnostics.suggestion(str(entity), known)
        self.error(call, "unknown-entity", f'no node or relationship template named "{entity}"', hint)
        return None

    def _unknown(self, call: Call, what: str, name: str, owner: str, known: Iterable[str]) -> None:
        hint = self._diagnostics.suggestion(name, known)
        self.error(call, f"unknown-{what}", f'{owner} has no {what} "{name}"', hint)


def _values(
    properties: MappingType[str, PropertyDefinition], attributes: MappingType[str, PropertyDefinition], what: str
) -> MappingType[str, PropertyDefinition]:
    """What get_property or get_attribute may read: each property is an attribute as well (§3.6.12.4)."""
    return properties if what == "property" else {**properties, **attributes}


def _keywords(place: Place) -> str:
    return f"keywords that mean something here: {', '.join(place.keywords) or 'none; name a node template'}"


def _is_endpoint_with(capability: Capability, attribute: str) -> bool:
    return ENDPOINT in capability.kinds and attribute in capability.attribute_definitions


CHECKS: dict[str, Callable[[References, Call, Place], None]] = {
    "get_input": References._input,  # noqa: SLF001  (the table of the class's own checks)
    "get_property": References._value,  # noqa: SLF001
    "get_attribute": References._value,  # noqa: SLF001
    "get_artifact": References._artifact,  # noqa: SLF001
    "get_operation_output": References._output,  # noqa: SLF001
}
