"""What the end of an operation means: what has happened to its instance, and what is remembered of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from ordito.base.sensitive import Sensitive
from ordito.instances.lifecycle import OF_LIFECYCLE, STOPS, TAKES_BACK, takes_back
from ordito.instances.records import STATUS, Applied, Delta, Instance, Link, Snapshot, drift_of
from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTED
from ordito.instances.status import ABSENT, DEGRADED, ERROR, OK, OPERATIONAL, UNKNOWN, Happened, failure
from ordito.model.service import Service
from ordito.operations.news import News
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Action, OperationCall, Step, StepCondition

T = TypeVar("T")

DELEGATE = Action.DELEGATE
UNSTARTED, SUCCEEDED, CHAIN_ENDED = Happened.NEVER_STARTED, Happened.SUCCEEDED, Happened.CHAIN_ENDED

DOUBTFUL = frozenset({UNKNOWN, ERROR, DEGRADED})
"""The statuses in which a failure can leave an instance."""


class Happenings:
    """What happens to instances by the ends of steps."""

    def __init__(self, service: Service, snapshot: Snapshot, news: News) -> None:
        self._service = service
        self._snapshot = snapshot
        self._news = news

    def happened(
        self, step: Step, call: OperationCall, outcome: Outcome, record: Instance, *, applies: bool
    ) -> Happened:
        """What the end of a step means for the local status of the instance whose chain it belongs to."""
        if outcome.ending in NEVER_STARTED:
            return UNSTARTED
        if not outcome.succeeded:
            if step.condition is StepCondition.IF_UNWELL:
                return failure(False, optional=False)  # It is as bad as it was.
            # A link of an instance that is up comes after the end of its chain.
            if step.dispensable and (step.closes or (step.link and record.local in OPERATIONAL)):
                return Happened.CHAIN_LACKS
            return failure(outcome.changed, optional=step.dispensable)
        if step.closes or (record.failed and self._news.tells(call) and [*record.failed] == [call.key]):
            return self.chain_ended(record, step, call)
        if not step.link and call.operation in STOPS and self._stops(step, call, applies=applies):
            return Happened.STOPPED
        return SUCCEEDED

    def chain_ended(self, record: Instance, last: Step, call: OperationCall) -> Happened:
        """How a chain has ended whose ``last`` operation has ended well: what has failed of it, or of its links, was
        optional."""
        failed = [key.rpartition("/")[2] for key in record.failed if key != call.key]
        for name in self._snapshot.links_of(record.id):
            link = self._snapshot.links[name]
            if link.failed and link.source == record.id:
                failed += [key for key in link.failed if key != call.name or name != last.link]
        if not failed:
            return CHAIN_ENDED
        settings = self._service.nodes[record.node].settings
        lacks = any(settings.of(key).is_optional for key in failed)
        return Happened.CHAIN_LACKS if lacks else CHAIN_ENDED

    def is_of_lifecycle(self, step: Step, call: OperationCall) -> bool:
        """Whether an operation that somebody has called does what one of the lifecycle does."""
        return bool(call.artifact) and self.decides_state(step, call)

    def _stops(self, step: Step, call: OperationCall, *, applies: bool) -> bool:
        """Whether an operation that is called ``stop`` is the one that stops its instance."""
        return self.decides_state(step, call) and (applies or bool(call.artifact))

    def decides_state(self, step: Step, call: OperationCall) -> bool:
        """Whether the failure of an operation on an instance makes its state ``error``: of those of its lifecycle."""
        if step.action is DELEGATE or call.side:
            return not self._news.tells(call)
        interface = self._service.nodes[call.owner].interfaces.get(call.interface)
        return interface is None or not OF_LIFECYCLE.isdisjoint(interface.kinds)


def remembered(
    record: Instance | Link, call: OperationCall, outcome: Outcome, change: str
) -> tuple[Mapping[str, Applied], Mapping[str, str]]:
    """What counts as carried out, and as failed, after an operation was at work."""
    key = call.key if isinstance(record, Instance) else call.name
    applied, failed = without(record.applied, key, call), without(record.failed, key, call)
    if not outcome.succeeded:
        failed = {**failed, key: change}
    elif call.digest:
        applied = {**applied, key: Applied(change, call.digest)}
    return applied, failed


def with_failures(
    before: Instance, after: Instance, key: str, happened: Happened, *, succeeded: bool, applies: bool
) -> Instance:
    """The record of an instance ``after`` an operation, which knows what failures beside its lifecycle have left in
    doubt: where every operation that failed has ended well since, it is as it was before the first did."""
    failures = before.before_failure
    if happened is UNSTARTED:
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
    """What is remembered by operation, without one of them and those that are taken back; mostly there is none."""
    if not found or (key not in found and call.operation not in TAKES_BACK):
        return found
    return {k: v for k, v in found.items() if k != key and not takes_back(call.interface, call.operation, k)}


def of_what_is_up(applied: Mapping[str, Applied]) -> Mapping[str, Applied]:
    """What counts as carried out of an instance that is up: nothing that stops it, as one of several operations that do
    may have, though there was nothing to start it by again."""
    if not any(_name(key) in STOPS for key in applied):
        return applied
    return {key: one for key, one in applied.items() if _name(key) not in STOPS}


def _name(key: str) -> str:
    """The name of an operation by what it is remembered by."""
    return key.rpartition(".")[2]


# Which changes an instance names as its last: ``last_config_change`` and ``last_state_change``.
#
# The first is the last change that was applied to it on purpose: an operation of a workflow that applies
# (``effects``) was at work on it, well or not, or wrote its attributes. The second is the last change that was
# noticed of what it is inside: an operation reported that it has modified it, or has succeeded without saying
# anything; an attribute got a new value; somebody who looked found something else than was known.
#
# What was found and was done by no operation is ``drift``: it names what was other, with what that was, until an
# operation of a workflow that applies was at work on the instance, or all is as it was again.

NEVER_STARTED = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})

KNOWN = frozenset({OK, DEGRADED, ERROR, ABSENT})
"""The statuses that say how an instance is: only against them can something else be found."""
LEFT = KNOWN - {ERROR}
"""Those in which a job leaves an instance on purpose: how one is that failed there, nobody knows."""

NO_DRIFT: Mapping[str, str] = {}
NO_VALUE = "none"
DIGEST_LENGTH = 16


def is_modified(outcome: Outcome) -> bool:
    """Whether an operation has modified its instance, as far as is known: without a word, success means yes."""
    return outcome.succeeded if outcome.changed is None else outcome.changed


def marked(record: Instance, change: str, *, applies: bool, modified: bool) -> Instance:
    """The record after a change that was at work on it."""
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
    """The drift of an instance, without its status where that is as it was again."""
    if record.drift.get(STATUS) != _status(record):
        return record.drift
    return {name: was for name, was in record.drift.items() if name != STATUS}


def _status(record: Instance) -> str:
    return f"{record.local} {record.state}"


def touched(record: Instance, outcome: Outcome, change: str, job: str, *, applies: bool) -> Instance:
    """The record with the change as its last, if there was one: what only the job itself did is none."""
    if change == job or outcome.ending in NEVER_STARTED:
        return record
    return marked(record, change, applies=applies, modified=is_modified(outcome))


def marked_by_values(delta: Delta, snapshot: Snapshot, change: str, *, applies: bool) -> Delta:
    """A change that writes attributes, with the marks of every instance that gets another value than it had."""
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


def is_news(before: Instance, found: Instance) -> bool:
    """Whether somebody who looked at an instance has found another one than was known."""
    return before.local in KNOWN and (before.local, before.state) != (found.local, found.state)


def drifted(
    before: Instance, found: Instance, values: Mapping[str, object], new: Mapping[str, object], key: Callable[[], bytes]
) -> Instance:
    """The record of an instance that somebody has looked at, with what is other than it was left. ``values`` are its
    attributes as recorded, ``new`` those that have another value; ``key`` gives the key for digests of sensitive ones.
    """
    drift = dict(before.drift)
    if before.local in LEFT and is_news(before, found):
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
