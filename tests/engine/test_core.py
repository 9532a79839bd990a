"""The scheduler by itself: order, places, failures, replay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.engine.core import Core
from ordito.engine.messages import CANCELLED, AttemptFailed, CancelAsked, GiveUp, PauseOver, Skip, Start, StepEnded
from ordito.engine.states import StepState
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Plan
from tests.engine.fakes import make_plan, plans


def started(core: Core) -> list[int]:
    return [command.step for command in core.wake() if isinstance(command, Start)]


def drive(core: Core, plan: Plan, failing: frozenset[int], pick: st.DataObject | None = None) -> list[int]:
    """Run a core to its end, ending running steps in any order; gives the order of starts, and checks each."""
    before: dict[int, list[int]] = {}
    for first, second, _ in plan.edges:
        before.setdefault(second, []).append(first)
    running: list[int] = []
    order: list[int] = []
    while not core.is_finished:
        for command in core.wake():
            for first in before.get(command.step, ()):
                assert core.state(first) in (StepState.SUCCEEDED, StepState.FAILED, StepState.SKIPPED)
            if isinstance(command, Start):
                running.append(command.step)
                order.append(command.step)
        if not running:
            break
        index = running.pop(pick.draw(st.integers(0, len(running) - 1)) if pick else 0)
        core.react(StepEnded(index, index not in failing))
    assert core.counts.ended == sum(step.action is not Action.JOIN for step in plan.steps)
    return order


def expected_states(plan: Plan, failing: frozenset[int]) -> list[StepState]:
    """By the definition: blocked by a failed or blocked predecessor, unless it runs after failures."""
    states: list[StepState] = []
    before: dict[int, list[int]] = {}
    for first, second, _ in plan.edges:
        before.setdefault(second, []).append(first)
    for index, step in enumerate(plan.steps):
        well = all(states[first] is StepState.SUCCEEDED for first in before.get(index, ()))
        if not well and not step.flow.after_failure:
            states.append(StepState.SKIPPED)
        elif index in failing and step.action is not Action.JOIN:
            states.append(StepState.FAILED)
        else:
            states.append(StepState.SUCCEEDED)
    return states


@given(plans(), st.data())
def test_failures_block_exactly_what_depends_on_them(plan: Plan, data: st.DataObject) -> None:
    """`continue`: every step ends, in an order that keeps all edges, and as its predecessors and it itself say."""
    failing = frozenset(data.draw(st.sets(st.integers(0, len(plan.steps) - 1), max_size=4)))
    core = Core(plan, JobOptions())
    order = drive(core, plan, failing, data)
    assert len(order) == len(set(order))
    assert [core.state(index) for index in range(len(plan.steps))] == expected_states(plan, failing)
    counts = core.counts
    assert counts.ended == sum(step.action is not Action.JOIN for step in plan.steps)


@given(plans(), st.data(), st.integers(1, 4))
def test_places_are_respected(plan: Plan, data: st.DataObject, parallel: int) -> None:
    """R-7.2-4, R-3.7.9-3, R-7.2.2.4-3: §7.2.3: never more at a time on a host than it has places, nor in all than the
    job has; none stays unused."""
    core = Core(plan, JobOptions(parallel=parallel))
    running: list[int] = []
    while not core.is_finished:
        while commands := core.wake():
            for command in commands:
                if isinstance(command, Start) and not command.no_op:
                    running.append(command.step)
                elif isinstance(command, Start):
                    core.react(StepEnded(command.step, True))
        assert len(running) <= parallel
        hosts = [plan.steps[index].runs_on for index in running]
        for host in set(hosts) - {""}:
            assert hosts.count(host) <= plan.capacity.get(host, 1)
        if not running:
            continue
        ready = [index for index in range(len(plan.steps)) if core.state(index) is StepState.READY]
        for index in ready:
            host = plan.steps[index].runs_on
            no_op = plan.steps[index].call == 1
            full = len(running) == parallel or (host and hosts.count(host) == plan.capacity.get(host, 1))
            assert full or no_op
        core.react(StepEnded(running.pop(data.draw(st.integers(0, len(running) - 1))), True))
    assert core.counts.skipped == 0


@given(plans(), st.data(), st.integers(1, 4))
def test_one_operation_at_a_time_runs_on_an_instance(plan: Plan, data: st.DataObject, parallel: int) -> None:
    """Whatever the edges and hosts; and everything is run in the end."""
    count = len(plan.steps)
    owners = data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    joins = [index for index, step in enumerate(plan.steps) if step.action is Action.JOIN]
    edges = [(before, after) for before, after, _ in plan.edges]
    hosts = {index: step.runs_on for index, step in enumerate(plan.steps)}
    plan = make_plan(count, edges, hosts=hosts, joins=joins, capacity=plan.capacity, owners=dict(enumerate(owners)))
    core = Core(plan, JobOptions(parallel=parallel))
    running: list[int] = []
    while not core.is_finished:
        while commands := core.wake():
            running += [command.step for command in commands if isinstance(command, Start)]
        instances = [plan.steps[index].instance for index in running]
        assert len(instances) == len(set(instances))
        if running:
            core.react(StepEnded(running.pop(data.draw(st.integers(0, len(running) - 1))), True))
    assert core.counts.succeeded == count - len(joins)


def test_the_longest_remaining_chain_goes_first_then_the_plans_order() -> None:
    plan = make_plan(6, [(3, 4), (4, 5)])
    assert started(Core(plan, JobOptions(parallel=2))) == [3, 0]


def test_hosts_with_a_free_place_do_not_wait_for_busy_ones() -> None:
    plan = make_plan(5, hosts={0: "h_1", 1: "h_1", 2: "h_1", 3: "h_2", 4: ""})
    core = Core(plan, JobOptions())
    assert sorted(started(core)) == [0, 3, 4]
    core.react(StepEnded(0, True))
    assert started(core) == [1]


def test_joins_are_resolved_inside() -> None:
    plan = make_plan(4, [(0, 1), (1, 2), (2, 3)], joins=[0, 1, 2])
    core = Core(plan, JobOptions())
    assert core.wake() == [Start(3)]


def test_a_skipped_step_names_the_step_that_failed() -> None:
    plan = make_plan(4, [(0, 1), (1, 2), (2, 3)], joins=[1])
    core = Core(plan, JobOptions())
    core.wake()
    core.react(StepEnded(0, False))
    assert core.wake() == [Skip(2, "s0"), Skip(3, "s0")]
    assert core.is_finished
    assert core.counts.skipped == 2


def test_a_tolerant_step_waits_for_everything_before_a_skipped_one() -> None:
    """s3 tolerates that s2 is skipped; s2 waits for s1, which still runs, and the plan leaves out the edge s1-s3."""
    plan = make_plan(4, [(0, 2), (1, 2), (2, 3)], after_failure=[3])
    core = Core(plan, JobOptions())
    core.wake()
    core.react(StepEnded(0, False))
    assert core.wake() == []
    core.react(StepEnded(1, True))
    assert core.wake() == [Skip(2, "s0"), Start(3)]


def test_abort_starts_nothing_after_a_failure() -> None:
    plan = make_plan(5, [(0, 3), (1, 4)], after_failure=[4])
    core = Core(plan, JobOptions(parallel=2, on_failure="abort"))
    assert started(core) == [0, 1]
    core.react(StepEnded(0, False))
    assert core.wake() == [Skip(2, "s0"), Skip(3, "s0"), Skip(4, "s0")]
    core.react(StepEnded(1, True))
    assert core.wake() == []
    assert core.counts.ended == 5
    assert not core.was_cancelled


def test_the_plan_wins_over_the_job_in_how_many_run_on_a_host() -> None:
    hosts = {0: "h_1", 1: "h_1", 2: "h_1", 3: "h_2", 4: "h_2"}
    core = Core(make_plan(5, hosts=hosts, capacity={"h_2": 1}), JobOptions(host_concurrency=2))
    assert sorted(started(core)) == [0, 1, 3]
    assert core.waiting_with(0) == ["s2"]
    assert core.waiting_with(3) == ["s4"]


def test_nobody_waits_for_a_place_on_the_orchestrator() -> None:
    core = Core(make_plan(3), JobOptions(parallel=1))
    core.wake()
    assert core.waiting_with(0) == []


def test_cancelling_lets_running_steps_end() -> None:
    plan = make_plan(3, [(0, 1), (1, 2)])
    core = Core(plan, JobOptions())
    core.wake()
    core.react(CancelAsked())
    assert core.wake() == [Skip(1, CANCELLED), Skip(2, CANCELLED)]
    core.react(StepEnded(0, True))
    assert core.wake() == []
    assert core.is_finished
    assert core.was_cancelled


def test_cancelling_when_all_steps_have_started_leaves_nothing_out() -> None:
    core = Core(make_plan(1), JobOptions())
    core.wake()
    core.react(CancelAsked())
    core.react(StepEnded(0, True))
    assert core.is_finished
    assert not core.was_cancelled


@given(plans(), st.data(), st.integers(1, 4))
def test_steps_that_pause_hold_no_place_and_change_nothing_else(plan: Plan, data: st.DataObject, parallel: int) -> None:
    """With attempts that fail for now, every step ends as it would without them."""
    numbers = st.integers(0, len(plan.steps) - 1)
    failing = frozenset(data.draw(st.sets(numbers, max_size=3)))
    left = data.draw(st.dictionaries(numbers, st.integers(1, 3), max_size=5))
    core = Core(plan, JobOptions(parallel=parallel))
    running: list[int] = []
    pausing: list[int] = []
    while not core.is_finished:
        for command in core.wake():
            if isinstance(command, Start) and not command.no_op:
                running.append(command.step)
            elif isinstance(command, Start):
                core.react(StepEnded(command.step, command.step not in failing))
        assert len(running) <= parallel
        assert [i for i in range(len(plan.steps)) if core.state(i) is StepState.PAUSED] == sorted(pausing)
        if not running and not pausing:
            continue
        if pausing and (not running or data.draw(st.booleans())):
            core.react(PauseOver(pausing.pop(data.draw(st.integers(0, len(pausing) - 1)))))
            continue
        index = running.pop(data.draw(st.integers(0, len(running) - 1)))
        if left.get(index):
            left[index] -= 1
            core.react(AttemptFailed(index))
            pausing.append(index)
        else:
            core.react(StepEnded(index, index not in failing))
    assert [core.state(index) for index in range(len(plan.steps))] == expected_states(plan, failing)


def test_a_pausing_step_leaves_its_place_on_the_host_to_others() -> None:
    core = Core(make_plan(2, hosts={0: "h_1", 1: "h_1"}), JobOptions())
    assert started(core) == [0]
    core.react(AttemptFailed(0))
    assert started(core) == [1]
    core.react(PauseOver(0))
    assert started(core) == []
    core.react(StepEnded(1, True))
    assert started(core) == [0]


@pytest.mark.parametrize("is_due", [False, True])
def test_cancelling_gives_up_what_pauses(is_due: bool) -> None:
    """Also where the pause is over, but no place was free."""
    core = Core(make_plan(3, [(0, 1)]), JobOptions(parallel=1))
    assert started(core) == [0]
    core.react(AttemptFailed(0))
    assert started(core) == [2]
    if is_due:
        core.react(PauseOver(0))
    core.react(CancelAsked())
    assert core.wake() == [Skip(1, CANCELLED), GiveUp(0, CANCELLED)]
    core.react(PauseOver(0))
    core.react(StepEnded(0, False))
    core.react(StepEnded(2, True))
    assert core.wake() == []
    assert core.is_finished
    assert core.was_cancelled


def test_a_failure_under_abort_gives_up_what_pauses() -> None:
    core = Core(make_plan(2), JobOptions(on_failure="abort"))
    assert started(core) == [0, 1]
    core.react(AttemptFailed(0))
    core.react(StepEnded(1, False))
    assert core.wake() == [GiveUp(0, "s1")]
    core.react(StepEnded(0, False))
    assert core.is_finished
    assert not core.was_cancelled


def test_what_does_not_run_cannot_pause() -> None:
    with pytest.raises(ValueError, match="s1 cannot wait for another attempt"):
        Core(make_plan(2, [(0, 1)]), JobOptions()).react(AttemptFailed(1))


def test_the_end_of_a_step_that_does_not_run_is_an_error() -> None:
    core = Core(make_plan(2, [(0, 1)]), JobOptions())
    with pytest.raises(ValueError, match="s1 has ended"):
        core.react(StepEnded(1, True))


def test_a_large_plan_takes_no_recursion() -> None:
    """A chain of 50,000 joins, and 50,000 steps blocked one after the other."""
    count = 50_000
    plan = make_plan(count, [(i, i + 1) for i in range(count - 1)], joins=range(count - 1))
    assert Core(plan, JobOptions()).wake() == [Start(count - 1)]
    plan = make_plan(count, [(i, i + 1) for i in range(count - 1)])
    core = Core(plan, JobOptions())
    core.wake()
    core.react(StepEnded(0, False))
    assert len(core.wake()) == count - 1
