"""The announcer: puts what happens into events, and hands them to the listeners once the journal knows it too."""

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
"""Stands for the call of a step that calls nothing."""


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
        """The plan goes on: this is the whole of it."""
        self._plan = plan
        self._steps = plan.steps

    def tell(self) -> None:
        """Hand over what was collected. A listener that fails is told no more; what is known of that is kept."""
        events, self._events = self._events, []
        for listener in tuple(self._listeners):
            crash = told(listener, events)
            if crash is not None:
                self._listeners.remove(listener)
                self.crashes.append(crash)

    def call(self, index: int) -> OperationCall:
        """What a step calls."""
        call = self._steps[index].call
        return self._plan.calls[call] if call >= 0 else NO_CALL

    # --------------------------------------------------------------------------------------------------- the job

    def job_started(self, done: int, at: float, *, resumed: bool, rolling_back: bool = False) -> None:
        """The job began, or was resumed after so many steps, maybe while what it did was taken back."""
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
        """What the job did is taken back from here on."""
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
        """A step starts, with these inputs as far as somebody wants to hear of them."""
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
        """A step ended, well or not, or was not needed."""
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
            optional=step.optional,
            at=record.at,
            hook=self._hook(step, reason_of(record)),
        )

    def retrying(self, record: StepRetryRecord, attempts: int) -> None:
        """An attempt failed, and another of so many in all is to follow."""
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
        """A step will not run, for want of another one or because there is nothing to do."""
        step = self._steps[record.step]
        operation = _operation(step, self.call(record.step))
        because, at = record.because, record.at
        self._events.append(
            StepSkipped(
                self._job, step.id, step.instance, operation, because, at, hook=self._hook(step), needless=needless
            )
        )

    def printed(self, index: int, text: str, at: float) -> None:
        """A step printed lines; no event for none."""
        if text:
            self._events.append(StepLog(self._job, self._steps[index].id, text, at))

    def warned(self, index: int, message: str, at: float) -> None:
        """Something about a step deserves attention."""
        self._events.append(StepWarning(self._job, self._steps[index].id, message, at))

    def changing(self, snapshot: Snapshot, delta: Delta, at: float) -> None:
        """A snapshot is about to change: instances whose state or status will be another."""
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
    """``Interface.operation``; for a step that calls none the last part of its id."""
    return call.name if call is not NO_CALL else step.id.rpartition(".")[2]


# Why a lifecycle step has failed, in one word.


class HookFailure(StrEnum):
    """Why a lifecycle step has failed: the block said so by its end, took too long, its condition had no answer, or it
    could not be carried out at all."""

    EXIT = "exit"
    TIMEOUT = "timeout"
    CONDITION = "condition"
    ERROR = "error"


ERROR_OF_CONDITION = "error"
"""The key of ``HookResult.condition`` that is there where a condition has no answer."""


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
