"""The life of a step is a table, and the scheduler keeps to it whatever happens."""

from __future__ import annotations

from typing import SupportsIndex, overload

from hypothesis import given
from hypothesis import strategies as st

from ordito.engine.core import Core
from ordito.engine.messages import AttemptFailed, CancelAsked, GiveUp, PauseOver, Start, StepEnded
from ordito.engine.states import ENDED, LIFE, StepState
from ordito.work.options import JobOptions
from ordito.work.plan import Gate, Plan, Step, StepFlow
from tests.engine.fakes import plans

MOVES = {(move.before, move.after) for move in LIFE}


class Watched(bytearray):
    """The states of steps, each move of which must be in the table."""

    def __init__(self, states: bytearray) -> None:
        super().__init__(states)
        self.made: set[tuple[StepState, StepState]] = set()

    @overload
    def __setitem__(self, index: SupportsIndex, state: SupportsIndex, /) -> None: ...
    @overload
    def __setitem__(self, index: slice, state: object, /) -> None: ...
    def __setitem__(self, index, state) -> None:  # type: ignore[no-untyped-def]
        move = StepState(self[index]), StepState(state)
        if move[0] != move[1]:
            assert move in MOVES, f"no step may go from {move[0].name} to {move[1].name}"
            self.made.add(move)
        super().__setitem__(index, state)


def watched(plan: Plan, options: JobOptions) -> tuple[Core, Watched]:
    core = Core(plan, options)
    core._state = states = Watched(core._state)
    return core, states


def obey(core: Core, running: list[int], pausing: list[int]) -> None:
    """Do what the core says now."""
    for command in core.wake():
        if isinstance(command, Start) and not command.no_op:
            running.append(command.step)
        elif isinstance(command, Start):
            core.react(StepEnded(command.step, True))
        elif isinstance(command, GiveUp):
            pausing[:] = [index for index in pausing if index != command.step]
            core.react(StepEnded(command.step, False))


@given(plans(), st.data(), st.sampled_from(["continue", "abort"]))
def test_steps_move_as_the_table_says(plan: Plan, data: st.DataObject, on_failure: str) -> None:
    """With failures, attempts that are repeated, and cancelling at any time."""
    core, states = watched(plan, JobOptions(parallel=2, on_failure=on_failure))
    events = st.sampled_from(["well", "well", "failed", "paused", "over", "cancel"])
    running: list[int] = []
    pausing: list[int] = []
    for _ in range(20 * len(plan.steps) + 20):
        obey(core, running, pausing)
        event = data.draw(events)
        if event == "cancel":
            core.react(CancelAsked())
        elif pausing and (event == "over" or not running):
            core.react(PauseOver(pausing.pop()))
        elif running:
            index = running.pop(0)
            core.react(AttemptFailed(index) if event == "paused" else StepEnded(index, event != "failed"))
            if event == "paused":
                pausing.append(index)
        elif core.is_finished:
            break
    assert all(before not in ENDED for before, _ in states.made)


def test_steps_with_gates_move_as_the_table_says() -> None:
    steps = (
        Step("one"),
        Step("if it fails", flow=StepFlow(gate=Gate.FAILED)),
        Step("then", flow=StepFlow(gate=Gate.ALL)),
    )
    plan = Plan("workflow x", steps, ((0, 1, 0), (1, 2, 0)), (), ("",), overlaps=True, halts=True)
    core, states = watched(plan, JobOptions())
    core.react(StepEnded(next(c.step for c in core.wake() if isinstance(c, Start)), True))
    core.wake()
    assert (StepState.WAITING, StepState.LEFT_OUT) in states.made
