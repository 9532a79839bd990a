"""Activities of workflow steps and triggers, checked against their targets (§3.6.23)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.definitions import Definitions
from ordito.model.imperative import Activity, Assertion, Condition
from ordito.model.interfaces import Interfaces
from ordito.model.operation import Input, Interface, Operation
from ordito.model.schema import Constraint, PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.model.units import Unit
from ordito.model.values import Values
from ordito.source import nodes
from ordito.source.nodes import Scalar
from ordito.syntax import activities as written
from ordito.syntax import conditions as written_conditions
from ordito.syntax import workflows
from ordito.syntax.expressions import Value
from ordito.syntax.shapes import is_lost

DELEGATED = ("deploy", "undeploy", "install", "uninstall")
"""The workflows of single nodes that every orchestrator must have."""

SCALE, SCALE_OUT, SCALE_IN = "scale", "scale_out", "scale_in"
DRIVEN = (SCALE, SCALE_OUT, SCALE_IN, "heal", "stop", "start", "restart")
"""Further workflows to which the actions of triggers may delegate: they work on the targets of the policy."""


class ActivityReader:
    """Reads lists of activities. ``inputs`` are those of the workflows that ``inline`` may name."""

    def __init__(
        self,
        values: Values,
        interfaces: Interfaces,
        unit: Unit,
        inlined: Mapping[str, workflows.Workflow],
        inputs: Mapping[str, Mapping[str, PropertyDefinition]],
        diagnostics: Diagnostics,
    ) -> None:
        self._values = values
        self._interfaces = interfaces
        self._unit = unit
        self._inlined = inlined
        self._inputs = inputs
        self._diagnostics = diagnostics
        self._delegated: Sequence[str] = DELEGATED

    def read(
        self, activities: Iterable[written.Activity] | None, subject: Subject, delegated: Sequence[str] = DELEGATED
    ) -> tuple[Activity, ...]:
        """The activities that can be read; ``delegated`` are the workflows to which they may delegate for any kind of
        target."""
        self._delegated = delegated
        found = (READERS[a.kind](self, a, subject) for a in activities or ())
        return tuple(a for a in found if a is not None)

    def _delegate(self, activity: written.Activity, subject: Subject) -> Activity:
        name = activity.name.text
        if name not in self._delegated:
            hint = self._diagnostics.suggestion(name, self._delegated)
            self._diagnostics.warning(
                "unknown-workflow",
                f'"{name}" is delegated to whatever provides the target, and not every provider knows it',
                activity.name.span,
                hint=hint,
            )
        return Activity(activity.kind, name, inputs=self._untyped(activity.inputs), span=activity.span)

    def _set_state(self, activity: written.Activity, subject: Subject) -> Activity:
        warn_of_states([activity.name.text], activity.name.span, self._diagnostics)
        return Activity(activity.kind, activity.name.text, span=activity.span)

    def _inline(self, activity: written.Activity, subject: Subject) -> Activity | None:
        name = activity.name.text
        if name not in self._inlined:
            if not is_lost(self._inlined, name):
                self._diagnostics.unknown("unknown-workflow", "workflow", name, activity.name.span, self._inlined)
            return None
        inputs = self._values.fields(
            activity.inputs, self._inputs[name], f'the inlining of workflow "{name}"', "input", activity.name
        )
        return Activity(activity.kind, name, inputs=inputs, span=activity.span)

    def _call(self, activity: written.Activity, subject: Subject) -> Activity | None:
        if subject.open_ended:
            interface, _, operation = activity.name.text.rpartition(".")
            inputs = self._untyped(activity.inputs)
            return Activity(activity.kind, activity.name.text, interface, operation, inputs, activity.span)
        found = [self._operation(activity.name, h) for h in subject.holders]
        known = next((f for f in found if f is not None), None)
        if known is None or (subject.every and None in found):
            self._report(activity.name, subject.holders[found.index(None)])
            return None
        interface_found, operation_found = known
        inputs = self._typed(activity.inputs, operation_found.inputs)
        name = f"{interface_found.name}.{operation_found.name}"
        return Activity(activity.kind, name, interface_found.name, operation_found.name, inputs, activity.span)

    def _operation(self, name: Scalar, holder: Holder) -> tuple[Interface, Operation] | None:
        """The operation that ``interface.operation`` means, the interface by its own or its type's name; an operation
        alone where only one interface has it."""
        text, dot, operation = name.text.rpartition(".")
        if not dot:
            having = [i for i in holder.interfaces.values() if operation in i.operations]
            if len(having) != 1:
                return None
            self._diagnostics.warning(
                "bare-operation",
                f'"{operation}" names no interface; that of {having[0].name} is called',
                name.span,
                hint=f"write {having[0].name}.{operation}",
            )
            return having[0], having[0].operations[operation]
        interface = self._interfaces.named(holder.interfaces, text, self._unit)
        found = interface.operations.get(operation) if interface is not None else None
        return (interface, found) if interface is not None and found is not None else None

    def _report(self, name: Scalar, holder: Holder) -> None:
        text, _, operation = name.text.rpartition(".")
        interface = self._interfaces.named(holder.interfaces, text, self._unit) if text else None
        if text and interface is None:
            hint = self._diagnostics.suggestion(text, holder.interfaces)
            message = f'{holder.name} has no interface "{text}"'
            self._diagnostics.error("unknown-interface", message, name.span, hint=hint)
            return
        known = interface.operations if interface is not None else _operations(holder.interfaces)
        owner = f'interface "{interface.name}" of {holder.name}' if interface is not None else holder.name
        hint = self._diagnostics.suggestion(operation, known)
        having = sum(operation in i.operations for i in holder.interfaces.values())
        if having > 1:
            hint = "several interfaces have it: write interface.operation"
        message = f'{owner} has no operation "{operation}"' if having < 2 else f'"{operation}" names no interface'
        self._diagnostics.error("unknown-operation", message, name.span, hint=hint)

    def _typed(self, given: nodes.Mapping | None, declared: Mapping[str, Input]) -> dict[str, Value]:
        return {n: i.value for n, i in self._interfaces.parameters.assigned(given, declared).items()}

    def _untyped(self, given: nodes.Mapping | None) -> dict[str, Value]:
        return self._typed(given, {})


def _operations(interfaces: Mapping[str, Interface]) -> list[str]:
    return [f"{i.name}.{o}" for i in interfaces.values() for o in i.operations]


READERS = {
    "delegate": ActivityReader._delegate,  # noqa: SLF001  (the table of the class's own readers)
    "set_state": ActivityReader._set_state,  # noqa: SLF001
    "call_operation": ActivityReader._call,  # noqa: SLF001
    "inline": ActivityReader._inline,  # noqa: SLF001
}


# ConditionReader: assertions about attributes, typed by what they are about (§3.6.24, §3.6.25).

STATE = "state"
NODE_STATES = (
    "initial",
    "creating",
    "created",
    "configuring",
    "configured",
    "starting",
    "started",
    "stopping",
    "deleting",
    "deleted",
    "error",
)
"""The node states of TOSCA (§3.4.1), and ``deleted``; workflows may set others."""


class ConditionReader:
    """Reads conditions."""

    def __init__(self, definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._definitions = definitions
        self._diagnostics = diagnostics

    def read(self, clause: written_conditions.Clause | None, subject: Subject) -> Condition | None:
        """A condition about a subject. The loader bounds how deep documents nest."""
        if clause is None:
            return None
        parts: list[Condition | Assertion] = []
        for part in clause.parts:
            read = (
                self.read(part, subject)
                if isinstance(part, written_conditions.Clause)
                else self._assertion(part, subject)
            )
            if read is not None:
                parts.append(read)
        return Condition(clause.operator, tuple(parts), clause.span)

    def _assertion(self, assertion: written_conditions.Assertion, subject: Subject) -> Assertion | None:
        name = assertion.attribute.text
        definition = self._definition(assertion, subject)
        if definition is None:
            return None
        schema = self._definitions.constrained(definition.schema, list(assertion.constraints))
        added = schema.constraints[len(definition.schema.constraints) :]
        if name == STATE:
            for constraint in added:
                warn_of_states(_texts(constraint), constraint.span, self._diagnostics)
        return Assertion(name, added, assertion.attribute.span)

    def _definition(self, assertion: written_conditions.Assertion, subject: Subject) -> PropertyDefinition | None:
        """The definition of the attribute, the first where several have it."""
        name = assertion.attribute.text
        found = [h.value(name) for h in subject.holders]
        known = next((d for d in found if d is not None), None)
        if subject.certain and (None in found if subject.every else known is None):
            lacking = subject.holders[found.index(None)] if None in found else None
            owner = lacking.name if lacking is not None else subject.what
            candidates = {n for h in subject.holders for n in h.values}
            self._diagnostics.error(
                "unknown-attribute",
                f'{owner} has no attribute "{name}"',
                assertion.attribute.span,
                hint=self._diagnostics.suggestion(name, candidates),
            )
            return None
        return known


def warn_of_states(states: Iterable[str], span: Span | None, diagnostics: Diagnostics) -> None:
    """Warn of states that are not those of TOSCA: a workflow may have its own, or may have misspelt one."""
    for state in states:
        if state not in NODE_STATES:
            near = nearest(state, NODE_STATES)
            diagnostics.warning(
                "unknown-state",
                f'"{state}" is not a node state of TOSCA',
                span,
                hint=f'did you mean "{near[0]}"?' if near else "right if a workflow sets it",
            )


def _texts(constraint: Constraint) -> list[str]:
    operand = constraint.operand
    if constraint.operator not in {"equal", "valid_values"}:
        return []
    return [v for v in (operand if isinstance(operand, list) else [operand]) if isinstance(v, str)]


# What conditions and activities are about: nodes, relationships, groups, capabilities (§3.6.21, §3.6.26, §3.6.27).

Declared = Mapping[str, PropertyDefinition]


class Holder(msgspec.Struct, frozen=True):
    """A node, relationship or capability with its values and operations; ``name`` is its name in messages."""

    name: str
    definitions: Declared
    attribute_definitions: Declared
    interfaces: Mapping[str, Interface] = {}
    node: NodeTemplate | None = None
    relationship: Relationship | None = None

    def value(self, name: str) -> PropertyDefinition | None:
        """The definition of an attribute; each property is an attribute too (§3.6.10.5)."""
        return self.attribute_definitions.get(name) or self.definitions.get(name)

    @property
    def values(self) -> Iterator[str]:
        """The names of all attributes."""
        yield from self.attribute_definitions
        yield from self.definitions


class Subject(msgspec.Struct, frozen=True):
    """Everything that a condition or an activity is about."""

    what: str
    """Its name in messages."""
    holders: tuple[Holder, ...]
    certain: bool = True
    """Whether all of it could be read; if not, things that it lacks are not reported."""
    every: bool = True
    """Whether all holders must have what is used, and not just one of them."""

    @property
    def open_ended(self) -> bool:
        """Whether it is not known what it has."""
        return not self.certain or not self.holders


NOTHING = Subject("nothing", ())
"""The subject of a workflow step without a target."""
UNREADABLE = Subject("", (), certain=False)
"""The subject for a target that could not be read, which was reported."""


def of_node(node: NodeTemplate) -> Holder:
    """A node template."""
    return Holder(
        f'"{node.name}" ({node.type})', node.definitions, node.attribute_definitions, node.interfaces, node=node
    )


def of_relationship(relationship: Relationship) -> Holder:
    """A relationship."""
    return Holder(
        f'relationship "{relationship.key}"',
        relationship.definitions,
        relationship.attribute_definitions,
        relationship.interfaces,
        relationship=relationship,
    )


def of_capability(node: NodeTemplate, capability: Capability) -> Holder:
    """A capability of a node template."""
    return Holder(
        f'capability "{capability.name}" of "{node.name}"', capability.definitions, capability.attribute_definitions
    )
