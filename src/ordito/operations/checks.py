"""What a check or a discovery has found out about an instance, and how that changes its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordito.instances.evaluate import Evaluator
from ordito.instances.lifecycle import DELEGATE
from ordito.instances.records import Delta, Instance, Snapshot, StatusReason
from ordito.instances.states import CONFIGURED, CREATED, INITIAL
from ordito.instances.status import ABSENT, ERROR, OPERATIONAL, PENDING, UNKNOWN
from ordito.instances.status import ERROR as BROKEN
from ordito.model.service import Service
from ordito.operations.called import PlanCalls
from ordito.operations.record_changes import NEVER_STARTED, drifted, is_found_other, marked
from ordito.work.invocation import Ending, Outcome
from ordito.work.outputs import WrongValue
from ordito.work.plan import OperationCall, Step
from ordito.work.probes import found_attributes, found_status, state_found

NOT_UP_YET = frozenset((PENDING, state) for state in (INITIAL, CREATED, CONFIGURED))
"""The statuses and states of instances that are not meant to run, yet or any more."""

ANSWERED = frozenset({Ending.SUCCEEDED, Ending.FAILED, Ending.TIMED_OUT})
"""The endings by which a check tells how an instance is."""


class Checks:
    """The ends of the checks of one job. ``away`` has the reason for each host that cannot be reached, ``said`` the
    last message about each instance; ``digest_key`` gives the key for digests of sensitive values."""

    def __init__(
        self,
        service: Service,
        snapshot: Snapshot,
        called: PlanCalls,
        evaluator: Evaluator,
        job: str,
        digest_key: Callable[[], bytes],
    ) -> None:
        self._service = service
        self._snapshot = snapshot
        self._called = called
        self._evaluator = evaluator
        self._job = job
        self._digest_key = digest_key
        self.away: dict[str, str] = {}
        self.said: dict[str, str] = {}

    def found(
        self, step: Step, call: OperationCall, outcome: Outcome, change: str, *, applies: bool
    ) -> tuple[Outcome, Delta]:
        """The change of the record by what was found: the status, the state, and attributes with new values."""
        record, found = self._snapshot.instances[step.instance], found_status(outcome)
        by_provider = call.interface == DELEGATE
        if outcome.ending not in ANSWERED:
            # What still goes on must not take the instance for what it was before.
            unknown = msgspec.structs.replace(record, local=UNKNOWN)
            if by_provider and outcome.ending in NEVER_STARTED:
                unanswered = StatusReason.UNANSWERED
                unknown = msgspec.structs.replace(unknown, status_reason=unanswered, with_host=False)
            return outcome, Delta(instances=(unknown,))
        attributes: Mapping[str, object] = {}
        recorded = self._snapshot.attributes.get(record.id, {})
        if by_provider:
            attributes = {n: v for n, v in outcome.outputs.items() if n not in recorded or recorded[n] != v}
        elif found in OPERATIONAL:
            try:
                attributes = found_attributes(self._evaluator, self._called.place(step, call), outcome)
            except WrongValue as wrong:
                return msgspec.structs.replace(outcome, ending=Ending.FAILED, message=str(wrong)), Delta()
        is_host = by_provider and self._service.nodes[record.node].is_compute
        is_reached = found != BROKEN
        if not is_host and found in (BROKEN, UNKNOWN) and (record.local, record.state) in NOT_UP_YET:
            found = PENDING  # It was stopped, or is not made so far yet, and does not run.
        changed = msgspec.structs.replace(record, local=found, state=state_found(found, record.state))
        changed = _with_reason(changed, is_absent=found == ABSENT)
        # Nobody has changed a host that is away for a while.
        is_away = is_host and found != ABSENT
        is_other = is_found_other(record, changed) and not is_away
        seen = msgspec.structs.replace(changed, local=record.local, state=record.state) if is_away else changed
        # What this very job was at work on is how that has left it: nobody else did it.
        is_own = applies and record.last_config_change > self._job
        drift = {} if is_own else drifted(record, seen, recorded, attributes, self._digest_key).drift
        changed = msgspec.structs.replace(changed, drift=drift, before_failure={})
        if is_host:
            changed = noted(changed, reached=is_reached)
            if not is_reached:
                self.away[record.id] = outcome.message
        # The check that says that this very job has repaired it is part of the job.
        repaired = is_own and found in OPERATIONAL
        changed = marked(changed, change, applies=repaired, modified=is_other or bool(attributes))
        outcome = msgspec.structs.replace(outcome, ending=Ending.SUCCEEDED, status=found, message=_why(outcome))
        self.said[record.id] = outcome.message
        return outcome, Delta(
            instances=() if changed == record else (changed,),
            unlinked=tuple(self._snapshot.links_of(record.id)) if found == ABSENT else (),
            attributes={record.id: attributes} if attributes else {},
        )


def _with_reason(record: Instance, *, is_absent: bool) -> Instance:
    """The record with the reason for the status that was found."""
    if is_absent:
        return msgspec.structs.replace(record, status_reason=StatusReason.FOUND_ABSENT, with_host=False)
    if record.is_missed or record.status_reason is StatusReason.UNANSWERED:
        return msgspec.structs.replace(record, status_reason=StatusReason.NONE, with_host=False)
    return record


def _why(outcome: Outcome) -> str:
    """The message about the end of a check: with an exit code also the last line that was printed, which tells what was
    found."""
    printed = next((line.strip() for line in reversed(outcome.tail) if line.strip()), "")
    is_told = outcome.ending is Ending.FAILED and bool(outcome.message and printed)
    return f"{outcome.message}: {printed}" if is_told else outcome.message


def is_lost(record: Instance) -> bool:
    """Whether an instance was found to be a host that cannot be reached."""
    return record.local == ERROR and record.status_reason is StatusReason.UNREACHABLE


def noted(record: Instance, *, reached: bool) -> Instance:
    """The record of a Compute after it was tried to reach it."""
    if not reached:
        return msgspec.structs.replace(record, status_reason=StatusReason.UNREACHABLE, with_host=False)
    if record.status_reason is not StatusReason.UNREACHABLE:
        return record
    return msgspec.structs.replace(record, status_reason=StatusReason.NONE)
