"""All types of a service, flattened: each holds what it inherits (§3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.model.artifacts import Artifacts
from ordito.model.capabilities import Capabilities, CapabilityShape, TypeLists, narrowed
from ordito.model.data_types import DataTypes
from ordito.model.definitions import Definitions, literal_default, primitive_types
from ordito.model.group_types import GroupShape, PolicyShape, flatten_groups, flatten_policies
from ordito.model.hierarchy import Hierarchy
from ordito.model.interfaces import InterfaceParts, Interfaces
from ordito.model.operation import Artifact
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import DataType, PropertyDefinition
from ordito.model.service import UNBOUNDED
from ordito.model.settings import WrittenSettings, read_settings
from ordito.model.units import KINDS, Definition, Unit, Units, find_type
from ordito.model.values import Values
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.filters import NodeFilter
from ordito.syntax.shapes import EntryList


class WrittenFilter(msgspec.Struct, frozen=True):
    """A node filter with its file, in which its names of types are resolved."""

    filter: NodeFilter
    unit: Unit


class WrittenInterfaces(msgspec.Struct, frozen=True):
    """What a requirement adds to the interfaces of its relationship, with the file in which it is written."""

    interfaces: MappingType[str, entities.InterfaceDefinition]
    unit: Unit


class RequirementShape(msgspec.Struct, frozen=True):
    """A requirement of a node type, flattened. Without ``capability``, it is written but could not be read."""

    name: str
    capability: str
    """The full name of a type; so are ``node`` and ``relationship``, "" for any type."""
    node: str
    relationship: str
    interfaces: tuple[WrittenInterfaces, ...] = ()
    """Parts of the relationship's interfaces, those of refined types first."""
    occurrences: tuple[int, int | None] = (1, 1)
    span: Span | None = None
    filters: tuple[WrittenFilter, ...] = ()
    """They must all hold."""


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
    settings: WrittenSettings = {}


class Types:
    """The flattened types, by full name."""

    def __init__(self, units: Units, diagnostics: Diagnostics) -> None:
        self.units = units
        self._diagnostics = diagnostics
        self.data: dict[str, DataType] = primitive_types()
        self.values = Values(self.data, diagnostics)
        self.definitions = Definitions(units, self.values, diagnostics)
        self.artifacts = Artifacts(units, self.values, diagnostics)
        self.interfaces = Interfaces(units, self.values, self.definitions, self.artifacts, diagnostics)
        self._kinds: dict[str, dict[str, tuple[str, ...]]] = {}
        self._lists = TypeLists(units, self._kinds, diagnostics)
        self._capabilities = Capabilities(units, self.definitions, self._lists, diagnostics)
        self.capabilities = self._capabilities.shapes
        self.relationships: dict[str, RelationshipShape] = {}
        self.nodes: dict[str, NodeShape] = {}
        self.named_templates: set[str] = set()
        """Relationship templates that types name by mistake, which has been reported."""
        self.groups: dict[str, GroupShape] = {}
        self.policies: dict[str, PolicyShape] = {}

    def flatten(self) -> None:
        """Flatten all types: data types first, since everything holds values; node types last."""
        roots = {"data": frozenset(PRIMITIVES)}
        found = {kind: Hierarchy(kind, self.units, self._diagnostics, roots.get(kind, frozenset())) for kind in KINDS}
        self._kinds.update({kind: hierarchy.kinds for kind, hierarchy in found.items()})
        DataTypes(self.data, self.definitions, self._diagnostics).flatten(found["data"])
        self.artifacts.add_types(found["artifact"], self.definitions)
        self.interfaces.add_types(found["interface"])
        self._capabilities.add_types(found["capability"])
        self._flatten_relationships(found["relationship"])
        self._flatten_nodes(found["node"])
        self.groups = flatten_groups(
            found["group"], self.definitions, self.interfaces, self._capabilities, self.units, self._diagnostics
        )
        for definition in found["group"].order:
            assert isinstance(definition.content, entities.GroupType)
            self._requirements({}, definition.content.requirements, definition.unit)
        self.policies = flatten_policies(found["policy"], self.definitions, self.units)
        self._check_attribute_defaults()
        self._check_roots(found["node"])

    def may_be(self, capability: str, wanted: Iterable[str]) -> tuple[str, ...]:
        """The types that a capability has which is of one type or of any derived from it, as far as it is ``wanted``
        to know; none where the type could not be read."""
        known = self._kinds["capability"]
        kinds = known.get(capability, ())
        return (*kinds, *(w for w in wanted if kinds and w not in kinds and capability in known.get(w, ())))

    def find(self, kind: str, name: Scalar, unit: Unit) -> Definition | None:
        """The type that a name means in a file; an error with suggestions where there is none."""
        return self.units.require(kind, name, unit)

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
                self._lists.read("capability", "valid_target_types", written.valid_target_types, (), definition.unit)
                or parent.valid_target_types,
            )

    def _flatten_nodes(self, hierarchy: Hierarchy) -> None:
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.NodeType)
            parent = self.nodes.get(hierarchy.parent(definition) or "", NO_NODE)
            artifacts = {
                **parent.artifacts,
                **self.artifacts.read_all(written.artifacts, definition.unit, parent.artifacts),
            }
            self.nodes[definition.name] = NodeShape(
                hierarchy.kinds[definition.name],
                self.definitions.merge(parent.properties, written.properties, definition.unit),
                self.definitions.merge(parent.attributes, written.attributes, definition.unit, what="attribute"),
                self._capabilities.merge(parent.capabilities, written.capabilities, definition.unit),
                self._requirements(parent.requirements, written.requirements, definition.unit),
                self.interfaces.merge(
                    parent.interfaces,
                    written.interfaces,
                    definition.unit,
                    owner=f'node type "{definition.name}"',
                    relationship=False,
                    defining=True,
                ),
                artifacts,
                {**parent.settings, **read_settings(written.at, written.metadata, self._diagnostics)},
            )

    def _requirements(
        self,
        inherited: MappingType[str, RequirementShape],
        written: Iterable[entities.RequirementDefinition] | None,
        unit: Unit,
    ) -> dict[str, RequirementShape]:
        found = dict(inherited)
        for item in written or ():
            anew = unit.dialect.is_free and item.capability is not None
            found[item.name] = self._requirement(item, None if anew else found.get(item.name), unit)
        for name in written.lost if isinstance(written, EntryList) else ():
            found[name] = RequirementShape(name, "", "", "", (), (0, UNBOUNDED))
        return found

    def _requirement(
        self, item: entities.RequirementDefinition, inherited: RequirementShape | None, unit: Unit
    ) -> RequirementShape:
        part = item.relationship
        named = part.type if part is not None else None
        if named is not None and self._is_template(named, unit):
            named = None
        if item.capability is None and inherited is None:
            self._diagnostics.error(
                "missing-keyname",
                f'requirement "{item.name}" lacks "capability"',
                item.span,
                hint="name the capability type that a target must offer",
            )
        filters = inherited.filters if inherited else ()
        if item.node_filter is not None:
            filters = (*filters, WrittenFilter(item.node_filter, unit))
        interfaces = inherited.interfaces if inherited else ()
        if part and part.interfaces:
            interfaces = (*interfaces, WrittenInterfaces(part.interfaces, unit))
        made = RequirementShape(
            item.name,
            self._refined("capability", item.name, item.capability, inherited.capability if inherited else "", unit),
            self._refined("node", item.name, item.node, inherited.node if inherited else "", unit),
            self._refined(
                "relationship",
                item.name,
                named,
                inherited.relationship if inherited else "",
                unit,
            ),
            interfaces,
            narrowed("requirement", item, inherited, (1, 1), self._diagnostics),
            item.span,
            filters,
        )
        if part is not None and not unit.is_bundled and not self._fits(made, part, unit):
            return msgspec.structs.replace(made, relationship="")
        return made

    def _is_template(self, name: Scalar, unit: Unit) -> bool:
        """Whether what stands for a relationship type is a relationship template of the file; that is reported."""
        topology = unit.content.topology_template
        templates = topology.relationship_templates if topology is not None else None
        if name.text not in (templates or {}) or find_type("relationship", name, unit, self.units) is not None:
            return False
        self.named_templates.add(name.text)
        self._diagnostics.error(
            "unknown-type",
            f'"{name.text}" is a relationship template, and a type cannot name a relationship template',
            name.span,
            hint="name its type here, and the template below the requirement of a node template",
        )
        return True

    def _fits(self, made: RequirementShape, part: entities.RelationshipDefinition, unit: Unit) -> bool:
        """Check what a requirement says of its relationship, whether a template uses it or not (§3.7.3.2): whether the
        relationship can lead to what the requirement asks for."""
        relationship = self.relationships.get(made.relationship or DEFAULT_RELATIONSHIP)
        if relationship is None or (part.type is not None and not made.relationship):
            return True
        if part.interfaces:
            owner = f'the relationship of requirement "{made.name}"'
            self.interfaces.merge(
                relationship.interfaces, part.interfaces, unit, owner=owner, relationship=True, defining=True
            )
        allowed = relationship.valid_target_types
        wanted = self.may_be(made.capability, allowed)
        possible = any(a in wanted for a in allowed)
        if not wanted or not allowed or possible or part.type is None:
            return True
        self._diagnostics.error(
            "wrong-capability",
            f"{made.relationship} leads to {' or '.join(allowed)}, not to {made.capability}",
            part.type.span,
            hint="choose another relationship type or another capability type",
        )
        return False

    def _refined(self, kind: str, name: str, written: Scalar | None, inherited: str, unit: Unit) -> str:
        """The type that a requirement asks for: the one written, which may only be closer than the inherited one."""
        if written is None:
            return inherited
        found = self.units.require(kind, written, unit)
        if found is None:
            return ""
        kinds = self._kinds[kind].get(found.name, ())
        if not kinds:
            return ""
        if inherited and inherited not in kinds:
            self._diagnostics.error(
                "bad-refinement",
                f'requirement "{name}" asks for a {inherited} and cannot ask for a {found.name} instead',
                written.span,
                hint="use the same type or one derived from it",
            )
            return inherited
        return found.name

    def _check_roots(self, hierarchy: Hierarchy) -> None:
        """Say which node types do not derive from the root of all node types (R-5.9.1-2)."""
        for definition in hierarchy.order:
            if definition.content.derived_from is None and not definition.unit.is_bundled:
                self._diagnostics.note(
                    "no-root",
                    f'node type "{definition.name}" does not derive from {ROOT}, so its nodes have neither the '
                    'interface "Standard" nor the requirement "dependency" nor the attributes of nodes',
                    definition.content.span,
                    hint=f"add derived_from: {ROOT}",
                )

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
                    f'attribute "{definition.name}" has a fixed default, but is found at run time',
                    span,
                    hint="make it a property, or map an operation's output to it",
                )


ROOT = "tosca.nodes.Root"
DEFAULT_RELATIONSHIP = "tosca.relationships.Root"
NO_RELATIONSHIP = RelationshipShape((), {}, {}, {}, ())
NO_NODE = NodeShape((), {}, {}, {}, {}, {}, {})
