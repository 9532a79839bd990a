"""Activities: what workflow steps and triggers do, checked against what they do it to (§3.6.23)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ordito.base.diagnostics import Diagnostics
from ordito.model.conditions import warn_of_states
from ordito.model.imperative import Activity
from ordito.model.interfaces import Interfaces
from ordito.model.operation import Input, Interface, Operation
from ordito.model.schema import PropertyDefinition
from ordito.model.subjects import Holder, Subject
from ordito.model.units import Unit
from ordito.model.values import Values
from ordito.source import nodes
from ordito.source.nodes import Scalar
from ordito.syntax import activities as written
from ordito.syntax import workflows
from ordito.syntax.expressions import Value
from ordito.syntax.shapes import is_lost

DELEGATED = ("deploy", "undeploy", "install", "uninstall")
"""The workflows of single nodes that every orchestrator has."""

SCALE, SCALE_OUT, SCALE_IN = "scale", "scale_out", "scale_in"
DRIVEN = (SCALE, SCALE_OUT, SCALE_IN, "heal", "stop", "start", "restart")
"""The workflows to which the actions of triggers may delegate besides: they are about the targets of the policy."""


class Activities:
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
        """The activities, as far as they could be read; ``delegated`` are the workflows to which they may delegate,
        whatever provides their target."""
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
    "delegate": Activities._delegate,  # noqa: SLF001  (the table of the class's own readers)
    "set_state": Activities._set_state,  # noqa: SLF001
    "call_operation": Activities._call,  # noqa: SLF001
    "inline": Activities._inline,  # noqa: SLF001
}
