"""Resuming: a job goes on from what its journal holds; first, the steps that were running when it was interrupted are
settled.

The processes of a step in doubt that still run are ended. If its process has recorded a result, that counts; else the
check of its instance is asked; else the step runs again.
"""

from __future__ import annotations

from ordito.engine.course import Course
from ordito.engine.ports import Parts
from ordito.engine.steps import Steps
from ordito.engine.turn_writer import TurnWriter
from ordito.engine.workers import Doubt, lost
from ordito.work.doubts import answer, left_behind
from ordito.work.invocation import Invocation, Outcome, Printed, Started
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
    """Resumes one job. ``again`` has the indices of the steps that run again."""

    def __init__(self, parts: Parts, course: Course, writer: TurnWriter, steps: Steps) -> None:
        self._parts = parts
        self._course = course
        self._writer = writer
        self._steps = steps
        self._operations = parts.operations
        self._masking = parts.operations.masking
        self._workers = parts.workers
        self._announcer = parts.announcer
        self.again: list[int] = []

    async def resume(self, records: tuple[Record, ...]) -> JobClosingRecord | None:
        """Take over what the journal holds, and settle the steps in doubt; returns the last record of a job that only
        has to be closed."""
        in_doubt = self._course.replay(records)
        processes: dict[int, Started] = {}
        for record in records:
            match record:
                case StepStartedRecord():
                    self._steps.remember_start(record)
                    earlier = self._earlier(record.step)
                    self._steps.running[record.step] = self._steps.begun(record.attempt, record.change, earlier)
                    processes.pop(record.step, None)
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
        await self._settle(in_doubt, processes)
        for index, record in self._steps.waiting.items():
            # Never longer than it was to wait, though the clock may have been put back.
            self._steps.alarms.set(index, min(record.due - self._parts.clock.now(), record.due - record.at))
        return None

    def _earlier(self, index: int) -> Outcome | None:
        """The outcome of the earlier attempts of a step that starts now: those before its pause, or before the
        crash."""
        if waiting := self._steps.waiting.pop(index, None):
            return waiting.outcome
        running = self._steps.running.get(index)
        return running.earlier if running else None

    async def _settle(self, in_doubt: list[int], processes: dict[int, Started]) -> None:
        """Find out how steps in doubt ended; those whose end nobody knows run again."""
        asked = [
            self._doubt(index, processes.get(index))
            for index in in_doubt
            if self._course.steps[index].action in IN_PROCESSES
        ]
        doubts = [doubt for doubt in asked if isinstance(doubt, Doubt)]
        ends = await self._workers.settle(doubts)
        self._writer.now = self._parts.clock.now()
        for index, progress in [*ends, *(one for one in asked if not isinstance(one, Doubt))]:
            self._steps.take(index, left_behind(progress) if isinstance(progress, Outcome) else progress)
        await self._ask([doubt for doubt in doubts if doubt.index in self._steps.running])
        self.again = [index for index in in_doubt if index in self._steps.running]

    def _doubt(self, index: int, started: Started | None) -> Doubt | tuple[int, Outcome]:
        """What executors need to know to settle a step; its outcome if its host cannot be asked."""
        step = self._course.steps[index]
        try:
            target = self._operations.target(step)
        except Unreachable as unreachable:
            return index, lost(unreachable)
        running = self._steps.running[index]
        return Doubt(index, step.id, running.attempt, self._announcer.call(index), started, target)

    async def _ask(self, doubts: list[Doubt]) -> None:
        """Ask the checks of instances whether the operations in doubt were done; those that were do not run again."""
        questions: dict[int, Invocation] = {}
        for doubt in doubts:
            question = self._question(doubt)
            if question is not None and not self._parts.control.requests:
                questions[doubt.index] = question
                self._announcer.warned(doubt.index, "in doubt: asking its check whether it was done", self._writer.now)
        self._announcer.tell()
        # What was asked before may still be at work, if the program died meanwhile.
        asked = [
            Doubt(index, q.step, q.attempt, OperationCall("", "", "", "", processor=q.processor), None, q.target)
            for index, q in questions.items()
        ]
        await self._workers.settle(asked)
        answers = await self._answers(questions)
        self._writer.now = self._parts.clock.now()
        for index, said in answers.items():
            ended = answer(self._course.steps[index], self._announcer.call(index), said)
            if ended is not None:
                self._steps.finish(index, ended)

    def _question(self, doubt: Doubt) -> Invocation | None:
        if self._course.steps[doubt.index].action in HOOKS:
            return None  # No instance knows of it.
        try:
            return self._operations.question(self._course.steps[doubt.index], self._workers.accepts)
        except Unreachable:
            return None  # Its host was there a moment ago: what is asked of it again will say so.

    async def _answers(self, questions: dict[int, Invocation]) -> dict[int, Outcome]:
        """Run the checks; returns how they end. Their output is shown only at the end: what is secret in it may not be
        known before."""
        answers: dict[int, Outcome] = {}
        for index in questions:
            self._masking.withhold(index)
        self._workers.run(list(questions.items()))
        while len(answers) < len(questions):
            for index, progress in await self._workers.news(wait=True):
                if isinstance(progress, Outcome):
                    answers[index] = self._operations.without_secrets(self._course.steps[index], progress)
                    self._show(questions[index].step, self._masking.end(index))
                elif isinstance(progress, Printed):
                    self._masking.feed(index, progress.data)
            if self._parts.control.requests:
                self._workers.end_running()
        return answers

    def _show(self, step: str, data: bytes) -> None:
        if data and self._parts.output_log is not None:
            self._parts.output_log.write(step, data)
