"""Activities: what a workflow step or a policy trigger does, as it is written (§3.6.23)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax.grammar import Entity, Key, Reading, read_entity
from ordito.syntax.shapes import Assignments, Text


class WorkflowCall(Entity, frozen=True, eq=False, kw_only=True):
    """The extended form of ``delegate`` and ``inline`` (§3.6.23.1, §3.6.23.4)."""

    SHORT: ClassVar[str] = "workflow"
    WHAT: ClassVar[str] = "call of a workflow"

    workflow: Annotated[Scalar, Key(Text(), required=True)]
    inputs: Annotated[Mapping | None, Key(Assignments())] = None


class CallOperation(Entity, frozen=True, eq=False, kw_only=True):
    """The extended form of ``call_operation`` (§3.6.23.3)."""

    SHORT: ClassVar[str] = "operation"
    WHAT: ClassVar[str] = "call of an operation"

    operation: Annotated[Scalar, Key(Text(), required=True)]
    inputs: Annotated[Mapping | None, Key(Assignments())] = None


class Activity(msgspec.Struct, frozen=True, eq=False):
    """One activity."""

    kind: str
    """One of ``KINDS``."""
    name: Scalar
    """The workflow, node or operation that it calls, or the state that it sets."""
    inputs: Mapping | None
    """The inputs of the call."""
    span: Span
    """Where it is written."""


KINDS = ("delegate", "set_state", "call_operation", "inline")


class Activities(msgspec.Struct, frozen=True):
    """An entry of a list of activities: a map with exactly one of their kinds."""

    def read(self, node: Node, what: str, reading: Reading) -> Activity | None:
        """The activity; None, with a diagnostic, where it cannot be read."""
        if not isinstance(node, Mapping) or not node.keys:
            reading.wrong_kind(node, what, f"a map with one of {', '.join(KINDS)}")
            return None
        key = node.keys[0]
        if key.text not in KINDS:
            near = nearest(key.text, KINDS)
            hint = reading.diagnostics.suggestion(key.text, near or KINDS)
            reading.diagnostics.error("unknown-activity", f'no activity named "{key.text}"', key.span, hint=hint)
            return None
        if len(node.keys) > 1:
            reading.diagnostics.error(
                "mutually-exclusive",
                f'an activity has one kind only, so "{node.keys[1].text}" cannot stand beside "{key.text}"',
                node.keys[1].span,
                hint="write a dash before each activity",
            )
            return None
        value = node.values[key.text]
        if key.text == "set_state":
            state = Text().read(value, '"set_state"', reading)
            return Activity(key.text, state, None, key.span) if state is not None else None
        if key.text == "call_operation":
            operation = read_entity(CallOperation, value, reading)
            return Activity(key.text, operation.operation, operation.inputs, key.span) if operation else None
        workflow = read_entity(WorkflowCall, value, reading)
        return Activity(key.text, workflow.workflow, workflow.inputs, key.span) if workflow else None
