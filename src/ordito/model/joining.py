"""Replaces node templates by the topologies that substitute them, which gives one flat service (§2.10).

The nodes inside of ``outer`` are named ``outer/inner``. Relationships that lead to ``outer`` then lead to the inner
node with the mapped capability, and those of ``outer`` belong to the inner node with the mapped requirement. ``outer``
itself is no longer part of the service; functions still read from it, since its values lead to inner ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from functools import cached_property

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import SourceText, Span
from ordito.model.choices import Choices
from ordito.model.imperative import Group, Policy, Workflow
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.places import ReadValue
from ordito.model.renaming import Renaming
from ordito.model.schema import PropertyDefinition
from ordito.model.sensitivity import Marks
from ordito.model.service import (
    Capability,
    NodeTemplate,
    Relationship,
    Service,
    Substituted,
    Substitution,
    Way,
    by_target,
    by_template,
)
from ordito.model.templates import sanitised
from ordito.model.types import Types
from ordito.syntax.expressions import Call, Value, is_static

ROOT = "tosca.nodes.Root"
FEATURE = "feature"
DEPENDENCY = "dependency"

replace = msgspec.structs.replace


class Beside(msgspec.Struct, frozen=True):
    """Further knowledge about the nodes that are substituted."""

    outside: frozenset[str]
    """Their requirements, as ``node.requirement``, that are fulfilled elsewhere."""
    readings: tuple[ReadValue, ...] = ()
    """The values that are read from them."""


class Joining:
    """Replaces node templates by topologies."""

    def __init__(
        self,
        service: Service,
        parts: MappingType[str, Part],
        types: Types,
        beside: Beside,
        diagnostics: Diagnostics,
    ) -> None:
        self._service = service
        self._types = types
        self._outside = beside.outside
        self._readings = beside.readings
        self._diagnostics = diagnostics
        self._inside = {name: PlacedTopology(part) for name, part in parts.items()}
        self._nodes: dict[str, NodeTemplate] = {}
        self._bound: dict[str, list[Relationship]] = {}

    def joined(self) -> Service:
        """The flat service."""
        for name, node in self._service.nodes.items():
            if name in self._inside:
                self._refuse_collisions(self._inside[name])
                self._nodes.update(self._inside[name].nodes)
            else:
                self._nodes[name] = node
        for node in self._service.nodes.values():
            self._wire(node)
        for name, relationships in self._bound.items():
            ordered = tuple(replace(r, index=i) if r.index != i else r for i, r in enumerate(relationships))
            self._nodes[name] = replace(self._nodes[name], requirements=ordered)
        for inside in self._inside.values():
            self._check_filled(inside)
        for reading in self._readings:
            self._check_readable(reading)
        return self._assembled()

    def _refuse_collisions(self, inside: PlacedTopology) -> None:
        """Refuse inner nodes with the name of another node template."""
        for name in inside.nodes:
            other = self._service.nodes.get(name)
            if other is not None:
                self._diagnostics.error(
                    "duplicate-name",
                    f'"{name}" is also what a node of {inside.part.file} is called that substitutes '
                    f'"{inside.part.node.name}"',
                    other.span,
                    hint="rename this node template",
                )

    # ------------------------------------------------------------------------------------------------------- wiring

    def _wire(self, node: NodeTemplate) -> None:
        """Connect the relationships of a node with the nodes behind it."""
        inside = self._inside.get(node.name)
        if inside is None:
            if any(r.target in self._inside for r in node.requirements):
                found = (r for old in node.requirements for r in self._retargeted(old))
                self._bound[node.name] = self._numbered(found)
            return
        for old in node.requirements:
            for source, requirement in self._sources(inside, old):
                bound = self._bound.setdefault(source, list(self._nodes[source].requirements))
                for made in self._retargeted(old):
                    number = 1 + sum(r.requirement == requirement for r in bound)
                    key = f"{source}.{requirement}" + (f".{number}" if number > 1 else "")
                    moved = replace(made, key=key, source=source, requirement=requirement, index=len(bound))
                    bound.append(self._refined(moved, self._nodes[source]))

    def _numbered(self, relationships: Iterator[Relationship]) -> list[Relationship]:
        """Relationships of one node, those of them that have the key of another one with keys of their own."""
        found = list(relationships)
        taken = {r.key for r in found}
        seen: set[str] = set()
        for index, item in enumerate(found):
            key, number = item.key, 2
            while key in seen:
                key = f"{item.source}.{item.requirement}.{number}"
                key, number = (key, number) if key not in taken else (item.key, number + 1)
            seen.add(key)
            taken.add(key)
            if key != item.key:
                found[index] = replace(item, key=key)
        return found

    def _retargeted(self, item: Relationship) -> list[Relationship]:
        """A relationship as it leads to the nodes behind its target: one, or several for what depends on the whole
        topology, namely those that nothing inside requires."""
        inside = self._inside.get(item.target)
        if inside is None:
            return [item]
        way = inside.capabilities.get(item.capability)
        if way is not None:
            return [replace(item, target=way[0], capability=way[1], via=item.target)]
        if item.capability == FEATURE:
            ends = [n for n in inside.last if FEATURE in self._nodes[n].capabilities]
            return [replace(item, target=n, capability=FEATURE, via=item.target) for n in ends]
        if item.capability in inside.lost:
            return []
        self._diagnostics.error(
            "unmapped-use",
            f'capability "{item.capability}" of "{item.target}" has nothing behind it in {inside.part.file}',
            item.span,
            hint=f"add to its substitution_mappings: capabilities: {item.capability}: [ node template, capability ]",
        )
        return []

    def _sources(self, inside: PlacedTopology, item: Relationship) -> list[Way]:
        """The nodes that a relationship of a substituted node belongs to, each with its requirement."""
        way = inside.requirements.get(item.requirement)
        if way is not None:
            return [way]
        if item.requirement == DEPENDENCY:
            shapes = ((n, self._types.nodes[inside.nodes[n].type].requirements) for n in inside.first)
            return [(n, DEPENDENCY) for n, requirements in shapes if DEPENDENCY in requirements]
        if item.requirement in inside.lost:
            return []
        self._diagnostics.error(
            "unmapped-use",
            f'requirement "{item.requirement}" of "{item.source}" has nothing behind it in {inside.part.file}',
            item.span,
            hint="remove the assignment, or add to its substitution_mappings: "
            f"requirements: {item.requirement}: [ node template, requirement ]",
        )
        return []

    def _refined(self, item: Relationship, source: NodeTemplate) -> Relationship:
        """A relationship of the type that the requirement inside asks for, if that is more specific."""
        shape = self._types.nodes[source.type].requirements.get(item.requirement)
        closer = self._types.relationships.get(shape.relationship) if shape is not None else None
        if closer is None or closer.kinds[0] == item.type or item.type not in closer.kinds:
            return item
        defaults = {n: d.default for n, d in closer.properties.items() if d.has_default}
        attributes = {n: d.default for n, d in closer.attributes.items() if d.has_default}
        return replace(
            item,
            kinds=closer.kinds,
            definitions=closer.properties,
            attribute_definitions=closer.attributes,
            properties={**defaults, **item.properties},
            attributes={**attributes, **item.attributes},
            interfaces=self._types.interfaces.finish(closer.interfaces, {}, relationship=True),
        )

    def _check_filled(self, inside: PlacedTopology) -> None:
        """Check that a requirement inside that must be fulfilled from outside is fulfilled (R-2.10-2)."""
        node = inside.part.node
        for name, (inner, requirement) in inside.requirements.items():
            shape = self._types.nodes[self._nodes[inner].type].requirements.get(requirement)
            bound = sum(r.requirement == requirement for r in self._nodes[inner].requirements)
            if shape is None or bound >= shape.occurrences[0] or f"{node.name}.{name}" in self._outside:
                continue
            self._diagnostics.error(
                "missing-requirement",
                f'requirement "{name}" of "{node.name}", which "{inner}" needs, is not assigned',
                node.span,
                hint=f"add below requirements: - {name}: <node template>",
            )

    def _check_readable(self, reading: ReadValue) -> None:
        """What is read from a substituted node has something behind it (§2.10): its own properties always have."""
        slot, call = reading.slot, reading.call
        node = slot.owner
        if not isinstance(node, NodeTemplate) or node.name not in self._inside:
            return
        inside = self._inside[node.name]
        if slot.capability is None:
            what, name, way = "attribute", slot.name, "attributes: {}: [ output ]"
            has_value = not self._is_unmapped(inside, name)
            at = slot.rest - 1
        else:
            what, name = "capability", slot.capability.name
            way = "capabilities: {}: [ node template, capability ]"
            known = inside.capabilities.keys() | inside.values.keys() | {FEATURE}
            has_value = name in known or slot.name in slot.capability.assigned
            at = max(1, slot.rest - 2)
        if has_value or name in inside.lost:
            return
        self._diagnostics.error(
            "unmapped-use",
            f'{what} "{name}" of "{node.name}" is read here and has nothing behind it in {inside.part.file}',
            call.argument_span(at),
            hint=f"add to its substitution_mappings: {way.format(name)}",
        )

    def _is_unmapped(self, inside: PlacedTopology, attribute: str) -> bool:
        """Whether nothing gives an attribute a value: no output inside, nor the node template itself."""
        node = inside.part.node
        root = self._types.nodes.get(ROOT)
        given = (node.definitions, node.attributes, inside.outputs, root.attributes if root is not None else {})
        return not any(attribute in names for names in given)

    # --------------------------------------------------------------------------------------------------- assembling

    def _assembled(self) -> Service:
        service = self._service
        substituted = dict(service.substituted)
        inputs: dict[str, Value] = dict(service.inner_inputs)
        declared: dict[str, PropertyDefinition] = dict(service.inner_definitions)
        groups: dict[str, Group] = {n: self._expanded(g) for n, g in service.groups.items()}
        policies: dict[str, Policy] = {n: self._applied(p) for n, p in service.policies.items()}
        workflows: dict[str, Workflow] = dict(service.workflows)
        hooks = {n: s for n, s in service.hooks.items() if self._is_about_itself(s)}
        choices = service.choices
        for name, inside in self._inside.items():
            renaming, inner = inside.renaming, inside.part.service
            inputs.update(inside.inputs)
            declared.update(inside.definitions())
            substituted.update(inside.substituted())
            substituted[name] = inside.stand_in(self._nodes)
            groups.update((g.name, g) for g in map(renaming.group, inner.groups.values()))
            policies.update((p.name, p) for p in map(renaming.policy, inner.policies.values()))
            workflows.update((w.name, w) for w in map(renaming.workflow, inner.workflows.values()))
            hooks.update((h.id, h) for h in map(renaming.hook, inner.hooks.values()) if self._is_of_component(h))
            choices = _with(choices, inner.choices, renaming)
        return replace(
            service,
            nodes=self._nodes,
            sanitised=_sanitised(self._nodes, service.sanitised),
            incoming=by_target(self._nodes),
            relationship_templates=by_template(self._nodes),
            substituted=substituted,
            inner_inputs=inputs,
            inner_definitions=declared,
            groups=groups,
            policies=policies,
            workflows=workflows,
            choices=choices,
            hooks=hooks,
        )

    def _is_about_itself(self, step: LifecycleStep) -> bool:
        """Whether a lifecycle step is not about a substituted node, which is an error: it would be unknown at which of
        the inner nodes it runs."""
        inside = self._inside.get(step.component)
        if inside is None:
            return True
        self._diagnostics.error(
            "not-supported-yet",
            f'lifecycle step "{step.name}" is about "{step.component}", which {inside.part.file} stands for: such '
            "steps are not carried out in this version",
            step.spans.get("component") or step.span,
            hint=f"write the step in {inside.part.file}, about a node of it",
        )
        return False

    def _is_of_component(self, step: LifecycleStep) -> bool:
        """Whether a lifecycle step from inside is about a component: only the deployed topology is a module."""
        if step.component:
            return True
        self._diagnostics.warning(
            "not-enforced",
            f'lifecycle step "{step.id}" names no component, and is not carried out: its topology stands for a node '
            "here and is no module of its own",
            step.span,
            hint="give it targets, or write it in the topology that is deployed",
        )
        return False

    def _members(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Nodes, with the inner ones instead of those that are substituted."""
        if not any(n in self._inside for n in names):
            return names
        return tuple(m for n in names for m in (self._inside[n].nodes if n in self._inside else (n,)))

    def _expanded(self, group: Group) -> Group:
        return replace(group, members=self._members(group.members))

    def _applied(self, policy: Policy) -> Policy:
        return replace(policy, nodes=self._members(policy.nodes))


def _with(choices: Choices, inner: Choices, renaming: Renaming) -> Choices:
    """Choices, together with those that were made inside."""
    return Choices(
        choices.substitutes,
        {**choices.selected, **{renaming.name(n): s for n, s in inner.selected.items()}},
        {**choices.requirements, **{renaming.name(k): n for k, n in inner.requirements.items()}},
    )


def _sanitised(nodes: MappingType[str, NodeTemplate], known: MappingType[str, str]) -> dict[str, str]:
    """The shell-safe forms of names: where two are the same, the later one gets underscores."""
    found = {name: known[name] for name in nodes if name in known}
    taken = set(found.values())
    for name in nodes:
        if name in found:
            continue
        safe = sanitised(name)
        while safe in taken:
            safe += "_"
        taken.add(safe)
        found[name] = safe
    return {name: found[name] for name in nodes}


# A topology that takes the place of one node template: its nodes under new names, and what leads to and from them
# (§2.10).

NOWHERE = Span(SourceText("", ""), 1, 1, 1, 1)


class Part(msgspec.Struct, frozen=True):
    """A node template and the topology that substitutes it, which is flat itself; ``file`` is the topology's file."""

    node: NodeTemplate
    service: Service
    file: str


class PlacedTopology:
    """What replaces one node template: the topology's nodes by their new names, the values of its inputs, and the inner
    nodes with the capabilities and requirements of the node."""

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
        """The definitions of the inputs of the topology, and of those of topologies in it."""
        inner = self.part.service
        return {self.renaming.name(n): d for n, d in {**inner.inner_definitions, **inner.inputs}.items()}

    def substituted(self) -> dict[str, Substituted]:
        """The inner nodes that topologies substitute in turn, by their new names."""
        found = (_moved(each, self.renaming) for each in self.part.service.substituted.values())
        return {each.template.name: each for each in found}

    def stand_in(self, flat: MappingType[str, NodeTemplate]) -> Substituted:
        """What functions read from instead of the node template; ``flat`` are all nodes of the resulting service."""
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
        """A capability whose values lead to the one behind it, except those that the template itself assigns."""
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
    """A substituted node inside a topology that substitutes another one."""

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
