"""The driver: asyncio around the core, one *turn* of a loop after the other.

A turn takes what the workers have told, tells the core, and begins what the core names. Then all records of the turn
are committed together, then listeners hear of it, and only then processes start: nothing is shown or started that
the journal does not know, and the end of a step and the beginnings it makes possible cost one commit.

The driver is the single writer of the snapshot, the journal and the core.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.engine.control import JobControl
from ordito.engine.core import CancelAsked, Core, Counts, Skip, StepEnded
from ordito.engine.ports import Operations, OutputLog
from ordito.engine.printed import PrintedLines
from ordito.engine.workers import Crash, Doubt, Workers, no_executor
from ordito.instances.records import Delta, Snapshot
from ordito.work.events import (
    Event,
    InstanceState,
    JobFinished,
    JobStarted,
    Listener,
    StepFailed,
    StepLog,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import (
    Delegation,
    Ending,
    Executor,
    Invocation,
    Outcome,
    Printed,
    Progress,
    Provider,
    Started,
)
from ordito.work.plan import Action, Call, Plan, Step
from ordito.work.records import (
    JobClosingRecord,
    JobHeader,
    Journal,
    Record,
    StepFinishedRecord,
    StepProcessRecord,
    StepSkippedRecord,
    StepStartedRecord,
)

LARGEST_TURN = 1_000
"""Records after which a turn is committed, though the core has more to say."""

NO_CALL = Call("", "", "", "")
"""Stands for the call of a step that calls nothing."""


class JobResult(msgspec.Struct, frozen=True):
    """How a job ended.

    ``status`` is ok, failed or cancelled. ``counts`` leave joins out, ``outputs`` are those of the topology.
    ``failed`` holds every failed step with its outcome, those from before an interruption included. ``crashes`` are
    faults of executors and providers, each of them also the failure of a step.
    """

    job: str
    status: str
    counts: Counts
    outputs: dict[str, object]
    seconds: float
    failed: tuple[StepFailed, ...] = ()
    crashes: tuple[Crash, ...] = ()


async def run_job(  # noqa: PLR0913  (this is where all parts of a job meet)
    header: JobHeader,
    plan: Plan,
    operations: Operations,
    snapshot: Snapshot,
    *,
    executors: Sequence[Executor],
    providers: Sequence[Provider],
    journal: Journal,
    clock: Clock,
    change_ids: ChangeIds,
    listeners: Sequence[Listener] = (),
    output_log: OutputLog | None = None,
    control: JobControl | None = None,
    resume: Iterable[Record] | None = None,
) -> JobResult:
    """Carry out a plan: every step at most once, in an order that its edges allow.

    For a new job (``resume`` is None) the journal is opened here, with the plan's new instances. To continue one,
    ``resume`` is what its journal holds, ``header`` and ``plan`` come from there, and ``snapshot`` is as the records
    have left it. Steps in doubt are settled first: what still runs of them is ended, an end that the process itself
    has left is taken as theirs, the others run again with the same id.

    ``change_ids`` are the job's; ``control`` is where cancelling is asked for. The snapshot is changed in place. The
    last record written is that the job is closing; the journal is not closed here, and files are not touched.
    Raises what the journal raises: then the job stays as unfinished as its journal says.
    """
    parts = Parts(header, plan, operations, snapshot, Workers(header.id, executors, providers), journal, clock)
    run = JobRun(parts, change_ids, tuple(listeners), output_log, control or JobControl())
    return await run.run(resume)


class Parts(msgspec.Struct, frozen=True):
    """What a job is made of and runs with."""

    header: JobHeader
    plan: Plan
    operations: Operations
    snapshot: Snapshot
    workers: Workers
    journal: Journal
    clock: Clock


class Running(msgspec.Struct):
    """A started step: its attempt, its changeId, when it began on the clock's steady hand, what it prints."""

    attempt: int
    change: str
    began: float
    lines: PrintedLines


class JobRun:
    """One run of a job, from its begin or resumption to its last step."""

    def __init__(
        self,
        parts: Parts,
        change_ids: ChangeIds,
        listeners: tuple[Listener, ...],
        output_log: OutputLog | None,
        control: JobControl,
    ) -> None:
        self._parts = parts
        self._job = parts.header.id
        self._steps = parts.plan.steps
        self._core = Core(parts.plan, parts.header.options)
        self._workers = parts.workers
        self._journal = parts.journal
        self._change_ids = change_ids
        self._listeners = listeners
        self._log = output_log
        self._control = control
        self._cancels = 0
        self._running: dict[int, Running] = {}
        self._invocations: list[tuple[int, Invocation]] = []
        self._delegations: list[tuple[int, Delegation]] = []
        self._again: list[int] = []
        self._events: list[Event] = []
        self._recorded = 0
        self._failed: list[StepFailed] = []
        self._ended_by_force = False
        self._now = parts.clock.now()

    async def run(self, resume: Iterable[Record] | None) -> JobResult:
        """Run until every step has ended; see ``run_job``."""
        self._control.attach(self._workers.ring)
        try:
            if resume is None:
                self._open()
            else:
                closing = await self._resume(tuple(resume))
                if closing is not None:
                    return self._result(closing)
            await self._loop()
        finally:
            self._control.attach(None)
            await self._workers.stop()
        return self._close()

    # ------------------------------------------------------------------------------------------ begin and end

    def _open(self) -> None:
        header, plan = self._parts.header, self._parts.plan
        delta = Delta(instances=plan.instances)
        self._journal.open(header, plan, delta)
        self._parts.snapshot.apply(delta)
        self._emit_started(resumed=False)

    async def _resume(self, records: tuple[Record, ...]) -> JobClosingRecord | None:
        """Take over the journal's records and settle what is in doubt; gives the last record of a job that is only to
        be closed."""
        in_doubt = self._core.replay(records)
        processes: dict[int, Started] = {}
        closing = None
        for record in records:
            match record:
                case StepStartedRecord():
                    self._running[record.step] = self._begun(record.attempt, record.change)
                    processes.pop(record.step, None)
                case StepProcessRecord():
                    processes[record.step] = record.started
                case StepFinishedRecord():
                    self._running.pop(record.step, None)
                    self._remember_end(record)
                case JobClosingRecord():
                    closing = record
        self._emit_started(resumed=True)
        if closing is None:
            await self._settle(in_doubt, processes)
        return closing

    async def _settle(self, in_doubt: list[int], processes: dict[int, Started]) -> None:
        called = [index for index in in_doubt if self._steps[index].action is Action.CALL]
        ends = await self._workers.settle(
            [Doubt(index, self._steps[index].id, self._call(index), processes.get(index)) for index in called]
        )
        for index, progress in ends:
            self._take(index, progress)
        self._again = [index for index in in_doubt if index in self._running]

    def _close(self) -> JobResult:
        closing = JobClosingRecord(self._parts.clock.now(), self._status(), self._parts.operations.topology_outputs())
        self._record(closing)
        self._commit()
        return self._result(closing)

    def _status(self) -> str:
        if self._core.was_cancelled or self._ended_by_force:
            return "cancelled"
        return "failed" if self._core.counts.failed else "ok"

    def _result(self, closing: JobClosingRecord) -> JobResult:
        counts = self._core.counts
        seconds = max(0.0, closing.at - self._parts.header.began)
        self._emit(
            JobFinished(
                self._job,
                self._parts.plan.workflow,
                closing.status,
                counts.succeeded,
                counts.failed,
                counts.skipped,
                counts.no_op,
                seconds,
                closing.at,
            )
        )
        self._tell()
        return JobResult(
            self._job,
            closing.status,
            counts,
            closing.outputs,
            seconds,
            tuple(self._failed),
            tuple(self._workers.crashes),
        )

    def _emit_started(self, *, resumed: bool) -> None:
        steps = [step for step in self._steps if step.action is not Action.JOIN]
        instances = tuple(dict.fromkeys(step.instance for step in steps if step.instance))
        workflow, done = self._parts.plan.workflow, self._core.counts.ended
        self._emit(JobStarted(self._job, workflow, len(steps), done, instances, resumed, self._now))
        self._tell()

    # --------------------------------------------------------------------------------------------- the turns

    async def _loop(self) -> None:
        more = self._turn([])
        while more or self._running:
            more = self._turn(await self._workers.news(wait=not more))
        if not self._core.is_finished:
            raise RuntimeError(f"job {self._job} cannot go on: its remaining steps wait for each other")

    def _turn(self, news: list[tuple[int, Progress]]) -> bool:
        """One turn; gives whether the next one must not wait for news."""
        self._now = self._parts.clock.now()
        for index, progress in news:
            self._take(index, progress)
        self._heed_cancelling()
        for index in self._again:
            self._start(index, again=True)
        self._again = []
        more = self._follow()
        self._commit()
        self._launch()
        return more

    def _take(self, index: int, progress: Progress) -> None:
        """Something was told about a running step."""
        if isinstance(progress, Outcome):
            self._finish(index, progress)
        elif isinstance(progress, Printed):
            if self._log is not None:
                self._log.write(self._steps[index].id, progress.data)
            self._emit_lines(index, self._running[index].lines.feed(progress.data))
        else:
            self._record(StepProcessRecord(index, progress))

    def _heed_cancelling(self) -> None:
        requests = self._control.requests
        if requests and not self._cancels:
            self._core.react(CancelAsked())
        if requests > 1 and self._cancels < 2:
            self._workers.end_running()
            for index in self._again:
                self._finish(index, Outcome(Ending.CANCELLED, message="cancelled before it ran again"))
            self._again = []
        self._cancels = requests

    def _follow(self) -> bool:
        """Do what the core says, until it has nothing more to say or the turn is large enough."""
        while commands := self._core.wake():
            for command in commands:
                if isinstance(command, Skip):
                    self._skip(command)
                elif command.no_op:
                    self._finish_no_op(command.step)
                else:
                    self._start(command.step)
            if self._recorded >= LARGEST_TURN:
                return True
        return False

    def _commit(self) -> None:
        if self._log is not None:
            self._log.flush()
        if self._recorded:
            self._journal.commit()
            self._recorded = 0
        self._tell()

    def _launch(self) -> None:
        if self._invocations:
            self._workers.run(self._invocations)
            self._invocations = []
        for index, delegation in self._delegations:
            self._workers.delegate(index, self._steps[index].id, delegation)
        self._delegations.clear()

    # --------------------------------------------------------------------------------------------- the steps

    def _start(self, index: int, *, again: bool = False) -> None:
        """Start a step, or start one that was in doubt once more."""
        step = self._steps[index]
        attempt = self._running[index].attempt if again else 1
        if step.action is Action.DELEGATE:
            self._delegations.append((index, self._parts.operations.delegation(step)))
        else:
            prepared = self._parts.operations.prepare(step, attempt)
            for message in prepared.warnings:
                self._emit(StepWarning(self._job, step.id, message, self._now))
            if prepared.invocation is None:
                self._refuse(index, Outcome(Ending.NOT_STARTED, message=prepared.refusal))
                return
            if self._workers.executor_for(prepared.invocation.processor) is None:
                self._refuse(index, no_executor(prepared.invocation.processor))
                return
            self._invocations.append((index, prepared.invocation))
        if again:
            change, delta = self._running[index].change, None
        else:
            change = self._change_ids.next()
            delta = self._apply(self._parts.operations.on_start(step, change))
        self._running[index] = self._begun(attempt, change)
        self._record(StepStartedRecord(index, self._now, attempt, change, delta))
        artifact = self._call(index).artifact
        self._emit(
            StepStarted(
                self._job,
                step.id,
                step.instance,
                self._operation(index),
                step.far,
                attempt,
                no_op=False,
                artifact=artifact,
                host=step.runs_on,
                at=self._now,
            )
        )

    def _refuse(self, index: int, outcome: Outcome) -> None:
        """A step fails before it was started."""
        if index not in self._running:
            self._running[index] = self._begun(1, self._change_ids.next())
            # A record of its start: what is refused is a task of the job as well, and takes a place on its host.
        self._finish(index, outcome)

    def _finish(self, index: int, outcome: Outcome) -> None:
        """A started step has ended."""
        step = self._steps[index]
        running = self._running.pop(index)
        self._emit_lines(index, running.lines.end())
        outcome = self._completed(outcome, running)
        outcome, delta = self._parts.operations.on_end(step, outcome, running.change)
        record = StepFinishedRecord(index, self._now, outcome, running.change, self._apply(delta))
        self._record(record)
        self._core.react(StepEnded(index, outcome.succeeded))
        self._remember_end(record)
        if outcome.succeeded:
            self._emit(
                StepSucceeded(
                    self._job, step.id, step.instance, self._operation(index), outcome, running.change, at=self._now
                )
            )
        else:
            self._emit(self._failed[-1])

    def _finish_no_op(self, index: int) -> None:
        """An operation that does nothing ends as it starts; what it changes is attributed to the job itself."""
        step = self._steps[index]
        operations = self._parts.operations
        first = self._apply(operations.on_start(step, self._job))
        outcome, delta = operations.on_end(step, Outcome(Ending.SUCCEEDED, changed=False), self._job)
        merged = merge(first, self._apply(delta))
        record = StepFinishedRecord(index, self._now, outcome, "", merged, no_op=True)
        self._record(record)
        self._core.react(StepEnded(index, outcome.succeeded))
        self._remember_end(record)
        if outcome.succeeded:
            self._emit(
                StepSucceeded(
                    self._job, step.id, step.instance, self._operation(index), outcome, no_op=True, at=self._now
                )
            )
        else:
            self._emit(self._failed[-1])

    def _skip(self, skip: Skip) -> None:
        step = self._steps[skip.step]
        self._record(StepSkippedRecord(skip.step, self._now, skip.because))
        self._emit(StepSkipped(self._job, step.id, step.instance, self._operation(skip.step), skip.because, self._now))

    def _begun(self, attempt: int, change: str) -> Running:
        return Running(attempt, change, self._parts.clock.monotonic(), PrintedLines())

    def _completed(self, outcome: Outcome, running: Running) -> Outcome:
        """An outcome with what its executor left to the driver: the running time, and the last lines of a failure."""
        seconds = outcome.seconds or max(0.0, self._parts.clock.monotonic() - running.began)
        tail = outcome.tail if outcome.tail or outcome.succeeded else running.lines.tail
        return msgspec.structs.replace(outcome, seconds=seconds, tail=tail)

    def _remember_end(self, record: StepFinishedRecord) -> None:
        if record.outcome.succeeded:
            return
        self._ended_by_force |= record.outcome.ending is Ending.CANCELLED
        step, call = self._steps[record.step], self._call(record.step)
        self._failed.append(
            StepFailed(
                self._job,
                step.id,
                step.instance,
                self._operation(record.step),
                record.outcome,
                record.change,
                call.declared,
                call.artifact,
                record.at,
            )
        )

    # -------------------------------------------------------------------------------- what is written and shown

    def _record(self, record: Record) -> None:
        self._journal.append(record)
        self._recorded += 1

    def _apply(self, delta: Delta) -> Delta | None:
        """Change the snapshot, and announce instances whose state or status is another; None for no change."""
        if delta.is_empty:
            return None
        snapshot = self._parts.snapshot
        for instance in delta.instances:
            before = snapshot.instances.get(instance.id)
            if before is None or (before.state, before.local) != (instance.state, instance.local):
                self._emit(InstanceState(self._job, instance.id, instance.state, instance.local, self._now))
        snapshot.apply(delta)
        return delta

    def _emit(self, event: Event) -> None:
        self._events.append(event)

    def _emit_lines(self, index: int, text: str) -> None:
        if text:
            self._emit(StepLog(self._job, self._steps[index].id, text, self._now))

    def _tell(self) -> None:
        events, self._events = self._events, []
        for event in events:
            for listener in self._listeners:
                listener(event)

    def _call(self, index: int) -> Call:
        call = self._steps[index].call
        return self._parts.plan.calls[call] if call >= 0 else NO_CALL

    def _operation(self, index: int) -> str:
        """``Interface.operation``; for steps that call none, what they do."""
        call = self._call(index)
        return call.name if call is not NO_CALL else operation_name(self._steps[index])


def operation_name(step: Step) -> str:
    """What stands for the operation of a step that calls none: the last part of its id, or what it does."""
    return step.id.rpartition(".")[2] or str(step.action)


def merge(first: Delta | None, second: Delta | None) -> Delta | None:
    """One change that does what two do one after the other."""
    if first is None or second is None:
        return first or second
    instances = {i.id: i for i in (*first.instances, *second.instances)}
    links = {link.id: link for link in (*first.links, *second.links)}
    attributes = {name: dict(values) for name, values in first.attributes.items()}
    outputs = {name: dict(operations) for name, operations in first.outputs.items()}
    for gone in second.unlinked:
        links.pop(gone, None)
        attributes.pop(gone, None)
        outputs.pop(gone, None)
    for name, values in second.attributes.items():
        attributes.setdefault(name, {}).update(values)
    for name, operations in second.outputs.items():
        outputs.setdefault(name, {}).update(operations)
    return Delta(
        instances=tuple(instances.values()),
        links=tuple(links.values()),
        unlinked=tuple(dict.fromkeys((*first.unlinked, *second.unlinked))),
        attributes=attributes,
        outputs=outputs,
    )
