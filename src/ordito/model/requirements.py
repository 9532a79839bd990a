"""Fulfilment of requirements: which node's which capability each requirement of a template is bound to, and by what
relationship (§3.7.3, §3.8.2)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related, suggestion
from ordito.base.span import Span
from ordito.model.service import Capability, Interface, NodeTemplate, Relationship
from ordito.model.templates import Templates
from ordito.model.types import RelationshipShape, RequirementShape, Types
from ordito.model.units import Unit, Units, find_type
from ordito.source.nodes import Mapping, Scalar
from ordito.syntax import entities
from ordito.syntax.expressions import Call, calls

DEFAULT_RELATIONSHIP = "tosca.relationships.Root"


class _Target(msgspec.Struct, frozen=True):
    """A node's capability that a requirement is bound to."""

    node: NodeTemplate
    capability: Capability


class Requirements:
    """Binds the requirements of all templates. ``calls`` holds each relationship's calls, by its key."""

    def __init__(
        self,
        types: Types,
        templates: Templates,
        unit: Unit,
        units: Units,
        relationship_templates: MappingType[str, entities.RelationshipTemplate],
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._templates = templates
        self._unit = unit
        self._units = units
        self._relationship_templates = relationship_templates
        self._diagnostics = diagnostics
        self._plain_interfaces: dict[tuple[str, int], MappingType[str, Interface]] = {}
        self._users: dict[tuple[str, str], int] = {}
        self._by_capability: dict[str, list[_Target]] | None = None
        self.calls: dict[str, tuple[Call, ...]] = {}
        self.by_template: dict[str, list[Relationship]] = {}

    def fulfil(self) -> None:
        """Bind the requirements of every template that could be read."""
        for name, node in list(self._templates.nodes.items()):
            bound = self._node(node, self._templates.written[name])
            if bound:
                self._templates.nodes[name] = msgspec.structs.replace(node, requirements=tuple(bound))
        for name, item in self._relationship_templates.items():
            if name not in self.by_template:
                self._diagnostics.warning(
                    "unused-template", f'relationship template "{name}" is used by no requirement', item.span
                )

    def _node(self, node: NodeTemplate, written: entities.NodeTemplate) -> list[Relationship]:
        shapes = self._types.nodes[node.type].requirements
        assigned: dict[str, list[entities.RequirementAssignment]] = {}
        mistaken: set[str] = set()
        for item in written.requirements or ():
            if item.name in shapes:
                assigned.setdefault(item.name, []).append(item)
            else:
                assert item.key is not None
                hint = suggestion(item.name, shapes)
                self._diagnostics.error(
                    "unknown-requirement",
                    f'node template "{node.name}" ({node.type}) has no requirement "{item.name}"',
                    item.key.span,
                    hint=hint,
                )
                mistaken.update(s for s in shapes if f'"{s}"' in hint)
        bound: list[Relationship] = []
        for item in written.requirements or ():
            shape = shapes.get(item.name)
            if shape is not None:
                number = assigned[item.name].index(item)
                made = self._assignment(node, item, shape, number, len(bound))
                if made is not None:
                    bound.append(made)
        for name, shape in shapes.items():
            self._check_count(node, shape, assigned.get(name, []), name in mistaken, bound)
        return bound

    def _check_count(
        self,
        node: NodeTemplate,
        shape: RequirementShape,
        given: list[entities.RequirementAssignment],
        mistaken: bool,
        bound: list[Relationship],
    ) -> None:
        low, high = shape.occurrences
        if high is not None and len(given) > high:
            self._diagnostics.error(
                "too-many-requirements",
                f'requirement "{shape.name}" of "{node.name}" may be assigned {high} times, not {len(given)}',
                given[high].span,
                related=(Related("defined here", shape.span),) if shape.span else (),
            )
        if len(given) >= low or mistaken:
            return
        if not given and low == 1:
            made = self._automatic(node, shape, len(bound))
            if made is not None:
                bound.append(made)
            return
        self._diagnostics.error(
            "missing-requirement",
            f'requirement "{shape.name}" of "{node.name}" must be assigned at least {low} times, not {len(given)}',
            node.span,
            hint=f"add below requirements: - {shape.name}: <node template>",
            related=(Related("defined here", shape.span),) if shape.span else (),
        )

    def _automatic(self, node: NodeTemplate, shape: RequirementShape, index: int) -> Relationship | None:
        """Bind a mandatory requirement that is not assigned, where exactly one node of the topology fits."""
        candidates = [t for t in self._offering(shape.capability) if self._suits(node, t, shape)]
        fitting = list({t.node.name: t for t in reversed(candidates)}.values())
        if len(fitting) == 1:
            return self._relationship(node, shape, fitting[0], None, 0, index)
        names = sorted(t.node.name for t in fitting)
        listed = f"it could be any of {', '.join(names)}" if names else f"no node offers {shape.capability}"
        self._diagnostics.error(
            "missing-requirement",
            f'the required requirement "{shape.name}" of "{node.name}" is not assigned',
            node.span,
            hint=f"add below requirements: - {shape.name}: <node template>; {listed}",
            related=(Related("defined here", shape.span),) if shape.span else (),
        )
        return None

    def _offering(self, capability: str) -> list[_Target]:
        if self._by_capability is None:
            self._by_capability = {}
            for node in self._templates.nodes.values():
                for offered in node.capabilities.values():
                    for kind in offered.kinds:
                        self._by_capability.setdefault(kind, []).append(_Target(node, offered))
        return self._by_capability.get(capability, [])

    def _suits(self, node: NodeTemplate, target: _Target, shape: RequirementShape) -> bool:
        sources = self._types.nodes[target.node.type].capabilities[target.capability.name].valid_source_types
        if target.node.name == node.name or (shape.node and shape.node not in target.node.kinds):
            return False
        return not sources or any(s in node.kinds for s in sources)

    def _assignment(
        self,
        node: NodeTemplate,
        item: entities.RequirementAssignment,
        shape: RequirementShape,
        number: int,
        index: int,
    ) -> Relationship | None:
        if item.node_filter is not None or item.node is None:
            self._diagnostics.error(
                "not-supported-yet",
                f'requirement "{item.name}": choosing a node by type or filter is not carried out in this version',
                (item.node_filter or item.at).span,
                hint="name the node template that fulfils it",
            )
            return None
        target = self._templates.nodes.get(item.node.text)
        if target is None:
            self._unknown_target(item, item.node)
            return None
        if shape.node and shape.node not in target.kinds:
            self._diagnostics.error(
                "wrong-target",
                f'"{target.name}" is a {target.type}; requirement "{item.name}" needs a {shape.node}',
                item.node.span,
                related=(Related("defined here", shape.span),) if shape.span else (),
            )
            return None
        capability = self._capability(item, target, shape)
        if capability is None:
            return None
        sources = self._types.nodes[target.type].capabilities[capability.name].valid_source_types
        if sources and not any(s in node.kinds for s in sources):
            self._diagnostics.error(
                "wrong-source",
                f'capability "{capability.name}" of "{target.name}" serves {" or ".join(sources)}, not {node.type}',
                item.node.span,
            )
            return None
        return self._relationship(node, shape, _Target(target, capability), item, number, index)

    def _unknown_target(self, item: entities.RequirementAssignment, written: Scalar) -> None:
        if written.text in self._templates.written:
            return  # its own fault was reported
        if find_type("node", written, self._unit, self._units) is not None:
            self._diagnostics.error(
                "not-supported-yet",
                f'requirement "{item.name}": "{written.text}" is a node type; choosing a node by its type is not '
                "carried out in this version",
                written.span,
                hint="name a node template",
            )
            return
        self._diagnostics.unknown(
            "unknown-target", "node template", written.text, written.span, self._templates.written
        )

    def _capability(
        self, item: entities.RequirementAssignment, target: NodeTemplate, shape: RequirementShape
    ) -> Capability | None:
        """The target's capability: the one named, else the best match for the type that is asked for."""
        wanted = shape.capability
        if item.capability is not None:
            named = target.capabilities.get(item.capability.text)
            if named is not None:
                if wanted in named.kinds:
                    return named
                self._diagnostics.error(
                    "wrong-capability",
                    f'capability "{named.name}" of "{target.name}" is a {named.kinds[0]}; '
                    f'requirement "{item.name}" needs a {wanted}',
                    item.capability.span,
                )
                return None
            found = find_type("capability", item.capability, self._unit, self._units)
            if found is None:
                known = [*target.capabilities]
                what = f'capability of "{target.name}"'
                self._diagnostics.unknown("unknown-capability", what, item.capability.text, item.capability.span, known)
                return None
            wanted = found.name
        exact = [c for c in target.capabilities.values() if c.kinds[0] == wanted]
        matching = exact or [c for c in target.capabilities.values() if wanted in c.kinds]
        assert item.node is not None
        if not matching:
            offered = ", ".join(f"{c.name} ({c.kinds[0]})" for c in target.capabilities.values())
            self._diagnostics.error(
                "wrong-capability",
                f'"{target.name}" has no capability of type {wanted}, which requirement "{item.name}" needs',
                (item.capability or item.node).span,
                hint=f"it offers {offered}" if offered else "it offers none",
            )
            return None
        if len(matching) > 1:
            names = ", ".join(c.name for c in matching)
            self._diagnostics.warning(
                "ambiguous-capability",
                f'several capabilities of "{target.name}" fit requirement "{item.name}" ({names}); the first is taken',
                item.node.span,
                hint="name one with capability:",
            )
        return matching[0]

    def _relationship(
        self,
        node: NodeTemplate,
        shape: RequirementShape,
        target: _Target,
        item: entities.RequirementAssignment | None,
        number: int,
        index: int,
    ) -> Relationship | None:
        part = item.relationship if item is not None else None
        template, kind = self._kind(part, shape)
        if kind is None:
            return None
        relationship = self._types.relationships[kind]
        assert node.span is not None
        span = item.span if item is not None else node.span
        allowed = relationship.valid_target_types
        if allowed and not any(t in target.capability.kinds for t in allowed):
            self._diagnostics.error(
                "wrong-capability",
                f"{kind} leads to {' or '.join(allowed)}, not to {target.capability.kinds[0]}",
                part.type.span if part is not None and part.type is not None else span,
                hint="choose another relationship type or another capability of the target",
            )
            return None
        self._count_user(target, span)
        values = self._types.values
        values.found_calls = []
        key = f"{node.name}.{shape.name}" + (f".{number + 1}" if number else "")
        owner = f'the relationship of requirement "{shape.name}"'
        written = _merged_properties(template.properties if template else None, part.properties if part else None)
        properties = values.fields(written, relationship.properties, owner, "property", span)
        attributes = {n: d.default for n, d in relationship.attributes.items() if d.has_default}
        interfaces = self._interfaces(relationship, shape, template, part, owner)
        own = tuple(values.found_calls)
        self.calls[key] = (*own, *_default_calls(relationship), *_interface_calls(interfaces))
        made = Relationship(
            key=key,
            source=node.name,
            requirement=shape.name,
            index=index,
            target=target.node.name,
            capability=target.capability.name,
            kinds=relationship.kinds,
            template=template.name if template else "",
            properties=properties,
            attributes=attributes,
            definitions=relationship.properties,
            attribute_definitions=relationship.attributes,
            interfaces=interfaces,
            span=span,
        )
        if template is not None:
            self.by_template.setdefault(template.name, []).append(made)
        return made

    def _kind(
        self, part: entities.RelationshipPart | None, shape: RequirementShape
    ) -> tuple[entities.RelationshipTemplate | None, str | None]:
        """The relationship template that is named, if any, and the full name of the relationship's type."""
        wanted = shape.relationship
        if part is None or part.type is None:
            return None, wanted or DEFAULT_RELATIONSHIP
        template = self._relationship_templates.get(part.type.text)
        name = template.type if template is not None else part.type
        found = find_type("relationship", name, self._unit, self._units)
        if found is None or found.name not in self._types.relationships:
            if template is None:
                known = [*self._relationship_templates, *self._types.relationships]
                what = "relationship template or type"
                self._diagnostics.unknown("unknown-type", what, part.type.text, part.type.span, known)
            return template, None
        kinds = self._types.relationships[found.name].kinds
        if wanted and wanted not in kinds:
            self._diagnostics.error(
                "wrong-relationship",
                f'requirement "{shape.name}" needs a relationship of type {wanted}, not {found.name}',
                part.type.span,
                related=(Related("defined here", shape.span),) if shape.span else (),
            )
            return template, None
        return template, found.name

    def _interfaces(
        self,
        relationship: RelationshipShape,
        shape: RequirementShape,
        template: entities.RelationshipTemplate | None,
        part: entities.RelationshipPart | None,
        owner: str,
    ) -> MappingType[str, Interface]:
        written = [template.interfaces if template else None, part.interfaces if part else None]
        cached = (relationship.kinds[0], id(shape.interfaces))
        if not any(written) and cached in self._plain_interfaces:
            return self._plain_interfaces[cached]
        merge = self._types.interfaces.merge
        parts = relationship.interfaces
        if shape.interfaces:
            parts = merge(parts, shape.interfaces, shape.unit, owner=owner, relationship=True, defining=True)
        for more in written:
            if more:
                parts = merge(parts, more, self._unit, owner=owner, relationship=True, defining=False)
        finished = self._types.interfaces.finish(parts, {}, relationship=True)
        if not any(written):
            self._plain_interfaces[cached] = finished
        return finished

    def _count_user(self, target: _Target, span: Span | None) -> None:
        place = (target.node.name, target.capability.name)
        self._users[place] = self._users.get(place, 0) + 1
        most = target.capability.occurrences[1]
        if most is not None and self._users[place] > most:
            self._diagnostics.error(
                "too-many-sources",
                f'capability "{target.capability.name}" of "{target.node.name}" serves at most {most} requirements',
                span,
            )


def _merged_properties(first: Mapping | None, second: Mapping | None) -> Mapping | None:
    """The properties of a relationship template with those that a requirement gives on top."""
    if first is None or second is None:
        return first or second
    values = {**first.values, **second.values}
    keys = {k.text: k for k in (*first.keys, *second.keys)}
    place = (second.source, second.line, second.column, second.end_line, second.end_column)
    return Mapping(*place, [keys[n] for n in values], values)


def _default_calls(relationship: RelationshipShape) -> list[Call]:
    definitions = (*relationship.properties.values(), *relationship.attributes.values())
    return [c for d in definitions if d.has_default for c in calls(d.default)]


def _interface_calls(interfaces: MappingType[str, Interface]) -> list[Call]:
    operations = (o for i in interfaces.values() for o in i.operations.values())
    return [c for o in operations for i in o.inputs.values() for c in calls(i.value)]
