"""Resolved imperative workflows, groups, policies and their triggers (§3.6.21 to §3.6.27, §3.8.5 to §3.8.7)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.operation import Artifact
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.syntax.expressions import Value


class Assertion(msgspec.Struct, frozen=True):
    """Constraints that the value of an attribute must all meet (§3.6.24). The attribute belongs to whatever the
    condition is about: an instance of a node, a relationship or a member of a group."""

    attribute: str
    constraints: tuple[Constraint, ...]
    span: Span | None = None


class Condition(msgspec.Struct, frozen=True):
    """Parts joined by ``and``, ``or`` or ``not`` (§3.6.25): ``not`` holds where not all of its parts do. The parts are
    evaluated in their order, and no further than needed."""

    operator: str
    parts: tuple[Condition | Assertion, ...]
    span: Span | None = None


class Activity(msgspec.Struct, frozen=True):
    """One activity (§3.6.23)."""

    kind: str
    """One of delegate, set_state, call_operation and inline."""
    name: str
    """The workflow, the state or, for operations, ``interface.operation``."""
    interface: str = ""
    """The symbolic name of the interface of an operation."""
    operation: str = ""
    """The name of an operation."""
    inputs: Mapping[str, Value] = {}
    """They count for this call only, and take precedence over those of the template."""
    span: Span | None = None


class Precondition(msgspec.Struct, frozen=True):
    """A condition on a target that must hold before a workflow begins (§3.6.26)."""

    target: str
    relationship: str = ""
    condition: Condition | None = None
    span: Span | None = None


class Step(msgspec.Struct, frozen=True):
    """A step of a workflow (§3.6.27)."""

    name: str
    target: str = ""
    """A node template or a group, "" where every activity is ``inline``."""
    relationship: str = ""
    """A requirement of the target, where the step is about the relationship of that requirement."""
    operation_host: str = ""
    filter: Condition | None = None
    activities: tuple[Activity, ...] = ()
    on_success: tuple[str, ...] = ()
    """The names of the steps that follow; ``on_failure`` likewise."""
    on_failure: tuple[str, ...] = ()
    span: Span | None = None


class Workflow(msgspec.Struct, frozen=True):
    """An imperative workflow (§3.8.7): its steps, or the artifact that implements it."""

    name: str
    inputs: Mapping[str, PropertyDefinition] = {}
    prefix: str = ""
    """What precedes the names of its inputs where ``get_input`` reads them: that of a substituting topology."""
    preconditions: tuple[Precondition, ...] = ()
    steps: Mapping[str, Step] = {}
    implementation: Artifact | None = None
    dependencies: tuple[Artifact, ...] = ()
    """The artifacts on which the implementation depends."""
    timeout: int | None = None
    """In seconds."""
    operation_host: str = ""
    outputs: Mapping[str, tuple[str | int, ...]] = {}
    """By output, a path that begins with a node or relationship template."""
    metadata: Mapping[str, str] = {}
    description: str = ""
    span: Span | None = None


class EventFilter(msgspec.Struct, frozen=True):
    """The source of the events that a trigger reacts to (§3.6.21)."""

    node: str
    """A node template, or a node type."""
    of_type: bool = False
    """Whether ``node`` is the full name of a node type: then it means all nodes of that type."""
    requirement: str = ""
    """A requirement: then the source is what it leads to."""
    capability: str = ""
    """A capability of that."""
    span: Span | None = None


class Trigger(msgspec.Struct, frozen=True):
    """What a policy does about an event (§3.6.22)."""

    name: str
    event: str
    actions: tuple[Activity, ...]
    schedule: Mapping[str, Value] = {}
    """``start_time`` and ``end_time``, both inclusive, or empty."""
    filter: EventFilter | None = None
    condition: Condition | None = None
    period: str = ""
    """The time, with its unit, within which the evaluations count, "" for none."""
    evaluations: int | None = None
    """In how many evaluations within the period the condition must hold."""
    method: str = ""
    """How the values of these evaluations are combined."""
    description: str = ""
    span: Span | None = None


class Policy(msgspec.Struct, frozen=True):
    """A policy (§3.8.6): ``targets`` are the node templates and groups that it names, ``nodes`` the node templates that
    it applies to: members of these groups too, and all of the topology where it names no target."""

    name: str
    kinds: tuple[str, ...]
    properties: Mapping[str, Value] = {}
    definitions: Mapping[str, PropertyDefinition] = {}
    targets: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    triggers: Mapping[str, Trigger] = {}
    metadata: Mapping[str, str] = {}
    description: str = ""
    span: Span | None = None

    @property
    def type(self) -> str:
        """The policy type's full name."""
        return self.kinds[0]


class Group(msgspec.Struct, frozen=True):
    """A group (§3.8.5): ``members`` are node templates, those of groups in it included, each once."""

    name: str
    kinds: tuple[str, ...]
    members: tuple[str, ...] = ()
    properties: Mapping[str, Value] = {}
    attributes: Mapping[str, Value] = {}
    definitions: Mapping[str, PropertyDefinition] = {}
    attribute_definitions: Mapping[str, PropertyDefinition] = {}
    metadata: Mapping[str, str] = {}
    description: str = ""
    span: Span | None = None

    @property
    def type(self) -> str:
        """The group type's full name."""
        return self.kinds[0]
