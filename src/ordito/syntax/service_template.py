"""The service template, as it is written: one file, with its imports and repositories (§3.6.6, §3.6.8, §3.10)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ordito.source.nodes import Node, Scalar
from ordito.syntax.entities import (
    ArtifactType,
    CapabilityType,
    DataType,
    GroupType,
    InterfaceType,
    NodeType,
    PolicyType,
    RelationshipType,
)
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.shapes import Many, Metadata, Named, One, Raw, Text, Texts
from ordito.syntax.topology import TopologyTemplate


class ImportDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Import definition (§3.6.8)."""

    SHORT: ClassVar[str] = "file"
    WHAT: ClassVar[str] = "import"

    file: Annotated[Scalar, Key(Text(), required=True)]
    repository: Annotated[Scalar | None, Key(Text())] = None
    namespace_prefix: Annotated[Scalar | None, Key(Text())] = None
    namespace_uri: Annotated[Scalar | None, Key(Text(), instead="namespace in the imported file")] = None


class RepositoryDefinition(Entity, frozen=True, eq=False, kw_only=True):
    """Repository definition (§3.6.6)."""

    SHORT: ClassVar[str] = "url"
    WHAT: ClassVar[str] = "repository"

    description: Annotated[Scalar | None, Key(Text())] = None
    url: Annotated[Scalar, Key(Text(), required=True)]
    credential: Annotated[Node | None, Key(Raw())] = None


class ServiceFile(Entity, frozen=True, eq=False, kw_only=True):
    """Service template (§3.10): one file."""

    WHAT: ClassVar[str] = "service template"
    SECTIONS: ClassVar[bool] = True

    tosca_definitions_version: Annotated[Scalar, Key(Text(), required=True)]
    namespace: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    description: Annotated[Scalar | None, Key(Text())] = None
    dsl_definitions: Annotated[Node | None, Key(Raw())] = None
    repositories: Annotated[dict[str, RepositoryDefinition] | None, Key(Named(RepositoryDefinition))] = None
    imports: Annotated[list[ImportDefinition] | None, Key(Many(One(ImportDefinition)))] = None
    artifact_types: Annotated[dict[str, ArtifactType] | None, Key(Named(ArtifactType))] = None
    data_types: Annotated[dict[str, DataType] | None, Key(Named(DataType))] = None
    capability_types: Annotated[dict[str, CapabilityType] | None, Key(Named(CapabilityType))] = None
    interface_types: Annotated[dict[str, InterfaceType] | None, Key(Named(InterfaceType))] = None
    relationship_types: Annotated[dict[str, RelationshipType] | None, Key(Named(RelationshipType))] = None
    node_types: Annotated[dict[str, NodeType] | None, Key(Named(NodeType))] = None
    group_types: Annotated[dict[str, GroupType] | None, Key(Named(GroupType))] = None
    policy_types: Annotated[dict[str, PolicyType] | None, Key(Named(PolicyType))] = None
    topology_template: Annotated[TopologyTemplate | None, Key(One(TopologyTemplate))] = None
