"""The events of a job, made from its plan and its records: as they happen, and again from the journal.

What the journal holds says what a job has done, so that its events can be told at any time: ``RecordedEvents`` gives
the events of one record after the other, always the same ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from ordito.engine.attempts import attempts_of
from ordito.engine.messages import Counts
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.work.events import (
    Event,
    InstanceState,
    JobCancelling,
    JobFinished,
    JobRollback,
    JobStarted,
    OfHook,
    StepFailed,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import Ending
from ordito.work.plan import Action, OperationCall, Plan, Step
from ordito.work.records import (
    CancelRecord,
    JobClosingRecord,
    JobHeader,
    Record,
    RollbackRecord,
    StepFinishedRecord,
    StepProcessRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)

JOIN = Action.JOIN

NO_CALL = OperationCall("", "", "", "")
"""The call of a step that calls nothing."""


class JobEvents:
    """Makes the events of one job. ``steps`` are those of its plan."""

    def __init__(self, header: JobHeader, plan: Plan) -> None:
        self._header = header
        self._job = header.id
        self._plan = plan
        self.steps = plan.steps

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._plan = plan
        self.steps = plan.steps

    def call(self, index: int) -> OperationCall:
        """What a step calls; ``NO_CALL`` for nothing."""
        call = self.steps[index].call
        return self._plan.calls[call] if call >= 0 else NO_CALL

    # --------------------------------------------------------------------------------------------------- the job

    def job_started(
        self, done: int, at: float, *, resumed: bool, rolling_back: bool = False, steps: int | None = None
    ) -> JobStarted:
        """The job began, or was resumed after ``done`` steps, perhaps in its rollback. ``steps`` is how many of the
        plan's steps it had then, None for all."""
        there = [step for step in self.steps[:steps] if step.action is not JOIN]
        instances = tuple(dict.fromkeys(step.instance for step in there if step.instance))
        return JobStarted(
            self._job,
            self._plan.workflow,
            len(there),
            done,
            instances,
            resumed=resumed,
            at=at,
            rolling_back=rolling_back,
        )

    def rolling_back(self, record: RollbackRecord) -> JobRollback:
        """The rollback of the job begins."""
        steps = sum(step.action is not JOIN for step in self.steps[record.first :])
        return JobRollback(self._job, steps, record.remains, record.at)

    def cancelling(self, record: CancelRecord) -> JobCancelling:
        """The job is asked to end."""
        return JobCancelling(self._job, record.by, record.now, record.because, record.at)

    def job_finished(self, closing: JobClosingRecord, counts: Counts) -> JobFinished:
        """The job ended."""
        return JobFinished(
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

    # ------------------------------------------------------------------------------------------------- the steps

    def started(self, record: StepStartedRecord, inputs: Mapping[str, object], *, no_op: bool = False) -> StepStarted:
        """A step starts with these inputs."""
        step, call = self.steps[record.step], self.call(record.step)
        return StepStarted(
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

    def finished(self, record: StepFinishedRecord) -> StepSucceeded | StepFailed | StepSkipped:
        """A step succeeded, failed, or was not needed."""
        if record.because:
            return self.skipped(StepSkippedRecord(record.step, record.at, record.because), needless=True)
        return self._succeeded(record) if record.outcome.succeeded else self.failure(record)

    def failure(self, record: StepFinishedRecord) -> StepFailed:
        """A step has failed."""
        step, call = self.steps[record.step], self.call(record.step)
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

    def retrying(self, record: StepRetryRecord) -> StepRetrying:
        """An attempt failed, and another one follows."""
        step, call = self.steps[record.step], self.call(record.step)
        return StepRetrying(
            job=self._job,
            step=step.id,
            instance=step.instance,
            operation=_operation(step, call),
            outcome=record.outcome,
            next=record.attempt + 1,
            attempts=attempts_of(call, self._header.options, record.outcome),
            seconds=max(0.0, record.due - record.at),
            at=record.at,
        )

    def skipped(self, record: StepSkippedRecord, *, needless: bool = False) -> StepSkipped:
        """A step will not run: a step before it failed, the job was cancelled, or there is nothing to do."""
        step = self.steps[record.step]
        operation = _operation(step, self.call(record.step))
        because, at = record.because, record.at
        return StepSkipped(
            self._job, step.id, step.instance, operation, because, at, hook=self._hook(step), needless=needless
        )

    def warnings(self, record: StepStartedRecord) -> list[StepWarning]:
        """What deserves attention about a step that starts."""
        return [StepWarning(self._job, self.steps[record.step].id, said, record.at) for said in record.warnings]

    def _succeeded(self, record: StepFinishedRecord) -> StepSucceeded:
        step, call = self.steps[record.step], self.call(record.step)
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


# What the records of a job tell, one after the other.

Known = tuple[str, str]
"""The node state and the local status of an instance."""


class RecordedEvents:
    """The events that the records of one job tell. ``states`` says how its instances were when it began, and how they
    are after the records that it was given."""

    def __init__(self, header: JobHeader, plan: Plan, states: dict[str, Known]) -> None:
        self._header = header
        self._made = JobEvents(header, plan)
        self._states = states
        self._succeeded = self._failed = self._skipped = self._no_op = 0

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""
        self._made.extend(plan)

    def begin(self, steps: int | None = None) -> Event:
        """The job has begun, with the first ``steps`` of its plan, None for all."""
        return self._made.job_started(0, self._header.began, resumed=False, steps=steps)

    def resume(self, at: float, *, rolling_back: bool) -> Event:
        """The job goes on after the records that were given."""
        return self._made.job_started(self._ended().ended, at, resumed=True, rolling_back=rolling_back)

    def of(self, record: Record) -> list[Event]:
        """The events of the next record: first what deserves attention, then what it changes, then what happened."""
        if isinstance(record, StepProcessRecord):
            return []
        found: list[Event] = []
        if isinstance(record, StepStartedRecord):
            found.extend(self._made.warnings(record))
        delta = getattr(record, "delta", None)
        if delta is not None:
            found.extend(self._changed(delta, record.at))
        match record:
            case StepStartedRecord():
                found.append(self._made.started(record, record.inputs))
            case StepFinishedRecord():
                self._count(record)
                found.append(self._made.finished(record))
            case StepRetryRecord():
                found.append(self._made.retrying(record))
            case StepSkippedRecord():
                self._skipped += 1
                found.append(self._made.skipped(record))
            case RollbackRecord() | CancelRecord() | JobClosingRecord():
                found.append(self._of_job(record))
        return found

    def _of_job(self, record: RollbackRecord | CancelRecord | JobClosingRecord) -> Event:
        """What a record tells of the job as a whole."""
        match record:
            case RollbackRecord():
                return self._made.rolling_back(record)
            case CancelRecord():
                return self._made.cancelling(record)
            case JobClosingRecord():
                return self._made.job_finished(record, self._ended())

    def _changed(self, delta: Delta, at: float) -> Iterator[Event]:
        for instance in delta.instances:
            now = known(instance)
            if self._states.get(instance.id) != now:
                self._states[instance.id] = now
                yield InstanceState(self._header.id, instance.id, instance.state, instance.local, at)

    def _count(self, record: StepFinishedRecord) -> None:
        if record.outcome.succeeded:
            self._succeeded += 1
            self._no_op += record.no_op
        else:
            self._failed += 1

    def _ended(self) -> Counts:
        return Counts(self._succeeded, self._failed, self._skipped, self._no_op)


_ALIKE: dict[Known, Known] = {}


def known(instance: Instance) -> Known:
    """The node state and the local status of an instance; there are few different ones, and each is kept once."""
    found = instance.state, instance.local
    return _ALIKE.setdefault(found, found)


def known_states(snapshot: Snapshot) -> dict[str, Known]:
    """Those of all instances."""
    return {name: known(instance) for name, instance in snapshot.instances.items()}


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
