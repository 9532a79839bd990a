"""Warnings about lifecycle steps whose rollback would pass steps that cannot be undone."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.base.text import listed
from ordito.blocks.check import OPERATION
from ordito.model.lifecycle_steps import LifecycleStep
from ordito.model.service import Service
from ordito.planning.draft import Draft
from ordito.planning.hook_steps import requirements_first
from ordito.planning.operation_steps import UNDO_OPERATION
from ordito.work.hooks import Moment, Transition
from ordito.work.plan import ChangeKind, Plan

ROLLBACK = "rollback"

MOST_NAMED = 4

NOT_MADE_AGAIN = "they are not created again"
MADE_AGAIN = "they are created again, without the data that they held"
EITHER = f"an upgrade creates them again, without the data that they held; after an undeploy {NOT_MADE_AGAIN}"


def check_lossy(draft: Draft) -> None:
    """Transform: report the lifecycle steps that ask for a rollback although steps before them have no undo; an error
    in strict mode."""
    steps = [draft.service.hooks[hook.id] for hook in draft.hooks]
    gone = NOT_MADE_AGAIN if draft.options.hooking.transition is Transition.DELETE else MADE_AGAIN
    report_lossy(steps, draft.diagnostics, strict=draft.options.hooking.strict, gone=gone)
    late = [step for step in steps if step.on_failure == ROLLBACK and not _is_before(step)]
    replaced = [member.id for member in draft.members.values() if member.kind is ChangeKind.REPLACE] if late else []
    if replaced:
        place = late[0].spans.get("onFailure") or late[0].span
        _warn_of_replaced(replaced, f'lifecycle step "{late[0].id}"', place, draft.diagnostics)


def with_lossy_replace(plan: Plan) -> Plan:
    """The plan of a job that is rolled back if it fails, with a warning if the rollback would have to restore what the
    plan replaces."""
    replaced = [change.instance for change in plan.changes if change.kind == ChangeKind.REPLACE]
    if not replaced or any("[lossy-replace]" in warning for warning in plan.summary.warnings):
        return plan
    found = Diagnostics()
    _warn_of_replaced(replaced, "a failure", None, found)
    warnings = (*plan.summary.warnings, *(str(d) for d in found))
    return msgspec.structs.replace(plan, summary=msgspec.structs.replace(plan.summary, warnings=warnings))


def _warn_of_replaced(replaced: Sequence[str], who: str, place: Span | None, diagnostics: Diagnostics) -> None:
    diagnostics.warning(
        "lossy-replace",
        f"{who} would roll back over what is replaced: {listed(replaced, MOST_NAMED)}; "
        "what was kept there is lost, and is not brought back by making it once more",
        place,
        hint="back it up by a step before, which restores the backup when it is undone",
    )


def _is_before(step: LifecycleStep) -> bool:
    """Whether a step comes before anything is done to the resources."""
    return bool(step.component) and step.phase.endswith(f".{Moment.BEFORE}")


def check_service(service: Service, diagnostics: Diagnostics) -> None:
    """The same for a service that is only validated, as far as that can be told without knowing what exists."""
    if not service.hooks:
        return
    names = list(requirements_first(service))
    of: dict[tuple[str, str], list[LifecycleStep]] = {}
    for step in service.hooks.values():
        of.setdefault((step.component, step.phase), []).append(step)
    for transition in (Transition.INSTALL, Transition.UPGRADE):
        before, after = (
            [s for name in names for s in of.get((name, f"{transition}.{moment}"), ())] for moment in Moment
        )
        module = [s for moment in Moment for s in of.get(("", f"{transition}.{moment}"), ())]
        report_lossy([*before, *after, *module], diagnostics)
    module = [s for moment in Moment for s in of.get(("", f"{Transition.DELETE}.{moment}"), ())]
    last_first = [
        s for moment in Moment for name in reversed(names) for s in of.get((name, f"{Transition.DELETE}.{moment}"), ())
    ]
    report_lossy([*module, *last_first], diagnostics)


def report_lossy(
    steps: Sequence[LifecycleStep], diagnostics: Diagnostics, *, strict: bool = False, gone: str = EITHER
) -> None:
    """Report each of some steps, in the order in which they are carried out, whose rollback would pass what has no
    undo, or removed resources, of which ``gone`` tells."""
    lossy: list[str] = []
    for step in steps:
        if step.on_failure == ROLLBACK and lossy:
            named = listed(lossy, MOST_NAMED)
            message = f"would roll back over {named}, whose blocks have no undo: what they do stays"
            _report(step, message, "let it abort, or give these steps blocks that can be undone", diagnostics, strict)
        if step.on_failure == ROLLBACK and step.phase == f"{Transition.DELETE}.{Moment.AFTER}":
            message = f"would roll back when the resources are gone: {gone}"
            _report(step, message, "let it abort, or continue", diagnostics, strict)
        if not can_be_undone(step):
            lossy.append(f'"{step.id}"')


def _report(step: LifecycleStep, why: str, hint: str, diagnostics: Diagnostics, is_error: bool) -> None:
    message, place = f'lifecycle step "{step.id}" {why}', step.spans.get("onFailure") or step.span
    if is_error:
        diagnostics.error("lossy-rollback", message, place, hint=hint)
    else:
        diagnostics.warning("lossy-rollback", message, place, hint=hint)


def can_be_undone(step: LifecycleStep) -> bool:
    """Whether something undoes what a step does; not asked for a block that is not known."""
    if step.fqn == OPERATION:
        return step.config.get(UNDO_OPERATION) is not None
    return step.block is None or step.block.undo is not None
