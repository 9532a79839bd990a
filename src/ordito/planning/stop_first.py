"""Transform: what may be running although it failed to start is stopped before it is started again.

A failed start may have left something running: a process that does not answer, or one of several. Starting it once more
would leave two of them. If stopping fails, that does not matter: often there is nothing to be stopped. If a start has
reported that it changed nothing, or a check finds the instance to be ok or absent, nothing is stopped.
"""

from __future__ import annotations

from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTING, STOPPING
from ordito.instances.status import OPERATIONAL, PENDING
from ordito.planning.chains import in_sequence, set_states
from ordito.planning.draft import Draft
from ordito.planning.forms import Formed
from ordito.planning.operation_sequence import SequencedOperation
from ordito.planning.planned_instances import PlannedInstance
from ordito.planning.skip_done import CONTINUED
from ordito.work.plan import StepCondition

UNHARMED = OPERATIONAL | {PENDING}
"""The statuses of instances that a failed start has left as they were."""


def stop_first(draft: Draft) -> None:
    """Stop what is continued after a failed start, once it was checked, and before anything else is done about it."""
    if draft.options.force:
        return
    for member in draft.members.values():
        if member.action not in CONTINUED or member.up is None or not _may_be_left(draft, member):
            continue
        form = draft.falling(member)
        node = form.service.nodes.get(member.template.name)
        stops = tuple(e for e in form.sequences.removing(node).stop if _stops(form, e)) if node is not None else ()
        if not stops:
            continue
        reason = draft.why("it may be running although its start failed")
        numbers = in_sequence(draft, member, stops, form=form, after_failure=False)
        for step in map(draft.steps.__getitem__, numbers):
            step.reason, step.condition = reason, StepCondition.IF_UNWELL
            step.optional = step.non_blocking = True
        set_states([draft.steps[number] for number in numbers])
        draft.edge(numbers[-1], member.up.begin, reason)
        member.up.begin = numbers[0]
        for step in map(draft.steps.__getitem__, member.up.steps):
            if not step.link and step.stage is not None and step.stage.enter == STARTING:
                step.done = False  # Of several operations that start it those before the failed one are undone, too.


def _may_be_left(draft: Draft, member: PlannedInstance) -> bool:
    """Whether the start of an instance has failed, and may have changed something."""
    record = member.record
    if record.state != FAILED or record.local in UNHARMED or not record.failed:
        return False
    starts = draft.sequences.making(member.template).start
    return any(e.key in record.failed and e.stage is not None and e.stage.enter == STARTING for e in starts)


def _stops(form: Formed, entry: SequencedOperation) -> bool:
    """Whether an operation that stops an instance is implemented."""
    is_own = entry.relationship is None and not entry.delegated and bool(form.calls.all[entry.call].artifact)
    return is_own and entry.stage is not None and entry.stage.enter == STOPPING
