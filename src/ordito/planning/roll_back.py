"""Transforms that plan the rollback of a failed job: what it created is removed, what it did is undone.

What a job did is known from the records: everything with its changeId, or a later one, is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from ordito.instances.lifecycle import REMOVES, TAKES_BACK, takes_back
from ordito.instances.records import Instance, Snapshot
from ordito.planning.chains import in_sequence
from ordito.planning.digests import NO_OP_DIGEST
from ordito.planning.draft import Draft
from ordito.planning.operation_sequence import SequencedOperation
from ordito.planning.options import RolledBack
from ordito.planning.planned_instances import InstanceAction, PlannedInstance

TAKEN_BACK = frozenset().union(*(done for name, done in TAKES_BACK.items() if name not in REMOVES))
"""Operations that another one undoes while the instance stays."""


def choose_made(draft: Draft) -> None:
    """Transform: the instances that the job created are removed, all others stay."""
    for node in draft.ordered:
        for record in draft.snapshot.of_node(node.name):
            draft.put(PlannedInstance(record, node, *_fate(record, draft.options.rolled_back)))


def take_back(draft: Draft) -> None:
    """Transform: undo what the job did to instances that stay, by the operations for that."""
    for node in draft.ordered:
        for member in draft.of_node.get(node.name, ()):
            if member.action is InstanceAction.KEEP:
                _take_back(draft, member)


def cannot_be_taken_back(snapshot: Snapshot, rolled_back: RolledBack) -> tuple[str, ...]:
    """What a job did that no operation undoes, for people: instances that it removed, and operations on instances that
    existed before."""
    since = rolled_back.since
    found: list[str] = []
    for record in snapshot.instances.values():
        if not record.exists:
            if record.last_config_change >= since > record.created:
                found.append(f"{record.id} was removed, and is not created again")
        elif _fate(record, rolled_back)[0] is InstanceAction.KEEP:
            stays = [key for key in _done(record, since) if key.rpartition(".")[2] not in TAKEN_BACK]
            if stays:
                found.append(f"{record.id} keeps what {', '.join(stays)} did")
    return tuple(found)


def made(snapshot: Snapshot, rolled_back: RolledBack) -> tuple[str, ...]:
    """The instances that exist because of a job, by id."""
    records = snapshot.instances.values()
    return tuple(r.id for r in records if r.exists and _fate(r, rolled_back)[0] is not InstanceAction.KEEP)


def _fate(record: Instance, rolled_back: RolledBack) -> tuple[InstanceAction, str]:
    if record.created >= rolled_back.since:
        return InstanceAction.LEAVE, "made by the job that is rolled back"
    if record.id in rolled_back.new and not record.created:
        return InstanceAction.DROP, "not begun by the job that is rolled back"
    return InstanceAction.KEEP, ""


def _take_back(draft: Draft, member: PlannedInstance) -> None:
    form = draft.falling(member)
    entries = form.sequences.removing(form.service.nodes[member.template.name]).uninstall
    done = list(_done(member.record, draft.options.rolled_back.since))
    wanted = tuple(entry for entry in entries if any(_undoes(draft, entry, key) for key in done))
    if not wanted:
        return
    member.reason = "the job that is rolled back had carried it on"
    steps = in_sequence(draft, member, wanted, form=form, after_failure=True)
    for number in steps:
        stage = draft.steps[number].stage
        if stage is not None:
            draft.steps[number].enter, draft.steps[number].leave = stage.enter, stage.leave
    if member.undone:
        draft.edge(member.undone[-1], steps[0], draft.why("links are undone before the instance stops"))
    else:
        member.undone_first = steps[:1]
    member.undone.extend(steps)
    member.is_taken_back = True


def _undoes(draft: Draft, entry: SequencedOperation, key: str) -> bool:
    """Whether an operation undoes another one of an instance that stays."""
    call = draft.calls.all[entry.call]
    return call.operation not in REMOVES and takes_back(call.interface, call.operation, key)


def _done(record: Instance, since: str) -> Iterator[str]:
    """The operations that the job has carried out on an instance; a failed one may have been carried out in part."""
    yield from (key for key, one in record.applied.items() if one.change >= since and one.digest != NO_OP_DIGEST)
    yield from (key for key, change in record.failed.items() if change >= since)
