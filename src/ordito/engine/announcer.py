"""The announcer: hands events of everything that happens to the listeners once the journal has committed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordito.engine.job_events import JobEvents
from ordito.engine.messages import Counts
from ordito.engine.workers import Crash, told
from ordito.instances.records import Delta, Snapshot
from ordito.work.events import Event, InstanceState, Listener, StepFailed, StepLog, StepWarning
from ordito.work.plan import OperationCall, Plan
from ordito.work.records import (
    CancelRecord,
    JobClosingRecord,
    JobHeader,
    RollbackRecord,
    StepFinishedRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)


class Announcer:
    """Collects the events of one job. ``tell`` hands them to every listener, in order."""

    def __init__(self, header: JobHeader, plan: Plan, listeners: Sequence[Listener]) -> None:
        self._job = header.id
        self._made = JobEvents(header, plan)
        self._listeners = list(listeners)
        self._events: list[Event] = []
        self.crashes: list[Crash] = []

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._made.extend(plan)

    def tell(self) -> None:
        """Hand the collected events to the listeners. One that raises is dropped, and its error is kept in
        ``crashes``."""
        events, self._events = self._events, []
        for listener in tuple(self._listeners):
            crash = told(listener, events)
            if crash is not None:
                self._listeners.remove(listener)
                self.crashes.append(crash)

    def call(self, index: int) -> OperationCall:
        """What a step calls; ``NO_CALL`` for nothing."""
        return self._made.call(index)

    def job_started(self, done: int, at: float, *, resumed: bool, rolling_back: bool = False) -> None:
        """The job began, or was resumed after ``done`` steps, perhaps in its rollback."""
        self._events.append(self._made.job_started(done, at, resumed=resumed, rolling_back=rolling_back))

    def rolling_back(self, record: RollbackRecord) -> None:
        """The rollback of the job begins."""
        self._events.append(self._made.rolling_back(record))

    def cancelling(self, record: CancelRecord) -> None:
        """The job is asked to end."""
        self._events.append(self._made.cancelling(record))

    def job_finished(self, closing: JobClosingRecord, counts: Counts) -> None:
        """The job ended."""
        self._events.append(self._made.job_finished(closing, counts))

    def started(self, record: StepStartedRecord, inputs: Mapping[str, object], *, no_op: bool = False) -> None:
        """A step starts. ``inputs`` is empty unless a listener wants them."""
        self._events.append(self._made.started(record, inputs, no_op=no_op))

    def finished(self, record: StepFinishedRecord) -> None:
        """A step succeeded, failed, or was not needed."""
        self._events.append(self._made.finished(record))

    def failure(self, record: StepFinishedRecord) -> StepFailed:
        """The event of a step that has failed."""
        return self._made.failure(record)

    def retrying(self, record: StepRetryRecord) -> None:
        """An attempt failed, and another one follows."""
        self._events.append(self._made.retrying(record))

    def skipped(self, record: StepSkippedRecord) -> None:
        """A step will not run: a step before it failed, or the job was cancelled."""
        self._events.append(self._made.skipped(record))

    def printed(self, index: int, text: str, at: float) -> None:
        """A step printed lines; "" makes no event."""
        if text:
            self._events.append(StepLog(self._job, self._made.steps[index].id, text, at))

    def warned(self, index: int, message: str, at: float) -> None:
        """Something about a step deserves attention."""
        self._events.append(StepWarning(self._job, self._made.steps[index].id, message, at))

    def changing(self, snapshot: Snapshot, delta: Delta, at: float) -> None:
        """A snapshot is about to change: makes an event for each instance whose state or status changes."""
        for instance in delta.instances:
            before = snapshot.instances.get(instance.id)
            if before is None or before.state != instance.state or before.local != instance.local:
                self._events.append(InstanceState(self._job, instance.id, instance.state, instance.local, at))
