"""The driver: asyncio around the core, one *turn* of a loop after the other.

A turn takes what the workers have reported, tells the core, and prepares the steps that the core names. Then all
records of the turn are committed together, then the listeners are told, and only then processes start. So nothing is
shown or started that the journal does not know, and the end of a step and the starts it makes possible cost one commit.
That a process runs is recorded with the next commit.

The driver is the single writer of the snapshot, the journal and the core. Here are the turns; the life of a step is in
`steps`, the plan, its rollback and the writer of the journal in `course`, and how an interrupted job goes on in
`resuming`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.engine.announcer import Announcer
from ordito.engine.course import Course
from ordito.engine.delegates import Delegates
from ordito.engine.messages import CancelAsked, Counts, GiveUp, LeaveOut, PauseOver, Skip
from ordito.engine.ports import (
    Hooks,
    JobControl,
    JobSuspended,
    OutputLog,
    Parts,
    PlansWayBack,
    RecordListener,
    StepOperations,
)
from ordito.engine.resuming import Resuming
from ordito.engine.steps import Steps
from ordito.engine.turn_writer import TurnWriter
from ordito.engine.workers import Crash, Message, Workers
from ordito.instances.records import Snapshot
from ordito.work.events import Listener, StepFailed
from ordito.work.forms import ended
from ordito.work.invocation import Ending, Executor, Outcome
from ordito.work.plan import Plan
from ordito.work.providing import Providers
from ordito.work.records import CancelRecord, JobClosingRecord, JobHeader, Journal, Record
from ordito.work.targets import Hands

IN_DOUBT = "in doubt: it was running when the job was interrupted, and nobody saw how it ended"
"""The message of a step that was running when the job was interrupted, and is not run again."""

SUSPEND_GRACE = 10.0
"""Seconds for which running steps may go on in a job that is suspended."""

UNWELL = frozenset({"failed", "cancelled"})
"""The statuses of jobs that have not reached their goal."""


class JobResult(msgspec.Struct, frozen=True):
    """How a job ended."""

    job: str
    status: str
    """``ok``, ``degraded``, ``failed`` or ``cancelled``."""

    counts: Counts
    """How many steps ended in which way; joins are not counted."""

    outputs: dict[str, object]
    """The outputs of the topology."""

    seconds: float
    failed: tuple[StepFailed, ...] = ()
    """Every failed step with its outcome, including those from before an interruption."""

    crashes: tuple[Crash, ...] = ()
    """Faults of executors and providers, each of them also the failure of a step, and faults of listeners."""

    rollback: str = ""
    """``complete`` or ``incomplete``; "" if there was no rollback."""

    remains: tuple[str, ...] = ()
    """What the rollback has not taken back, for people."""

    again: tuple[str, ...] = ()
    """The instances that were there before, and that the job or its rollback has replaced."""

    handled: bool = False
    """Whether steps have failed, and what handles the failure of each of them has succeeded."""

    warnings: Mapping[str, tuple[str, ...]] = {}
    """Warnings about steps, by id."""


async def run_job(  # noqa: PLR0913  (this is where all parts of a job meet)
    header: JobHeader,
    plan: Plan,
    operations: StepOperations,
    snapshot: Snapshot,
    *,
    executors: Sequence[Executor],
    providers: Providers,
    journal: Journal,
    clock: Clock,
    change_ids: ChangeIds,
    listeners: Sequence[Listener] = (),
    output_log: OutputLog | None = None,
    control: JobControl | None = None,
    resume: Iterable[Record] | None = None,
    way_back: PlansWayBack | None = None,
    different: Callable[[], tuple[str, ...]] | None = None,
    tells_inputs: bool = False,
    hands: Hands | None = None,
    hooks: Hooks | None = None,
    recorded: RecordListener | None = None,
) -> JobResult:
    """Carry out a plan: every step at most once, in an order that its edges allow.

    For a new job (``resume`` is None) the journal is opened here, with the plan's new instances. To continue one,
    ``resume`` is what its journal holds, ``header`` and ``plan`` come from there, and ``snapshot`` is as the records
    have left it. Steps in doubt are settled while it goes on: processes of them that still run are ended, a result that
    the process has recorded counts, and the other steps run again with the same id. A step that waited for another
    attempt waits for the rest of its time.

    With ``tells_inputs`` the listeners get the inputs with which operations start, and also the start of operations
    that do nothing. ``recorded`` gets each new record once it is committed, before they hear of it. ``hands`` is
    the access to hosts other than this machine, ``hooks`` knows the plan's lifecycle steps. ``way_back`` plans the
    rollback of a job that asks for one; its steps are appended to the plan. When they have ended, ``different``
    says what still differs from the state before. ``change_ids`` are enough for these steps too; ``control`` is
    where cancelling is requested. The snapshot is changed in place. The last record says that the job is closing;
    the journal is not closed here, and files are not touched.

    Raises what the journal raises, and ``JobSuspended``: then the job stays unfinished. What runs gets a moment to end
    by itself, then it is ended; its result is found when the job is resumed.
    """
    parts = Parts(
        header=header,
        plan=plan,
        operations=operations,
        snapshot=snapshot,
        workers=Workers(header.id, executors, Delegates(providers, hands)),
        journal=journal,
        clock=clock,
        change_ids=change_ids,
        announcer=Announcer(header, plan, listeners),
        output_log=output_log,
        control=control or JobControl(),
        way_back=way_back,
        different=different,
        tells_inputs=tells_inputs,
        hooks=hooks,
        recorded=recorded,
    )
    return await JobRun(parts).run(resume)


class JobRun:
    """One run of a job, from its begin or resumption to its last step."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._workers = parts.workers
        self._announcer = parts.announcer
        self._job = parts.header.id
        self._course = Course(parts)
        self._writer = TurnWriter(parts)
        self._steps = Steps(parts, self._course, self._writer)
        self._resuming = Resuming(parts, self._course, self._writer, self._steps)
        self._cancels = 0

    async def run(self, resume: Iterable[Record] | None) -> JobResult:
        """Run until every step has ended; see ``run_job``."""
        self._parts.control.attach(self._workers.ring)
        try:
            closing = self._begin(resume)
            if closing is None:
                await self._loop()
                if self._turn_back():
                    await self._loop()
        finally:
            self._parts.control.attach(None)
            self._steps.alarms.stop()
            self._writer.let_go()
            await self._workers.stop()
        return self._result(closing or self._close())

    # ----------------------------------------------------------------------------------------------- begin and end

    def _begin(self, resume: Iterable[Record] | None) -> JobClosingRecord | None:
        """Open the journal, or take over what it holds; returns the last record of a job that only has to be closed."""
        if resume is not None:
            return self._resuming.resume(tuple(resume))
        self._writer.open()
        self._announcer.job_started(0, self._writer.now, resumed=False)
        self._announcer.tell()
        return None

    def _turn_back(self) -> bool:
        """Begin the rollback if the job has failed and a rollback was asked for; returns whether there is one."""
        if self._was_cancelled or self._parts.control.requests:
            return False
        record = self._course.turn_back(self._parts.clock.now())
        if record is None:
            return False
        self._writer.extend(self._course.plan, record)
        self._announcer.rolling_back(record)
        self._writer.commit()
        return True

    def _close(self) -> JobClosingRecord:
        rollback, remains = self._course.remains(self._steps.failed)
        outputs = self._parts.operations.topology_outputs()
        handled = self._course.core.is_handled and not self._was_cancelled
        status, header = self._status(), self._parts.header
        is_untouched = status in UNWELL and not (rollback or self._steps.touched)
        delta = ended(header, self._course.plan, self._parts.snapshot, rollback, is_untouched=is_untouched)
        closing = JobClosingRecord(
            self._parts.clock.now(),
            status,
            outputs,
            rollback,
            remains,
            handled,
            is_untouched=is_untouched,
            delta=self._writer.apply(delta),
            again=self._course.again,
        )
        self._writer.record(closing)
        self._writer.commit()
        return closing

    @property
    def _was_cancelled(self) -> bool:
        return self._course.core.was_cancelled or self._steps.was_ended

    def _status(self) -> str:
        if self._was_cancelled:
            return "cancelled"
        counts = self._course.core.counts
        if counts.lacks:
            return "failed"
        return "degraded" if counts.failed or counts.skipped or self._steps.warned else "ok"

    def _result(self, closing: JobClosingRecord) -> JobResult:
        counts = self._course.core.counts
        self._announcer.job_finished(closing, counts)
        self._announcer.tell()
        return JobResult(
            job=self._job,
            status=closing.status,
            counts=counts,
            outputs=closing.outputs,
            seconds=max(0.0, closing.at - self._parts.header.began),
            failed=tuple(self._steps.failed),
            rollback=closing.rollback,
            remains=closing.remains,
            again=closing.again,
            handled=closing.handled,
            warnings={self._course.steps[index].id: warned for index, warned in self._steps.warned.items()},
            crashes=(*self._workers.crashes, *self._announcer.crashes),
        )

    # --------------------------------------------------------------------------------------------------- the turns

    async def _loop(self) -> None:
        steps, more = self._steps, self._turn([])
        while more or steps.running or steps.waiting:
            if self._parts.control.is_suspended:
                await self._suspend()
            more = self._turn(await self._workers.news(wait=not more))
        if not self._course.core.is_finished:
            raise RuntimeError(f"job {self._job} cannot go on: its remaining steps wait for each other")

    async def _suspend(self) -> NoReturn:
        """Let running steps end for a while, and leave the job unfinished."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(SUSPEND_GRACE):
                # What is in doubt is not running: only who resumes the job starts it again.
                while self._steps.running.keys() - self._resuming.in_doubt:
                    self._turn(await self._workers.news(wait=True))
        raise JobSuspended

    def _turn(self, news: list[Message]) -> bool:
        """Do one turn; returns whether the next one must not wait for reports."""
        steps, self._writer.now = self._steps, self._parts.clock.now()
        for index, progress in news:
            if not self._resuming.take(index, progress) and progress is not None:
                steps.take(index, progress)
        for index in steps.alarms.take():
            self._course.core.react(PauseOver(index))
        self._heed_cancelling()
        if self._parts.control.is_suspended:
            # What would start now, or is in doubt, is left for who resumes the job.
            self._writer.commit()
            return False
        for index in self._taken_again():
            steps.start_again(index)
        more = self._follow()
        self._writer.commit()
        steps.launch()
        return more

    def _heed_cancelling(self) -> None:
        """Obey requests to cancel: after the first one nothing starts, steps in doubt included; the second one ends
        what runs."""
        requests = self._parts.control.requests
        if requests and not self._cancels:
            self._course.core.react(CancelAsked())
            self._resuming.stop_asking()
        for index in self._taken_again() if requests else ():
            self._steps.finish(index, Outcome(Ending.CANCELLED, message=IN_DOUBT))
        if requests > 1 and self._cancels < 2:
            self._workers.end_running()
        if min(requests, 2) > self._cancels:
            by, because = self._parts.control.asked
            record = CancelRecord(self._writer.now, by, requests > 1, because)
            self._writer.record(record)
            self._announcer.cancelling(record)
        self._cancels = min(requests, 2)

    def _taken_again(self) -> list[int]:
        """The steps in doubt that are to run again since the last call."""
        again, self._resuming.again = self._resuming.again, []
        return again

    def _follow(self) -> bool:
        """Carry out the commands of the core until it has none; returns True if the turn became too large before
        that."""
        core, steps = self._course.core, self._steps
        while commands := core.wake():
            for command in commands:
                if isinstance(command, Skip):
                    steps.skip(command)
                elif isinstance(command, GiveUp):
                    steps.give_up(command)
                elif isinstance(command, LeaveOut):
                    steps.leave_out(command)
                elif because := steps.needless(command.step):
                    steps.end_needless(command.step, because)
                elif command.no_op:
                    steps.finish_no_op(command.step)
                else:
                    steps.start(command.step)
            if self._writer.is_full:
                return True
        return False
