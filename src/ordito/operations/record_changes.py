"""How records change: the operations that count as carried out, the status after failures, the last change of an
instance, drift, and what remains of removed instances."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TypeVar

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.hosting import contained
from ordito.instances.lifecycle import LINKS, STOPS, TAKES_BACK, UNDONE_BY_START, UNDONE_BY_STOP, UNLINKS, takes_back
from ordito.instances.records import (
    STATUS,
    Applied,
    Delta,
    Instance,
    Link,
    Snapshot,
    StatusReason,
    drift_of,
    end_id,
)
from ordito.instances.states import DELETED, STARTED
from ordito.instances.states import ERROR as FAILED
from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK, OPERATIONAL, UNKNOWN, StatusEvent, local_after
from ordito.model.service import Service
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import OperationCall, Step
from ordito.work.workflows import workflow_of

T = TypeVar("T")

DOUBTFUL = frozenset({UNKNOWN, ERROR, DEGRADED})
"""The statuses that a failure can cause."""

UNSTARTED = StatusEvent.NEVER_STARTED


def lacks_optional(service: Service, snapshot: Snapshot, record: Instance, last: Step, call: OperationCall) -> bool:
    """Whether an optional operation of an instance, or of one of its links, has failed and was not repeated
    successfully, when the ``last`` operation of its chain has succeeded."""
    failed = [key.rpartition("/")[2] for key in record.failed if key != call.key]
    for name in snapshot.links_of(record.id):
        link = snapshot.links[name]
        if link.failed and link.source == record.id:
            failed += [key for key in link.failed if key != call.name or name != last.link]
    if not failed:
        return False
    settings = service.nodes[record.node].settings
    return any(settings.of(key).is_optional for key in failed)


def remembered(
    record: Instance | Link, call: OperationCall, outcome: Outcome, change: str
) -> tuple[Mapping[str, Applied], Mapping[str, str]]:
    """The operations that count as carried out, and those that count as failed, after one more operation."""
    key = call.key if isinstance(record, Instance) else call.name
    applied, failed = without(record.applied, key, call), without(record.failed, key, call)
    if not outcome.succeeded:
        failed = {**failed, key: change}
    elif call.digest:
        applied = {**applied, key: Applied(change, call.digest)}
    return applied, failed


def with_failures(
    before: Instance, after: Instance, key: str, event: StatusEvent, *, succeeded: bool, applies: bool
) -> Instance:
    """The record of an instance ``after`` an operation, with what failures outside its lifecycle mean for its status:
    when every operation that failed has succeeded since, the status is the one before the first failure."""
    failures = before.before_failure
    if event is UNSTARTED:
        return after
    if after.local not in DOUBTFUL:
        return msgspec.structs.replace(after, before_failure={}) if failures else after
    if succeeded:
        if key not in failures:
            return after
        left = {other: was for other, was in failures.items() if other != key}
        is_settled = not (left or applies) and after.local == before.local
        local = failures[key] if is_settled else after.local
        # A failure of its lifecycle has made its state ``error``, and not every call says which state it leads to.
        was_up = is_settled and local in OPERATIONAL and after.state == FAILED
        state = STARTED if was_up else after.state
        return msgspec.structs.replace(after, state=state, local=local, before_failure=left)
    if not failures and (after.local == before.local or (applies and after.local == DEGRADED)):
        return after
    was = next(iter(failures.values()), before.local)
    return msgspec.structs.replace(after, before_failure={**failures, key: was})


def without(found: Mapping[str, T], key: str, call: OperationCall) -> Mapping[str, T]:
    """A mapping by operation, without one operation and those that it takes back."""
    if not found or (key not in found and call.operation not in TAKES_BACK):
        return found
    return {k: v for k, v in found.items() if k != key and not takes_back(call.interface, call.operation, k)}


def of_what_is_up(applied: Mapping[str, Applied]) -> Mapping[str, Applied]:
    """The operations that count as carried out of an instance that is up, without those that stop it. Such an operation
    may be recorded if the instance has several, and none to start it again."""
    if not any(_name(key) in STOPS for key in applied):
        return applied
    return {key: one for key, one in applied.items() if _name(key) not in STOPS}


def _name(key: str) -> str:
    """The name of an operation by its key in the record."""
    return key.rpartition(".")[2]


# Which changes an instance names as its last: ``last_config_change`` and ``last_state_change``.
#
# The first is the last change that was applied to it on purpose: an operation of a workflow that applies
# (``effects``) was at work on it, well or not, or wrote its attributes. The second is the last change that was
# noticed of what it is inside: an operation reported that it has modified it, or has succeeded without saying
# anything; an attribute got a new value; a check found something else than was known.
#
# What was found and was done by no operation is ``drift``: it names what was other, with what that was, until an
# operation of a workflow that applies was at work on the instance, or all is as it was again.

NEVER_STARTED = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})

KNOWN = frozenset({OK, DEGRADED, ERROR, ABSENT})
"""The statuses that are known facts: only from these can a check find a difference."""
LEFT = KNOWN - {ERROR}
"""The statuses in which a job leaves an instance on purpose; how an instance is after a failure, nobody knows."""

NO_DRIFT: Mapping[str, str] = {}
NO_VALUE = "none"
DIGEST_LENGTH = 16


def is_modified(outcome: Outcome) -> bool:
    """Whether an operation has modified its instance, as far as is known: if it does not say, success means yes."""
    return outcome.succeeded if outcome.changed is None else outcome.changed


def marked(record: Instance, change: str, *, applies: bool, modified: bool) -> Instance:
    """The record of an instance after a change to it."""
    if record.drift:
        record = msgspec.structs.replace(record, drift=NO_DRIFT if applies else _without_what_was(record))
    if not (applies or modified):
        return record
    return msgspec.structs.replace(
        record,
        last_config_change=change if applies else record.last_config_change,
        last_state_change=change if modified else record.last_state_change,
    )


def _without_what_was(record: Instance) -> Mapping[str, str]:
    """The drift of an instance, without its status if that is what it was before."""
    if record.drift.get(STATUS) != _status(record):
        return record.drift
    return {name: was for name, was in record.drift.items() if name != STATUS}


def _status(record: Instance) -> str:
    return f"{record.local} {record.state}"


def touched(record: Instance, outcome: Outcome, change: str, job: str, *, applies: bool) -> Instance:
    """The record with ``change`` as its last change, if the operation changed something; what only the job itself did
    is no change."""
    if change == job or outcome.ending in NEVER_STARTED:
        return record
    return marked(record, change, applies=applies, modified=is_modified(outcome))


def marked_by_values(delta: Delta, snapshot: Snapshot, change: str, *, applies: bool) -> Delta:
    """A delta that writes attributes, with the change also recorded at every instance that gets a new value."""
    changed = [name for name, values in delta.attributes.items() if _are_new(snapshot, name, values)]
    if not changed:
        return delta
    records = {record.id: record for record in delta.instances}
    for name in changed:
        record = records.get(name) or snapshot.instances.get(name)
        if record is not None and record.exists:
            record = marked(record, change, applies=applies, modified=True)
            if record.drift:
                given = set(map(drift_of, delta.attributes[name]))
                drift = {about: was for about, was in record.drift.items() if about not in given}
                record = msgspec.structs.replace(record, drift=drift)
            records[name] = record
    return msgspec.structs.replace(delta, instances=tuple(records.values()))


def _are_new(snapshot: Snapshot, name: str, values: Mapping[str, object]) -> bool:
    recorded = snapshot.attributes.get(name, {})
    return any(key not in recorded or recorded[key] != value for key, value in values.items())


def is_found_other(before: Instance, found: Instance) -> bool:
    """Whether a check has found another status than the known one."""
    return before.local in KNOWN and (before.local, before.state) != (found.local, found.state)


def drifted(
    before: Instance, found: Instance, values: Mapping[str, object], new: Mapping[str, object], key: Callable[[], bytes]
) -> Instance:
    """The record of an instance that was checked, with its drift. ``values`` are its recorded attributes, ``new`` those
    with another value; ``key`` gives the key for digests of sensitive values."""
    drift = dict(before.drift)
    if before.local in LEFT and is_found_other(before, found):
        drift.setdefault(STATUS, _status(before))
    for name, value in new.items():
        about = drift_of(name)
        was = drift.setdefault(about, _digest(values[name], key) if name in values else NO_VALUE)
        if was == _digest(value, key):
            del drift[about]
    changed = msgspec.structs.replace(found, drift=drift)
    return msgspec.structs.replace(changed, drift=_without_what_was(changed)) if drift else changed


def _digest(value: object, key: Callable[[], bytes]) -> str:
    def hidden(found: object) -> object:
        if isinstance(found, Sensitive):
            return ["sensitive", found.digest(key())]
        raise NotImplementedError(f"objects of type {type(found).__name__} have no digest")

    encoded = msgspec.json.encode(value, enc_hook=hidden, order="deterministic")
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]


# What the activities of a workflow change by themselves (§3.6.23).


AVAILABLE = "available"

SAYS: dict[str, StatusEvent] = {
    STARTED: StatusEvent.CHAIN_ENDED,
    AVAILABLE: StatusEvent.CHAIN_ENDED,
    FAILED: StatusEvent.FAILED_MODIFIED,
}
"""The status event of each node state that a workflow may set; other states leave the operational status as it is.
``available`` is no state of the lifecycle, but the specification uses it (§7.3.7)."""


def with_state(record: Instance, state: str) -> Instance:
    """The record of an instance whose state a workflow has set."""
    event = SAYS.get(state)
    local = record.local if event is None else local_after(record.local, event)
    failures = record.before_failure if event is None or event is StatusEvent.FAILED_MODIFIED else {}
    return msgspec.structs.replace(record, state=state, local=local, before_failure=failures)


def link_with_state(snapshot: Snapshot, new: Link, state: str) -> Delta:
    """A link whose state a workflow has set; ``new`` is its record if it has none yet."""
    link = snapshot.links.get(new.id, new)
    return Delta(links=(msgspec.structs.replace(link, state=state),))


# What is to be undone once more after an instance was started, or a pair was linked, again.


def linked_again(operation: str, applied: Mapping[str, Applied]) -> Mapping[str, Applied]:
    """The operations that count as carried out of a pair after one more operation: an operation that links the pair
    cancels those that unlink it, also those of its other side, and even if its ends were not started."""
    return _without(applied, UNLINKS) if operation in LINKS and _is_of(applied, UNLINKS) else applied


def unlinked_by_stop(snapshot: Snapshot, instance: str) -> tuple[Link, ...]:
    """The links of an instance that was stopped: they no longer count as linked, whether or not an operation unlinks
    them, so that they are linked again when it starts."""
    links = (snapshot.links[name] for name in snapshot.links_of(instance))
    return tuple(
        msgspec.structs.replace(link, applied=_without(link.applied, UNDONE_BY_STOP))
        for link in links
        if _is_of(link.applied, UNDONE_BY_STOP)
    )


def to_be_undone_again(snapshot: Snapshot, instance: str, delta: Delta, relationships: Container[str]) -> Delta:
    """The delta of a start, with what the next stop must undo again: the operations that stopped the instance and
    unlinked its pairs no longer count as carried out, even if no operation links the pairs again. A pair whose other
    end is not started stays as it is until that starts, and a pair of a relationship that is not in ``relationships``
    stays for good."""
    records = delta.instances
    if any(_is_of(record.applied, UNDONE_BY_START) for record in records if record.id == instance):
        records = tuple(
            msgspec.structs.replace(record, applied=_without(record.applied, UNDONE_BY_START))
            if record.id == instance
            else record
            for record in records
        )
    changed = {link.id: link for link in delta.links}
    for name in snapshot.links_of(instance):
        link = changed.get(name) or snapshot.links[name]
        other = snapshot.instances[link.target if link.source == instance else link.source]
        if other.state == STARTED and link.relationship in relationships and _is_of(link.applied, UNLINKS):
            changed[name] = msgspec.structs.replace(link, applied=_without(link.applied, UNLINKS))
    if records is delta.instances and not changed:
        return delta
    return msgspec.structs.replace(delta, instances=records, links=tuple(changed.values()))


def _is_of(applied: Mapping[str, Applied], operations: frozenset[str]) -> bool:
    return not operations.isdisjoint([key.rpartition(".")[2] for key in applied])


def _without(applied: Mapping[str, Applied], operations: frozenset[str]) -> Mapping[str, Applied]:
    return {key: one for key, one in applied.items() if key.rpartition(".")[2] not in operations}


# What is left of an instance that was removed: its record, and nothing of its links and of what it still hosted.


class Removal:
    """Removes instances from the records, for one job."""

    def __init__(self, service: Service, snapshot: Snapshot, workflow: str, job: str) -> None:
        self._service = service
        self._snapshot = snapshot
        self._removes_all = workflow_of(workflow).removes
        self._job = job

    def deleted(self, step: Step, change: str, *, applies: bool) -> Delta:
        """What changes when a step has removed an instance. ``applies`` says whether that counts as deployed."""
        reason = StatusReason.NONE
        if self._snapshot.instances[step.instance].created >= self._job:
            reason = StatusReason.ROLLED_BACK
        elif step.effect.replaces:
            reason = StatusReason.REPLACED
        elif applies and not self._removes_all and not step.effect.counts:
            reason = StatusReason.SCALED_IN
        first, *hosted = (self._snapshot.instances[name] for name in contained(self._snapshot, step.instance))
        gone = [self._gone(first, change, reason, applies=applies)]
        gone += [self._gone(record, change, reason, with_host=True, applies=applies) for record in hosted]
        unlinked: dict[str, None] = {}
        for record in gone:
            unlinked.update(dict.fromkeys(self.left_of(record, again=step.effect.replaces)))
        return Delta(instances=tuple(gone), unlinked=tuple(unlinked))

    def left_of(self, record: Instance, *, again: bool) -> Iterable[str]:
        """The records that are removed together with an instance: its links, and its ends of relationships. If the
        instance is replaced, a link stays whose operation failed at a source that remains: it is repaired when they are
        linked again."""
        links = ((name, self._snapshot.links[name]) for name in self._snapshot.links_of(record.id))
        yield from (name for name, link in links if not (again and link.failed and link.source != record.id))
        yield from self._ends(record)

    def _gone(
        self, record: Instance, change: str, reason: StatusReason, *, with_host: bool = False, applies: bool
    ) -> Instance:
        none: dict[str, str] = {}
        gone = msgspec.structs.replace(
            record,
            state=DELETED,
            local=local_after(record.local, StatusEvent.DELETED),
            applied={},
            failed=none,
            status_reason=reason,
            with_host=with_host,
            form="",
        )
        if gone.drift or gone.before_failure:
            gone = msgspec.structs.replace(gone, drift=none, before_failure=none)
        return gone if change == self._job else marked(gone, change, applies=applies, modified=True)

    def _ends(self, record: Instance) -> Iterable[str]:
        """The ids of the records of the instance's ends of relationships."""
        template = self._service.nodes.get(record.node)
        ends = [end_id(r.key, record.id, "source") for r in template.requirements] if template else []
        ends += [end_id(r.key, record.id, "target") for r in self._service.incoming.get(record.node, ())]
        return (e for e in ends if e in self._snapshot.attributes or e in self._snapshot.outputs)
