"""The inputs of the workflow or operation to which an operation of a substituted node is mapped (§3.8.12)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.text import listed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.model.imperative import Activity
from ordito.model.operation import KEYWORDS, Interface
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft
from ordito.syntax.expressions import Call, Value

NO_INPUTS: Mapping[str, Value] = {}
MOST_NAMED = 5


def workflow_inputs(
    draft: Draft,
    template: NodeTemplate,
    interface: Interface | None,
    operation: str,
    workflow: str,
    later: Mapping[str, Value] = NO_INPUTS,
) -> dict[str, object]:
    """The inputs of a workflow that an operation is mapped to: the operation's inputs with the same names, else
    defaults. ``later`` are evaluated when the workflow begins, and come before these."""
    given: dict[str, object] = {}
    found = interface.operations.get(operation) if interface is not None else None
    own = {n: i.value for n, i in found.inputs.items() if i.has_value} if found is not None else {}
    for name, declared in draft.service.workflows[workflow].inputs.items():
        if name in later:
            continue
        value = own.get(name, declared.default if declared.has_default else None)
        try:
            data = draft.static.evaluate(value, Context(node=template.name))
        except EvaluationError:
            data = None
        if data is not None and not isinstance(data, Nothing):
            given[name] = draft.static.marks.wrap(data, draft.static.marks.of(declared))
        elif declared.required:
            draft.diagnostics.error(
                "missing-input",
                f'workflow "{workflow}", to which {operation} of "{template.name}" is mapped, needs input "{name}",'
                " and no input of the operation with a static value gives it",
                declared.span,
                hint="give it a default, or an input of that name to the operation",
            )
    return given


def warn_of_unused(draft: Draft, activity: Activity, node: str, workflow: str) -> None:
    """Warn of inputs of a call that the workflow carried out instead does not take."""
    takes = draft.service.workflows[workflow].inputs
    unused = [f'"{name}"' for name in activity.inputs if name not in takes]
    if unused:
        what = f'{activity.name} of "{node}" is mapped to workflow "{workflow}"'
        message = f"{what}, which takes no {listed(unused, MOST_NAMED)}"
        draft.diagnostics.warning("unused-inputs", message, activity.span)


def refuse_of_caller(draft: Draft, activity: Activity, node: str, instead: str) -> None:
    """Refuse inputs of a call that would refer to another node in the operation that is carried out instead."""
    for name, value in activity.inputs.items():
        if _is_of_caller(value):
            draft.diagnostics.error(
                "bad-value",
                f'input "{name}" of {activity.name} speaks of "{node}" itself, which is mapped to {instead}',
                activity.span,
                hint="name a node in the place of SELF",
            )


def _is_of_caller(value: Value) -> bool:
    waiting = [value]
    for part in waiting:  # grows while it is read
        if isinstance(part, Call):
            if part.arguments and part.arguments[0] in KEYWORDS:
                return True
            waiting.extend(part.arguments)
        elif isinstance(part, list | dict):
            waiting.extend(part.values() if isinstance(part, dict) else part)
    return False
