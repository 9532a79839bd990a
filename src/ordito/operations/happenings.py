"""What the end of an operation means: what has happened to its instance, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from ordito.instances.lifecycle import OF_LIFECYCLE, STOPS, TAKES_BACK, takes_back
from ordito.instances.records import Applied, Instance, Link, Snapshot
from ordito.instances.states import ERROR as FAILED
from ordito.instances.states import STARTED
from ordito.instances.status import DEGRADED, ERROR, OPERATIONAL, UNKNOWN, Happened, failure
from ordito.model.service import Service
from ordito.operations.change_marks import NEVER_STARTED
from ordito.operations.news import News
from ordito.work.invocation import Outcome
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
