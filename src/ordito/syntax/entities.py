"""The entities of TOSCA Simple Profile 1.3 chapter 3 of which types and templates consist, as they are written, one
frozen class each. Topologies are in ``topology.py``, whole files in ``service_template.py``."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, ClassVar

from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.filters import NodeFilter
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.policies import Trigger
from ordito.syntax.shapes import (
    Assignments,
    Bounds,
    Clauses,
    Either,
    Flag,
    Many,
    Metadata,
    Named,
    NamedList,
    One,
    Raw,
    Text,
    TextOrTexts,
    Texts,
    Whole,
)

LIFECYCLE = dict.fromkeys(
    ("lifecycle", "#lifecycle", "hooks"),
    "lifecycle steps are policies whose type is a block, or stand in lifecycle.yaml beside the service",
)


class SchemaDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Schema definition (§3.6.9): the type of list entries, map values and map keys."""

    SHORT: ClassVar[str] = "type"
    WHAT: ClassVar[str] = "schema definition"

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    constraints: Annotated[list[Node] | None, Key(Clauses())] = None
    key_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    entry_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None


class PropertyDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Property definition (§3.6.10), also as a refinement with a final ``value`` (§3.6.10.6)."""

    SHORT: ClassVar[str] = "value"
    VALUE: ClassVar[bool] = True
    WHAT: ClassVar[str] = "property definition"

    type: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    required: Annotated[bool | None, Key(Flag())] = None
    default: Annotated[Node | None, Key(Raw())] = None
    value: Annotated[Node | None, Key(Raw())] = None
    status: Annotated[Scalar | None, Key(Text())] = None
    constraints: Annotated[list[Node] | None, Key(Clauses())] = None
    key_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    entry_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    external_schema: Annotated[Scalar | None, Key(Text(), written="external-schema")] = None
    external_schema_old: Annotated[
        Scalar | None, Key(Text(), written="external_schema", instead="external-schema, with a hyphen")
    ] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    replaces: bool = False
    """Whether it stands by itself and refines nothing that the type inherits, which only lowered files say."""


class AttributeDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Attribute definition (§3.6.12)."""

    MEANT: ClassVar[str] = "type"
    WHAT: ClassVar[str] = "attribute definition"
    NOTE: ClassVar[str] = "attributes are found at run time: they are neither required nor constrained"
    LACKS: ClassVar[frozenset[str]] = frozenset({"required", "constraints"})

    type: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    default: Annotated[Node | None, Key(Raw())] = None
    status: Annotated[Scalar | None, Key(Text())] = None
    key_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    entry_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None


class ParameterDefinition(PropertyDefinition, frozen=True, eq=False, kw_only=True):
    """Parameter definition (§3.6.14): inputs and outputs of a topology."""

    WHAT: ClassVar[str] = "parameter definition"


class ArtifactDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Artifact definition (§3.6.7)."""

    SHORT: ClassVar[str] = "file"
    WHAT: ClassVar[str] = "artifact definition"

    type: Annotated[Scalar | None, Key(Text())] = None
    file: Annotated[Scalar, Key(Text(), required=True)]
    repository: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    deploy_path: Annotated[Scalar | None, Key(Text())] = None
    artifact_version: Annotated[Scalar | None, Key(Text())] = None
    version: Annotated[Scalar | None, Key(Text(), instead="artifact_version")] = None
    checksum: Annotated[Scalar | None, Key(Text())] = None
    checksum_algorithm: Annotated[Scalar | None, Key(Text())] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None


class Implementation(Entity, frozen=True, eq=False, kw_only=True):
    """Operation implementation (§3.6.16)."""

    SHORT: ClassVar[str] = "primary"
    WHAT: ClassVar[str] = "operation implementation"

    primary: Annotated[Scalar | ArtifactDefinition | None, Key(Either(One(ArtifactDefinition)))] = None
    dependencies: Annotated[list[Scalar | ArtifactDefinition] | None, Key(Many(Either(One(ArtifactDefinition))))] = None
    timeout: Annotated[int | None, Key(Whole())] = None
    operation_host: Annotated[Scalar | None, Key(Text())] = None


class OperationDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Operation definition and assignment (§3.6.17). Inputs are definitions in types, assignments in templates."""

    SHORT: ClassVar[str] = "implementation"
    WHAT: ClassVar[str] = "operation"

    description: Annotated[Scalar | None, Key(Text())] = None
    implementation: Annotated[Scalar | Implementation | None, Key(Either(One(Implementation)))] = None
    inputs: Annotated[Mapping | None, Key(Assignments())] = None
    outputs: Annotated[Mapping | None, Key(Assignments())] = None
    replaces: bool = False
    """Whether nothing of what it inherits is kept, which only lowered files say."""


class NotificationImplementation(Entity, frozen=True, eq=False, kw_only=True):
    """Notification implementation (§3.6.18): the artifact that subscribes to events from outside."""

    SHORT: ClassVar[str] = "primary"
    WHAT: ClassVar[str] = "notification implementation"

    primary: Annotated[Scalar | ArtifactDefinition | None, Key(Either(One(ArtifactDefinition)))] = None
    dependencies: Annotated[list[Scalar | ArtifactDefinition] | None, Key(Many(Either(One(ArtifactDefinition))))] = None


class NotificationDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Notification definition (§3.6.19): a call from outside whose outputs become attributes."""

    SHORT: ClassVar[str] = "implementation"
    WHAT: ClassVar[str] = "notification"
    NOTE: ClassVar[str] = "a notification takes no inputs"

    description: Annotated[Scalar | None, Key(Text())] = None
    implementation: Annotated[
        Scalar | NotificationImplementation | None, Key(Either(One(NotificationImplementation)))
    ] = None
    outputs: Annotated[Mapping | None, Key(Assignments())] = None


class InterfaceDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Interface definition and assignment (§3.6.20); operations may stand beside the keynames as in 1.2."""

    BARE: ClassVar[str] = "operations"
    WHAT: ClassVar[str] = "interface"
    NOTE: ClassVar[str] = 'operations stand below "operations:"'

    type: Annotated[Scalar | None, Key(Text())] = None
    inputs: Annotated[Mapping | None, Key(Assignments())] = None
    operations: Annotated[dict[str, OperationDefinition] | None, Key(Named(OperationDefinition))] = None
    notifications: Annotated[dict[str, NotificationDefinition] | None, Key(Named(NotificationDefinition))] = None
    description: Annotated[Scalar | None, Key(Text())] = None


class CapabilityDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Capability definition (§3.7.2)."""

    SHORT: ClassVar[str] = "type"
    WHAT: ClassVar[str] = "capability definition"

    type: Annotated[Scalar | None, Key(Text())] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    attributes: Annotated[dict[str, AttributeDefinition] | None, Key(Named(AttributeDefinition))] = None
    valid_source_types: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    occurrences: Annotated[tuple[int, int | None] | None, Key(Bounds())] = None


class RelationshipDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """The extended form of ``relationship`` in requirement definitions (§3.7.3.2)."""

    SHORT: ClassVar[str] = "type"
    WHAT: ClassVar[str] = "relationship of a requirement"
    NOTE: ClassVar[str] = "a definition gives no values: write them where the requirement is assigned"
    LACKS: ClassVar[frozenset[str]] = frozenset({"properties"})

    type: Annotated[Scalar | None, Key(Text())] = None
    interfaces: Annotated[dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition))] = None


class RelationshipPart(RelationshipDefinition, frozen=True, eq=False, kw_only=True):
    """The extended form of ``relationship`` in requirement assignments (§3.8.2.2)."""

    NOTE: ClassVar[str] = ""
    LACKS: ClassVar[frozenset[str]] = frozenset()

    properties: Annotated[Mapping | None, Key(Assignments())] = None


class RequirementDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Requirement definition (§3.7.3)."""

    SHORT: ClassVar[str] = "capability"
    WHAT: ClassVar[str] = "requirement definition"

    capability: Annotated[Scalar | None, Key(Text())] = None
    node: Annotated[Scalar | None, Key(Text())] = None
    relationship: Annotated[RelationshipDefinition | None, Key(One(RelationshipDefinition))] = None
    node_filter: Annotated[NodeFilter | None, Key(One(NodeFilter))] = None
    occurrences: Annotated[tuple[int, int | None] | None, Key(Bounds())] = None


class DefinedType(Entity, frozen=True, eq=False, kw_only=True):
    """What all type definitions share (§3.7.1)."""

    derived_from: Annotated[Scalar | None, Key(Text())] = None
    version: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    description: Annotated[Scalar | None, Key(Text())] = None


class ArtifactType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Artifact type (§3.7.4)."""

    WHAT: ClassVar[str] = "artifact type"

    mime_type: Annotated[Scalar | None, Key(Text())] = None
    file_ext: Annotated[list[Scalar] | None, Key(TextOrTexts())] = None
    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None


class InterfaceType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Interface type (§3.7.5). An operation is declared by its name alone, also with nothing below it."""

    BARE: ClassVar[str] = "operations"
    WHAT: ClassVar[str] = "interface type"

    inputs: Annotated[Mapping | None, Key(Assignments())] = None
    operations: Annotated[dict[str, OperationDefinition] | None, Key(Named(OperationDefinition, empty=True))] = None
    notifications: Annotated[
        dict[str, NotificationDefinition] | None, Key(Named(NotificationDefinition, empty=True))
    ] = None


class DataType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Data type (§3.7.6)."""

    WHAT: ClassVar[str] = "data type"

    constraints: Annotated[list[Node] | None, Key(Clauses())] = None
    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    key_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None
    entry_schema: Annotated[SchemaDefinition | None, Key(One(SchemaDefinition))] = None


class CapabilityType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Capability type (§3.7.7)."""

    WHAT: ClassVar[str] = "capability type"

    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    attributes: Annotated[dict[str, AttributeDefinition] | None, Key(Named(AttributeDefinition))] = None
    valid_source_types: Annotated[list[Scalar] | None, Key(Many(Text()))] = None


class NodeType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Node type (§3.7.9)."""

    WHAT: ClassVar[str] = "node type"

    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    attributes: Annotated[dict[str, AttributeDefinition] | None, Key(Named(AttributeDefinition))] = None
    requirements: Annotated[list[RequirementDefinition] | None, Key(NamedList(RequirementDefinition))] = None
    capabilities: Annotated[dict[str, CapabilityDefinition] | None, Key(Named(CapabilityDefinition))] = None
    interfaces: Annotated[dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition))] = None
    artifacts: Annotated[dict[str, ArtifactDefinition] | None, Key(Named(ArtifactDefinition))] = None


class RelationshipType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Relationship type (§3.7.10)."""

    WHAT: ClassVar[str] = "relationship type"

    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    attributes: Annotated[dict[str, AttributeDefinition] | None, Key(Named(AttributeDefinition))] = None
    interfaces: Annotated[dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition))] = None
    valid_target_types: Annotated[list[Scalar] | None, Key(Many(Text()))] = None


OF_MEMBERS = "them in the types of the members"
"""What to write instead of keynames that group types no longer have."""


class GroupType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Group type (§3.7.11)."""

    WHAT: ClassVar[str] = "group type"

    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    attributes: Annotated[dict[str, AttributeDefinition] | None, Key(Named(AttributeDefinition))] = None
    members: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    interfaces: Annotated[
        dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition), instead=OF_MEMBERS)
    ] = None
    capabilities: Annotated[
        dict[str, CapabilityDefinition] | None, Key(Named(CapabilityDefinition), instead=OF_MEMBERS)
    ] = None
    requirements: Annotated[
        list[RequirementDefinition] | None, Key(NamedList(RequirementDefinition), instead=OF_MEMBERS)
    ] = None


class PolicyType(DefinedType, frozen=True, eq=False, kw_only=True):
    """Policy type (§3.7.12)."""

    WHAT: ClassVar[str] = "policy type"

    properties: Annotated[dict[str, PropertyDefinition] | None, Key(Named(PropertyDefinition))] = None
    targets: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    triggers: Annotated[dict[str, Trigger] | None, Key(Named(Trigger))] = None


class CapabilityAssignment(Entity, frozen=True, eq=False, kw_only=True):
    """Capability assignment (§3.8.1)."""

    WHAT: ClassVar[str] = "capability assignment"
    NOTE: ClassVar[str] = 'values of properties stand below "properties:"'

    properties: Annotated[Mapping | None, Key(Assignments())] = None
    attributes: Annotated[Mapping | None, Key(Assignments())] = None
    occurrences: Annotated[tuple[int, int | None] | None, Key(Bounds())] = None


class RequirementAssignment(Entity, frozen=True, eq=False, kw_only=True):
    """Requirement assignment (§3.8.2)."""

    SHORT: ClassVar[str] = "node"
    WHAT: ClassVar[str] = "requirement assignment"

    node: Annotated[Scalar | None, Key(Text())] = None
    capability: Annotated[Scalar | None, Key(Text())] = None
    relationship: Annotated[RelationshipPart | None, Key(One(RelationshipPart))] = None
    node_filter: Annotated[NodeFilter | None, Key(One(NodeFilter))] = None
    occurrences: Annotated[tuple[int, int | None] | None, Key(Bounds())] = None


class NodeTemplate(Entity, frozen=True, eq=False, kw_only=True):
    """Node template (§3.8.3), with the experimental keynames of §2.20."""

    WHAT: ClassVar[str] = "node template"
    NOTE: ClassVar[str] = 'values of properties stand below "properties:"'
    ELSEWHERE: ClassVar[MappingType[str, str]] = LIFECYCLE

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    directives: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    properties: Annotated[Mapping | None, Key(Assignments("write name: value; constraints belong in node_filter"))] = (
        None
    )
    attributes: Annotated[Mapping | None, Key(Assignments())] = None
    requirements: Annotated[list[RequirementAssignment] | None, Key(NamedList(RequirementAssignment, unique=False))] = (
        None
    )
    capabilities: Annotated[dict[str, CapabilityAssignment] | None, Key(Named(CapabilityAssignment))] = None
    interfaces: Annotated[dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition))] = None
    artifacts: Annotated[dict[str, ArtifactDefinition] | None, Key(Named(ArtifactDefinition))] = None
    node_filter: Annotated[NodeFilter | None, Key(One(NodeFilter))] = None
    copy: Annotated[Scalar | None, Key(Text())] = None
    occurrences: Annotated[tuple[int, int | None] | None, Key(Bounds())] = None
    instance_count: Annotated[Node | None, Key(Raw())] = None
    incomplete: bool = False
    """Whether it may lack required properties, which only lowered files say."""


class RelationshipTemplate(Entity, frozen=True, eq=False, kw_only=True):
    """Relationship template (§3.8.4)."""

    WHAT: ClassVar[str] = "relationship template"

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    attributes: Annotated[Mapping | None, Key(Assignments())] = None
    interfaces: Annotated[dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition))] = None
    copy: Annotated[Scalar | None, Key(Text())] = None
