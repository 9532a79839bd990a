"""A topology that takes the place of one node template: its nodes under new names, and what leads to and from them
(§2.10)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from functools import cached_property

import msgspec

from ordito.base.span import SourceText, Span
from ordito.model.renaming import Renaming
from ordito.model.schema import PropertyDefinition
from ordito.model.sensitivity import Marks
from ordito.model.service import Capability, NodeTemplate, Service, Substituted
from ordito.model.substitution import Substitution, Way
from ordito.syntax.expressions import Call, Value, is_static

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)

replace = msgspec.structs.replace


class Part(msgspec.Struct, frozen=True):
    """A node template and the topology that stands for it, which is flat itself; ``file`` is where that is defined."""

    node: NodeTemplate
    service: Service
    file: str


class PlacedTopology:
    """What takes the place of one node template: the topology's nodes by their new names, the values of its inputs, and
    the nodes behind the capabilities and requirements of the node."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.renaming = Renaming(part.service, part.node.name)
        self.nodes = {n.name: n for n in map(self.renaming.node, part.service.nodes.values())}
        substitution = part.service.substitution
        assert substitution is not None
        self._substitution = substitution
        self.inputs = _inputs(part, substitution, self.renaming)
        for name, (inner, inside) in substitution.overridden.items():
            self._override(inner, inside, name)
        self.capabilities = self._ways(substitution.capabilities, "capability")
        self.requirements = self._ways(substitution.requirements, "requirement")
        self.outputs = substitution.outputs
        self.values = substitution.capability_values
        self.lost = substitution.lost

    def _override(self, inner: str, inside: str, name: str) -> None:
        """Give a property inside the value of one of the node's (deprecated, R-3.8.8-4)."""
        full = self.renaming.name(inner)
        node = self.nodes.get(full)
        if node is not None and name in self.part.node.properties:
            value = _read(self.part.node.name, name, place=self.part.node.span)
            self.nodes[full] = replace(node, properties={**node.properties, inside: value})

    def _ways(self, ways: MappingType[str, Way], what: str) -> dict[str, Way]:
        found = ((name, self._way(way, what)) for name, way in ways.items())
        return {name: way for name, way in found if way is not None}

    def _way(self, way: Way, what: str) -> Way | None:
        """The node behind a mapping, followed through topologies inside."""
        name, part = way
        substituted = self.part.service.substituted.get(name)
        if substituted is not None:
            further = substituted.capabilities if what == "capability" else substituted.requirements
            if part not in further:
                return None
            name, part = further[part]
        return self.renaming.name(name), part

    @cached_property
    def first(self) -> list[str]:
        """The nodes that require none of the others."""
        return [n.name for n in self.nodes.values() if all(r.target not in self.nodes for r in n.requirements)]

    @cached_property
    def last(self) -> list[str]:
        """The nodes that none of the others requires."""
        required = {r.target for n in self.nodes.values() for r in n.requirements}
        return [name for name in self.nodes if name not in required]

    def definitions(self) -> dict[str, PropertyDefinition]:
        """What is declared of the inputs of the topology, and of those of topologies in it."""
        inner = self.part.service
        return {self.renaming.name(n): d for n, d in {**inner.inner_definitions, **inner.inputs}.items()}

    def substituted(self) -> dict[str, Substituted]:
        """The nodes inside that topologies stand for themselves, by their new names."""
        found = (_moved(each, self.renaming) for each in self.part.service.substituted.values())
        return {each.template.name: each for each in found}

    def stand_in(self, flat: MappingType[str, NodeTemplate]) -> Substituted:
        """What functions read from in place of the node template; ``flat`` are all nodes of the service that comes of
        it."""
        node, inner, renaming = self.part.node, self.part.service, self.renaming
        attributes = {
            attribute: renaming.value(inner.outputs[output].value)
            for attribute, output in self._substitution.outputs.items()
            if output in inner.outputs
        }
        capabilities = {n: self._led(c, flat) for n, c in node.capabilities.items()}
        operations = {
            name: renaming.name(target) if isinstance(target, str) else (renaming.name(target[0]), *target[1:])
            for name, target in self._substitution.operations.items()
        }
        return Substituted(
            template=replace(node, attributes={**node.attributes, **attributes}, capabilities=capabilities),
            file=self.part.file,
            nodes=tuple(self.nodes),
            capabilities=self.capabilities,
            requirements=self.requirements,
            operations=operations,
        )

    def _led(self, capability: Capability, flat: MappingType[str, NodeTemplate]) -> Capability:
        """A capability whose values lead to the one behind it, save for what the template itself gives."""
        way = self.capabilities.get(capability.name)
        if way is None:
            given = self.values.get(capability.name)
            if given is None:
                return capability
            values = {n: self.renaming.value(v) for n, v in given.items()}
            kept = {n: v for n, v in capability.properties.items() if n in capability.assigned}
            return replace(capability, properties={**values, **kept})
        behind = flat[way[0]].capabilities[way[1]]
        properties = {
            name: capability.properties[name]
            if name in capability.assigned and name in capability.properties
            else _read(*way, name, place=self.part.node.span)
            for name in capability.definitions
            if name in behind.properties or name in capability.assigned
        }
        attributes: dict[str, Value] = {
            name: _read(*way, name, place=self.part.node.span, function="get_attribute")
            for name in capability.attribute_definitions
            if name in behind.attribute_definitions
        }
        return replace(capability, properties=properties, attributes=attributes)


def _inputs(part: Part, substitution: Substitution, renaming: Renaming) -> dict[str, Value]:
    """The values of the inputs of a topology: the properties of the node that it stands for, and defaults."""
    marks = Marks(part.service.data_types)
    found: dict[str, Value] = {renaming.name(n): renaming.value(v) for n, v in part.service.inner_inputs.items()}
    property_of = {i: p for p, i in substitution.inputs.items()}
    for definition in part.service.inputs.values():
        name = property_of.get(definition.name)
        if name is not None and name in part.node.properties:
            value = part.node.properties[name]
            # What is sensitive there is read from there.
            hidden = marks.of(part.node.definitions.get(name)) is not None
            given = value if is_static(value) and not hidden else _read(part.node.name, name, place=part.node.span)
            found[renaming.name(definition.name)] = given
        elif definition.has_default:
            found[renaming.name(definition.name)] = definition.default
    return found


def _read(*path: str, place: Span | None, function: str = "get_property") -> Call:
    """A call that reads a value from a node template."""
    return Call(function, path, place or NOWHERE)


def _moved(item: Substituted, renaming: Renaming) -> Substituted:
    """A substituted node inside of a topology that takes a place itself."""

    def moved(ways: MappingType[str, Way]) -> dict[str, Way]:
        return {n: (renaming.name(way[0]), way[1]) for n, way in ways.items()}

    return Substituted(
        template=renaming.node(item.template),
        file=item.file,
        nodes=tuple(renaming.name(n) for n in item.nodes),
        capabilities=moved(item.capabilities),
        requirements=moved(item.requirements),
        operations={
            n: renaming.name(t) if isinstance(t, str) else (renaming.name(t[0]), *t[1:])
            for n, t in item.operations.items()
        },
    )
