"""The topology template, as it is written (§3.9)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from typing import Annotated, ClassVar

from ordito.source.nodes import Scalar
from ordito.syntax.copies import NamedTemplates
from ordito.syntax.entities import LIFECYCLE, NodeTemplate, ParameterDefinition, RelationshipTemplate
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.mappings import SubstitutionMappings
from ordito.syntax.policies import Group, Policies, Policy
from ordito.syntax.shapes import Named, One, Text
from ordito.syntax.workflows import Workflow


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
