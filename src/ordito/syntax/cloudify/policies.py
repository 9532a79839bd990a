"""Groups, policies and workflows of a blueprint, as they are written."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.cloudify.entities import InputSchema, PropertySchema
from ordito.syntax.cloudify.shapes import Optional, YesNo
from ordito.syntax.grammar import Entity, Key
from ordito.syntax.shapes import Assignments, Many, Named, One, Raw, Text


class GroupTrigger(Entity, frozen=True, eq=False, kw_only=True):
    """What a policy of a group triggers."""

    WHAT: ClassVar[str] = "trigger"

    type: Annotated[Scalar, Key(Text(), required=True)]
    parameters: Annotated[Mapping | None, Key(Assignments())] = None


class GroupPolicy(Entity, frozen=True, eq=False, kw_only=True):
    """A policy of a group."""

    WHAT: ClassVar[str] = "policy of a group"

    type: Annotated[Scalar, Key(Text(), required=True)]
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    triggers: Annotated[dict[str, GroupTrigger] | None, Key(Named(GroupTrigger))] = None


class CloudifyGroup(Entity, frozen=True, eq=False, kw_only=True):
    """A group of node templates and of groups."""

    WHAT: ClassVar[str] = "group"

    members: Annotated[list[Scalar], Key(Many(Text()), required=True)]
    policies: Annotated[dict[str, GroupPolicy] | None, Key(Named(GroupPolicy))] = None


class CloudifyPolicyType(Entity, frozen=True, eq=False, kw_only=True):
    """A type of policies of groups; what it decides is a program for a server that watches metrics."""

    WHAT: ClassVar[str] = "policy type"

    source: Annotated[Scalar, Key(Text(), required=True)]
    properties: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None


class PolicyTrigger(Entity, frozen=True, eq=False, kw_only=True):
    """A type of triggers."""

    WHAT: ClassVar[str] = "policy trigger"

    source: Annotated[Scalar, Key(Text(), required=True)]
    parameters: Annotated[dict[str, PropertySchema] | None, Key(Named(PropertySchema, empty=True))] = None


class CloudifyPolicy(Entity, frozen=True, eq=False, kw_only=True):
    """A policy of the blueprint: how groups are scaled."""

    WHAT: ClassVar[str] = "policy"

    type: Annotated[Scalar, Key(Text(), required=True)]
    targets: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None


class AvailabilityRules(Entity, frozen=True, eq=False, kw_only=True):
    """When a workflow may be run."""

    WHAT: ClassVar[str] = "availability rules"

    available: Annotated[Node | None, Key(Raw())] = None
    node_instances_active: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    node_types_required: Annotated[list[Scalar] | None, Key(Many(Text()))] = None


class CloudifyWorkflow(Entity, frozen=True, eq=False, kw_only=True):
    """A workflow."""

    SHORT: ClassVar[str] = "mapping"
    WHAT: ClassVar[str] = "workflow"

    mapping: Annotated[Scalar, Key(Text(), required=True)]
    parameters: Annotated[dict[str, InputSchema] | None, Key(Named(InputSchema, empty=True))] = None
    is_cascading: Annotated[bool | None, Key(YesNo())] = None
    availability_rules: Annotated[AvailabilityRules | None, Key(Optional(One(AvailabilityRules)))] = None
