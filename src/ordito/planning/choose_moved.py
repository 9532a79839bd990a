"""Transforms: which instances are stopped, started or restarted: those that are asked for, and those that depend on
them.

What an instance hosts is stopped with it, and so is what requires its node if no other instance of that node stays up.
Whatever can go on with the others stays up, and is only unlinked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import takewhile

from ordito.instances.records import Instance
from ordito.instances.states import CONFIGURED, ERROR, STARTED, STARTING, STOPPING
from ordito.instances.status import is_up
from ordito.model.service import NodeTemplate
from ordito.planning.checks import requires_what_is_not_up
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import InstanceAction, PlannedInstance

RUNS = frozenset({STARTING, STARTED, STOPPING})
"""The states of instances that may be running."""


def choose_stopped(draft: Draft) -> None:
    """Transform: stop what is asked for, with what depends on it."""
    _all_stay(draft)
    for member in _asked(draft):
        if may_run(draft, member):
            _fall(member, InstanceAction.STOP, "it was asked for")
    _with_dependents(draft, InstanceAction.STOP)


def choose_started(draft: Draft) -> None:
    """Transform: start what is asked for, unless it is started."""
    _all_stay(draft)
    for member in _asked(draft):
        member.is_meant = True
        _start(draft, member)


def choose_restarted(draft: Draft) -> None:
    """Transform: stop and start what is asked for, with what depends on it; what is stopped is started."""
    _all_stay(draft)
    for member in _asked(draft):
        if may_run(draft, member):
            _fall(member, InstanceAction.RESTART, "it was asked for")
        else:
            _start(draft, member)
    _start_with(draft, _with_dependents(draft, InstanceAction.RESTART))
    for member in draft.members.values():
        if member.action is InstanceAction.RESTART:
            _refuse_unmade(draft, member)


def may_run(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an instance may be running, so that there is something to stop: by its state, by a stop that has failed,
    or, if its state is an error, by what was begun."""
    record = member.record
    if record.state in RUNS:
        return True
    if record.failed:
        stops = {entry.key for entry in draft.sequences.removing(member.template).stop}
        if not stops.isdisjoint(record.failed):
            return True
    if record.state != ERROR:
        return False
    first = draft.sequences.making(member.template).start[0]
    return first.key in record.applied or first.key in record.failed


def _all_stay(draft: Draft) -> None:
    for node in draft.ordered:
        for record in draft.snapshot.of_node(node.name):
            draft.put(PlannedInstance(record, node, InstanceAction.KEEP, ""))


def _asked(draft: Draft) -> Iterator[PlannedInstance]:
    chosen = draft.options.instances or frozenset()
    return (member for member in draft.members.values() if member.id in chosen)


def _fall(member: PlannedInstance, action: InstanceAction, reason: str) -> None:
    member.action, member.reason = action, reason


def _start(draft: Draft, member: PlannedInstance) -> None:
    record = member.record
    if is_up(record):
        return
    if not _refuse_unmade(draft, member):
        member.action, member.reason = InstanceAction.START, "it was asked for"


def _refuse_unmade(draft: Draft, member: PlannedInstance) -> bool:
    """Refuse an instance that was never configured completely and so cannot be started; returns whether it did."""
    missing = unmade(draft, member.template, member.record)
    if missing:
        draft.refusals.error(
            "not-configured",
            f"{member.id} cannot be started: {missing} was not carried out yet",
            member.template.span,
            hint="`ordito deploy` goes on with it",
        )
    return bool(missing)


def unmade(draft: Draft, node: NodeTemplate, record: Instance) -> str:
    """The first operation before the start that was not carried out, "" for none."""
    if record.state in (STARTED, CONFIGURED):
        return ""
    sequence = draft.sequences.making(node)
    start = {entry.key for entry in sequence.start}
    before = takewhile(lambda entry: entry.key not in start, sequence.install)
    return next((draft.calls.all[e.call].name for e in before if e.key not in record.applied), "")


def _with_dependents(draft: Draft, action: InstanceAction) -> dict[str, str]:
    """Take down what depends on instances that go down or are down, and so on. Returns those that are down already, by
    id, each with the reason."""
    down: dict[str, str] = {}
    waiting = deque(_asked(draft))
    staying = {
        node: sum(m.is_up and m.action is InstanceAction.KEEP for m in members)
        for node, members in draft.of_node.items()
    }
    seen: set[str] = set()
    reached = {member.id for member in waiting}
    while waiting:
        fallen = waiting.popleft()
        fallen.is_meant = True
        found = [(draft.members[i], f"it is hosted on {fallen.id}") for i in draft.snapshot.hosted_on(fallen.id)]
        node = fallen.template
        if not staying[node.name] and node.name not in seen and not node.settings.is_optional:
            seen.add(node.name)
            found += _requiring(draft, node)
        for member, reason in found:
            if member.id in reached:
                continue
            reached.add(member.id)
            waiting.append(member)
            if may_run(draft, member):
                staying[member.template.name] -= member.is_up
                _fall(member, action, reason)
            else:
                down[member.id] = reason
    return down


def _start_with(draft: Draft, down: Mapping[str, str]) -> None:
    """Start what depends on a restarted instance and is stopped, as a failed restart leaves it; except what was never
    created completely, and what requires something else that is not up."""
    concerned = {draft.members[name].template.name for name in down}
    for node in draft.ordered:
        if node.name not in concerned or requires_what_is_not_up(draft, node):
            continue
        for member in draft.of_node[node.name]:
            host = draft.host_of(member)
            is_carried = host is None or host.is_up
            if member.id in down and member.action is InstanceAction.KEEP and is_carried and _is_stopped(draft, member):
                member.action, member.reason = InstanceAction.START, down[member.id]


def _is_stopped(draft: Draft, member: PlannedInstance) -> bool:
    return not is_up(member.record) and not unmade(draft, member.template, member.record)


def _requiring(draft: Draft, node: NodeTemplate) -> Iterator[tuple[PlannedInstance, str]]:
    """The instances that require a node of which nothing stays up."""
    for relationship in draft.service.incoming.get(node.name, ()):
        if not relationship.is_hosting:
            reason = f"it requires {node.name} ({relationship.requirement}), of which no other instance is up"
            yield from ((member, reason) for member in draft.of_node.get(relationship.source, ()))
