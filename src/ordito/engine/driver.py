"""The driver: asyncio around the core, one *turn* of a loop after the other.

A turn takes what the workers have told, tells the core, and begins what the core names. Then all records of the turn
are committed together, then listeners hear of it, and only then processes start: nothing is shown or started that
the journal does not know, and the end of a step and the beginnings it makes possible cost one commit. That a
process runs is written down with what comes next.

The driver is the single writer of the snapshot, the journal and the core.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.engine.alarms import Alarms
from ordito.engine.announcer import Announcer
from ordito.engine.control import JobControl
from ordito.engine.core import (
    CANCELLED,
    AttemptFailed,
    CancelAsked,
    Core,
    Counts,
    GiveUp,
    PauseOver,
    Skip,
    StepEnded,
    StepState,
)
from ordito.engine.merging import merge
from ordito.engine.ports import Operations, OutputLog, PlansWayBack
from ordito.engine.printed import PrintedLines
from ordito.engine.retries import attempts_of, pause_after, together
from ordito.engine.workers import Crash, Doubt, Workers, no_executor, no_provider
from ordito.instances.records import Delta, Snapshot
from ordito.work.doubts import answer
from ordito.work.events import Listener, StepFailed
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
from ordito.work.plan import Action, Call, Plan
from ordito.work.records import (
    NOT_ROLLED_BACK,
    ROLLED_BACK,
    JobClosingRecord,
    JobHeader,
    Journal,
    Record,
    RollbackRecord,
    StepFinishedRecord,
    StepProcessRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)
from ordito.work.rollback import with_rollback, without_rollback

IN_DOUBT = "in doubt: it was at work when the job was interrupted, and nobody saw how it ended"
"""What is said of a step that was at work when the job was interrupted, and is not run again."""

MOST_NAMED = 5
"""Steps that are named where there may be many."""

LARGEST_TURN = 1_000
"""Records after which a turn is committed, though the core has more to say."""

LONGEST_HELD = 0.05
"""Seconds for which the record of a process may wait for others to be committed with. Until then a crash leaves a step
that was started without one, and its process is found all the same: only more slowly."""


class JobResult(msgspec.Struct, frozen=True):
    """How a job ended.

    ``status`` is ok, degraded, failed or cancelled; ``rollback`` is "complete" or "incomplete" where what it did was
    taken back, and ``remains`` what was not. ``counts`` leave joins out, ``outputs`` are those of the topology.
    ``failed`` holds every failed step with its outcome, those from before an interruption included. ``crashes`` are
    faults of executors and providers, each of them also the failure of a step, or of listeners.
    """

    job: str
    status: str
    counts: Counts
    outputs: dict[str, object]
    seconds: float
    failed: tuple[StepFailed, ...] = ()
    crashes: tuple[Crash, ...] = ()
    rollback: str = ""
    remains: tuple[str, ...] = ()


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
    way_back: PlansWayBack | None = None,
) -> JobResult:
    """Carry out a plan: every step at most once, in an order that its edges allow.

    For a new job (``resume`` is None) the journal is opened here, with the plan's new instances. To continue one,
    ``resume`` is what its journal holds, ``header`` and ``plan`` come from there, and ``snapshot`` is as the records
    have left it. Steps in doubt are settled first: what still runs of them is ended, an end that the process itself
    has left is taken as theirs, the others run again with the same id. A step that waited for another attempt waits
    for the rest of its time.

    ``way_back`` plans the rollback of a job whose options ask for one; its steps are further steps of the plan.
    ``change_ids`` are the job's, enough for these too; ``control`` is where cancelling is asked for. The snapshot is
    changed in place. The last record written is that the job is closing; the journal is not closed here, and files
    are not touched. Raises what the journal raises: then the job stays as unfinished as its journal says, and what
    runs is ended.
    """
    parts = Parts(
        header=header,
        plan=plan,
        operations=operations,
        snapshot=snapshot,
        workers=Workers(header.id, executors, providers),
        journal=journal,
        clock=clock,
        change_ids=change_ids,
        announcer=Announcer(header, plan, listeners),
        output_log=output_log,
        control=control or JobControl(),
        way_back=way_back,
    )
    return await JobRun(parts).run(resume)


class Parts(msgspec.Struct, frozen=True):
    """What a job is made of and runs with."""

    header: JobHeader
    plan: Plan
    operations: Operations
    snapshot: Snapshot
    workers: Workers
    journal: Journal
    clock: Clock
    change_ids: ChangeIds
    announcer: Announcer
    output_log: OutputLog | None
    control: JobControl
    way_back: PlansWayBack | None


class Running(msgspec.Struct):
    """A started step: its attempt, its changeId, when it began on the clock's steady hand, what it prints, and what the
    attempts before came to."""

    attempt: int
    change: str
    began: float
    lines: PrintedLines
    earlier: Outcome | None = None


class JobRun:
    """One run of a job, from its begin or resumption to its last step."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._operations = parts.operations
        self._masking = parts.operations.masking
        self._workers = parts.workers
        self._announcer = parts.announcer
        self._job = parts.header.id
        self._plan = parts.plan
        self._steps = parts.plan.steps
        self._core = Core(parts.plan, parts.header.options)
        self._back: RollbackRecord | None = None
        self._ended_before = Counts()
        self._running: dict[int, Running] = {}
        self._waiting: dict[int, StepRetryRecord] = {}
        self._alarms = Alarms(parts.workers.ring)
        self._again: list[int] = []
        self._invocations: list[tuple[int, Invocation]] = []
        self._delegations: list[tuple[int, Delegation]] = []
        self._recorded = 0
        self._held: asyncio.TimerHandle | None = None
        self._is_held_long = False
        self._failed: list[StepFailed] = []
        self._warned = False
        self._cancels = 0
        self._was_ended = False
        self._now = parts.clock.now()

    async def run(self, resume: Iterable[Record] | None) -> JobResult:
        """Run until every step has ended; see ``run_job``."""
        self._parts.control.attach(self._workers.ring)
        try:
            closing = await self._begin(resume)
            if closing is None:
                await self._loop()
                if self._turn_back():
                    await self._loop()
        finally:
            self._parts.control.attach(None)
            self._alarms.stop()
            self._let_go()
            await self._workers.stop()
        return self._result(closing or self._close())

    # ----------------------------------------------------------------------------------------------- begin and end

    async def _begin(self, resume: Iterable[Record] | None) -> JobClosingRecord | None:
        """Open the journal, or take over what it holds; gives the last record of a job that is only to be closed."""
        if resume is not None:
            return await self._resume(tuple(resume))
        delta = Delta(instances=self._parts.plan.instances)
        self._parts.journal.open(self._parts.header, self._parts.plan, delta)
        self._parts.snapshot.apply(delta)
        self._announcer.job_started(0, self._now, resumed=False)
        self._announcer.tell()
        return None

    def _turn_back(self) -> bool:
        """Begin to take back what the job did, if it has failed and that was asked for."""
        counts, asked = self._core.counts, self._parts.header.options.on_failure == "rollback"
        was_cancelled = self._core.was_cancelled or self._was_ended or self._parts.control.requests
        plans = self._parts.way_back if asked and self._back is None and not was_cancelled else None
        if plans is None or not counts.lacks:
            return False
        way = plans()
        record = RollbackRecord(
            self._parts.clock.now(), len(self._plan.steps), len(self._plan.edges), way.remains, way.gone
        )
        self._append(with_rollback(self._plan, way.plan), record)
        self._parts.journal.extend(self._plan, record)
        self._recorded += 1
        self._announcer.rolling_back(record)
        self._commit()
        return True

    def _append(self, plan: Plan, record: RollbackRecord) -> None:
        """The plan goes on with the steps that take it back."""
        self._plan, self._steps, self._back = plan, plan.steps, record
        self._operations.extend(plan)
        self._announcer.extend(plan)
        self._ended_before = self._core.counts
        self._core = Core(plan, self._parts.header.options, self._core.ends)

    def _replay(self, records: tuple[Record, ...]) -> list[int]:
        """Tell the core what the journal holds; gives the steps in doubt."""
        place = next((n for n, record in enumerate(records) if isinstance(record, RollbackRecord)), None)
        if place is None:
            return self._core.replay(records)
        record = records[place]
        assert isinstance(record, RollbackRecord)
        self._core = Core(without_rollback(self._plan, record), self._parts.header.options)
        self._core.replay(records[:place])
        self._append(self._plan, record)
        return self._core.replay(records[place + 1 :])

    async def _resume(self, records: tuple[Record, ...]) -> JobClosingRecord | None:
        in_doubt = self._replay(records)
        processes: dict[int, Started] = {}
        for record in records:
            match record:
                case StepStartedRecord():
                    self._warned |= bool(record.warnings)
                    earlier = self._earlier(record.step)
                    self._running[record.step] = self._begun(record.attempt, record.change, earlier)
                    processes.pop(record.step, None)
                case StepRetryRecord():
                    self._running.pop(record.step, None)
                    self._waiting[record.step] = record
                case StepProcessRecord():
                    processes[record.step] = record.started
                case StepFinishedRecord():
                    self._running.pop(record.step, None)
                    self._waiting.pop(record.step, None)
                    self._remember_failure(record)
        self._announcer.job_started(self._core.counts.ended, self._now, resumed=True)
        self._announcer.tell()
        if records and isinstance(records[-1], JobClosingRecord):
            return records[-1]
        await self._settle(in_doubt, processes)
        for index, record in self._waiting.items():
            # Never longer than it was to wait, though the clock may have been put back.
            self._alarms.set(index, min(record.due - self._parts.clock.now(), record.due - record.at))
        return None

    def _earlier(self, index: int) -> Outcome | None:
        """What the attempts of a step that starts now have come to: those before its pause, or, of one that starts
        again after a crash, those before the crash."""
        if waiting := self._waiting.pop(index, None):
            return waiting.outcome
        running = self._running.get(index)
        return running.earlier if running else None

    async def _settle(self, in_doubt: list[int], processes: dict[int, Started]) -> None:
        """Find out about steps in doubt; those whose end nobody knows are to run again."""
        doubts = [
            Doubt(
                index,
                self._steps[index].id,
                self._running[index].attempt,
                self._announcer.call(index),
                processes.get(index),
            )
            for index in in_doubt
            if self._steps[index].action is Action.CALL
        ]
        for index, progress in await self._workers.settle(doubts):
            self._take(index, progress)
        await self._ask([doubt for doubt in doubts if doubt.index in self._running])
        self._again = [index for index in in_doubt if index in self._running]

    async def _ask(self, doubts: list[Doubt]) -> None:
        """Ask the checks of instances whether what was at work on them is done; what was is not run again."""
        questions: dict[int, Invocation] = {}
        for doubt in doubts:
            question = self._operations.question(self._steps[doubt.index], self._workers.accepts)
            if question is not None and not self._parts.control.requests:
                questions[doubt.index] = question
                self._announcer.warned(doubt.index, "in doubt: its check is asked whether it was done", self._now)
        self._announcer.tell()
        # What was asked before may still be at work, if the program died meanwhile.
        asked = [
            Doubt(index, q.step, q.attempt, Call("", "", "", "", processor=q.processor), None)
            for index, q in questions.items()
        ]
        await self._workers.settle(asked)
        for index, found in (await self._answers(questions)).items():
            ended = answer(self._steps[index], self._announcer.call(index), found)
            if ended is not None:
                self._finish(index, ended)

    async def _answers(self, questions: dict[int, Invocation]) -> dict[int, Outcome]:
        answers: dict[int, Outcome] = {}
        self._workers.run(list(questions.items()))
        while len(answers) < len(questions):
            for index, progress in await self._workers.news(wait=True):
                source = questions[index].step
                if isinstance(progress, Outcome):
                    answers[index] = self._operations.without_secrets(self._steps[index], progress)
                    self._keep(source, self._masking.end(source))
                elif isinstance(progress, Printed):
                    is_masked = self._masking.is_active
                    self._keep(source, self._masking.feed(source, progress.data) if is_masked else progress.data)
            if self._parts.control.requests:
                self._workers.end_running()
        return answers

    def _close(self) -> JobClosingRecord:
        rollback, remains = self._what_remains()
        closing = JobClosingRecord(
            self._parts.clock.now(), self._status(), self._operations.topology_outputs(), rollback, remains
        )
        self._record(closing)
        self._commit()
        return closing

    def _what_remains(self) -> tuple[str, tuple[str, ...]]:
        """How the rollback ended, where there was one, and what it has not taken back."""
        if self._back is None:
            return "", ()
        first, counts, before = self._back.first, self._core.counts, self._ended_before
        ids = {step.id for step in self._steps[first:]}
        failed = [f"{f.step}: {f.outcome.message or f.outcome.ending}" for f in self._failed if f.step in ids]
        left_out = counts.skipped - before.skipped
        not_run = (f"{left_out} steps of the rollback did not run",) if left_out else ()
        instances = self._parts.snapshot.instances
        exist = [f"{name} still exists" for name in self._back.gone if instances[name].exists]
        remains = (*self._back.remains, *failed, *not_run, *exist)
        return NOT_ROLLED_BACK if remains else ROLLED_BACK, remains

    def _status(self) -> str:
        if self._core.was_cancelled or self._was_ended:
            return "cancelled"
        counts = self._core.counts
        if counts.lacks:
            return "failed"
        return "degraded" if counts.failed or counts.skipped or self._warned else "ok"

    def _result(self, closing: JobClosingRecord) -> JobResult:
        counts = self._core.counts
        self._announcer.job_finished(closing, counts)
        self._announcer.tell()
        return JobResult(
            job=self._job,
            status=closing.status,
            counts=counts,
            outputs=closing.outputs,
            seconds=max(0.0, closing.at - self._parts.header.began),
            failed=tuple(self._failed),
            rollback=closing.rollback,
            remains=closing.remains,
            crashes=(*self._workers.crashes, *self._announcer.crashes),
        )

    # --------------------------------------------------------------------------------------------------- the turns

    async def _loop(self) -> None:
        more = self._turn([])
        while more or self._running or self._waiting:
            more = self._turn(await self._workers.news(wait=not more))
        if not self._core.is_finished:
            raise RuntimeError(f"job {self._job} cannot go on: its remaining steps wait for each other")

    def _turn(self, news: list[tuple[int, Progress]]) -> bool:
        """One turn; gives whether the next one must not wait for news."""
        self._now = self._parts.clock.now()
        for index, progress in news:
            self._take(index, progress)
        for index in self._alarms.take():
            self._core.react(PauseOver(index))
        self._heed_cancelling()
        for index in self._again:
            self._start_again(index)
        self._again = []
        more = self._follow()
        self._commit()
        self._launch()
        return more

    def _take(self, index: int, progress: Progress) -> None:
        """Something was told about a running step."""
        if isinstance(progress, Outcome):
            outcome = self._operations.without_secrets(self._steps[index], progress)
            if self._masking.is_active:
                self._printed(index, self._masking.end(index))
            self._finish(index, outcome)
        elif isinstance(progress, Printed):
            self._printed(index, self._masking.feed(index, progress.data) if self._masking.is_active else progress.data)
        else:
            self._parts.journal.append(StepProcessRecord(index, progress))
            self._hold()

    def _printed(self, index: int, data: bytes) -> None:
        """A step has printed something that may be shown."""
        if data:
            self._keep(self._steps[index].id, data)
            self._announcer.printed(index, self._running[index].lines.feed(data), self._now)

    def _keep(self, step: str, data: bytes) -> None:
        if data and self._parts.output_log is not None:
            self._parts.output_log.write(step, data)

    def _heed_cancelling(self) -> None:
        """The first request lets nothing new start, the second ends what runs, and what was in doubt stays so."""
        requests = self._parts.control.requests
        if requests and not self._cancels:
            self._core.react(CancelAsked())
        if requests > 1 and self._cancels < 2:
            self._workers.end_running()
            for index in self._again:
                self._finish(index, Outcome(Ending.CANCELLED, message=IN_DOUBT))
            self._again = []
        self._cancels = requests

    def _follow(self) -> bool:
        """Do what the core says until it has nothing more to say; gives True where the turn got too large for that."""
        while commands := self._core.wake():
            for command in commands:
                if isinstance(command, Skip):
                    self._skip(command)
                elif isinstance(command, GiveUp):
                    self._give_up(command)
                elif because := self._needless(command.step):
                    self._leave_out(command.step, because)
                elif command.no_op:
                    self._finish_no_op(command.step)
                else:
                    self._start(command.step)
            if self._recorded >= LARGEST_TURN:
                return True
        return False

    def _commit(self) -> None:
        if self._parts.output_log is not None:
            self._parts.output_log.flush()
        if self._recorded or self._is_held_long:
            self._parts.journal.commit()
            self._recorded = 0
            self._let_go()
        self._announcer.tell()

    def _hold(self) -> None:
        """Have a record committed with those of the next turn that has any, or soon: one that nothing waits for."""
        if self._held is None:
            self._held = asyncio.get_running_loop().call_later(LONGEST_HELD, self._held_long)

    def _held_long(self) -> None:
        self._is_held_long = True
        self._workers.ring()

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.cancel()
        self._held, self._is_held_long = None, False

    def _launch(self) -> None:
        invocations, self._invocations = self._invocations, []
        delegations, self._delegations = self._delegations, []
        self._workers.run(invocations)
        for index, delegation in delegations:
            self._workers.delegate(index, self._steps[index].id, delegation)

    # --------------------------------------------------------------------------------------------------- the steps

    def _start(self, index: int) -> None:
        """Start a step, unless it turns out that it cannot be."""
        if waiting := self._waiting.pop(index, None):
            self._running[index] = self._begun(waiting.attempt + 1, waiting.change, waiting.outcome)
            self._start_again(index)
            return
        change = self._parts.change_ids.next()
        self._running[index] = self._begun(1, change)
        refusal, warnings = self._prepare(index)
        if refusal is not None:
            self._finish(index, refusal)
            return
        delta = self._apply(self._operations.on_start(self._steps[index], change))
        self._started(StepStartedRecord(index, self._now, 1, change, delta, warnings))

    def _start_again(self, index: int) -> None:
        """Start a step once more, under the same ids: one that was in doubt, or another attempt. What its start changes
        is known already."""
        running = self._running[index]
        refusal, warnings = self._prepare(index)
        if refusal is not None:
            self._finish(index, refusal)
            return
        self._running[index] = self._begun(running.attempt, running.change, running.earlier)
        self._started(StepStartedRecord(index, self._now, running.attempt, running.change, warnings=warnings))

    def _started(self, record: StepStartedRecord) -> None:
        self._warned |= bool(record.warnings)
        self._record(record)
        self._announcer.started(record)

    def _prepare(self, index: int) -> tuple[Outcome | None, tuple[str, ...]]:
        """Make a step ready to be launched at the end of this turn; gives the outcome of one that must not start, and
        what deserves attention."""
        step = self._steps[index]
        if step.action is Action.DELEGATE:
            delegation = self._operations.delegation(step)
            if self._workers.provider_for(delegation.kinds) is None:
                return no_provider(delegation.kinds), ()
            self._delegations.append((index, delegation))
            return None, ()
        prepared = self._operations.prepare(step, self._running[index].attempt)
        if prepared.withholds:
            self._masking.withhold(index)
        for message in prepared.warnings:
            self._announcer.warned(index, message, self._now)
        warnings = tuple(prepared.warnings)
        if prepared.invocation is None:
            return Outcome(Ending.NOT_STARTED, message=prepared.refusal), warnings
        if self._workers.executor_for(prepared.invocation.processor) is None:
            return no_executor(prepared.invocation.processor), warnings
        self._invocations.append((index, prepared.invocation))
        return None, warnings

    def _finish(self, index: int, outcome: Outcome) -> None:
        """A step has ended, or cannot be started."""
        step, running = self._steps[index], self._running.pop(index)
        self._announcer.printed(index, running.lines.end(), self._now)
        outcome = together(running.earlier, self._completed(index, outcome, running))
        outcome, delta = self._operations.on_end(step, outcome, running.change)
        if not outcome.succeeded and self._wait(index, running, outcome):
            return
        delta_or_none = self._apply(delta)
        self._end(StepFinishedRecord(index, self._now, outcome, running.change, delta_or_none, attempt=running.attempt))

    def _wait(self, index: int, running: Running, outcome: Outcome) -> bool:
        """Have a step that failed wait for another attempt; False where there is none to come."""
        call, options = self._announcer.call(index), self._parts.header.options
        pause = pause_after(running.attempt, call, options, outcome)
        if pause is None or self._core.is_stopping or self._core.state(index) is not StepState.RUNNING:
            return False
        record = StepRetryRecord(index, self._now, running.attempt, outcome, self._now + pause, running.change)
        self._record(record)
        self._core.react(AttemptFailed(index))
        self._waiting[index] = record
        self._alarms.set(index, pause)
        self._announcer.retrying(record, attempts_of(call, options, outcome))
        return True

    def _give_up(self, command: GiveUp) -> None:
        """A step that waits for another attempt will not get it: its last failure is its end."""
        record = self._waiting.pop(command.step)
        was_cancelled = command.because == CANCELLED
        why = "the job was cancelled" if was_cancelled else f"{command.because} failed"
        outcome = msgspec.structs.replace(
            record.outcome,
            ending=Ending.CANCELLED if was_cancelled else record.outcome.ending,
            message=f"{record.outcome.message}; not tried again, because {why}".removeprefix("; "),
        )
        outcome, delta = self._operations.on_end(self._steps[command.step], outcome, record.change)
        change = self._apply(delta)
        self._end(StepFinishedRecord(command.step, self._now, outcome, record.change, change, attempt=record.attempt))

    def _finish_no_op(self, index: int) -> None:
        """An operation that does nothing ends as it starts; what it changes is attributed to the job itself. What was
        done by hand is a change like others."""
        step = self._steps[index]
        if step.by_hand:
            self._count_as_done(index)
            return
        began = self._apply(self._operations.on_start(step, self._job))
        outcome, delta = self._operations.on_end(step, Outcome(Ending.SUCCEEDED, changed=False), self._job)
        self._end(StepFinishedRecord(index, self._now, outcome, "", merge(began, self._apply(delta)), no_op=True))

    def _needless(self, index: int) -> str:
        """Why a step that may start is not needed, "" if it is; of one that was begun already nobody asks."""
        return "" if index in self._waiting else self._operations.needless(self._steps[index])

    def _leave_out(self, index: int, because: str) -> None:
        """A step that turns out not to be needed counts as done, by the job itself."""
        delta = self._apply(self._operations.on_needless(self._steps[index], self._job))
        outcome = Outcome(Ending.SUCCEEDED, changed=False)
        self._end(StepFinishedRecord(index, self._now, outcome, "", delta, no_op=True, because=because))

    def _count_as_done(self, index: int) -> None:
        step, change = self._steps[index], self._parts.change_ids.next()
        began = self._apply(self._operations.on_start(step, change))
        done = Outcome(Ending.BY_HAND, changed=True, message="counted as done by hand")
        outcome, delta = self._operations.on_end(step, done, change)
        self._end(StepFinishedRecord(index, self._now, outcome, change, merge(began, self._apply(delta))))

    def _end(self, record: StepFinishedRecord) -> None:
        self._record(record)
        self._core.react(StepEnded(record.step, record.outcome.succeeded))
        self._announcer.finished(record)
        self._remember_failure(record)

    def _skip(self, skip: Skip) -> None:
        record = StepSkippedRecord(skip.step, self._now, skip.because)
        self._record(record)
        self._announcer.skipped(record)

    def _begun(self, attempt: int, change: str, earlier: Outcome | None = None) -> Running:
        return Running(attempt, change, self._parts.clock.monotonic(), PrintedLines(), earlier)

    def _completed(self, index: int, outcome: Outcome, running: Running) -> Outcome:
        """An outcome with what its executor left to the driver: the running time, the last lines of a failure, and who
        has waited for the host of an operation that took too long."""
        seconds = outcome.seconds or max(0.0, self._parts.clock.monotonic() - running.began)
        tail = outcome.tail if outcome.tail or outcome.succeeded else running.lines.tail
        message = outcome.message
        if outcome.ending is Ending.TIMED_OUT and (waiting := self._core.waiting_with(index)):
            more = f" and {len(waiting) - MOST_NAMED} more" if len(waiting) > MOST_NAMED else ""
            host = self._steps[index].runs_on
            message = f"{message}; waiting for {host} meanwhile: {', '.join(waiting[:MOST_NAMED])}{more}"
        elif seconds == outcome.seconds and tail == outcome.tail:
            return outcome
        return msgspec.structs.replace(outcome, seconds=seconds, tail=tail, message=message)

    def _remember_failure(self, record: StepFinishedRecord) -> None:
        if not record.outcome.succeeded:
            self._was_ended |= record.outcome.ending is Ending.CANCELLED
            self._failed.append(self._announcer.failure(record))

    # ------------------------------------------------------------------------------------------ what is written

    def _record(self, record: Record) -> None:
        self._parts.journal.append(record)
        self._recorded += 1

    def _apply(self, delta: Delta) -> Delta | None:
        """Change the snapshot; None for no change."""
        if delta.is_empty:
            return None
        self._announcer.changing(self._parts.snapshot, delta, self._now)
        self._parts.snapshot.apply(delta)
        return delta
