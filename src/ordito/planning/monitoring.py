"""Transforms: watching: what is watched is so from the end of its installation to the beginning of its removal."""

from __future__ import annotations

from ordito.model.operation import Operation
from ordito.planning.draft import Draft, DraftStep, Fate, Member
from ordito.planning.lifecycle import Side
from ordito.planning.recipes import where_run
from ordito.work.plan import Action
from ordito.work.probes import maintaining

START = "monitor_start"
STOP = "monitor_stop"


def watch(draft: Draft) -> None:
    """The last step of an instance that is made, continued or started, once it is linked: to begin to watch it."""
    for node in draft.ordered:
        operation = maintaining(node, START)
        for member in draft.of_node.get(node.name, ()) if operation is not None else ():
            if member.rises and member.up is not None and operation is not None:
                number = _step(draft, member, operation, tolerant=False)
                draft.edge(member.up.end, number, draft.why("it is watched once it is there"))
                member.up.steps.append(number)
                member.up.end = number


def unwatch(draft: Draft) -> None:
    """The first step of an instance that goes down and is watched: to cease to watch it."""
    for node in draft.ordered:
        begins, ends = maintaining(node, START), maintaining(node, STOP)
        for member in draft.of_node.get(node.name, ()) if ends is not None else ():
            if member.fate is Fate.DROP or member.down is None or ends is None:
                continue
            key = f"{begins.interface}.{START}" if begins is not None else ""
            if key in member.record.applied or key in member.record.failed:
                number = _step(draft, member, ends, tolerant=True)
                draft.edge(number, member.down.begin, draft.why("it is not watched while it goes down"))
                member.down.steps = [number, *member.down.steps]
                member.down.begin = number


def _step(draft: Draft, member: Member, operation: Operation, *, tolerant: bool) -> int:
    call = draft.calls.of_node(member.template, operation.interface, operation.name, operation)
    place = where_run(operation, member.template, Side.NODE, lifecycle=False)
    step = DraftStep(
        f"{member.id}.{draft.calls.all[call].name}",
        Action.CALL,
        member.id,
        member.id,
        call=draft.calls.for_instance(call, draft.with_hosts(member)),
        runs_on=draft.runs_on(place, member.id),
        tolerant=tolerant,
        reason=draft.why(member.reason),
    )
    settings = member.template.settings
    step.dispensable = settings.of(draft.calls.all[call].name).is_optional
    step.optional = step.dispensable or (not tolerant and settings.is_optional)
    return draft.add(step)
