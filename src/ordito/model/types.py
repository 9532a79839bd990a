"""All types of a service, flattened: what a type inherits is in it (§3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.artifacts import Artifacts
from ordito.model.definitions import Definitions, literal_default, primitive_types
from ordito.model.hierarchy import Hierarchy
from ordito.model.interfaces import InterfaceParts, Interfaces
from ordito.model.service import UNBOUNDED, Artifact, DataType, PropertyDefinition, Schema
from ordito.model.units import Definition, Unit, Units, find_type, visible_types
from ordito.model.values import PRIMITIVES, Values
from ordito.source.nodes import Scalar
from ordito.syntax import entities


class CapabilityShape(msgspec.Struct, frozen=True):
    """A capability type, or a capability of a node type, flattened. ``assigned`` names the properties that a type
    below the normative ones gave a default."""

    kinds: tuple[str, ...]
    properties: MappingType[str, PropertyDefinition]
    attributes: MappingType[str, PropertyDefinition]
    valid_source_types: tuple[str, ...] = ()
    occurrences: tuple[int, int | None] = (1, UNBOUNDED)
    assigned: frozenset[str] = frozenset()
    span: Span | None = None


class RequirementShape(msgspec.Struct, frozen=True):
    """A requirement of a node type, flattened; types by their full names, "" where none is asked for."""

    name: str
    capability: str
    node: str
    relationship: str
    interfaces: MappingType[str, entities.InterfaceDefinition] | None
    unit: Unit
    occurrences: tuple[int, int | None] = (1, 1)
    span: Span | None = None


class RelationshipShape(msgspec.Struct, frozen=True):
    """A relationship type, flattened."""

    kinds: tuple[str, ...]
    properties: MappingType[str, PropertyDefinition]
    attributes: MappingType[str, PropertyDefinition]
    interfaces: MappingType[str, InterfaceParts]
    valid_target_types: tuple[str, ...]


class NodeShape(msgspec.Struct, frozen=True):
    """A node type, flattened."""

    kinds: tuple[str, ...]
    properties: MappingType[str, PropertyDefinition]
    attributes: MappingType[str, PropertyDefinition]
    capabilities: MappingType[str, CapabilityShape]
    requirements: MappingType[str, RequirementShape]
    interfaces: MappingType[str, InterfaceParts]
    artifacts: MappingType[str, Artifact]


class Types:
    """The flattened types, by full name."""

    def __init__(self, units: Units, diagnostics: Diagnostics) -> None:
        self._units = units
        self._diagnostics = diagnostics
        self.data: dict[str, DataType] = primitive_types()
        self.values = Values(self.data, diagnostics)
        self.definitions = Definitions(units, self.values, diagnostics)
        self.artifacts = Artifacts(units, self.values, diagnostics)
        self.interfaces = Interfaces(units, self.values, self.definitions, self.artifacts, diagnostics)
        self.capabilities: dict[str, CapabilityShape] = {}
        self.relationships: dict[str, RelationshipShape] = {}
        self.nodes: dict[str, NodeShape] = {}

    def flatten(self) -> None:
        """Flatten all types: data types first, since everything holds values; node types last."""
        self._flatten_data(self._hierarchy("data", frozenset(PRIMITIVES)))
        self.artifacts.add_types(self._hierarchy("artifact"), self.definitions)
        self.interfaces.add_types(self._hierarchy("interface"))
        self._flatten_capabilities(self._hierarchy("capability"))
        self._flatten_relationships(self._hierarchy("relationship"))
        self._flatten_nodes(self._hierarchy("node"))
        for kind in ("group", "policy"):
            self._hierarchy(kind)
        self._check_attribute_defaults()

    def find(self, kind: str, name: Scalar, unit: Unit) -> Definition | None:
        """The type that a name means in a file; an error with suggestions where there is none."""
        found = find_type(kind, name, unit, self._units)
        if found is None:
            known = visible_types(kind, unit, self._units)
            self._diagnostics.unknown("unknown-type", f"{kind} type", name.text, name.span, known)
        return found

    def _hierarchy(self, kind: str, roots: frozenset[str] = frozenset()) -> Hierarchy:
        return Hierarchy(kind, self._units, self._diagnostics, roots)

    def _flatten_data(self, hierarchy: Hierarchy) -> None:
        own: list[tuple[Definition, dict[str, PropertyDefinition]]] = []
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.DataType)
            derived = written.derived_from
            parent = self.data.get(hierarchy.parent(definition) or (derived.text if derived else ""))
            self._check_data_type(written, definition, parent)
            properties: dict[str, PropertyDefinition] = {}
            kinds = (*hierarchy.kinds[definition.name], *(parent.kinds if parent and parent.name in PRIMITIVES else ()))
            self.data[definition.name] = DataType(
                definition.name, kinds, parent.base if parent else "", properties, parent.constraints if parent else ()
            )
            own.append((definition, properties))
        for definition, properties in own:
            written = definition.content
            assert isinstance(written, entities.DataType)
            made = self.data[definition.name]
            derived = written.derived_from
            parent = self.data.get(hierarchy.parent(definition) or (derived.text if derived else ""))
            inherited = parent.properties if parent else {}
            properties.update(inherited)
            merged = self.definitions.merge(inherited, written.properties, definition.unit, into=properties)
            assert merged is properties
            entry = self.definitions.schema(written.entry_schema, definition.unit) if written.entry_schema else None
            key = self.definitions.schema(written.key_schema, definition.unit) if written.key_schema else None
            constraints = parent.constraints if parent else ()
            if written.constraints and made.base:
                base = Schema(made.base, constraints=())
                constraints = (*constraints, *self.definitions.constrained(base, written.constraints).constraints)
            self.data[definition.name] = msgspec.structs.replace(
                made,
                constraints=constraints,
                entry=entry or (parent.entry if parent else None),
                key=key or (parent.key if parent else None),
            )
        self.definitions.settle_defaults()
        for definition, properties in own:
            parent = self.data.get(hierarchy.parent(definition) or "")
            for name, inherited_definition in (parent.properties if parent else {}).items():
                if inherited_definition.has_default and not properties[name].has_default:
                    properties[name] = msgspec.structs.replace(
                        properties[name], has_default=True, default=inherited_definition.default
                    )

    def _check_data_type(self, written: entities.DataType, definition: Definition, parent: DataType | None) -> None:
        if written.derived_from is None and not written.properties and not definition.unit.is_bundled:
            self._diagnostics.error(
                "empty-data-type",
                f'data type "{written.name}" has neither derived_from nor properties',
                written.span,
                hint="derive it from another type or give it properties",
            )
        if written.constraints and (parent is None or not parent.base):
            self._diagnostics.error(
                "bad-constraint",
                f'data type "{written.name}" is not derived from a primitive type, so it cannot be constrained',
                written.span,
                hint="put the constraints on its properties",
            )

    def _flatten_capabilities(self, hierarchy: Hierarchy) -> None:
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.CapabilityType)
            parent = self.capabilities.get(hierarchy.parent(definition) or "", NO_CAPABILITY)
            self.capabilities[definition.name] = CapabilityShape(
                hierarchy.kinds[definition.name],
                self.definitions.merge(parent.properties, written.properties, definition.unit),
                self.definitions.merge(parent.attributes, written.attributes, definition.unit, what="attribute"),
                self._names("node", written.valid_source_types, definition.unit) or parent.valid_source_types,
                assigned=parent.assigned | _with_defaults(written.properties, definition.unit),
                span=written.span,
            )

    def _flatten_relationships(self, hierarchy: Hierarchy) -> None:
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.RelationshipType)
            parent = self.relationships.get(hierarchy.parent(definition) or "", NO_RELATIONSHIP)
            self.relationships[definition.name] = RelationshipShape(
                hierarchy.kinds[definition.name],
                self.definitions.merge(parent.properties, written.properties, definition.unit),
                self.definitions.merge(parent.attributes, written.attributes, definition.unit, what="attribute"),
                self.interfaces.merge(
                    parent.interfaces,
                    written.interfaces,
                    definition.unit,
                    owner=f'relationship type "{definition.name}"',
                    relationship=True,
                    defining=True,
                ),
                self._names("capability", written.valid_target_types, definition.unit) or parent.valid_target_types,
            )

    def _flatten_nodes(self, hierarchy: Hierarchy) -> None:
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.NodeType)
            parent = self.nodes.get(hierarchy.parent(definition) or "", NO_NODE)
            artifacts = dict(parent.artifacts)
            for name, item in (written.artifacts or {}).items():
                artifact = self.artifacts.read(item, definition.unit)
                if artifact is not None:
                    artifacts[name] = artifact
            self.nodes[definition.name] = NodeShape(
                hierarchy.kinds[definition.name],
                self.definitions.merge(parent.properties, written.properties, definition.unit),
                self.definitions.merge(parent.attributes, written.attributes, definition.unit, what="attribute"),
                self._capabilities(parent, written, definition.unit),
                self._requirements(parent, written, definition.unit),
                self.interfaces.merge(
                    parent.interfaces,
                    written.interfaces,
                    definition.unit,
                    owner=f'node type "{definition.name}"',
                    relationship=False,
                    defining=True,
                ),
                artifacts,
            )

    def _capabilities(self, parent: NodeShape, written: entities.NodeType, unit: Unit) -> dict[str, CapabilityShape]:
        found = dict(parent.capabilities)
        for name, item in (written.capabilities or {}).items():
            inherited = found.get(name)
            base = inherited
            if item.type is not None:
                definition = self.find("capability", item.type, unit)
                base = self.capabilities.get(definition.name) if definition else None
                if base is None:
                    continue
                if inherited is not None and inherited.kinds[0] not in base.kinds:
                    self._diagnostics.error(
                        "bad-refinement",
                        f'capability "{name}" is a {inherited.kinds[0]} and cannot become a {base.kinds[0]}',
                        item.type.span,
                        hint="use the same type or one derived from it",
                    )
                    continue
                if inherited is not None and base.kinds == inherited.kinds:
                    base = inherited
            if base is None:
                self._diagnostics.error(
                    "missing-keyname", f'capability "{name}" lacks "type"', item.span, hint="name its capability type"
                )
                continue
            found[name] = CapabilityShape(
                base.kinds,
                self.definitions.merge(base.properties, item.properties, unit),
                self.definitions.merge(base.attributes, item.attributes, unit, what="attribute"),
                self._names("node", item.valid_source_types, unit) or base.valid_source_types,
                item.occurrences or (inherited or base).occurrences,
                base.assigned | _with_defaults(item.properties, unit),
                item.span,
            )
        return found

    def _requirements(self, parent: NodeShape, written: entities.NodeType, unit: Unit) -> dict[str, RequirementShape]:
        found = dict(parent.requirements)
        for item in written.requirements or ():
            inherited = found.get(item.name)
            part = item.relationship
            capability = self._name("capability", item.capability, unit) or (inherited.capability if inherited else "")
            if item.capability is None and inherited is None:
                self._diagnostics.error(
                    "missing-keyname",
                    f'requirement "{item.name}" lacks "capability"',
                    item.span,
                    hint="name the capability type that a target must offer",
                )
                continue
            found[item.name] = RequirementShape(
                item.name,
                capability,
                self._name("node", item.node, unit) or (inherited.node if inherited else ""),
                self._name("relationship", part.type if part else None, unit)
                or (inherited.relationship if inherited else ""),
                part.interfaces if part and part.interfaces else inherited.interfaces if inherited else None,
                unit if (part and part.interfaces) or inherited is None else inherited.unit,
                self._narrowed(item, inherited),
                item.span,
            )
        return found

    def _narrowed(
        self, item: entities.RequirementDefinition, inherited: RequirementShape | None
    ) -> tuple[int, int | None]:
        if item.occurrences is None:
            return inherited.occurrences if inherited else (1, 1)
        low, high = item.occurrences
        if inherited is not None:
            least, most = inherited.occurrences
            if low < least or (most is not UNBOUNDED and (high is UNBOUNDED or high > most)):
                related = (Related("inherited from here", inherited.span),) if inherited.span else ()
                self._diagnostics.error(
                    "bad-refinement",
                    f'requirement "{item.name}" may only narrow the occurrences that it inherits',
                    item.span,
                    related=related,
                )
        return low, high

    def _names(self, kind: str, written: Iterable[Scalar] | None, unit: Unit) -> tuple[str, ...]:
        found = (self.find(kind, name, unit) for name in written or ())
        return tuple(d.name for d in found if d is not None)

    def _name(self, kind: str, written: Scalar | None, unit: Unit) -> str:
        found = self.find(kind, written, unit) if written is not None else None
        return found.name if found else ""

    def _check_attribute_defaults(self) -> None:
        """Warn of attributes with literal defaults (§3.6.12), once where they are written."""
        warned: set[int] = set()
        shapes: list[CapabilityShape | NodeShape | RelationshipShape] = []
        shapes += [*self.capabilities.values(), *self.nodes.values(), *self.relationships.values()]
        for shape in shapes:
            for definition in shape.attributes.values():
                span = literal_default(definition)
                if span is None or id(span) in warned or span.source.name.startswith("profile:"):
                    continue
                warned.add(id(span))
                self._diagnostics.warning(
                    "literal-attribute",
                    f'attribute "{definition.name}" has a fixed default; attributes are found at run time',
                    span,
                    hint="make it a property, or map an operation's output to it",
                )


def _with_defaults(written: MappingType[str, entities.PropertyDefinition] | None, unit: Unit) -> frozenset[str]:
    if unit.is_bundled:
        return frozenset()
    return frozenset(n for n, d in (written or {}).items() if d.default is not None or d.value is not None)


NO_CAPABILITY = CapabilityShape((), {}, {})
NO_RELATIONSHIP = RelationshipShape((), {}, {}, {}, ())
NO_NODE = NodeShape((), {}, {}, {}, {}, {}, {})
