"""What function calls refer to: every entity, property, attribute, artifact and operation that a call names must
exist (chapter 4), which is known before anything runs."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, suggestion
from ordito.model.service import (
    Interface,
    NodeTemplate,
    PropertyDefinition,
    Relationship,
)
from ordito.source.nodes import Mapping
from ordito.syntax.expressions import Call

ENDPOINT = "tosca.capabilities.Endpoint"


class Place(msgspec.Struct, frozen=True):
    """Where a call stands: in a node template, in a relationship, or in neither (outputs)."""

    node: NodeTemplate | None = None
    relationship: Relationship | None = None

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
        nodes: MappingType[str, NodeTemplate],
        written: MappingType[str, object],
        relationship_templates: MappingType[str, tuple[Relationship, ...]],
        inputs: MappingType[str, PropertyDefinition],
        diagnostics: Diagnostics,
    ) -> None:
        self._nodes = nodes
        self._written = written
        self._relationship_templates = relationship_templates
        self._inputs = inputs
        self._diagnostics = diagnostics
        self._reported: set[int] = set()

    def check(self, call: Call, place: Place) -> None:
        """Check one call; each is reported once, however many templates share it."""
        if id(call) not in self._reported:
            CHECKS.get(call.function, _nothing)(self, call, place)

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
        for operation in (o for i in interfaces.values() for o in i.operations.values()):
            for output, path in operation.outputs.items():
                known = self._mapped(path, place)
                if known:
                    entity = " of ".join(str(p) for p in reversed(path[:-1]))
                    self._diagnostics.error(
                        "unknown-attribute",
                        f'output "{output}" is mapped to "{path[1]}", which {entity.rpartition(" of ")[2]} does not have',
                        operation.span,
                        hint=suggestion(str(path[1]), known),
                    )

    def _mapped(self, path: tuple[str | int, ...], place: Place) -> list[str]:
        """What could have been meant where a mapping leads to nothing; nothing where it leads to an attribute."""
        relationship = place.relationship
        if relationship is not None and path[0] == "SELF":
            own = {**relationship.definitions, **relationship.attribute_definitions}
            return [] if path[1] in own else [*own, "state"]
        node = place.node
        if relationship is not None:
            node = self._nodes.get(relationship.source if path[0] == "SOURCE" else relationship.target)
        if node is None:
            return []
        known = {**node.definitions, **node.attribute_definitions}
        capability = node.capabilities.get(str(path[1]))
        if path[1] in known:
            return []
        if capability is not None and len(path) > 2:
            inner = {**capability.definitions, **capability.attribute_definitions}
            return [] if path[2] in inner else [f"{path[1]}, {n}" for n in inner] or ["state"]
        return [*known, *node.capabilities]

    def error(self, call: Call, code: str, message: str, hint: str = "") -> None:
        """Report a fault of a call."""
        self._reported.add(id(call))
        self._diagnostics.error(code, message, call.span, hint=hint)

    def _input(self, call: Call, place: Place) -> None:
        name = str(call.arguments[0])
        if name not in self._inputs:
            self.error(call, "unknown-input", f'no input named "{name}"', suggestion(name, self._inputs))

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
            if name not in known:
                self._unknown(call, what, name, f'relationship "{relationship.key}"', known)
            return
        node = self._node(call, place)
        if node is not None and not self._has(node, call, what, name):
            known = _values(node.definitions, node.attribute_definitions, what)
            self._unknown(call, what, name, f'"{node.name}" ({node.type})', [*known, *node.capabilities])

    def _has(self, node: NodeTemplate, call: Call, what: str, name: str) -> bool:
        """Whether a node has the value that a call names; a fault further along its path is reported here."""
        if name in _values(node.definitions, node.attribute_definitions, what):
            return True
        inner = str(call.arguments[2]) if len(call.arguments) > 2 else ""
        capability = node.capabilities.get(name)
        relationship = next((r for r in node.requirements if r.requirement == name), None)
        if capability is not None and inner:
            known = _values(capability.definitions, capability.attribute_definitions, what)
            if inner in known:
                return True
            if relationship is None:
                self._unknown(call, what, inner, f'capability "{name}" of "{node.name}"', known)
                return True
        if relationship is not None and inner:
            return self._through(node, relationship, call, what, inner)
        if capability is not None or relationship is not None:
            self.error(
                call, "bad-call", f'{call.function} needs the name of a {what} after "{name}"', "add it to the list"
            )
            return True
        return self._requirement_unbound(node, name) or (what == "attribute" and self._inherited(node, name, call))

    def _through(self, node: NodeTemplate, relationship: Relationship, call: Call, what: str, inner: str) -> bool:
        target = self._nodes.get(relationship.target)
        if target is None:
            return True
        capability = target.capabilities[relationship.capability]
        known = {
            **_values(target.definitions, target.attribute_definitions, what),
            **_values(capability.definitions, capability.attribute_definitions, what),
        }
        if inner not in known and not (what == "attribute" and self._inherited(target, inner, call)):
            where = f'"{target.name}", which requirement "{relationship.requirement}" of "{node.name}" leads to'
            self._unknown(call, what, inner, where, known)
        return True

    def _requirement_unbound(self, node: NodeTemplate, name: str) -> bool:
        """A requirement of that name is written but was not bound: its own fault is reported already."""
        written = self._written.get(node.name)
        return any(r.name == name for r in getattr(written, "requirements", None) or ())

    def _has_unbound(self, node: NodeTemplate) -> bool:
        """Some requirement is written but was not bound: its own fault is reported already."""
        written = getattr(self._written.get(node.name), "at", None)
        given = written.values.get("requirements") if isinstance(written, Mapping) else None
        return given is not None and len(node.requirements) < len(getattr(given, "items", ()))

    def _inherited(self, node: NodeTemplate, name: str, call: Call) -> bool:
        """An attribute that the node itself does not have, but an Endpoint of it or a host up the chain has."""
        for host in self._chain(node):
            endpoints = [
                c for c in host.capabilities.values() if ENDPOINT in c.kinds and name in c.attribute_definitions
            ]
            own = host is not node and name in host.attribute_definitions
            if endpoints or own:
                if id(call) not in self._reported:
                    self._reported.add(id(call))
                    where = f'of "{host.name}"' if own else f'of capability "{endpoints[0].name}" of "{host.name}"'
                    self._diagnostics.warning(
                        "inherited-attribute",
                        f'"{node.name}" has no attribute "{name}"; the one {where} is taken',
                        call.span,
                    )
                return True
        return False

    def _host_value(self, call: Call, place: Place, name: str, what: str) -> None:
        if place.node is None:
            self.error(call, "bad-call", "HOST means something in node templates only", _keywords(place))
            return
        hosts = self._chain(place.node)[1:]
        if not hosts:
            if place.node.host is None and not self._has_unbound(place.node):
                self.error(call, "bad-call", f'"{place.node.name}" is hosted on nothing, so HOST means nothing here')
            return
        for host in hosts:
            if self._has_quietly(host, call, what, name):
                return
        chain = " -> ".join(h.name for h in hosts)
        known = [n for h in hosts for n in _values(h.definitions, h.attribute_definitions, what)]
        self._unknown(call, what, name, f'any host of "{place.node.name}" ({chain})', known)

    def _has_quietly(self, node: NodeTemplate, call: Call, what: str, name: str) -> bool:
        if name in _values(node.definitions, node.attribute_definitions, what):
            return True
        inner = str(call.arguments[2]) if len(call.arguments) > 2 else ""
        capability = node.capabilities.get(name)
        if capability is not None and inner in _values(capability.definitions, capability.attribute_definitions, what):
            return True
        endpoints = (c for c in node.capabilities.values() if ENDPOINT in c.kinds)
        return what == "attribute" and any(name in c.attribute_definitions for c in endpoints)

    def _chain(self, node: NodeTemplate) -> list[NodeTemplate]:
        """A node and its hosts, the nearest first."""
        chain = [node]
        seen = {node.name}
        while (host := chain[-1].host) is not None and host.target in self._nodes and host.target not in seen:
            seen.add(host.target)
            chain.append(self._nodes[host.target])
        return chain

    def _artifact(self, call: Call, place: Place) -> None:
        name = str(call.arguments[1])
        if call.arguments[0] == "HOST":
            hosts = self._chain(place.node)[1:] if place.node is not None else []
            if not any(name in h.artifacts for h in hosts):
                self._unknown(call, "artifact", name, "any host", [a for h in hosts for a in h.artifacts])
            return
        if call.arguments[0] == "SELF" and place.relationship is not None:
            owner: NodeTemplate | Relationship | None = place.relationship
        else:
            owner = self._node(call, place)
        if owner is not None and name not in owner.artifacts:
            self._unknown(call, "artifact", name, "the entity", owner.artifacts)

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
        elif operation not in found.operations:
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
        if node is None and entity not in self._written:
            known = [*self._written, *self._relationship_templates, *place.keywords]
            self.error(
                call,
                "unknown-entity",
                f'no node or relationship template named "{entity}"',
                suggestion(str(entity), known),
            )
        return node

    def _unknown(self, call: Call, what: str, name: str, owner: str, known: object) -> None:
        hint = suggestion(name, [str(k) for k in known])  # type: ignore[attr-defined]
        self.error(call, f"unknown-{what}", f'{owner} has no {what} "{name}"', hint)


def _values(
    properties: MappingType[str, PropertyDefinition], attributes: MappingType[str, PropertyDefinition], what: str
) -> MappingType[str, PropertyDefinition]:
    """What get_property or get_attribute may read: each property is an attribute as well (§3.6.12.4)."""
    return properties if what == "property" else {**properties, **attributes}


def _keywords(place: Place) -> str:
    return f"keywords that mean something here: {', '.join(place.keywords) or 'none; name a node template'}"


def _nothing(references: References, call: Call, place: Place) -> None:
    """Functions of texts refer to nothing."""


CHECKS = {
    "get_input": References._input,  # noqa: SLF001  (the table of the class's own checks)
    "get_property": References._value,  # noqa: SLF001
    "get_attribute": References._value,  # noqa: SLF001
    "get_artifact": References._artifact,  # noqa: SLF001
    "get_operation_output": References._output,  # noqa: SLF001
}
