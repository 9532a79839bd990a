"""Checks types that no template uses: their function calls and output mappings, as far as the type alone decides, so
that a library shows its faults. Also warns of capabilities with too few relationships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from itertools import chain

from ordito.base.diagnostics import Diagnostics
from ordito.model.mappings import AttributeMappings
from ordito.model.operation import Interface
from ordito.model.places import Place
from ordito.model.references import References
from ordito.model.schema import PropertyDefinition
from ordito.model.service import HOSTED_ON, Capability, NodeTemplate, Relationship
from ordito.model.templates import Templates
from ordito.model.types import NodeShape, RelationshipShape, RequirementShape, Types
from ordito.model.values import is_bundled
from ordito.syntax.expressions import Call, Value, calls


class UnusedTypes:
    """Checks the types that nothing uses or derives from; they hold what their ancestors define."""

    def __init__(self, types: Types, templates: Templates, references: References, mappings: AttributeMappings) -> None:
        self._types = types
        self._templates = templates
        self._references = references
        self._mappings = mappings

    def check(self, relationships: Iterable[Relationship]) -> None:
        """Check all unused types, given the relationships that the templates have."""
        nodes = self._templates.nodes.values()
        for kind in self._unused("node", {node.type for node in nodes}):
            self._check_node(self._types.nodes[kind])
        for kind in self._unused("relationship", {relationship.type for relationship in relationships}):
            self._check_relationship(self._types.relationships[kind])

    def _unused(self, kind: str, used: set[str]) -> Iterator[str]:
        """The types of users that no template has and no type derives from."""
        shapes: MappingType[str, NodeShape | RelationshipShape] = (
            self._types.nodes if kind == "node" else self._types.relationships
        )
        parents = {shape.kinds[1] for shape in shapes.values() if len(shape.kinds) > 1}
        definitions = self._types.units.definitions[kind]
        for name in shapes:
            if name not in used and name not in parents and not is_bundled(definitions[name].content.span):
                yield name

    def _check_node(self, shape: NodeShape) -> None:
        interfaces, capabilities, held = self._templates.of_type(shape)
        place = Place(node=_as_template(shape, interfaces, capabilities))
        self._references.check_all((c for c in held if self._is_decided(c, shape)), place)
        self._mappings.check(interfaces, place)

    def _is_decided(self, call: Call, shape: NodeShape) -> bool:
        """Whether the type decides what a call leads to. Through a requirement it is the target, and an attribute may
        be that of a host."""
        if call.function not in OF_TYPES:
            return call.function not in OF_TEMPLATES
        if call.arguments[0] in {"SOURCE", "TARGET"}:
            return True
        if call.arguments[0] != "SELF" or isinstance(call.arguments[1], Call):
            return False
        name = str(call.arguments[1])
        if call.function == "get_operation_output":
            return True
        if name in shape.requirements:
            return False
        if call.function == "get_property" or name in shape.capabilities:
            return True
        return not any(self._may_host(r) for r in shape.requirements.values())

    def _may_host(self, requirement: RequirementShape) -> bool:
        relationship = self._types.relationships.get(requirement.relationship)
        return HOSTED_ON in relationship.kinds if relationship is not None else requirement.capability != NODE

    def _check_relationship(self, shape: RelationshipShape) -> None:
        interfaces = self._types.interfaces.finish(shape.interfaces, {}, relationship=True)
        place = Place(relationship=_as_relationship(shape, interfaces))
        defaults = (d.default for d in chain(shape.properties.values(), shape.attributes.values()))
        operations = (o for i in interfaces.values() for o in i.operations.values())
        inputs = (i.value for o in operations for i in o.inputs.values())
        held = {id(c): c for value in chain(defaults, inputs) for c in calls(value)}.values()
        self._references.check_all((c for c in held if c.function in OF_TYPES and c.arguments[0] == "SELF"), place)
        self._mappings.check(interfaces, place)


def _as_template(
    shape: NodeShape, interfaces: MappingType[str, Interface], capabilities: MappingType[str, Capability]
) -> NodeTemplate:
    """A template of a type that assigns nothing."""
    return NodeTemplate(
        name=shape.kinds[0],
        kinds=shape.kinds,
        properties=_defaults(shape.properties),
        attributes=_defaults(shape.attributes),
        definitions=shape.properties,
        attribute_definitions=shape.attributes,
        capabilities=capabilities,
        requirements=(),
        interfaces=interfaces,
        artifacts=shape.artifacts,
    )


def _as_relationship(shape: RelationshipShape, interfaces: MappingType[str, Interface]) -> Relationship:
    """A relationship of a type that assigns nothing and leads nowhere."""
    return Relationship(
        key=shape.kinds[0],
        source="",
        requirement="",
        index=0,
        target="",
        capability="",
        kinds=shape.kinds,
        definitions=shape.properties,
        attribute_definitions=shape.attributes,
        interfaces=interfaces,
    )


def _defaults(definitions: MappingType[str, PropertyDefinition]) -> dict[str, Value]:
    return {n: d.default for n, d in definitions.items() if d.has_default}


NODE = "tosca.capabilities.Node"
OF_TYPES = frozenset({"get_property", "get_attribute", "get_operation_output"})
"""The functions whose answer a type alone may decide."""
OF_TEMPLATES = frozenset({"get_input", "get_artifact"})
"""Those whose answer it cannot: inputs belong to a topology, and templates may add artifacts."""


# Capabilities that must serve somebody: a lower bound that an author wrote and that is not met is warned of, while
# the one that holds by default is not (§3.7.2).


def warn_of_unused(
    nodes: MappingType[str, NodeTemplate], shapes: MappingType[str, NodeShape], diagnostics: Diagnostics
) -> None:
    """Warn of each capability with fewer relationships than its definition asks for."""
    needed: dict[str, list[tuple[str, int]]] = {}
    for kind in {node.type for node in nodes.values()}:
        bounds = [(n, c.occurrences[0]) for n, c in shapes[kind].capabilities.items() if c.bounded and c.occurrences[0]]
        if bounds:
            needed[kind] = bounds
    if not needed:
        return
    users = Counter((r.target, r.capability) for node in nodes.values() for r in node.requirements)
    for name, node in nodes.items():
        for capability, least in needed.get(node.type, ()):
            if users[name, capability] < least:
                diagnostics.warning(
                    "too-few-sources",
                    f'capability "{capability}" of "{name}" must serve at least {"one node" if least == 1 else least}, '
                    f"but serves {users[name, capability] or 'none'}",
                    node.span,
                    hint=f"assign a requirement to it, or allow less with occurrences of {capability}",
                )
