"""What a template says about running systems: imperative workflows, groups, policies and their triggers (§3.6.21 to
§3.6.27, §3.8.5 to §3.8.7), resolved."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.model.operation import Artifact
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.syntax.expressions import Value


class Assertion(msgspec.Struct, frozen=True):
    """What the value of an attribute must meet, all of it (§3.6.24). The attribute belongs to whatever the condition is
    about: an instance of a node, a relationship or a member of a group."""

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
    """One activity (§3.6.23).

    ``kind`` is one of delegate, set_state, call_operation and inline; ``name`` the workflow, the state or, for
    operations, ``interface.operation``, of which ``interface`` (its symbolic name) and ``operation`` are the parts.
    ``inputs`` hold for this call only, and come before those of the template.
    """

    kind: str
    name: str
    interface: str = ""
    operation: str = ""
    inputs: Mapping[str, Value] = {}
    span: Span | None = None


class Precondition(msgspec.Struct, frozen=True):
    """What must hold of a target before a workflow begins (§3.6.26)."""

    target: str
    relationship: str = ""
    condition: Condition | None = None
    span: Span | None = None


class Step(msgspec.Struct, frozen=True):
    """A step of a workflow (§3.6.27).

    ``target`` is a node template or a group, "" where every activity is ``inline``; with ``relationship``, the name of
    a requirement, it is the relationship of that requirement. ``on_success`` and ``on_failure`` name steps.
    """

    name: str
    target: str = ""
    relationship: str = ""
    operation_host: str = ""
    filter: Condition | None = None
    activities: tuple[Activity, ...] = ()
    on_success: tuple[str, ...] = ()
    on_failure: tuple[str, ...] = ()
    span: Span | None = None


class Workflow(msgspec.Struct, frozen=True):
    """An imperative workflow (§3.8.7): its steps, or the artifact that implements it, with what that depends on.

    ``outputs`` maps each output to a path that begins with a node or relationship template. ``timeout`` is in seconds.
    ``prefix`` stands before the names of its inputs where ``get_input`` reads them: that of a topology inside.
    """

    name: str
    inputs: Mapping[str, PropertyDefinition] = {}
    prefix: str = ""
    preconditions: tuple[Precondition, ...] = ()
    steps: Mapping[str, Step] = {}
    implementation: Artifact | None = None
    dependencies: tuple[Artifact, ...] = ()
    timeout: int | None = None
    operation_host: str = ""
    outputs: Mapping[str, tuple[str | int, ...]] = {}
    metadata: Mapping[str, str] = {}
    description: str = ""
    span: Span | None = None


class EventFilter(msgspec.Struct, frozen=True):
    """Whose events a trigger hears (§3.6.21): those of a node template, or of all of a node type (its full name, where
    ``of_type``); or of what its requirement leads to; or of a capability of that."""

    node: str
    of_type: bool = False
    requirement: str = ""
    capability: str = ""
    span: Span | None = None


class Trigger(msgspec.Struct, frozen=True):
    """What a policy does about an event (§3.6.22).

    ``schedule`` holds ``start_time`` and ``end_time``, both inclusive, or is empty. The condition must hold for
    ``evaluations`` evaluations within ``period`` (a time with its unit, "" where none is given), the values combined by
    ``method``.
    """

    name: str
    event: str
    actions: tuple[Activity, ...]
    schedule: Mapping[str, Value] = {}
    filter: EventFilter | None = None
    condition: Condition | None = None
    period: str = ""
    evaluations: int | None = None
    method: str = ""
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
