"""Resuming: a job goes on from what its journal holds, and finds out meanwhile how the steps have ended that were
running when it was interrupted.

The processes of a step in doubt that still run are ended. If its process has recorded a result, that counts; else the
check of its instance is asked; else the step runs again. Until then it counts as running, and keeps its places: finding
out may take long where its host or its machine does not answer, and what does not follow from it goes on.
"""

from __future__ import annotations

from ordito.engine.course import Course
from ordito.engine.ports import Parts
from ordito.engine.steps import Steps
from ordito.engine.turn_writer import TurnWriter
from ordito.engine.workers import Doubt, lost
from ordito.work.doubts import answer, left_behind
from ordito.work.invocation import Invocation, Outcome, Printed, Progress, Started
from ordito.work.plan import HOOKS, Action, OperationCall
from ordito.work.records import (
    JobClosingRecord,
    Record,
    StepFinishedRecord,
    StepProcessRecord,
    StepRetryRecord,
    StepStartedRecord,
)
from ordito.work.targets import Unreachable

IN_PROCESSES = frozenset({Action.CALL, Action.WORKFLOW, Action.HOOK, Action.UNDO})
"""The actions that executors carry out, and of which they may know the end after a crash."""


class Resuming:
    """Resumes one job. ``again`` has the indices of the steps that run again, as they become known."""

    def __init__(self, parts: Parts, course: Course, writer: TurnWriter, steps: Steps) -> None:
        self._parts = parts
        self._course = course
        self._writer = writer
        self._steps = steps
        self._operations = parts.operations
        self._masking = parts.operations.masking
        self._workers = parts.workers
        self._announcer = parts.announcer
        self._doubts: dict[int, Doubt] = {}
        self._questions: dict[int, Invocation] = {}
        self._asked: set[int] = set()
        self.again: list[int] = []

    @property
    def in_doubt(self) -> set[int]:
        """The steps of which it is not known how they have ended, or that are to run again."""
        return {*self._doubts, *self.again}

    def resume(self, records: tuple[Record, ...]) -> JobClosingRecord | None:
        """Take over what the journal holds, and begin to settle the steps in doubt; returns the last record of a job
        that only has to be closed."""
        in_doubt = self._course.replay(records)
        processes: dict[int, Started] = {}
        began: dict[int, int] = {}
        for number, record in enumerate(records):
            match record:
                case StepStartedRecord():
                    self._steps.remember_start(record)
                    earlier = self._earlier(record.step)
                    self._steps.running[record.step] = self._steps.begun(record.attempt, record.change, earlier)
                    processes.pop(record.step, None)
                    began[record.step] = number
                case StepRetryRecord():
                    self._steps.running.pop(record.step, None)
                    self._steps.waiting[record.step] = record
                case StepProcessRecord():
                    processes[record.step] = record.started
                case StepFinishedRecord():
                    self._steps.running.pop(record.step, None)
                    self._steps.waiting.pop(record.step, None)
                    self._steps.remember(record)
        ended, turned = self._course.core.counts.ended, self._course.is_going_back
        self._announcer.job_started(ended, self._writer.now, resumed=True, rolling_back=turned)
        self._announcer.tell()
        if records and isinstance(records[-1], JobClosingRecord):
            return records[-1]
        self._settle(in_doubt, processes, began)
        for index, record in self._steps.waiting.items():
            # Never longer than it was to wait, though the clock may have been put back.
            self._steps.alarms.set(index, min(record.due - self._parts.clock.now(), record.due - record.at))
        return None

    def take(self, index: int, progress: Progress | None) -> bool:
        """Take what was reported about a step in doubt; returns False for any other one."""
        doubt = self._doubts.get(index)
        if doubt is None:
            return False
        if index in self._questions:
            self._hear(index, progress)
        elif isinstance(progress, Outcome):
            del self._doubts[index]
            self._steps.take(index, left_behind(progress))
        elif progress is None:
            self._ask(doubt)
        return True

    def stop_asking(self) -> None:
        """Ask no check any more: the job was cancelled."""
        for index in self._asked:
            self._workers.end_one(index)

    def _earlier(self, index: int) -> Outcome | None:
        """The outcome of the earlier attempts of a step that starts now: those before its pause, or before the
        crash."""
        if waiting := self._steps.waiting.pop(index, None):
            return waiting.outcome
        running = self._steps.running.get(index)
        return running.earlier if running else None

    def _settle(self, in_doubt: list[int], processes: dict[int, Started], began: dict[int, int]) -> None:
        """Begin to find out how steps in doubt ended; those that no process carries out run again."""
        for index in in_doubt:
            if self._course.steps[index].action not in IN_PROCESSES:
                self.again.append(index)
                continue
            found = self._doubt(index, processes.get(index), began[index])
            if isinstance(found, Doubt):
                self._doubts[index] = found
            else:
                self._workers.end(index, left_behind(found))
        self._workers.settle(list(self._doubts.values()))

    def _doubt(self, index: int, started: Started | None, record: int) -> Doubt | Outcome:
        """What executors need to know to settle a step; its outcome if its host cannot be asked."""
        step = self._course.steps[index]
        try:
            target = self._operations.target(step)
        except Unreachable as unreachable:
            return lost(unreachable)
        running = self._steps.running[index]
        return Doubt(index, step.id, running.attempt, self._announcer.call(index), started, target, record)

    def _ask(self, doubt: Doubt) -> None:
        """Ask the check of an instance whether the operation in doubt was done; if it was, it does not run again."""
        question = None if self._parts.control.requests or self._parts.control.is_suspended else self._question(doubt)
        if question is None:
            self._run_again(doubt.index)
            return
        self._questions[doubt.index] = question
        self._announcer.warned(doubt.index, "in doubt: asking its check whether it was done", self._writer.now)
        # What was asked before may still be at work, if the program died meanwhile.
        call = OperationCall("", "", "", "", processor=question.processor)
        self._workers.settle([Doubt(doubt.index, question.step, question.attempt, call, None, question.target)])

    def _question(self, doubt: Doubt) -> Invocation | None:
        if self._course.steps[doubt.index].action in HOOKS:
            return None  # No instance knows of it.
        try:
            return self._operations.question(self._course.steps[doubt.index], self._workers.accepts)
        except Unreachable:
            return None  # Its host was there a moment ago: what is asked of it again will say so.

    def _hear(self, index: int, progress: Progress | None) -> None:
        """Take what is reported about a check. Its output is shown only at the end: what is secret in it may not be
        known before."""
        question = self._questions[index]
        if index not in self._asked:
            # What was asked before has ended, whichever way.
            if self._parts.control.requests or self._parts.control.is_suspended:
                self._run_again(index)
                return
            self._asked.add(index)
            self._masking.withhold(index)
            self._workers.run([(index, question)])
        elif isinstance(progress, Printed):
            self._masking.feed(index, progress.data)
        elif isinstance(progress, Outcome):
            said = self._operations.without_secrets(self._course.steps[index], progress)
            self._show(question.step, self._masking.end(index))
            ended = answer(self._course.steps[index], self._announcer.call(index), said)
            if ended is None:
                self._run_again(index)
            else:
                self._forget(index)
                self._steps.finish(index, ended)

    def _run_again(self, index: int) -> None:
        self._forget(index)
        self.again.append(index)

    def _forget(self, index: int) -> None:
        del self._doubts[index]
        self._questions.pop(index, None)
        self._asked.discard(index)

    def _show(self, step: str, data: bytes) -> None:
        if data and self._parts.output_log is not None:
            self._parts.output_log.write(step, data)
