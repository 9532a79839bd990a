"""Steps: how each one starts, waits for another attempt, and ends, in the journal, the snapshot and the core.

A step that is started here is launched at the end of the turn, when the journal knows of it.
"""

from __future__ import annotations

import codecs
from collections import deque
from collections.abc import Mapping

import msgspec

from ordito.engine.attempts import Alarms, pause_after, together
from ordito.engine.course import Course
from ordito.engine.delegates import ended_unreachable
from ordito.engine.messages import CANCELLED, AttemptFailed, GiveUp, LeaveOut, Skip, StepEnded
from ordito.engine.ports import Hooks, Parts
from ordito.engine.states import StepState
from ordito.engine.turn_writer import TurnWriter
from ordito.engine.workers import no_executor
from ordito.instances.records import Data, Delta
from ordito.work.events import StepFailed
from ordito.work.hooks import HookResult
from ordito.work.invocation import Ending, Invocation, Outcome, Printed, Progress
from ordito.work.plan import Action, Step
from ordito.work.providing import Delegation, ProviderVerb
from ordito.work.records import (
    StepFinishedRecord,
    StepProcessRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)
from ordito.work.targets import Unreachable
from ordito.work.workflows import workflow_of

# What one operation prints: bytes that end anywhere become lines of text, and the last of them are kept.

TAIL_LINES = 20
LONGEST_LINE = 8_192
"""Lines are cut after this many characters, so that a program that never ends its line costs no memory."""

_UTF8 = codecs.getincrementaldecoder("utf-8")


class PrintedLines:
    """Decodes a step's output (UTF-8, with U+FFFD for bytes that are not) and cuts it into lines."""

    def __init__(self) -> None:
        self._decoder = _UTF8("replace")
        self._partial = ""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    def feed(self, data: bytes) -> str:
        """Take a piece of output; returns the lines that are complete now, joined by newlines, "" for none."""
        return self._complete(self._partial + self._decoder.decode(data))

    def end(self) -> str:
        """The output has ended; returns its last line if that has no end, else ""."""
        rest = self._partial + self._decoder.decode(b"", final=True)
        return self._complete(rest + "\n" if rest else "")

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines, without line ends."""
        return tuple(self._tail)

    def _complete(self, text: str) -> str:
        *lines, self._partial = text.split("\n")
        if len(self._partial) >= LONGEST_LINE:
            lines.append(self._partial)
            self._partial = ""
        lines = [piece for line in lines for piece in _pieces(line.removesuffix("\r"))]
        self._tail.extend(lines)
        return "\n".join(lines)


def _pieces(line: str) -> list[str]:
    if len(line) <= LONGEST_LINE:
        return [line]
    return [line[at : at + LONGEST_LINE] for at in range(0, len(line), LONGEST_LINE)]


# Names of a module are found faster than members of an enumeration.
DELEGATE, TIMED_OUT, UNREACHABLE = Action.DELEGATE, Ending.TIMED_OUT, Ending.UNREACHABLE

NOTHING_DONE = Outcome(Ending.SUCCEEDED, changed=False)
"""The outcome of a step for which nothing had to run."""

DONE_BEFORE = Outcome(Ending.SUCCEEDED)
"""The outcome of a step that only represents the steps before it: those say whether they changed anything."""

MOST_NAMED = 5
"""How many steps a message names at most."""


class Running(msgspec.Struct):
    """A started step."""

    attempt: int
    """The number of the attempt, from 1."""

    change: str
    """Its changeId."""

    began: float
    """When it began, in seconds of the monotonic clock."""

    earlier: Outcome | None = None
    """The outcome of its earlier attempts, None for the first one."""

    lines: PrintedLines | None = None
    """What it prints; None as long as it has printed nothing."""


class Steps:
    """The steps of one job that have begun, by index.

    ``running`` steps have been started, ``waiting`` ones pause until their ``alarms`` ring. ``failed`` holds every
    failed step, ``warned`` the warnings of steps, ``was_ended`` whether cancelling has ended a step, ``touched``
    whether records were changed by other steps than lifecycle steps.
    """

    def __init__(self, parts: Parts, course: Course, writer: TurnWriter) -> None:
        self._parts = parts
        self._course = course
        self._writer = writer
        self._job = parts.header.id
        self._operations = parts.operations
        self._masking = parts.operations.masking
        self._hooks = parts.hooks
        self._workers = parts.workers
        self._announcer = parts.announcer
        self._keeps_inputs = workflow_of(parts.header.workflow).keeps_inputs
        self._tells_inputs = parts.tells_inputs or self._keeps_inputs
        self._invocations: list[tuple[int, Invocation]] = []
        self._delegations: list[tuple[int, Delegation]] = []
        self._ends: list[tuple[int, Outcome]] = []
        self._asked_since: dict[int, float] = {}
        self.running: dict[int, Running] = {}
        self.waiting: dict[int, StepRetryRecord] = {}
        self.alarms = Alarms(parts.workers.ring)
        self.failed: list[StepFailed] = []
        self.warned: dict[int, tuple[str, ...]] = {}
        self.was_ended = False
        self.touched = False

    def take(self, index: int, progress: Progress) -> None:
        """Take what was reported about a running step."""
        if isinstance(progress, Outcome):
            step = self._course.steps[index]
            outcome = progress
            if outcome.outputs or self._masking.is_active:
                outcome = (self._hooks_of(step) or self._operations).without_secrets(step, outcome)
            if self._masking.is_active:
                self._printed(index, self._masking.end(index))
            self.finish(index, outcome)
        elif isinstance(progress, Printed):
            self._printed(index, self._masking.feed(index, progress.data) if self._masking.is_active else progress.data)
        else:
            self._writer.hold(StepProcessRecord(index, progress))

    def _printed(self, index: int, data: bytes) -> None:
        """Show what a step has printed."""
        if data:
            if self._parts.output_log is not None:
                self._parts.output_log.write(self._course.steps[index].id, data)
            running = self.running[index]
            if running.lines is None:
                running.lines = PrintedLines()
            self._announcer.printed(index, running.lines.feed(data), self._writer.now)

    def launch(self) -> None:
        """Launch everything that was started since the last call."""
        invocations, self._invocations = self._invocations, []
        delegations, self._delegations = self._delegations, []
        self._workers.run(invocations)
        for index, delegation in delegations:
            self._workers.delegate(index, self._course.steps[index].id, delegation)
        ends, self._ends = self._ends, []
        for index, outcome in ends:
            self._workers.end(index, outcome)

    def start(self, index: int) -> None:
        """Start a step, or end it if it cannot start."""
        if waiting := self.waiting.pop(index, None):
            self.running[index] = self.begun(waiting.attempt + 1, waiting.change, waiting.outcome)
            self.start_again(index)
            return
        change = self._parts.change_ids.next()
        self.running[index] = self.begun(1, change)
        refusal, warnings = self._prepare(index)
        if refusal is not None:
            self.finish(index, refusal)
            return
        step = self._course.steps[index]
        delta = None if self._hooks_of(step) else self._writer.apply(self._operations.on_start(step, change))
        self._started(StepStartedRecord(index, self._writer.now, 1, change, delta, warnings))

    def start_again(self, index: int) -> None:
        """Start a step once more under the same ids: a step in doubt, or another attempt. The changes of its start are
        recorded already."""
        running = self.running[index]
        refusal, warnings = self._prepare(index)
        if refusal is not None:
            self.finish(index, refusal)
            return
        self.running[index] = self.begun(running.attempt, running.change, running.earlier)
        self._started(StepStartedRecord(index, self._writer.now, running.attempt, running.change, warnings=warnings))

    def _started(self, record: StepStartedRecord) -> None:
        self.remember_start(record)
        inputs: Mapping[str, object] = {}
        if self._tells_inputs:
            inputs = self._operations.shown_inputs(self._course.steps[record.step])
            if inputs and self._keeps_inputs:
                record = msgspec.structs.replace(record, inputs=inputs)
        self._writer.record(record)
        self._announcer.started(record, inputs)

    def _prepare(self, index: int) -> tuple[Outcome | None, tuple[str, ...]]:
        """Prepare a step for launching at the end of this turn; returns the outcome of a step that must not start, and
        warnings."""
        step = self._course.steps[index]
        if step.action is DELEGATE:
            return self._prepare_delegated(index)
        if step.hook >= 0 and (problem := self._known_hooks(step).problem(step)):
            return Outcome(Ending.NOT_STARTED, message=problem), ()
        hooks = self._hooks_of(step) if step.hook >= 0 else None
        prepared = (hooks or self._operations).prepare(step, self.running[index].attempt)
        if prepared.withholds:
            self._masking.withhold(index)
        for message in prepared.warnings:
            self._announcer.warned(index, message, self._writer.now)
        warnings = tuple(prepared.warnings)
        invocation = prepared.invocation
        if prepared.ending is UNREACHABLE:
            # What its start changes is known before another attempt at it begins.
            self._ends.append((index, Outcome(UNREACHABLE, message=prepared.refusal, refused=prepared.locked)))
            return None, warnings
        if invocation is None:
            return Outcome(Ending.NOT_STARTED, message=prepared.refusal), warnings
        if self._workers.executor_for(invocation.processor, invocation.target) is None:
            return no_executor(invocation.processor, invocation.target), warnings
        self._invocations.append((index, invocation))
        return None, warnings

    def _prepare_delegated(self, index: int) -> tuple[Outcome | None, tuple[str, ...]]:
        """Prepare a delegated step; as ``_prepare``."""
        try:
            delegation = self._operations.delegation(self._course.steps[index])
        except Unreachable as unreachable:
            verb = (
                ProviderVerb.LOOK if self._announcer.call(index).operation == ProviderVerb.LOOK else ProviderVerb.REACH
            )
            self._ends.append((index, ended_unreachable(verb, unreachable)))
            return None, ()
        problem = self._workers.problem(delegation)
        if problem is not None:
            return problem, ()
        self._delegations.append((index, delegation))
        warnings = self._workers.warnings(delegation)
        for message in warnings:
            self._announcer.warned(index, message, self._writer.now)
        return None, warnings

    def finish(self, index: int, outcome: Outcome) -> None:
        """End a step that has run, or that cannot start."""
        step, running = self._course.steps[index], self.running.pop(index)
        if running.lines is not None:
            self._announcer.printed(index, running.lines.end(), self._writer.now)
        outcome = together(running.earlier, self._completed(index, outcome, running))
        if (hooks := self._hooks_of(step)) is not None:
            self._finish_hook(index, outcome, running, hooks)
            return
        outcome, delta = self._operations.on_end(step, outcome, running.change)
        kept: Mapping[str, Mapping[str, Data]] = {}
        if outcome.attributes:
            # They are in the records of what has changed.
            kept, outcome = delta.attributes, msgspec.structs.replace(outcome, attributes={})
        if not outcome.succeeded and self._wait(index, running, outcome, kept):
            return
        delta_or_none = self._writer.apply(delta)
        result = self._known_hooks(step).result(step, outcome) if step.hook >= 0 else None
        self._end(
            StepFinishedRecord(
                index, self._writer.now, outcome, running.change, delta_or_none, attempt=running.attempt, hook=result
            )
        )

    def _finish_hook(self, index: int, outcome: Outcome, running: Running, hooks: Hooks) -> None:
        """End a lifecycle step, or a step that undoes one: it changes no records of instances."""
        result = hooks.result(self._course.steps[index], outcome)
        self._end(
            StepFinishedRecord(index, self._writer.now, outcome, running.change, attempt=running.attempt, hook=result)
        )

    def _hooks_of(self, step: Step) -> Hooks | None:
        """The port for a lifecycle step, or for a step that undoes one; None for other steps, and for operations of
        instances that a lifecycle step runs."""
        return None if step.hook < 0 or step.instance else self._known_hooks(step)

    def _known_hooks(self, step: Step) -> Hooks:
        if self._hooks is None:
            raise ValueError(f"nothing here can run the lifecycle step {step.id}")
        return self._hooks

    def _wait(
        self, index: int, running: Running, outcome: Outcome, kept: Mapping[str, Mapping[str, Data]] = {}
    ) -> bool:
        """Let a step that failed wait for another attempt; False if it has no more attempts. ``kept`` are attributes
        that the attempt has set all the same."""
        call, options = self._announcer.call(index), self._parts.header.options
        since = self._asked_since.setdefault(index, running.began) if call.within is not None else running.began
        elapsed = self._parts.clock.monotonic() - since
        pause = pause_after(running.attempt, call, options, outcome, elapsed)
        if (
            pause is None
            or self._course.core.is_stopping_for(index)
            or self._course.core.state(index) is not StepState.RUNNING
        ):
            return False
        delta = self._writer.apply(Delta(attributes=kept)) if kept else None
        record = StepRetryRecord(
            index, self._writer.now, running.attempt, outcome, self._writer.now + pause, running.change, delta
        )
        self._writer.record(record)
        self._course.core.react(AttemptFailed(index))
        self.waiting[index] = record
        self.alarms.set(index, pause)
        self._announcer.retrying(record)
        return True

    def give_up(self, command: GiveUp) -> None:
        """End a step that waits for another attempt, with its last failure."""
        record = self.waiting.pop(command.step)
        was_cancelled = command.because == CANCELLED
        why = "the job was cancelled" if was_cancelled else f"{command.because} failed"
        outcome = msgspec.structs.replace(
            record.outcome,
            ending=Ending.CANCELLED if was_cancelled else record.outcome.ending,
            message=f"{record.outcome.message}; not tried again, because {why}".removeprefix("; "),
        )
        outcome, delta = self._operations.on_end(self._course.steps[command.step], outcome, record.change)
        change = self._writer.apply(delta)
        self._end(
            StepFinishedRecord(command.step, self._writer.now, outcome, record.change, change, attempt=record.attempt)
        )

    def finish_no_op(self, index: int) -> None:
        """Start and end a step that runs nothing; what an operation without implementation changes is recorded as a
        change of the job itself. What was done by hand is a change like others."""
        step = self._course.steps[index]
        if step.by_hand:
            self._count_as_done(index)
            return
        if (hooks := self._hooks_of(step)) is not None:
            self._finish_at_once(index, step, hooks)
            return
        began = self._writer.apply(self._operations.on_start(step, self._job))
        inputs: Mapping[str, object] = {}
        if self._tells_inputs:
            inputs = self._operations.shown_inputs(step)
            self._announcer.started(StepStartedRecord(index, self._writer.now), inputs, no_op=True)
        outcome, delta = self._operations.on_end(step, NOTHING_DONE, self._job)
        self._end(
            StepFinishedRecord(
                index,
                self._writer.now,
                outcome,
                "",
                merge(began, self._writer.apply(delta)),
                no_op=True,
                inputs=inputs if self._keeps_inputs else {},
            )
        )

    def _finish_at_once(self, index: int, step: Step, hooks: Hooks) -> None:
        """End a lifecycle step that has no script: the steps before it did its work."""
        problem = hooks.problem(step) or hooks.prepare(step, 1).refusal
        outcome = Outcome(Ending.NOT_STARTED, message=problem) if problem else DONE_BEFORE
        change = self._parts.change_ids.next()
        self._end(StepFinishedRecord(index, self._writer.now, outcome, change, hook=hooks.result(step, outcome)))

    def needless(self, index: int) -> str:
        """Why a step that may start is not needed, "" if it is, or if it was started before."""
        step = self._course.steps[index]
        if index in self.waiting:
            return ""
        return self._operations.needless(step) if step.hook < 0 else self._known_hooks(step).needless(step)

    def end_needless(self, index: int, because: str) -> None:
        """End a step that is not needed; it counts as done by the job itself."""
        step, outcome = self._course.steps[index], NOTHING_DONE
        result: HookResult | None = self._known_hooks(step).result(step, outcome) if step.hook >= 0 else None
        delta = None if step.hook >= 0 else self._writer.apply(self._operations.on_needless(step, self._job))
        self._end(
            StepFinishedRecord(index, self._writer.now, outcome, "", delta, no_op=True, because=because, hook=result)
        )

    def leave_out(self, command: LeaveOut) -> None:
        """Record that the core has left a step out: it changes nothing."""
        record = StepFinishedRecord(
            command.step, self._writer.now, NOTHING_DONE, no_op=True, because=command.because or "it is not needed"
        )
        self._writer.record(record)
        self._announcer.finished(record)

    def _count_as_done(self, index: int) -> None:
        step, change = self._course.steps[index], self._parts.change_ids.next()
        done = Outcome(Ending.BY_HAND, changed=True, message="counted as done by hand")
        if self._hooks_of(step) is not None:
            self._end(StepFinishedRecord(index, self._writer.now, done, change))
            return
        began = self._writer.apply(self._operations.on_start(step, change))
        outcome, delta = self._operations.on_end(step, done, change)
        self._end(StepFinishedRecord(index, self._writer.now, outcome, change, merge(began, self._writer.apply(delta))))

    def _end(self, record: StepFinishedRecord) -> None:
        self._writer.record(record)
        self._course.core.react(StepEnded(record.step, record.outcome.succeeded, bool(record.because)))
        self._announcer.finished(record)
        self.remember(record)

    def skip(self, skip: Skip) -> None:
        """Record that a step will not run."""
        record = StepSkippedRecord(skip.step, self._writer.now, skip.because)
        self._writer.record(record)
        self._announcer.skipped(record)

    def begun(self, attempt: int, change: str, earlier: Outcome | None = None) -> Running:
        """A running step whose attempt begins now."""
        return Running(attempt, change, self._parts.clock.monotonic(), earlier)

    def _completed(self, index: int, outcome: Outcome, running: Running) -> Outcome:
        """An outcome with what the driver adds: the running time, the last lines of a failure, and, for an operation
        that took too long, which steps were waiting for its host."""
        if outcome.found:
            return outcome  # How long it ran nobody knows.
        seconds = outcome.seconds or max(0.0, self._parts.clock.monotonic() - running.began)
        tail = outcome.tail
        if running.lines is not None and not (tail or outcome.succeeded):
            tail = running.lines.tail
        message = outcome.message
        if outcome.ending is TIMED_OUT and (waiting := self._course.core.waiting_with(index)):
            more = f" and {len(waiting) - MOST_NAMED} more" if len(waiting) > MOST_NAMED else ""
            host = self._course.steps[index].runs_on
            message = f"{message}; waiting for {host} meanwhile: {', '.join(waiting[:MOST_NAMED])}{more}"
        elif seconds == outcome.seconds and tail == outcome.tail:
            return outcome
        return msgspec.structs.replace(outcome, seconds=seconds, tail=tail, message=message)

    def remember_start(self, record: StepStartedRecord) -> None:
        """Remember what the end of the job needs to know; also for steps that started before an interruption."""
        if record.warnings:
            self.warned[record.step] = record.warnings
        self.touched |= record.delta is not None and self._course.steps[record.step].hook < 0

    def remember(self, record: StepFinishedRecord) -> None:
        """Remember what the end of the job needs to know; also for steps that ended before an interruption."""
        self.touched |= record.delta is not None and self._course.steps[record.step].hook < 0
        if not record.outcome.succeeded:
            self.was_ended |= record.outcome.ending is Ending.CANCELLED
            self.failed.append(self._announcer.failure(record))


# Joining the changes of a step's start and end into one.


def merge(first: Delta | None, second: Delta | None) -> Delta | None:
    """One delta that does what two do one after the other; None for none."""
    if first is None or second is None:
        return first or second
    instances = {i.id: i for i in (*first.instances, *second.instances)}
    links = {link.id: link for link in (*first.links, *second.links)}
    attributes = {name: dict(values) for name, values in first.attributes.items()}
    outputs = {name: dict(operations) for name, operations in first.outputs.items()}
    for forgotten in second.forgotten:
        instances.pop(forgotten, None)
    for gone in (*second.unlinked, *second.forgotten):
        links.pop(gone, None)
        attributes.pop(gone, None)
        outputs.pop(gone, None)
    for name, values in second.attributes.items():
        attributes.setdefault(name, {}).update(values)
    for name, operations in second.outputs.items():
        outputs.setdefault(name, {}).update(operations)
    made_again = {link.id for link in second.links}
    unlinked = (*(name for name in first.unlinked if name not in made_again), *second.unlinked)
    return Delta(
        instances=tuple(instances.values()),
        links=tuple(links.values()),
        unlinked=tuple(dict.fromkeys(unlinked)),
        attributes=attributes,
        outputs=outputs,
        forgotten=(*first.forgotten, *second.forgotten),
    )
