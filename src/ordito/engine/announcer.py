"""The announcer: makes an event of everything that happens, and hands the events to the listeners once the journal has
committed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from ordito.engine.messages import Counts
from ordito.engine.workers import Crash, told
from ordito.instances.records import Delta, Snapshot
from ordito.work.events import (
    Event,
    InstanceState,
    JobFinished,
    JobRollback,
    JobStarted,
    Listener,
    OfHook,
    StepFailed,
    StepLog,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import Ending
from ordito.work.plan import Action, OperationCall, Plan, Step
from ordito.work.records import (
    JobClosingRecord,
    JobHeader,
    RollbackRecord,
    StepFinishedRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)

JOIN = Action.JOIN

NO_CALL = OperationCall("", "", "", "")
"""The call of a step that calls nothing."""


class Announcer:
    """Collects the events of one job. ``tell`` hands them to every listener, in order."""

    def __init__(self, header: JobHeader, plan: Plan, listeners: Sequence[Listener]) -> None:
        self._header = header
        self._job = header.id
        self._plan = plan
        self._steps = plan.steps
        self._listeners = list(listeners)
        self._events: list[Event] = []
        self.crashes: list[Crash] = []

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan = plan
        self._steps = plan.steps

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
        call = self._steps[index].call
        return self._plan.calls[call] if call >= 0 else NO_CALL

    # --------------------------------------------------------------------------------------------------- the job

    def job_started(self, done: int, at: float, *, resumed: bool, rolling_back: bool = False) -> None:
        """The job began, or was resumed after ``done`` steps, perhaps in its rollback."""
        steps = [step for step in self._steps if step.action is not JOIN]
        instances = tuple(dict.fromkeys(step.instance for step in steps if step.instance))
        self._events.append(
            JobStarted(
                self._job,
                self._plan.workflow,
                len(steps),
                done,
                instances,
                resumed=resumed,
                at=at,
                rolling_back=rolling_back,
            )
        )

    def rolling_back(self, record: RollbackRecord) -> None:
        """The rollback of the job begins."""
        steps = sum(step.action is not JOIN for step in self._steps[record.first :])
        self._events.append(JobRollback(self._job, steps, record.remains, record.at))

    def job_finished(self, closing: JobClosingRecord, counts: Counts) -> None:
        """The job ended."""
        self._events.append(
            JobFinished(
                job=self._job,
                workflow=self._plan.workflow,
                status=closing.status,
                succeeded=counts.succeeded,
                failed=counts.failed,
                skipped=counts.skipped,
                no_op=counts.no_op,
                seconds=max(0.0, closing.at - self._header.began),
                rollback=closing.rollback,
                remains=closing.remains,
                again=closing.again,
                handled=closing.handled,
                at=closing.at,
            )
        )

    # ------------------------------------------------------------------------------------------------- the steps

    def started(self, record: StepStartedRecord, inputs: Mapping[str, object], *, no_op: bool = False) -> None:
        """A step starts. ``inputs`` is empty unless a listener wants them."""
        step, call = self._steps[record.step], self.call(record.step)
        self._events.append(
            StepStarted(
                job=self._job,
                step=step.id,
                instance=step.instance,
                operation=_operation(step, call),
                far=step.far,
                attempt=record.attempt,
                no_op=no_op,
                artifact=call.artifact,
                host=step.runs_on,
                at=record.at,
                inputs=inputs,
                hook=None if step.hook < 0 else self._hook(step),
            )
        )

    def finished(self, record: StepFinishedRecord) -> None:
        """A step succeeded, failed, or was not needed."""
        if record.because:
            self.skipped(StepSkippedRecord(record.step, record.at, record.because), needless=True)
            return
        self._events.append(self._succeeded(record) if record.outcome.succeeded else self.failure(record))

    def failure(self, record: StepFinishedRecord) -> StepFailed:
        """The event of a step that has failed."""
        step, call = self._steps[record.step], self.call(record.step)
        return StepFailed(
            job=self._job,
            step=step.id,
            instance=step.instance,
            operation=_operation(step, call),
            outcome=record.outcome,
            change=record.change,
            declared=call.declared,
            artifact=call.artifact,
            optional=step.flow.optional,
            at=record.at,
            hook=self._hook(step, reason_of(record)),
        )

    def retrying(self, record: StepRetryRecord, attempts: int) -> None:
        """An attempt failed, and another one follows; ``attempts`` is how many there may be in all."""
        step, call = self._steps[record.step], self.call(record.step)
        self._events.append(
            StepRetrying(
                job=self._job,
                step=step.id,
                instance=step.instance,
                operation=_operation(step, call),
                outcome=record.outcome,
                next=record.attempt + 1,
                attempts=attempts,
                seconds=max(0.0, record.due - record.at),
                at=record.at,
            )
        )

    def skipped(self, record: StepSkippedRecord, *, needless: bool = False) -> None:
        """A step will not run: a step before it failed, the job was cancelled, or there is nothing to do."""
        step = self._steps[record.step]
        operation = _operation(step, self.call(record.step))
        because, at = record.because, record.at
        self._events.append(
            StepSkipped(
                self._job, step.id, step.instance, operation, because, at, hook=self._hook(step), needless=needless
            )
        )

    def printed(self, index: int, text: str, at: float) -> None:
        """A step printed lines; "" makes no event."""
        if text:
            self._events.append(StepLog(self._job, self._steps[index].id, text, at))

    def warned(self, index: int, message: str, at: float) -> None:
        """Something about a step deserves attention."""
        self._events.append(StepWarning(self._job, self._steps[index].id, message, at))

    def changing(self, snapshot: Snapshot, delta: Delta, at: float) -> None:
        """A snapshot is about to change: makes an event for each instance whose state or status changes."""
        for instance in delta.instances:
            before = snapshot.instances.get(instance.id)
            if before is None or before.state != instance.state or before.local != instance.local:
                self._events.append(InstanceState(self._job, instance.id, instance.state, instance.local, at))

    def _succeeded(self, record: StepFinishedRecord) -> StepSucceeded:
        step, call = self._steps[record.step], self.call(record.step)
        return StepSucceeded(
            job=self._job,
            step=step.id,
            instance=step.instance,
            operation=_operation(step, call),
            outcome=record.outcome,
            change=record.change,
            no_op=record.no_op,
            at=record.at,
            hook=None if step.hook < 0 else self._hook(step),
        )

    def _hook(self, step: Step, reason: str = "") -> OfHook | None:
        """Which lifecycle step a step is about."""
        if step.hook < 0:
            return None
        plan = self._plan
        hook = plan.undone[step.hook].hook if step.action is Action.UNDO else plan.hooks[step.hook]
        return OfHook(hook.id, hook.block.fqn, hook.phase, hook.component, reason)


def _operation(step: Step, call: OperationCall) -> str:
    """``Interface.operation``; for a step that calls no operation, the last part of its id."""
    return call.name if call is not NO_CALL else step.id.rpartition(".")[2]


# Why a lifecycle step has failed, in one word.


class HookFailure(StrEnum):
    """Why a lifecycle step has failed: its block failed or took too long, its condition could not be evaluated, or it
    could not be run at all."""

    EXIT = "exit"
    TIMEOUT = "timeout"
    CONDITION = "condition"
    ERROR = "error"


ERROR_OF_CONDITION = "error"
"""The key of ``HookResult.condition`` that is there if the condition could not be evaluated."""


def reason_of(record: StepFinishedRecord) -> str:
    """Why a lifecycle step has failed; "" for one that has not, and for any other step."""
    outcome, hook = record.outcome, record.hook
    if hook is None or outcome.succeeded:
        return ""
    if ERROR_OF_CONDITION in hook.condition:
        return HookFailure.CONDITION
    if outcome.ending is Ending.TIMED_OUT:
        return HookFailure.TIMEOUT
    return HookFailure.ERROR if outcome.ending is Ending.NOT_STARTED else HookFailure.EXIT
