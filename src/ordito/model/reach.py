"""Finds what ``get_property`` and ``get_attribute`` lead to: the property or attribute of a node, a relationship or a
capability that their arguments name (§4.1, §4.4.2, §4.5.1).

A name is searched for in the same order as in evaluation: the entity's own values; its capabilities; through a
requirement the matched capability of the target, then the target itself. An attribute that a node does not have is
searched for in its Endpoint capabilities, and then in the same way up the chain of its hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from itertools import chain, islice

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model import hosting
from ordito.model.places import Place, Slot, values_of
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.types import Types
from ordito.syntax.expressions import Call
from ordito.syntax.shapes import EntryList, is_lost
from ordito.syntax.topology import TopologyTemplate

ENDPOINT = "tosca.capabilities.Endpoint"
MOST_LISTED = 8


class Reach:
    """Follows calls through a whole topology; calls that lead nowhere are reported to ``faults``."""

    def __init__(
        self,
        topology: TopologyTemplate,
        types: Types,
        nodes: MappingType[str, NodeTemplate],
        relationship_templates: MappingType[str, tuple[Relationship, ...]],
        faults: CallFaults,
    ) -> None:
        entry = types.units.entry
        lowered = entry.content.lowered if entry is not None else None
        self._climbs = lowered is not None and lowered.dialect.climbs
        """Whether a property that a node lacks is that of a host."""
        self._topology = topology
        self._types = types
        self._nodes = nodes
        self._relationship_templates = relationship_templates
        self._faults = faults

    def find(self, call: Call, place: Place) -> Slot | None:
        """What a call of get_property or get_attribute leads to; None where it leads nowhere, which is reported, or
        where that is not known before anything runs."""
        entity, name = call.arguments[0], call.arguments[1]
        if isinstance(name, Call):
            self.entity(call, place)
            return None
        what = "property" if call.function == "get_property" else "attribute"
        if entity == "HOST":
            return self._of_hosts(call, place, str(name), what)
        owner = self.entity(call, place)
        if isinstance(owner, Relationship):
            known = values_of(owner, what)
            if name in known:
                return Slot(owner, str(name), known[str(name)], 2)
            self._faults.unknown(call, what, str(name), f'relationship "{owner.key}"', known, 1)
            return None
        return self._of_node(owner, call, what, str(name)) if owner is not None else None

    def entity(self, call: Call, place: Place) -> NodeTemplate | Relationship | None:
        """The node or relationship that a call's first argument means, other than HOST; a fault is reported. None
        also where it is written but could not be read."""
        entity = str(call.arguments[0])
        relationship = place.relationship
        if entity in KEYWORDS:
            if entity not in place.keywords:
                self._faults.error(call, "bad-call", f'"{entity}" means nothing here', place.hint(), 0)
                return None
            if entity == "SELF":
                return place.node or relationship
            assert relationship is not None
            return self._nodes.get(relationship.source if entity == "SOURCE" else relationship.target)
        node = self._nodes.get(entity)
        templates, relationships = self._topology.node_templates, self._topology.relationship_templates
        if node is not None or entity in (templates or ()) or is_lost(templates, entity):
            return node
        if entity in self._relationship_templates:
            return self._relationship_templates[entity][0]
        if entity in (relationships or ()) or is_lost(relationships, entity):
            return None  # it is used by no requirement, which is reported
        known = chain(templates or (), relationships or (), place.keywords)
        hint = self._faults.diagnostics.suggestion(entity, known)
        self._faults.error(call, "unknown-entity", f'no node or relationship template named "{entity}"', hint, 0)
        return None

    def hosts(self, node: NodeTemplate) -> Iterator[NodeTemplate]:
        """A node's hosts, the nearest first."""
        return islice(hosting.chain(self._nodes, node.name), 1, None)

    # ----------------------------------------------------------------------------------------------- one node

    def _of_node(self, node: NodeTemplate, call: Call, what: str, name: str) -> Slot | None:
        slot = self._own(node, call, what, name) if not node.is_open else _declared(node, what, name)
        if node.is_open and (slot is not None or what == "attribute"):
            return slot
        if slot is not None or name in node.capabilities or name in _required(node):
            return slot
        if what == "attribute":
            slot = self._inherited(node, name, call, 2)
        elif self._climbs:
            slot = next(
                (Slot(h, name, values_of(h, what)[name], 2) for h in self.hosts(node) if name in values_of(h, what)),
                None,
            )
        if slot is None and not self._unbound(node, call, name):
            known = values_of(node, what)
            self._faults.unknown(
                call, what, name, f'"{node.name}" ({node.type})', [*known, *node.capabilities, *_required(node)], 1
            )
        return slot

    def _own(self, node: NodeTemplate, call: Call, what: str, name: str) -> Slot | None:
        """What a node itself has by a name, in its capabilities, or through its requirements. A fault further along
        the path is reported."""
        own = values_of(node, what)
        capability = node.capabilities.get(name)
        if name in own:
            slot = Slot(node, name, own[name], 2)
            if capability is not None and self._in_capability(node, capability, call, what) is not None:
                self._ambiguous(call, name, f"the {what} of that name", "the capability")
            return slot
        relationship = next((r for r in node.requirements if r.requirement == name), None)
        if capability is None and relationship is None:
            return None
        if len(call.arguments) == 2:
            message = f'{call.function} needs the name of a {what} after "{name}"'
            self._faults.error(call, "bad-call", message, "add it to the list", 1)
            return None
        if isinstance(call.arguments[2], Call) or (capability is not None and not capability.kinds):
            return None
        found = self._in_capability(node, capability, call, what) if capability is not None else None
        through = self._through(relationship, call, what) if relationship is not None else None
        if found is not None and through is not None:
            self._ambiguous(call, name, "the capability", "the requirement")
        return found or through or self._nothing(node, capability, relationship, call, what)

    def _nothing(
        self,
        node: NodeTemplate,
        capability: Capability | None,
        relationship: Relationship | None,
        call: Call,
        what: str,
    ) -> Slot | None:
        """Report that neither a capability nor what a requirement leads to has a value of that name."""
        if relationship is not None:
            return self._nothing_through(node, relationship, call, what)
        assert capability is not None
        where = f'capability "{capability.name}" of "{node.name}"'
        self._faults.unknown(call, what, str(call.arguments[2]), where, values_of(capability, what), 2)
        return None

    def _ambiguous(self, call: Call, name: str, taken: str, other: str) -> None:
        self._faults.warning(
            call,
            "ambiguous-name",
            f'"{name}" means {taken} here, not {other} of the same name, which leads to a value as well',
            "name the node template that has the value to be clear",
            1,
        )

    def _in_capability(self, node: NodeTemplate, capability: Capability, call: Call, what: str) -> Slot | None:
        inner = str(call.arguments[2]) if len(call.arguments) > 2 else ""
        definition = values_of(capability, what).get(inner)
        return Slot(node, inner, definition, 3, capability) if definition is not None else None

    def _through(self, relationship: Relationship, call: Call, what: str) -> Slot | None:
        """What a requirement leads to: a value of the capability at its other end, else of the node."""
        target = self._nodes.get(relationship.target)
        if target is None:
            return None
        capability = target.capabilities.get(relationship.capability)
        found = self._in_capability(target, capability, call, what) if capability is not None else None
        if found is not None:
            return found
        inner = str(call.arguments[2])
        definition = values_of(target, what).get(inner)
        return Slot(target, inner, definition, 3) if definition is not None else None

    def _nothing_through(self, node: NodeTemplate, relationship: Relationship, call: Call, what: str) -> Slot | None:
        target = self._nodes.get(relationship.target)
        if target is None:
            return None
        inner = str(call.arguments[2])
        capability = target.capabilities.get(relationship.capability)
        known = {**values_of(target, what), **(values_of(capability, what) if capability is not None else {})}
        slot = self._inherited(target, inner, call, 3) if what == "attribute" else None
        if slot is None:
            where = f'"{target.name}", which requirement "{relationship.requirement}" of "{node.name}" leads to,'
            self._faults.unknown(call, what, inner, where, known, 2)
        return slot

    def _unbound(self, node: NodeTemplate, call: Call, name: str) -> bool:
        """Whether a node has a requirement of that name, which is bound to nothing."""
        shape = self._types.nodes[node.type].requirements.get(name)
        if shape is None:
            return False
        template = (self._topology.node_templates or {}).get(node.name)
        written = (template.requirements if template is not None else None) or ()
        faulty = shape.occurrences[0] > 0 or is_lost(written, name) or any(r.name == name for r in written)
        if not faulty:  # otherwise that has been reported
            self._faults.error(
                call,
                "unassigned-requirement",
                f'requirement "{name}" of "{node.name}" is not assigned, so nothing can be read through it',
                f"add below requirements of {node.name}: - {name}: <node template>",
                1,
            )
        return True

    def _inherited(self, node: NodeTemplate, name: str, call: Call, rest: int) -> Slot | None:
        """An attribute that the node itself does not have, but an Endpoint of it or a host up the chain has."""
        for host in hosting.chain(self._nodes, node.name):
            slot: Slot | None = None
            where = ""
            if host is not node and name in host.attribute_definitions:
                slot = Slot(host, name, host.attribute_definitions[name], rest)
            else:
                endpoint = next((c for c in host.capabilities.values() if is_endpoint_with(c, name)), None)
                if endpoint is not None:
                    where = f'capability "{endpoint.name}" of '
                    slot = Slot(host, name, endpoint.attribute_definitions[name], rest, endpoint)
            if slot is not None:
                self._taken_from(call, node, name, where, host)
                return slot
        return None

    def _taken_from(self, call: Call, node: NodeTemplate, name: str, where: str, owner: NodeTemplate) -> None:
        message = f'"{node.name}" has no attribute "{name}"; the one of {where}"{owner.name}" is taken'
        self._faults.warning(call, "inherited-attribute", message)

    # -------------------------------------------------------------------------------------------------- hosts

    def _of_hosts(self, call: Call, place: Place, name: str, what: str) -> Slot | None:
        if place.node is None:
            self._faults.error(call, "bad-call", "HOST means something in node templates only", place.hint(), 0)
            return None
        hosts: list[NodeTemplate] = []
        for host in self.hosts(place.node):
            slot = self._of_host(host, call, what, name)
            if slot is not None:
                return slot
            hosts.append(host)
        if not hosts:
            self.no_host(call, place.node)
            return None
        shown = " -> ".join(h.name for h in hosts[:MOST_LISTED]) + (" -> ..." if len(hosts) > MOST_LISTED else "")
        known = [n for h in hosts for n in values_of(h, what)]
        self._faults.unknown(call, what, name, f'any host of "{place.node.name}" ({shown})', known, 1)
        return None

    def _of_host(self, host: NodeTemplate, call: Call, what: str, name: str) -> Slot | None:
        definition = values_of(host, what).get(name)
        if definition is not None:
            return Slot(host, name, definition, 2)
        capability = host.capabilities.get(name)
        slot = self._in_capability(host, capability, call, what) if capability is not None else None
        if slot is None and len(call.arguments) > 2:
            relationship = next((r for r in host.requirements if r.requirement == name), None)
            slot = self._through(relationship, call, what) if relationship is not None else None
        if slot is None and what == "attribute":
            endpoint = next((c for c in host.capabilities.values() if is_endpoint_with(c, name)), None)
            if endpoint is not None:
                self._taken_from(call, host, name, f'capability "{endpoint.name}" of ', host)
                return Slot(host, name, endpoint.attribute_definitions[name], 2, endpoint)
        return slot

    def no_host(self, call: Call, node: NodeTemplate) -> None:
        """Report HOST in a node that nothing hosts, unless a requirement is at fault, which was reported."""
        template = (self._topology.node_templates or {}).get(node.name)
        written = template.requirements if template is not None else None
        shapes = self._types.nodes[node.type].requirements.values()
        bound = {r.requirement for r in node.requirements}
        at_fault = len(written or ()) > len(node.requirements) or (isinstance(written, EntryList) and written.lost)
        if node.host is None and not at_fault and all(s.name in bound for s in shapes if s.occurrences[0]):
            self._faults.error(
                call,
                "bad-call",
                f'"{node.name}" is hosted on nothing, so HOST means nothing here',
                "name a node template, or give it a host",
                0,
            )


def _declared(node: NodeTemplate, what: str, name: str) -> Slot | None:
    """A value that a node declares by itself."""
    definition = values_of(node, what).get(name)
    return Slot(node, name, definition, 2) if definition is not None else None


KEYWORDS = ("SELF", "SOURCE", "TARGET")


def _required(node: NodeTemplate) -> Iterator[str]:
    return (r.requirement for r in node.requirements)


def is_endpoint_with(capability: Capability, attribute: str) -> bool:
    """Whether a capability is an Endpoint that has an attribute."""
    return ENDPOINT in capability.kinds and attribute in capability.attribute_definitions


# Reports of what is wrong with function calls: each call once, at the argument that is at fault.


class CallFaults:
    """Collects the faults of calls; however many templates share a call, its fault is reported once."""

    def __init__(self, diagnostics: Diagnostics) -> None:
        self.diagnostics = diagnostics
        self._wrong: dict[int, Call] = {}
        self._doubtful: dict[int, Call] = {}
        # Calls are kept beside their ids, so that these stay their own.

    def is_reported(self, call: Call) -> bool:
        """Whether an error was reported of a call."""
        return id(call) in self._wrong

    def error(
        self,
        call: Call,
        code: str,
        message: str,
        hint: str = "",
        at: int | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Report a fault of a call, or of its argument number ``at``."""
        if id(call) not in self._wrong:
            self._wrong[id(call)] = call
            self.diagnostics.error(code, message, _span(call, at), hint=hint, related=related)

    def objection(self, call: Call, code: str, message: str, hint: str, related: tuple[Related, ...] = ()) -> None:
        """Report a fault of a call with which an author may choose to go on."""
        if id(call) not in self._wrong:
            self._wrong[id(call)] = call
            self.diagnostics.objection(code, message, _span(call, None), hint=hint, related=related)

    def warning(self, call: Call, code: str, message: str, hint: str = "", at: int | None = None) -> None:
        """Report something doubtful."""
        if id(call) not in self._doubtful:
            self._doubtful[id(call)] = call
            self.diagnostics.warning(code, message, _span(call, at), hint=hint)

    def unknown(self, call: Call, what: str, name: str, owner: str, known: Iterable[str], at: int) -> None:
        """Report a name that an owner does not have."""
        hint = self.diagnostics.suggestion(name, known)
        self.error(call, f"unknown-{what}", f'{owner} has no {what} "{name}"', hint, at)


class NoFaults(CallFaults):
    """Ignores faults, for code that only follows calls: their faults are reported elsewhere."""

    def __init__(self) -> None:
        super().__init__(Diagnostics())

    def error(
        self,
        call: Call,
        code: str,
        message: str,
        hint: str = "",
        at: int | None = None,
        related: tuple[Related, ...] = (),
    ) -> None:
        """Report nothing."""

    def warning(self, call: Call, code: str, message: str, hint: str = "", at: int | None = None) -> None:
        """Report nothing."""

    def unknown(self, call: Call, what: str, name: str, owner: str, known: Iterable[str], at: int) -> None:
        """Report nothing."""


def _span(call: Call, at: int | None) -> Span:
    return call.span if at is None else call.argument_span(at)
