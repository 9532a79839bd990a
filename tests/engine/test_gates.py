"""The scheduler where steps are there for the failures of others: gates, what is left out, what goes on."""

from __future__ import annotations

import pytest

from ordito.engine.core import Core
from ordito.engine.messages import CancelAsked, LeaveOut, Skip, Start, StepEnded
from ordito.engine.states import StepState
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Gate, OperationCall, Plan, Step, StepFlow
from ordito.work.records import Record, StepFinishedRecord, StepSkippedRecord, StepStartedRecord

CALLS = (OperationCall("node", "", "Standard", "create", "create.sh", "bash"),)


def plan(*lines: str) -> Plan:
    """A plan of lines like ``b: a`` (b waits for a), ``g?failed: a`` (a join with a gate), ``f!: a`` (a filter)."""
    names: dict[str, int] = {}
    steps: list[Step] = []
    edges: list[tuple[int, int, int]] = []
    for line in lines:
        head, _, before = line.partition(":")
        name, _, gate = head.partition("?")
        action = Action.CALL
        if gate.startswith("join"):
            action, gate = Action.JOIN, gate.removeprefix("join").strip()
        if name.endswith("!"):
            name, action = name[:-1], Action.FILTER
        names[name] = len(steps)
        steps.append(
            Step(name, action, instance="one", call=-1 if action is Action.JOIN else 0, flow=StepFlow(gate=Gate(gate)))
        )
        edges += [(names[b], names[name], 0) for b in before.split()]
    return Plan("workflow x", tuple(steps), tuple(edges), CALLS, ("",), overlaps=True, halts=True)


ONE = JobOptions(parallel=1)


class Run:
    """A core that is driven by the names of steps."""

    def __init__(self, made: Plan, options: JobOptions | None = None) -> None:
        self.core = Core(made, options or JobOptions())
        self.ids = [step.id for step in made.steps]
        self.left: dict[str, str] = {}
        self.skipped: list[str] = []
        self.records: list[Record] = []

    def wake(self) -> list[str]:
        """The steps that start now."""
        begun = []
        for command in self.core.wake():
            name = self.ids[command.step]
            if isinstance(command, Start):
                begun.append(name)
                self.records.append(StepStartedRecord(command.step, 0.0))
            elif isinstance(command, LeaveOut):
                self.left[name] = command.because
                ended = Outcome(Ending.SUCCEEDED)
                self.records.append(StepFinishedRecord(command.step, 0.0, ended, no_op=True, because=command.because))
            elif isinstance(command, Skip):
                self.skipped.append(name)
                self.records.append(StepSkippedRecord(command.step, 0.0, command.because))
        return begun

    def end(self, name: str, *, well: bool = True, needless: bool = False) -> list[str]:
        """A step ends; gives what starts then."""
        index = self.ids.index(name)
        outcome = Outcome(Ending.SUCCEEDED if well else Ending.FAILED)
        self.records.append(StepFinishedRecord(index, 0.0, outcome, because="no" if needless else ""))
        self.core.react(StepEnded(index, well, needless))
        return self.wake()

    def state(self, name: str) -> StepState:
        return self.core.state(self.ids.index(name))


def test_what_is_there_for_a_failure_is_left_out_without_one() -> None:
    """R-7.3.1-3: it waits for the failure, and without one counts as done."""
    run = Run(plan("a", "b: a", "g?join failed: a", "r?all: g", "s?all: r", "t: b"))
    assert run.wake() == ["a"]
    assert run.end("a") == ["b"]
    assert set(run.left) == {"r", "s"}
    assert run.left["r"] == "no failure that it handles has happened"
    assert run.end("b") == ["t"]
    run.end("t")
    assert run.core.is_finished
    assert not run.core.counts.lacks
    assert not run.core.is_handled


def test_a_failure_lets_nothing_start_but_what_is_there_for_it() -> None:
    """R-7.3.7-1, R-7.3.7-3: what runs ends, its followers do not start; the rescue runs to its end."""
    run = Run(plan("a", "b: a", "c", "d: c", "g?join failed: a", "r?all: g", "s: r"))
    assert run.wake() == ["a", "c"]
    assert run.end("a", well=False) == ["r"]
    assert run.end("c") == []
    assert set(run.skipped) == {"b", "d"}
    assert run.end("r") == ["s"]
    run.end("s")
    assert run.core.is_finished
    assert run.core.is_handled
    assert run.core.counts.lacks


def test_a_rescue_that_fails_has_handled_nothing() -> None:
    run = Run(plan("a", "g?join failed: a", "r?all: g", "s: r"))
    run.wake()
    assert run.end("a", well=False) == ["r"]
    assert run.end("r", well=False) == []
    assert run.skipped == ["s"]
    assert run.core.is_finished
    assert not run.core.is_handled


def test_a_second_failure_has_its_own_rescue() -> None:
    """What still runs when the first one fails may fail, too."""
    run = Run(plan("a", "c", "g?join failed: a", "r?all: g", "h?join failed: c", "s?all: h"))
    assert run.wake() == ["a", "c"]
    assert run.end("a", well=False) == ["r"]
    assert run.end("c", well=False) == ["s"]
    run.end("r")
    run.end("s")
    assert run.core.is_handled


@pytest.mark.parametrize("well", [True, False])
def test_what_follows_both_ways_runs_once(well: bool) -> None:
    """A step that others name for success and for failure."""
    run = Run(plan("a", "b", "g?join failed: a b", "s?join all: a b", "j?join any: g s", "r?all: j"))
    assert run.wake() == ["a", "b"]
    assert run.end("a", well=well) == ([] if well else ["r"])
    assert run.end("b") == (["r"] if well else [])
    run.end("r")
    assert run.core.is_finished
    assert run.core.is_handled is not well


def test_a_filter_leaves_out_what_follows_it_at_one_instance() -> None:
    """R-7.3.5-2: the others go on, and what waits for all of them does."""
    made = plan("f!", "g!", "a?all: f", "b?all: g", "w?join: a b", "c?all: w f", "d?all: w g", "e: c d")
    run = Run(made)
    assert run.wake() == ["f", "g"]
    assert run.end("f", needless=True) == []
    assert run.end("g") == ["b"]
    assert run.end("b") == ["d"]
    assert run.end("d") == ["e"]
    assert run.left == dict.fromkeys(["a", "c"], "its instance does not pass the filter")
    run.end("e")
    assert run.core.is_finished
    assert run.core.counts.succeeded == 8 - 1
    assert not run.core.counts.lacks


def test_cancelling_stops_rescues_too() -> None:
    run = Run(plan("a", "g?join failed: a", "r?all: g", "s: r"))
    run.wake()
    assert run.end("a", well=False) == ["r"]
    run.core.react(CancelAsked())
    assert run.end("r") == []
    assert run.skipped == ["s"]
    assert not run.core.is_handled


@pytest.mark.parametrize("first", ["a", "c"])
@pytest.mark.parametrize("well", [True, False])
def test_records_give_the_same_again(first: str, well: bool) -> None:
    """Every beginning of the records leads to where the job was then."""
    made = plan("a", "b: a", "c", "d: c", "f!: c", "g?join failed: a", "r?all: g", "s?all: r f", "e: s")
    run = Run(made)
    run.wake()
    run.end(first, well=well)
    for name in ("a", "c", "b", "d", "r", "f"):
        if run.state(name) is StepState.RUNNING:
            run.end(name)
    for cut in range(len(run.records) + 1):
        again = Core(made, JobOptions())
        again.replay(run.records[:cut])
    assert [again.state(n) for n in range(len(run.ids))] == [run.core.state(n) for n in range(len(run.ids))]
    assert again.wake() == []


def test_what_success_has_let_begin_may_be_there_for_a_failure_as_well() -> None:
    """It was ready when the failure came, and is not skipped."""
    run = Run(plan("a", "b: a", "s?join all: a", "g?join failed: b", "j?join any: s g", "r?all: j", "t: r"), ONE)
    assert run.wake() == ["a"]
    assert run.end("a") == ["b"]
    assert run.end("b", well=False) == ["r"]
    assert run.end("r") == ["t"]
    run.end("t")
    assert run.core.is_handled
