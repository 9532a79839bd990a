"""Transform: what becomes of the existing instances that stay: they are kept, continued where an earlier job stopped,
or changed to what is wanted now.

What was carried out is known by its digest, and counts if it equals what is wanted now. An instance that is not as it
should be continues after the last operation that was carried out; for a degraded one the optional operations that
failed are carried out again. What runs in another form than the wanted one is changed as its class says (``classify``).
"""

from __future__ import annotations

from ordito.base.change_ids import job_of
from ordito.instances.lifecycle import CONFIGURES, STARTS, Side
from ordito.instances.records import Applied, Instance
from ordito.instances.states import CONFIGURING, ERROR, STARTED, STARTING, STOPPING
from ordito.instances.status import DEGRADED, OPERATIONAL
from ordito.planning.checks import lacks
from ordito.planning.choose_instances import Hosts
from ordito.planning.choose_moved import may_run
from ordito.planning.classify import UNCHANGED, Class, Classes, InstanceFindings
from ordito.planning.digests import NO_OP_DIGEST
from ordito.planning.draft import Draft
from ordito.planning.operation_sequence import SequencedOperation
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.plan import ChangeKind
from ordito.work.probes import UPDATE, maintaining

FORCED = "forced: everything is carried out again"

ACTIONS = {
    ChangeKind.RESTART: InstanceAction.RESTART,
    ChangeKind.RECONFIGURE: InstanceAction.RECONFIGURE,
    ChangeKind.UPDATE: InstanceAction.UPDATE,
    ChangeKind.REPLACE: InstanceAction.REPLACE,
}
"""The actions for instances of the classes for which something is carried out on the instances themselves."""


def decide(draft: Draft) -> None:
    """Decide what becomes of every instance that is to stay, and with which operation it begins."""
    classes = Classes(draft)
    for node in draft.ordered:
        if node.name in draft.options.orphans.nodes:
            continue
        entries = draft.sequences.making(node).install
        draft.sequences.removing(node)  # What could not be removed again is refused now.
        hosts = _NewHosts(draft, node.name)
        is_plain = classes.are_plain and node.name not in draft.options.changes.replaced and not draft.options.force
        for member in draft.of_node.get(node.name, ()):
            if member.action is InstanceAction.KEEP and not draft.is_left_out(member):
                _decide(draft, member, entries, classes, hosts, is_plain=is_plain)


def decide_begun(draft: Draft) -> None:
    """Decide this only for the instances that an earlier scaling has begun to create, or has left unsettled."""
    classes = Classes(draft)
    scaling = draft.options.scaling
    for name in (*scaling.begun, *scaling.unsettled):
        member = draft.members.get(name)
        if member is None or member.action is not InstanceAction.KEEP:
            continue
        if name in scaling.begun or not lacks(draft, member):
            entries = draft.rising(member).sequences.making(member.template).install
            _decide(draft, member, entries, classes, _NewHosts(draft, member.template.name), is_plain=False)


class _NewHosts:
    """The hosts to which instances of a node move whose present host is no longer wanted."""

    def __init__(self, draft: Draft, node: str) -> None:
        self._draft = draft
        self._node = draft.service.nodes[node]
        self._after = self._node.host.target if self._node.host is not None else ""
        self._hosts: Hosts | None = None

    def move(self, member: PlannedInstance) -> tuple[str, str] | None:
        """Have an instance move if it has to; returns the node of its host and the node of the new one, None if it
        stays."""
        draft, wanted, after = self._draft, self._node.host, self._after
        host = draft.snapshot.instances.get(member.record.host)
        before = host.node if host else ""
        if before == after:
            return None
        onto = ""
        if wanted is not None:
            if self._hosts is None:
                self._hosts = Hosts(draft, self._node)
            if self._hosts.is_empty:
                draft.diagnostics.error(
                    "no-host",
                    f'{member.id} is to move to "{after}", of which there is no instance',
                    self._node.span,
                    hint=f'raise the number of instances of "{after}"',
                )
                return None
            onto = self._hosts.take("")
        draft.move(member, onto)
        return before, after


def _decide(
    draft: Draft,
    member: PlannedInstance,
    entries: tuple[SequencedOperation, ...],
    classes: Classes,
    hosts: _NewHosts,
    *,
    is_plain: bool,
) -> None:
    record = member.record
    moves = hosts.move(member)
    if not record.created and not record.applied:
        member.action, member.reason = InstanceAction.CONTINUE, "not started yet"
        return
    operational = record.local in OPERATIONAL and record.state != STOPPING
    last, differing, missing, is_bound = _compare(draft, member, entries)
    if operational and moves is None and not (differing or missing or record.failed or record.form) and is_plain:
        return  # Most are as they should be, and nothing is to be asked about them.
    # What comes after the last operation of one that is not ok is yet to come, and nothing new.
    new = missing if operational else tuple(place for place in missing if place < last)
    told = InstanceFindings(differing, new, (), moves, is_bound=is_bound)
    found = _class(draft, member, entries, classes, told)
    member.kind, member.differences = found.kind, found.differences
    member.changed = found.changed
    # What is only recorded in another form does what it did, and is not carried out again.
    alike = found.adopted if found.kind is not ChangeKind.UPDATE else ()
    first = min((place for place, _ in differing if entries[place].key not in alike), default=len(entries))
    action = ACTIONS.get(found.kind)
    if action is not None and not operational:
        action = _of_unfinished(draft, member, entries, action)
    if action is not None:
        member.action, member.reason = action, found.reason
        if action is InstanceAction.RECONFIGURE and found.kind is ChangeKind.RESTART:
            member.kind, member.reason = ChangeKind.RECONFIGURE, f"{found.reason}; what configures it was not completed"
    elif draft.options.force:
        member.action, member.reason = InstanceAction.CONTINUE, FORCED
    elif (not operational or is_lacking(record)) and not _is_left_alone(draft, record, last, entries):
        member.action = InstanceAction.CONTINUE
        place = _place_of(draft, entries, found.kind)
        # One that is up without something optional goes on with what follows that, however often it is tried again.
        is_up = is_lacking(record) and record.state in (STARTED, ERROR)
        overtaken = len(entries) if is_up else _overtaken(record, entries)
        member.done = min(last + 1, first, *missing[:1], place, overtaken)
        after = f", after {entries[member.done - 1].name}" if member.done else ""
        member.reason = f"it is {record.local}: continued{after}"
    else:
        member.reason = found.reason
    if member.action is not InstanceAction.REPLACE and (found.adopted or found.forgotten):
        _adopt(draft, member, entries, found)


def tell_relinked(draft: Draft, source: PlannedInstance, call: int, applied: str) -> None:
    """Note how an operation of a pair differs from the one that was carried out, so that the pair is made again."""
    found = draft.differences.of(call, applied, draft.forms.of(source.record)).differences
    source.differences += tuple(d for d in found if d not in source.differences)
    if source.kind in (ChangeKind.UNCHANGED, ChangeKind.ADOPT):
        source.kind = ChangeKind.RELINK
        name = draft.calls.all[call].name
        source.reason = source.reason or f"{name} was carried out in another form"


def _is_left_alone(draft: Draft, record: Instance, last: int, entries: tuple[SequencedOperation, ...]) -> bool:
    """Whether an instance for which everything was carried out is not to be repaired, whatever its status."""
    return draft.options.changes.skip_heal and not record.failed and last == len(entries) - 1


def _class(
    draft: Draft,
    member: PlannedInstance,
    entries: tuple[SequencedOperation, ...],
    classes: Classes,
    found: InstanceFindings,
) -> Class:
    """The class of an instance; most are in the wanted form, without differences."""
    record, form = member.record, draft.forms.of(member.record)
    compared = classes.compared(member.template, form)
    member.dropped = compared.unlinked if found.is_bound else compared.dropped | compared.unlinked
    failed = record.failed
    update = maintaining(member.template, UPDATE) if failed else None
    if update is not None and (change := failed.get(f"{update.interface}.{UPDATE}")):
        found = found._replace(attempted=job_of(change))
    if compared.gone and not compared.gone.keys().isdisjoint(record.applied):
        found = found._replace(gone=tuple(key for key in compared.gone if key in record.applied))
    nothing = found in (NOTHING_FOUND, ALL_AS_WANTED)
    if nothing and not compared.causes and member.template.name not in draft.options.changes.replaced:
        return UNCHANGED
    return classes.of(member, form, entries, found)


NOTHING_FOUND = InstanceFindings()
ALL_AS_WANTED = InstanceFindings(is_bound=True)


def _of_unfinished(
    draft: Draft, member: PlannedInstance, entries: tuple[SequencedOperation, ...], action: InstanceAction
) -> InstanceAction | None:
    """What becomes of an instance that is not ok and that is to be changed; None if it is enough to continue it."""
    record = member.record
    if action is InstanceAction.UPDATE:
        update = maintaining(member.template, UPDATE)
        # What was to be updated before had been made, though what is new was not carried out yet.
        attempted = update is not None and f"{update.interface}.{UPDATE}" in record.failed
        was_made = attempted or all(entry.key in record.applied or _may_lack(draft, entry) for entry in entries)
        if was_made:
            return action
        action = InstanceAction.RECONFIGURE
        if differs_at_first(draft, member):
            return InstanceAction.REPLACE
    if action is InstanceAction.RESTART and _is_unconfigured(draft, member):
        action = InstanceAction.RECONFIGURE
    if action is InstanceAction.REPLACE or may_run(draft, member):
        return action
    return None


def _is_unconfigured(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an operation that configures an instance has failed or has to be repeated, so that a restart is not
    enough."""
    sequence, record = draft.sequences.making(member.template), member.record
    starts = {entry.key for entry in sequence.start}
    if any(entry.key in record.failed and entry.key not in starts for entry in sequence.configure):
        return True
    place = _overtaken(record, sequence.install)
    return place < len(sequence.install) and sequence.install[place].key not in starts


def _overtaken(record: Instance, entries: tuple[SequencedOperation, ...]) -> int:
    """The place of the first operation that counts as carried out although an earlier one ran after it: a failed one,
    or any one if a job that reconfigured an instance was interrupted before the instance was up again; else the number
    of operations."""
    starts = (e for e in entries if e.stage is not None and e.stage.enter == STARTING)
    is_down = record.state in (CONFIGURING, STARTING) or any(e.key not in record.applied for e in starts)
    latest = ""
    for place, entry in enumerate(entries):
        if entry.stage is None or entry.stage.enter not in (CONFIGURING, STARTING):
            continue
        done = record.applied.get(entry.key)
        if done is not None and done.digest == NO_OP_DIGEST:
            continue  # That nothing was done is recorded by the job, and without an order.
        if done is not None and "" < done.change < latest:
            return place
        of_this = done.change if done is not None and is_down else ""
        latest = max(latest, of_this, record.failed.get(entry.key, ""))
    return len(entries)


def differs_at_first(draft: Draft, member: PlannedInstance) -> bool:
    """Whether what created an instance is wanted in another form."""
    entries = draft.sequences.making(member.template).install
    _, differing, _, _ = _compare(draft, member, entries[:1])
    return bool(differing)


def _place_of(draft: Draft, entries: tuple[SequencedOperation, ...], kind: ChangeKind) -> int:
    """The place of the first operation that a class carries out again."""
    names = {ChangeKind.RECONFIGURE: CONFIGURES, ChangeKind.UPDATE: CONFIGURES, ChangeKind.RESTART: STARTS}.get(kind)
    places = (place for place, e in enumerate(entries) if names and draft.calls.all[e.call].operation in names)
    return next(places, len(entries))


def _adopt(draft: Draft, member: PlannedInstance, entries: tuple[SequencedOperation, ...], found: Class) -> None:
    """Have the record of an instance adopt what is wanted, if no step of the plan does that."""
    record = member.record
    wanted = {entry.key: entry for entry in entries if entry.key in found.adopted}
    own = draft.with_hosts(member)
    adopted = {key: Applied("", "") for key in found.forgotten}
    for key, entry in wanted.items():
        digest = draft.calls.all[draft.calls.for_instance(entry.call, own)].digest
        known = record.applied.get(key)
        if known is None or known.digest != digest:
            adopted[key] = Applied(known.change if known is not None else "", digest)
    member.adopted = adopted


def _compare(
    draft: Draft, member: PlannedInstance, entries: tuple[SequencedOperation, ...]
) -> tuple[int, tuple[tuple[int, str], ...], tuple[int, ...], bool]:
    """The place of the last operation that was carried out (-1 for none); the places of all that were carried out in
    another form than the wanted one, with their digests, and of those that were neither carried out nor have failed;
    and whether one was carried out with the targets that are required now."""
    calls, record = draft.calls, member.record
    applied, failed = record.applied, record.failed
    own = draft.with_hosts(member) if calls.differ_by_slot else ()
    last, is_bound = -1, False
    differing: list[tuple[int, str]] = []
    missing: list[int] = []
    for place, entry in enumerate(entries):
        done = applied.get(entry.key)
        if done is None:
            if entry.key not in failed and not _may_lack(draft, entry):
                missing.append(place)
        elif not _is_kept(draft, entry):
            last = place
            call = calls.for_instance(entry.call, own) if own else entry.call
            if done.digest != calls.all[call].digest:
                differing.append((place, done.digest))
            elif not is_bound and entry.relationship is None and calls.all[call].artifact:
                is_bound = True
    return last, tuple(differing), tuple(missing), is_bound


def _is_kept(draft: Draft, entry: SequencedOperation) -> bool:
    """Whether an operation belongs to a relationship that is kept as it was made, with the files of that time."""
    return entry.relationship is not None and entry.relationship.target in draft.options.orphans.nodes


def is_lacking(record: Instance) -> bool:
    """Whether an instance works without an optional operation that has failed."""
    return record.local == DEGRADED and bool(record.failed)


def _may_lack(draft: Draft, entry: SequencedOperation) -> bool:
    """Whether an instance may run without an operation: what a later source adds at its target, what was left out
    because an optional target was not up, and what is kept as it was made."""
    if entry.relationship is None:
        # A host that is up was reached, though it may have been another way.
        return entry.delegated and entry.stage is None
    optional = draft.service.nodes[entry.relationship.target].settings.is_optional
    return optional or entry.side is Side.TARGET or _is_kept(draft, entry)
