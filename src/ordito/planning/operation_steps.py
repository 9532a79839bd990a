"""Lifecycle steps that run an operation of a component: one step for each of its instances, one after the other, and
one for the whole, which succeeds when all of them have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.lifecycle import Side
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.operation import Operation, interface_named
from ordito.model.service import NodeTemplate, Service
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.implemented import where_run
from ordito.planning.operation_sequence import Where
from ordito.planning.planned_instances import DraftStep, PlannedInstance
from ordito.work.hooks import DoneHook, Hook, Moment, Transition
from ordito.work.plan import Action

COMPONENT, OPERATION, INPUTS, UNDO_OPERATION = "component", "operation", "inputs", "undo_operation"
"""The keys of the config of such a step."""


class CalledOperation(msgspec.Struct, frozen=True):
    """An operation that a step names: of which node, and in which of its interfaces."""

    node: NodeTemplate
    interface: str
    operation: Operation


def run_steps(draft: Draft, hook: Hook, step: LifecycleStep, number: int) -> list[DraftStep]:
    """The steps that run the operation that a lifecycle step names, on each instance that exists then; ``number`` is
    that of the lifecycle step in the plan. Mistakes in the config are reported."""
    config = _static(draft, step)
    check_operation(draft.service, step, config, draft.diagnostics)
    node = draft.service.nodes.get(str(config.get(COMPONENT) or step.component))
    found = _operation(node, str(config.get(OPERATION, ""))) if node is not None else None
    if found is None:
        return []
    given, limit = _mapping(config.get(INPUTS)), max(1, math.ceil(hook.timeout))
    call = draft.calls.of_node(found.node, found.interface, found.operation.name, found.operation)
    call = draft.calls.put(
        msgspec.structs.replace(draft.calls.all[call], given=given, timeout=limit, attempts=1, digest="")
    )
    reason = draft.why(f"{hook.phase} of {hook.component or 'the module'}")
    may_fail = hook.on_failure == "continue"
    return [
        DraftStep(
            f"{hook.id}.{member.id}.{draft.calls.all[call].name}",
            Action.HOOK,
            instance=member.id,
            call=call,
            runs_on=_where(draft, member, found),
            reason=reason,
            optional=may_fail,
            hook=number,
        )
        for member in _there(draft, hook, found.node)
    ]


def check_operation(
    service: Service, step: LifecycleStep, config: Mapping[str, object], diagnostics: Diagnostics
) -> None:
    """Report names in a lifecycle step that do not exist. ``config`` is what is known of its config."""
    if COMPONENT in step.config and COMPONENT not in config:
        return
    name = str(config.get(COMPONENT) or step.component)
    node = service.nodes.get(name)
    if node is None:
        near = nearest(name, service.nodes)
        diagnostics.error(
            "unknown-template",
            f'lifecycle step "{step.id}" runs an operation of node "{name}", which there is not'
            if name
            else f'lifecycle step "{step.id}" is about no node, and names none whose operation it runs',
            _place(step, COMPONENT),
            hint=f"did you mean {' or '.join(near)}?" if near else "config: { component: NODE, operation: ... }",
        )
        return
    for key in (OPERATION, UNDO_OPERATION):
        text = str(config.get(key) or "")
        if text and _operation(node, text) is None:
            known = [f"{i.name}.{o}" for i in node.interfaces.values() for o in i.operations]
            near = nearest(text, known)
            diagnostics.error(
                "unknown-operation",
                f'node "{name}" has no operation "{text}", which lifecycle step "{step.id}" runs',
                _place(step, key),
                hint=f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}",
            )


def undo_steps(
    draft: Draft, done: DoneHook, undoing: tuple[Formed, CalledOperation], name: str, *, is_first: bool
) -> list[DraftStep]:
    """The steps that run the operation that undoes another one, with that one's inputs, the last instance first;
    ``undoing`` is the result of the function ``undoing``, ``name`` the name of the undo in the plan, which has it
    already, and ``is_first`` says whether it comes before what is done to the resources."""
    form, found = undoing
    given, limit = _mapping(done.result.config.get(INPUTS)), max(1, math.ceil(done.hook.timeout))
    call = form.calls.of_node(found.node, found.interface, found.operation.name, found.operation)
    call = draft.calls.put(
        msgspec.structs.replace(draft.calls.all[call], given=given, timeout=limit, attempts=1, digest="")
    )
    members = draft.of_node.get(found.node.name, ())
    there = [m for m in members if (m.record.exists and m.record.created) or (m.rises and not is_first)]
    return [
        DraftStep(
            f"{name}.{member.id}.{draft.calls.all[call].name}",
            Action.UNDO,
            instance=member.id,
            call=call,
            runs_on=_where(draft, member, found),
            after_failure=True,
            reason=draft.why(f"job {done.job} had carried out {done.hook.id} ({done.hook.phase})"),
            hook=len(draft.undone) - 1,
        )
        for member in reversed(there)
        if is_first or not member.goes
    ]


def undoing(draft: Draft, done: DoneHook) -> tuple[Formed, CalledOperation] | None:
    """The operation that undoes one that was run, in the form of the service that ran it: the one to which a rollback
    leads need not have it, but has what that form removed. None if neither has it."""
    config = done.result.config
    name = str(config.get(COMPONENT) or done.hook.component)
    form = draft.forms.of_job(done.job)
    if form is not None and name not in form.service.nodes:
        form = draft.forms.own
    node = form.service.nodes.get(name) if form is not None else None
    found = _operation(node, str(config.get(UNDO_OPERATION, ""))) if node is not None else None
    return (form, found) if form is not None and found is not None else None


def is_undone(draft: Draft, done: DoneHook) -> bool:
    """Whether it is known what undoes a lifecycle step, or nothing is left on which that could run."""
    if not can_be_undone(done):
        return False
    if not done.hook.block.is_operation or undoing(draft, done) is not None:
        return True
    name = str(done.result.config.get(COMPONENT) or done.hook.component)
    return not any(member.record.exists for member in draft.of_node.get(name, ()))


def there_in_the_end(draft: Draft, component: str) -> list[PlannedInstance]:
    """The instances of a component that stay, or are created; for a substituted node those of the nodes inside."""
    stand_in = draft.service.substituted.get(component)
    nodes = stand_in.nodes if stand_in is not None else (component,)
    return [m for node in nodes for m in draft.of_node.get(node, ()) if not m.goes]


def can_be_undone(done: DoneHook) -> bool:
    """Whether something undoes what a lifecycle step did."""
    if done.hook.block.is_operation:
        return done.result.config.get(UNDO_OPERATION) is not None
    return done.hook.block.undo is not None


def _there(draft: Draft, hook: Hook, node: NodeTemplate) -> list[PlannedInstance]:
    """The instances that exist when a lifecycle step begins."""
    members = draft.of_node.get(node.name, [])
    is_later = hook.moment is Moment.AFTER or (not hook.component and hook.transition is not Transition.DELETE)
    if is_later:
        return [m for m in members if not m.goes]
    return [m for m in members if m.record.exists and m.record.created]


def _where(draft: Draft, member: PlannedInstance, found: CalledOperation) -> str:
    where = where_run(found.operation, found.node, Side.NODE, lifecycle=False)
    return "" if where is Where.ORCHESTRATOR else draft.runs_on(where, member.id)


# -------------------------------------------------------------------------------------------------------- the config


def _static(draft: Draft, step: LifecycleStep) -> dict[str, object]:
    """The config as far as it must be known before anything runs: all of it."""
    found: dict[str, object] = {}
    for key, value in step.config.items():
        try:
            data = draft.static.evaluate(value, Context())
        except EvaluationError as error:
            draft.diagnostics.error(
                "bad-value",
                f'"{key}" in the config of lifecycle step "{step.id}" must be known before anything runs:'
                f" {error.message}",
                _place(step, key),
                hint="write the value, or take it from an input",
            )
            continue
        if data is not None and not isinstance(data, Nothing):
            found[key] = data
    return found


def _operation(node: NodeTemplate, text: str) -> CalledOperation | None:
    name, _, operation = text.rpartition(".")
    interface = interface_named(node.interfaces, name)
    if interface is None or operation not in interface.operations:
        return None
    return CalledOperation(node, interface.name, interface.operations[operation])


def _mapping(value: object) -> dict[str, object]:
    return {str(key): item for key, item in value.items()} if isinstance(value, Mapping) else {}


def _place(step: LifecycleStep, key: str) -> Span | None:
    return step.spans.get(f"config.{key}") or step.spans.get("config") or step.span
