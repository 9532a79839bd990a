"""Transform: operations that the records show as carried out are not called again; only their order remains."""

from __future__ import annotations

from ordito.instances.lifecycle import START_STAGE, UNDONE_BY_STOP
from ordito.instances.states import CONFIGURED, STARTED, STARTING, STOPPING
from ordito.instances.status import ERROR, OPERATIONAL, UNKNOWN
from ordito.planning.calls import SETTLE
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DOWN_UP, Down, DraftStep, InstanceAction, PlannedInstance
from ordito.work.plan import Action, StepCondition

CONTINUED = frozenset({InstanceAction.CONTINUE, InstanceAction.START})
RESTART, RECONFIGURE, DROP = InstanceAction.RESTART, InstanceAction.RECONFIGURE, InstanceAction.DROP


def skip_done(draft: Draft) -> None:
    """Mark what was done. An instance for which everything was done, and whose status alone is not what it should be,
    gets a step that does nothing and closes its chain; it fails if the instance is in error or unknown, since nothing
    was done about that, and nothing says that it is ok. With ``force`` everything is called again."""
    if draft.options.force:
        return
    for member in draft.members.values():
        if member.action in CONTINUED:
            _skip_installed(draft, member)
        elif member.action is RESTART or member.action is RECONFIGURE:
            _skip_links(draft, member)
        if member.undone or (member.falls and member.action is not DROP):
            _skip_removed(draft, member)


def _skip_installed(draft: Draft, member: PlannedInstance) -> None:
    assert member.up is not None
    steps = [draft.steps[number] for number in member.up.steps]
    last, place = _last_way(member, steps), 0
    for step in steps:
        call = draft.calls.all[step.call]
        if step.link:
            step.done = _is_linked(draft, step)
            continue
        if place < member.done:
            step.done = call.key not in member.record.failed
            if not step.done and place < last:
                # What follows it was carried out without it, so that it is no way into a state any more.
                step.stage = None
            elif member.record.state == CONFIGURED and step.stage is not None and step.stage.enter == STARTING:
                step.done = False  # It was stopped, if only by an operation that was run by hand.
        elif step.stage is None:
            # It is watched already, except that what was stopped is watched again even if nothing ceased to watch it.
            applied = member.record.applied.get(call.key)
            is_stopped = member.record.state == CONFIGURED
            step.done = not is_stopped and applied is not None and applied.digest == call.digest
        place += 1
    # What began to stop, and did not come to be stopped, counts as started once it is linked and watched again.
    is_half_stopped = member.record.state == STOPPING
    if all(step.done or (is_half_stopped and (step.link or step.stage is None)) for step in steps):
        number = draft.calls.nothing(member.template, SETTLE.interface, SETTLE.operation)
        settle = DraftStep(f"{member.id}.{SETTLE.name}", Action.CALL, member.id, member.id, call=number)
        settle.reason = draft.why("everything was carried out")
        if member.record.state in (CONFIGURED, STOPPING):
            # There is nothing by which it could be started, and it counts as started now.
            settle.stage = START_STAGE
        runs_nothing = all(step.done for step in steps)
        if member.record.local == ERROR or (runs_nothing and _is_unknown(member)):
            settle.condition = StepCondition.IF_REPAIRED
        last = draft.add(settle)
        draft.edge(member.up.end, last, draft.why("the order of the lifecycle"))
        member.up.steps.append(last)
        member.up.end = last


def _is_unknown(member: PlannedInstance) -> bool:
    """Whether the status of an instance is not known. If only operations of pairs have failed, which are gone now or
    are repeated separately, its status is that from before."""
    failures = member.record.before_failure
    is_of_pairs = bool(failures) and all("/" in key and was in OPERATIONAL for key, was in failures.items())
    return member.record.local == UNKNOWN and not is_of_pairs


def _last_way(member: PlannedInstance, steps: list[DraftStep]) -> int:
    """The place of the last operation so far that leads to a state: for the earlier ones that is over. For a started
    instance there is none."""
    if member.record.state == STARTED:
        return member.done
    own = [step for step in steps if not step.link][: member.done]
    return next((place for place in range(len(own) - 1, -1, -1) if own[place].stage is not None), 0)


def _skip_links(draft: Draft, member: PlannedInstance) -> None:
    """Keep those links of what is stopped and started that stopping does not undo."""
    for number in member.up.steps if member.up is not None else ():
        step = draft.steps[number]
        if step.link:
            step.done = _is_linked(draft, step) and draft.calls.all[step.call].operation not in UNDONE_BY_STOP


def _is_linked(draft: Draft, step: DraftStep) -> bool:
    """Whether an operation of a pair was carried out as it is wanted now, and is not undone by this plan."""
    link, call = draft.snapshot.links.get(step.link), draft.calls.all[step.call]
    applied = link.applied.get(call.name) if link is not None else None
    if link is None or applied is None or applied.digest != call.digest:
        return False
    if step.link in draft.redone or link.relationship in draft.members[step.owner].dropped:
        return False
    target = draft.members[step.far if step.instance == step.owner else step.instance]
    return not target.falls or (DOWN_UP[target.action].down is Down.STOP and call.operation not in UNDONE_BY_STOP)


def _skip_removed(draft: Draft, member: PlannedInstance) -> None:
    own = member.down.steps if member.down else []
    for number in [*own, *member.undone]:
        step = draft.steps[number]
        call = draft.calls.all[step.call]
        if step.link:
            link = draft.snapshot.links.get(step.link)
            step.done = link is not None and call.name in link.applied
        else:
            step.done = call.key in member.record.applied
