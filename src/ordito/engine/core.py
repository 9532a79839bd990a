"""The scheduler, without a clock, I/O or randomness: which step runs when, and what a failure means for the others.

A ``Core`` is told what happened (``react``) and asked what to do now (``wake``). The same plan and the same events give
the same commands, which is what makes a journal enough to continue after a crash (``replay``).

The life of a step is the table ``LIFE`` in `states`; a step *has ended* in one of the states ``ENDED``.

A step is skipped only when all its predecessors have ended: the plan may lack an edge that follows from others, so a
step that runs after a failure relies on everything before the skipped step. Joins only join other steps: at the moment
when another step would become READY, a join becomes SUCCEEDED, and no command names it. Operations that do nothing take
no place on a host.

A join that is a barrier is decided when everything before it has ended: if a required step before it has not succeeded,
nothing after the barrier starts, not even steps that run after a failure.

A plan that ``halts`` stops at a failure, too, except for *rescue* steps: those that a gate for failures lets start, and
those that follow them.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable
from itertools import accumulate

from ordito.engine.gates import Gates
from ordito.engine.messages import (
    CANCELLED,
    AttemptFailed,
    CancelAsked,
    Command,
    CoreEvent,
    Counts,
    Ends,
    GiveUp,
    LeaveOut,
    Skip,
    Start,
    StepEnded,
)
from ordito.engine.queues import Queues
from ordito.engine.states import StepState
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Plan, Step
from ordito.work.records import Record, StepFinishedRecord, StepRetryRecord, StepSkippedRecord, StepStartedRecord

# Plain numbers for the inner loops, where an enum's members cost a look-up each.
_WAITING, _READY, _RUNNING, _SUCCEEDED, _FAILED, _SKIPPED, _PAUSED, _LEFT_OUT = (int(state) for state in StepState)
_WORK, _NO_OP, _JOIN = range(3)
_NOBODY, _CANCEL = -1, -2
MOST_AT_ONCE = 1_000
"""How many steps that do nothing are named at once: a request to cancel is noticed before the next ones."""
# A name of a module is found faster than a member of an enumeration.
JOIN = Action.JOIN
_BY_SCRIPT = frozenset({Action.CALL, Action.HOOK, Action.UNDO})
_AT_ONCE = frozenset({Action.SET_STATE, Action.FILTER, Action.OUTPUT, Action.ADOPT})


class Core:
    """The state of one job's plan. Steps are named by their index in ``Plan.steps``.

    Work and memory are linear in steps and edges (with a logarithm for the queues), and nothing recurses.
    """

    def __init__(self, plan: Plan, options: JobOptions, before: Ends | None = None) -> None:
        """``before``: how the first steps of the plan have ended, if the others are their rollback."""
        count, first = len(plan.steps), len(before.states) if before else 0
        self._steps = plan.steps
        self._aborts = before is None and options.on_failure in ("abort", "rollback")
        self._kind = bytearray([_kind(step, plan) for step in plan.steps])
        self._after_failure = bytearray([step.flow.after_failure for step in plan.steps])
        self._optional = bytearray([step.flow.optional for step in plan.steps])
        self._non_blocking = bytearray([step.flow.non_blocking for step in plan.steps])
        self._barrier = bytearray([step.flow.barrier for step in plan.steps])
        self._first_failed = _NOBODY
        self._is_blocked = False
        self._state = bytearray(count)
        self._ready = bytearray(count)
        self._gates = Gates(plan)
        self._halts = before is None and plan.halts
        self._halted_by = _NOBODY
        self._left_out: list[LeaveOut] = []
        self._begun: set[int] = set()
        self._waits_for, self._first, self._after = _adjacency(count, plan.edges)
        self._blame = array("i", (_NOBODY,)) * count
        self._stopped_by = _NOBODY
        self._was_cancelled = False
        self._unended = count - first
        self._tally = [0] * len(StepState)
        self._no_ops = 0
        self._optional_lacking = 0
        self._instant: list[int] = []
        self._skips: list[Skip] = []
        self._tried: set[int] = set()
        self._given_up: dict[int, None] = {}
        if before is not None:
            self._state[:first] = before.states
            self._tally, self._no_ops = list(before.tally), before.no_ops
            self._optional_lacking, self._was_cancelled = before.optional, before.was_cancelled
        self._lacked_before = self._lacking
        self._queues = Queues(plan, max(1, options.parallel), max(1, options.host_concurrency), self._ready)
        self._go_on([index for index in range(first, count) if not self._waits_for[index]])

    def wake(self) -> list[Command]:
        """What to do now: names each step that can start now, and each that will not run any more, once.

        A started step counts as running until ``react`` is told its end. One call names at most ``MOST_AT_ONCE`` steps
        that do nothing, because all that are named are carried out; the next call names others.
        """
        commands: list[Command] = sorted(self._skips, key=lambda skip: skip.step)
        self._skips.clear()
        commands.extend(sorted(self._left_out, key=lambda left: left.step))
        self._left_out.clear()
        commands.extend(GiveUp(index, self._name(self._stopper)) for index in sorted(self._given_up))
        self._given_up.clear()
        named = 0
        while self._instant and named < MOST_AT_ONCE:
            index = heapq.heappop(self._instant)
            if self._ready[index]:
                self._run(index)
                commands.append(Start(index, no_op=True))
                named += 1
        for index in self._queues.take():
            self._run(index)
            commands.append(Start(index))
        return commands

    def react(self, event: CoreEvent) -> None:
        """Take an event into account. Raises ``ValueError`` for the end of a step that is not running."""
        if isinstance(event, StepEnded):
            self._conclude(event.step, succeeded=event.succeeded, needless=event.needless)
        elif isinstance(event, CancelAsked):
            self._stop(_CANCEL)
        elif isinstance(event, AttemptFailed):
            self._pause(event.step)
        elif self._state[event.step] == _PAUSED and not self.is_stopping_for(event.step):
            self._state[event.step] = _READY
            self._ready[event.step] = True
            self._queues.put(event.step)

    def replay(self, records: Iterable[Record]) -> list[int]:
        """Take over the records of a journal; returns the steps in doubt, in the order in which they started.

        A step in doubt was started and has no end in the journal. It counts as running and keeps its place: the driver
        either tells ``react`` how it ended, or runs it again. Raises ``ValueError`` for records that do not belong to
        the plan.
        """
        in_doubt: dict[int, None] = {}
        skipped: set[int] = set()
        told: set[int] = set()
        records = tuple(records)
        # What was named to be started before a failure that stopped the job was started after it.
        self._begun = {r.step for r in records if isinstance(r, StepStartedRecord | StepFinishedRecord)}
        for record in records:
            if isinstance(record, StepStartedRecord):
                self._has_started(record.step)
                in_doubt[record.step] = None
            elif isinstance(record, StepFinishedRecord):
                if self._state[record.step] == _LEFT_OUT:
                    told.add(record.step)
                    continue
                if self._state[record.step] != _PAUSED:
                    self._has_started(record.step)
                in_doubt.pop(record.step, None)
                self.react(StepEnded(record.step, record.outcome.succeeded, bool(record.because)))
            elif isinstance(record, StepRetryRecord):
                self._has_started(record.step)
                in_doubt.pop(record.step, None)
                self.react(AttemptFailed(record.step))
            elif isinstance(record, StepSkippedRecord):
                skipped.add(record.step)
                if record.because == CANCELLED:
                    self._stop(_CANCEL)
        self._skips = [skip for skip in self._skips if skip.step not in skipped]
        self._left_out = [left for left in self._left_out if left.step not in told]
        self._begun = set()
        return list(in_doubt)

    def state(self, index: int) -> StepState:
        """The state of a step."""
        return StepState(self._state[index])

    @property
    def is_finished(self) -> bool:
        """Whether every step has ended, and ``wake`` has named all that were skipped or left out."""
        return not (self._unended or self._skips or self._left_out)

    @property
    def is_stopping(self) -> bool:
        """Whether no new step starts: the job was cancelled, or a step failed under ``abort``."""
        return self._stopped_by != _NOBODY

    def is_stopping_for(self, index: int) -> bool:
        """Whether this step will not start: the job is stopping, or has halted and the step is no rescue step."""
        halted = self._halted_by != _NOBODY and not self._gates.rescues(index)
        return halted or self._stopped_by != _NOBODY

    @property
    def is_handled(self) -> bool:
        """Whether steps have failed, and what handles the failure of each of them has succeeded (§7.3.7)."""
        if not self._gates.matter or not self._tally[_FAILED] or self._was_cancelled:
            return False
        failed = (index for index, state in enumerate(self._state) if state == _FAILED)
        return all(any(map(self._gates.is_for_failures, self._followers(index))) for index in failed)

    @property
    def was_cancelled(self) -> bool:
        """Whether steps were skipped because the job was cancelled."""
        return self._was_cancelled

    @property
    def counts(self) -> Counts:
        """How many steps have ended, by how they ended."""
        well = self._tally[_SUCCEEDED] + self._tally[_LEFT_OUT]
        return Counts(well, self._tally[_FAILED], self._tally[_SKIPPED], self._no_ops, self._optional_lacking)

    @property
    def ends(self) -> Ends:
        """How the steps of a finished plan have ended."""
        states, tally = bytes(self._state), tuple(self._tally)
        return Ends(states, tally, self._no_ops, self._optional_lacking, self._was_cancelled)

    def waiting_with(self, index: int) -> list[str]:
        """The ids of the steps that wait for a place on the host of this step; none for steps on the orchestrator."""
        if not self._steps[index].runs_on:
            return []
        return [self._steps[other].id for other in self._queues.waiting_with(index)]

    # ---------------------------------------------------------------------------------------------- transitions

    def _run(self, index: int) -> None:
        self._state[index] = _RUNNING
        self._ready[index] = False

    def _has_started(self, index: int) -> None:
        """The journal says that a step was started; a second start after a crash changes nothing."""
        if self._state[index] in (_READY, _PAUSED):
            self._run(index)
            if self._kind[index] == _WORK:
                self._queues.occupy(index)
        elif self._state[index] != _RUNNING:
            raise ValueError(f"the journal starts step {self._steps[index].id} when it could not start")

    def _conclude(self, index: int, *, succeeded: bool, needless: bool) -> None:
        """End a step that runs, or one that waits for another attempt and is given up."""
        state = self._state[index]
        if state != _RUNNING and not (state == _PAUSED and not succeeded):
            raise ValueError(f"step {self._steps[index].id} has ended, but it was not running")
        if state == _PAUSED:
            self._given_up.pop(index, None)
        elif self._kind[index] == _WORK:
            self._queues.release(index)
            self._no_ops += needless
        elif succeeded and not self._steps[index].by_hand:
            self._no_ops += 1
        ended = _SUCCEEDED if succeeded else _FAILED
        if needless and self._steps[index].action is Action.FILTER:
            ended = _LEFT_OUT
        self._end([(index, ended)])
        if succeeded or self._optional[index]:
            return
        if self._halts:
            self._halt(index)
        elif self._aborts or self._is_of_hook(index):
            self._stop(index)

    def _pause(self, index: int) -> None:
        """A running step releases its place and waits for another attempt; if the job is stopping, it is given up."""
        if self._state[index] != _RUNNING or self._kind[index] != _WORK:
            raise ValueError(f"step {self._steps[index].id} cannot wait for another attempt: it was not running")
        self._queues.release(index)
        self._state[index] = _PAUSED
        self._tried.add(index)
        if self.is_stopping_for(index):
            self._given_up[index] = None

    def _end(self, ended: list[tuple[int, int]]) -> None:
        """End these steps, and all that end because of them, directly or indirectly."""
        gated = self._gates.matter
        while ended:
            index, state = ended.pop()
            culprit = self._settle(index, state)
            free: list[int] = []
            for after in self._after[self._first[index] : self._first[index + 1]]:
                if gated:
                    if self._may_pass(index, state, culprit, after):
                        free.append(after)
                    continue
                if culprit != _NOBODY and self._blame[after] == _NOBODY:
                    self._blame[after] = culprit
                self._waits_for[after] -= 1
                if not self._waits_for[after] and self._state[after] == _WAITING:
                    free.append(after)
            ended.extend(self._admit(free))
        if self._is_blocked:
            self._is_blocked = False
            self._stop(self._first_failed)

    def _go_on(self, free: Iterable[int]) -> None:
        self._end(self._admit(free))

    def _may_pass(self, before: int, state: int, culprit: int, after: int) -> bool:
        """Whether the end of one step lets another be decided on, in a plan with gates: as soon as its gate opens, at
        the latest when all steps before it have ended."""
        gates = self._gates
        self._waits_for[after] -= 1
        if self._state[after] != _WAITING or gates.is_open(after):
            if gates.rescues(before) and state in (_SUCCEEDED, _LEFT_OUT):
                self._rescue(after)
            return False
        if culprit != _NOBODY and self._blame[after] == _NOBODY and not gates.is_for_failures(after):
            self._blame[after] = culprit
        return gates.hears(before, state, after) or not self._waits_for[after]

    def _rescue(self, index: int) -> None:
        """A step that may start already becomes a rescue step because of another failure, and so do the steps after
        it."""
        waiting = [index]
        while waiting:
            index = waiting.pop()
            if self._gates.rescue(index) and self._state[index] in (_SUCCEEDED, _LEFT_OUT):
                waiting.extend(self._followers(index))

    def _decided(self, index: int) -> int:
        """The state in which a step ends that its gate or a failure keeps from running; ``_WAITING`` if it may run."""
        blamed = self._blame[index] != _NOBODY and not self._after_failure[index]
        decided = self._gates.decides(index, blamed=blamed)
        if decided != _WAITING or self._kind[index] == _JOIN or self._halted_by == _NOBODY:
            return decided
        return _WAITING if self._gates.rescues(index) else _SKIPPED

    def _admit(self, free: Iterable[int]) -> list[tuple[int, int]]:
        """Make steps ready whose predecessors have all ended; returns those that end at once, and how."""
        ended: list[tuple[int, int]] = []
        for index in free:
            if self._gates.matter:
                decided = self._decided(index)
                if decided != _WAITING:
                    ended.append((index, decided))
                    continue
            elif self._blame[index] != _NOBODY and not self._after_failure[index]:
                ended.append((index, _SKIPPED))
                continue
            if self._kind[index] == _JOIN:
                if self._barrier[index] and self._lacking > self._lacked_before:
                    # What it stops has not begun: that is decided when all else that follows from this is.
                    self._is_blocked = True
                else:
                    ended.append((index, _SUCCEEDED))
            else:
                self._state[index] = _READY
                self._ready[index] = True
                if self._kind[index] == _NO_OP:
                    heapq.heappush(self._instant, index)
                else:
                    self._queues.put(index)
        return ended

    def _settle(self, index: int, state: int) -> int:
        """Record the end of a step; returns the step that its successors name as the reason if they are skipped, if
        any."""
        is_decided = self._state[index] != _RUNNING
        self._state[index] = state
        self._ready[index] = False
        self._unended -= 1
        if self._kind[index] != _JOIN:
            self._tally[state] += 1
        if state == _SUCCEEDED:
            return _NOBODY
        if state == _LEFT_OUT:
            if is_decided and self._kind[index] != _JOIN:
                self._no_ops += 1
                self._left_out.append(LeaveOut(index, self._gates.because(index)))
            return _NOBODY
        self._optional_lacking += self._optional[index]
        if state == _FAILED:
            # What the job can do without is to blame only for what it cannot do without, and where nothing else is.
            if self._first_failed == _NOBODY or (self._optional[self._first_failed] and not self._optional[index]):
                self._first_failed = index
            return _NOBODY if self._non_blocking[index] else index
        culprit = self._blame[index] if self._blame[index] != _NOBODY else self._stopper
        if self._kind[index] != _JOIN:
            self._was_cancelled |= culprit == _CANCEL
            self._skips.append(Skip(index, self._name(culprit)))
        return culprit

    @property
    def _lacking(self) -> int:
        """How many required steps have not succeeded."""
        return self._tally[_FAILED] + self._tally[_SKIPPED] - self._optional_lacking

    def _is_of_hook(self, index: int) -> bool:
        """Whether a step is a lifecycle step or a part of one: if it fails, nothing else starts."""
        step = self._steps[index]
        return step.hook >= 0 and step.action is not Action.UNDO

    @property
    def _stopper(self) -> int:
        return self._stopped_by if self._stopped_by != _NOBODY else self._halted_by

    def _followers(self, index: int) -> array[int]:
        return self._after[self._first[index] : self._first[index + 1]]

    def _halt(self, culprit: int) -> None:
        """Start nothing new but rescue steps: others that are ready are skipped, those that wait for another attempt
        are given up, and those that wait for other steps are skipped when their turn comes."""
        if self._halted_by != _NOBODY:
            return
        self._halted_by = culprit
        skipped: list[tuple[int, int]] = []
        for index, state in enumerate(self._state):
            if (
                self._gates.rescues(index)
                or state not in (_PAUSED, _READY)
                or (state == _READY and index in self._begun)
            ):
                continue
            if state == _PAUSED or index in self._tried:
                self._state[index] = _PAUSED
                self._ready[index] = False
                self._given_up[index] = None
            else:
                skipped.append((index, _SKIPPED))
        self._end(skipped)

    def _name(self, culprit: int) -> str:
        return CANCELLED if culprit == _CANCEL else self._steps[culprit].id

    def _stop(self, culprit: int) -> None:
        """Start nothing new: steps that have not started are skipped, those that wait for another attempt are given up.
        Only the first reason to stop counts."""
        if self.is_stopping:
            return
        self._stopped_by = culprit
        for index, state in enumerate(self._state):
            if state == _PAUSED or (state == _READY and index in self._tried):
                self._state[index] = _PAUSED
                self._ready[index] = False
                self._given_up[index] = None
                self._was_cancelled |= culprit == _CANCEL
            elif state == _WAITING or (state == _READY and index not in self._begun):
                self._settle(index, _SKIPPED)


def _kind(step: Step, plan: Plan) -> int:
    if step.action is JOIN:
        return _JOIN
    if (
        step.by_hand
        or step.action in _AT_ONCE
        or (step.action in _BY_SCRIPT and (step.call < 0 or not plan.calls[step.call].artifact))
    ):
        return _NO_OP
    return _WORK


def _adjacency(count: int, edges: tuple[tuple[int, int, int], ...]) -> tuple[array[int], array[int], array[int]]:
    """For each step: how many edges lead to it, and where its successors begin in the third array.

    The second array has one entry more than there are steps, so that the successors of step i are
    ``after[first[i]:first[i + 1]]``.
    """
    # Lists are counted in faster than arrays, and these need less memory as long as the job runs.
    waits_for, starts = [0] * count, [0] * (count + 2)
    for before, after, _ in edges:
        waits_for[after] += 1
        starts[before + 2] += 1
    first = list(accumulate(starts))
    successors = [0] * len(edges)
    for before, after, _ in edges:
        successors[first[before + 1]] = after
        first[before + 1] += 1
    return array("i", waits_for), array("i", first), array("i", successors)
