"""Relationships, which are made from requirements that are bound to capabilities (§3.7.10, §3.8.2, §3.8.4)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Placed
from ordito.model.operation import KEYWORDS, Interface
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.settings import refuse_settings
from ordito.model.templates import copied
from ordito.model.types import DEFAULT_RELATIONSHIP, RelationshipShape, RequirementShape, Types, WrittenInterfaces
from ordito.model.units import Unit, Units, find_type
from ordito.source.nodes import Mapping
from ordito.syntax import entities
from ordito.syntax.expressions import Call, Value, calls
from ordito.syntax.shapes import EntryList, is_lost


class Binding(msgspec.Struct, frozen=True):
    """A requirement of a node (``source``) that is bound to a capability of another (``target``), or to nothing yet:
    then both are None."""

    source: NodeTemplate
    shape: RequirementShape
    target: NodeTemplate | None
    capability: Capability | None
    part: entities.RelationshipPart | None
    """What the assignment says about the relationship."""
    number: int
    """The number of this assignment among those of the same requirement, from 1."""
    index: int
    """The number among all requirements of the node, from 0."""
    place: Placed
    """The place for messages."""


class _Template(msgspec.Struct, frozen=True):
    """What a relationship template says, by its type: the same for all requirements that name it."""

    properties: MappingType[str, Value]
    attributes: MappingType[str, Value]


class Relationships:
    """Makes relationships, from relationship templates or by their types. ``calls`` holds each relationship's calls,
    by its key."""

    def __init__(
        self,
        types: Types,
        unit: Unit,
        units: Units,
        templates: MappingType[str, entities.RelationshipTemplate],
        diagnostics: Diagnostics,
    ) -> None:
        self._types = types
        self._unit = unit
        self._units = units
        self._templates = templates
        self._diagnostics = diagnostics
        self._plain_interfaces: dict[tuple[str, int, str], tuple[MappingType[str, Interface], tuple[Call, ...]]] = {}
        self._read: dict[str, _Template] = {}
        self._completed: set[str] = set()
        """Relationship templates to which requirements add, so that they need not be complete by themselves."""
        self._used: set[str] = set()
        self._misnamed: set[str] = set()
        self.calls: dict[str, tuple[Call, ...]] = {}

    def check_templates(self) -> None:
        """Report faults of relationship templates, also of unused ones."""
        for name, item in self._templates.items():
            self._types.find("relationship", item.type, self._unit)
            refuse_settings(item.at, item.metadata, "relationship templates", self._diagnostics)
            if name in KEYWORDS:
                message = f'"{name}" is a keyword of functions and cannot name a relationship template'
                self._diagnostics.error("reserved-name", message, item.span)
                self._used.add(name)  # no requirement can name it
            if item.copy is not None:
                self._used.add(item.copy.text)
                self._completed.add(item.copy.text)

    def mention(self, part: entities.RelationshipPart | None) -> None:
        """Note that a requirement names a relationship, though it is not bound (yet)."""
        if part is not None and part.type is not None:
            self._used.add(part.type.text)

    def _warn_of_unused(self, nodes: Iterable[entities.NodeTemplate]) -> None:
        """Relationship templates that no requirement has named (R-3.8.4-3). A requirement that could not be read may
        have meant any of them, and one that names what does not exist those of a similar name."""
        if not self._templates:
            return
        named = self._used | self._misnamed | self._types.named_templates
        for node in nodes:
            if isinstance(node.requirements, EntryList) and (node.requirements.all_lost or node.requirements.lost):
                return
            parts = [item.relationship for item in node.requirements or () if item.relationship is not None]
            named.update(part.type.text for part in parts if part.type is not None)
        for name, item in self._templates.items():
            if name not in named:
                self._diagnostics.warning(
                    "unused-template",
                    f'relationship template "{name}" is used by no requirement',
                    item.span,
                    hint="name it below a requirement with relationship:",
                )

    def check_unread(self, nodes: Iterable[entities.NodeTemplate]) -> None:
        """What is wrong with the values and operations of relationship templates that no requirement has led to; those
        that none of the nodes names besides."""
        self._warn_of_unused(nodes)
        for name, item in self._templates.items():
            found = find_type("relationship", item.type, self._unit, self._units)
            shape = self._types.relationships.get(found.name) if found is not None else None
            if shape is None or name in self._read:
                continue
            self._template(item, shape)
            if item.interfaces:
                self._merged(shape, (), [item.interfaces], _shown(item))

    def make(self, bound: Binding) -> Relationship | None:
        """The relationship of a binding; None where it cannot be made, which is reported. One without a target is made
        only to find its faults."""
        part, shape, capability = bound.part, bound.shape, bound.capability
        template, kind = self._kind(part, shape)
        relationship = self._types.relationships.get(kind) if kind is not None else None
        if relationship is None:
            return None
        allowed = relationship.valid_target_types
        reached = capability.kinds if capability is not None else self._types.may_be(shape.capability, allowed)
        if allowed and not any(t in reached for t in allowed):
            self._diagnostics.error(
                "wrong-capability",
                f"{kind} leads to {' or '.join(allowed)}, not to {reached[0]}",
                part.type.span if part is not None and part.type is not None else bound.place.span,
                hint="choose another relationship type or another capability of the target",
            )
            return None
        values = self._types.values
        key = f"{bound.source.name}.{shape.name}" + (f".{bound.number}" if bound.number > 1 else "")
        owner = _shown(template) if template else f'the relationship of requirement "{shape.name}"'
        added = part.properties if part is not None else None
        if template is not None and added is None:
            properties, attributes = self._template(template, relationship)
        else:
            if template is not None:
                self._completed.add(template.name)
            written = _merged_properties(template.properties if template else None, added)
            properties = values.fields(written, relationship.properties, owner, "property", bound.place)
            attributes = values.attributes(template.attributes if template else None, relationship.attributes, owner)
        interfaces, inherited = self._interfaces(relationship, shape, template, part, owner)
        given = (*properties.values(), *attributes.values())
        self.calls[key] = (*(c for value in given for c in calls(value)), *inherited) if given else inherited
        return Relationship(
            key=key,
            source=bound.source.name,
            requirement=shape.name,
            index=bound.index,
            target=bound.target.name if bound.target is not None else "",
            capability=capability.name if capability is not None else "",
            kinds=relationship.kinds,
            template=template.name if template else "",
            properties=properties,
            attributes=attributes,
            definitions=relationship.properties,
            attribute_definitions=relationship.attributes,
            interfaces=interfaces,
            span=bound.place.span,
        )

    def _kind(
        self, part: entities.RelationshipPart | None, shape: RequirementShape
    ) -> tuple[entities.RelationshipTemplate | None, str | None]:
        """The relationship template that is named, if any, and the full name of the relationship's type."""
        wanted = shape.relationship
        if part is None or part.type is None:
            return None, wanted or DEFAULT_RELATIONSHIP
        template = self._templates.get(part.type.text)
        if template is None and is_lost(self._templates, part.type.text):
            return None, None
        if template is not None:
            self._used.add(template.name)
            found = find_type("relationship", template.type, self._unit, self._units)
        else:
            found = self._units.require("relationship", part.type, self._unit, self._templates)
            if found is None:
                self._misnamed.update(self._diagnostics.nearest(part.type.text, self._templates))
        if found is None or found.name not in self._types.relationships:
            return template, None
        kinds = self._types.relationships[found.name].kinds
        if wanted and wanted not in kinds:
            self._diagnostics.error(
                "wrong-relationship",
                f'requirement "{shape.name}" needs a relationship of type {wanted}, not {found.name}',
                part.type.span,
                hint="use that type or one derived from it",
                related=(Related("defined here", shape.span),) if shape.span else (),
            )
            return template, None
        return template, found.name

    def _template(
        self, item: entities.RelationshipTemplate, shape: RelationshipShape
    ) -> tuple[MappingType[str, Value], MappingType[str, Value]]:
        """The properties and attributes of a relationship template, read once."""
        known = self._read.get(item.name)
        if known is None:
            values, owner = self._types.values, _shown(item)
            lacking = shape.properties if item.name in self._completed else ()
            with self._diagnostics.about(copied(item, self._templates)):
                known = self._read[item.name] = _Template(
                    values.fields(item.properties, shape.properties, owner, "property", item, lacking),
                    values.attributes(item.attributes, shape.attributes, owner),
                )
        return known.properties, known.attributes

    def _interfaces(
        self,
        relationship: RelationshipShape,
        shape: RequirementShape,
        template: entities.RelationshipTemplate | None,
        part: entities.RelationshipPart | None,
        owner: str,
    ) -> tuple[MappingType[str, Interface], tuple[Call, ...]]:
        """The interfaces of a relationship, and the calls in them."""
        written = [template.interfaces if template else None, part.interfaces if part else None]
        is_plain = part is None or not part.interfaces
        cached = (relationship.kinds[0], id(shape.interfaces), template.name if template else "")
        if is_plain and cached in self._plain_interfaces:
            return self._plain_interfaces[cached]
        found = self._merged(relationship, shape.interfaces, [w for w in written if w], owner)
        if is_plain:
            self._plain_interfaces[cached] = found
        return found

    def _merged(
        self,
        relationship: RelationshipShape,
        added: Iterable[WrittenInterfaces],
        assigned: Iterable[MappingType[str, entities.InterfaceDefinition]],
        owner: str,
    ) -> tuple[MappingType[str, Interface], tuple[Call, ...]]:
        """The interfaces of a type with those that a requirement's definition adds and those that are assigned."""
        merge = self._types.interfaces.merge
        parts = relationship.interfaces
        for more in added:
            parts = merge(parts, more.interfaces, more.unit, owner=owner, relationship=True, defining=True)
        for given in assigned:
            parts = merge(parts, given, self._unit, owner=owner, relationship=True, defining=False)
        finished = self._types.interfaces.finish(parts, {}, relationship=True)
        return finished, _interface_calls(finished)


def _shown(item: entities.RelationshipTemplate) -> str:
    return f'relationship template "{item.name}"'


def _merged_properties(first: Mapping | None, second: Mapping | None) -> Mapping | None:
    """The properties of a relationship template with those that a requirement gives on top."""
    if first is None or second is None:
        return first or second
    values = {**first.values, **second.values}
    keys = {k.text: k for k in (*first.keys, *second.keys)}
    place = (second.source, second.line, second.column, second.end_line, second.end_column)
    return Mapping(*place, [keys[n] for n in values], values)


def _interface_calls(interfaces: MappingType[str, Interface]) -> tuple[Call, ...]:
    operations = (o for i in interfaces.values() for o in i.operations.values())
    return tuple({id(c): c for o in operations for i in o.inputs.values() for c in calls(i.value)}.values())
