"""The topology template and its groups, as they are written (§3.8.5, §3.9)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, ClassVar

from ordito.source.nodes import Mapping, Scalar
from ordito.syntax.copies import NamedTemplates
from ordito.syntax.entities import (
    LIFECYCLE,
    OF_MEMBERS,
    InterfaceDefinition,
    NodeTemplate,
    ParameterDefinition,
    RelationshipTemplate,
)
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.mappings import SubstitutionMappings
from ordito.syntax.policies import Policies, Policy
from ordito.syntax.shapes import Assignments, Many, Metadata, Named, One, Text, Texts
from ordito.syntax.workflows import Workflow


class Group(Entity, frozen=True, eq=False, kw_only=True):
    """Group (§3.8.5)."""

    WHAT: ClassVar[str] = "group"

    type: Annotated[Scalar, Key(Text(), required=True)]
    description: Annotated[Scalar | None, Key(Text())] = None
    metadata: Annotated[Metadata | None, Key(Texts())] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    attributes: Annotated[Mapping | None, Key(Assignments())] = None
    members: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    interfaces: Annotated[
        dict[str, InterfaceDefinition] | None, Key(Named(InterfaceDefinition), instead=OF_MEMBERS)
    ] = None


class TopologyTemplate(Entity, frozen=True, eq=False, kw_only=True):
    """Topology template (§3.9)."""

    WHAT: ClassVar[str] = "topology template"
    ELSEWHERE: ClassVar[MappingType[str, str]] = LIFECYCLE
    SECTIONS: ClassVar[bool] = True

    description: Annotated[Scalar | None, Key(Text())] = None
    inputs: Annotated[dict[str, ParameterDefinition] | None, Key(Named(ParameterDefinition))] = None
    node_templates: Annotated[dict[str, NodeTemplate] | None, Key(NamedTemplates(NodeTemplate))] = None
    relationship_templates: Annotated[
        dict[str, RelationshipTemplate] | None, Key(NamedTemplates(RelationshipTemplate))
    ] = None
    groups: Annotated[dict[str, Group] | None, Key(Named(Group))] = None
    policies: Annotated[list[Policy] | None, Key(Policies())] = None
    outputs: Annotated[dict[str, ParameterDefinition] | None, Key(Named(ParameterDefinition))] = None
    substitution_mappings: Annotated[SubstitutionMappings | None, Key(One(SubstitutionMappings))] = None
    workflows: Annotated[dict[str, Workflow] | None, Key(Named(Workflow))] = None
