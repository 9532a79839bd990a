"""Lifecycle steps in a job: what follows one that fails, and barriers that only success passes."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.work.events import JobStarted, StepFailed, StepSkipped
from ordito.work.hooks import Block, Hook, Moment, Transition
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Plan, PlannedRecords, Step, StepFlow
from ordito.work.records import StepFinishedRecord, StepSkippedRecord
from ordito.work.rollback import WayBack, with_rollback
from tests.engine.fakes import FakeExecutor, Ran, World, ends, make_plan, run, way_back
from tests.support.thorough import examples

BLOCK = Block("test.example/say@v1#Say", "1.0.0", "digest")
BEFORE, AFTER, BARRIERS = (0, 1), (6, 7), (2, 5)
RESOURCES = ("s3", "s4")


def plan_of(on_failure: Iterable[str] = ("abort",) * 4) -> Plan:
    """Two lifecycle steps, two operations that do not wait for each other, and two lifecycle steps, with barriers."""
    made = make_plan(
        8,
        [(0, 1), (1, 2), (2, 3), (2, 4), (3, 5), (4, 5), (5, 6), (6, 7)],
        joins=BARRIERS,
        after_failure=[*BARRIERS, 4],
    )
    hooks = tuple(
        Hook(f"s{index}", BLOCK, Transition.INSTALL, Moment.BEFORE, on_failure=said)
        for index, said in zip((*BEFORE, *AFTER), on_failure, strict=True)
    )
    steps = list(made.steps)
    for place, (index, hook) in enumerate(zip((*BEFORE, *AFTER), hooks, strict=True)):
        may_fail = hook.on_failure == "continue"
        steps[index] = Step(
            f"s{index}",
            Action.HOOK,
            call=0,
            hook=place,
            chain=8 - index,
            flow=StepFlow(optional=may_fail, non_blocking=may_fail),
        )
    for index in BARRIERS:
        steps[index] = with_flow(steps[index], barrier=True)
    named = tuple(i for i in made.records.new if i.id in {s.instance for s in steps})
    return msgspec.structs.replace(made, steps=tuple(steps), hooks=hooks, records=PlannedRecords(new=named))


def ran(plan: Plan, failing: Iterable[str], back: WayBack | None = None, **more: object) -> Ran:
    """Run a plan whose world knows the steps of its way back as well."""
    whole = with_rollback(plan, back.plan) if back is not None else plan
    return run(plan, FakeExecutor(World(whole), failing), back=back, **more)  # type: ignore[arg-type]


def test_all_is_carried_out_in_turn() -> None:
    found = ran(plan_of(), ())
    assert sorted(found.world.begun[2:4]) == [*RESOURCES]
    assert [*found.world.begun[:2], *found.world.begun[4:]] == ["s0", "s1", "s6", "s7"]
    assert found.result.status == "ok"


@pytest.mark.parametrize("on_failure", ["continue", "abort", "rollback"])
def test_nothing_else_begins_after_a_step_that_fails(on_failure: str) -> None:
    """Not even what tolerates failures, whatever the job was told."""
    found = ran(plan_of(), ["s1"], options=JobOptions(on_failure=on_failure))
    assert found.world.begun == ["s0", "s1"]
    assert found.result.status == "failed"
    assert set(ends(found.journal.records, plan_of()).values()) == {"ok", "failed", "skipped"}


def test_what_may_fail_is_a_warning() -> None:
    found = ran(plan_of(["continue"] * 4), ["s0", "s1", "s6", "s7"])
    assert len(found.world.begun) == 6
    assert found.result.status == "degraded"
    assert {e.optional for e in found.events if isinstance(e, StepFailed)} == {True}


def test_what_is_left_out_holds_nothing_up() -> None:
    found = ran(plan_of(), (), left_out=["s0", "s7"])
    assert found.world.begun == ["s1", *RESOURCES, "s6"]
    assert found.result.status == "ok"
    told = [e for e in found.events if isinstance(e, StepSkipped)]
    assert {e.step: e.needless for e in told} == {"s0": True, "s7": True}
    assert (found.result.counts.no_op, found.result.counts.skipped) == (len(told), 0)


def test_what_is_not_run_because_of_a_failure_is_not_needless() -> None:
    told = [e for e in ran(plan_of(), ["s0"]).events if isinstance(e, StepSkipped)]
    assert {e.needless for e in told} == {False}


def test_independent_operations_finish_and_the_barrier_holds() -> None:
    found = ran(plan_of(), ["s3"])
    assert found.world.begun == ["s0", "s1", *RESOURCES]
    assert found.result.status == "failed"


def with_flow(step: Step, **changes: bool) -> Step:
    return msgspec.structs.replace(step, flow=msgspec.structs.replace(step.flow, **changes))


def test_a_failure_that_the_job_can_do_without_passes_a_barrier() -> None:
    plan = plan_of()
    steps = [with_flow(s, optional=s.id == "s3" or s.flow.optional) for s in plan.steps]
    found = ran(msgspec.structs.replace(plan, steps=tuple(steps)), ["s3"])
    assert found.world.begun[-2:] == ["s6", "s7"]
    assert found.result.status == "degraded"


def test_what_is_lost_by_an_optional_failure_is_told_at_a_barrier() -> None:
    plan = plan_of()
    steps = [with_flow(s, optional=s.id == "s3" or s.flow.optional, after_failure=False) for s in plan.steps]
    steps[5] = with_flow(steps[5], after_failure=True)
    edges = tuple(sorted([*plan.edges, (3, 4, 0)], key=lambda edge: edge[1]))
    found = ran(msgspec.structs.replace(plan, steps=tuple(steps), edges=edges), ["s3"])
    skipped = {r.step: r.because for r in found.journal.records if isinstance(r, StepSkippedRecord)}
    assert skipped == {4: "s3", 6: "s3", 7: "s3"}
    assert found.result.status == "failed"


def test_a_step_that_says_so_turns_the_job_back() -> None:
    found = ran(plan_of(["abort", "abort", "abort", "rollback"]), ["s7"], way_back(2, 2))
    assert found.world.begun[-3:] == ["s7", "rollback.s0", "rollback.s1"]
    assert (found.result.status, found.result.rollback) == ("failed", "complete")
    other = ran(plan_of(["rollback", "rollback", "abort", "rollback"]), ["s6"], way_back(2, 2))
    assert (other.world.begun[-1], other.result.rollback) == ("s6", "")


@given(st.data())
@settings(max_examples=examples(15), deadline=None)
def test_cut_after_any_record_a_job_with_steps_ends_the_same(data: st.DataObject) -> None:
    """What has ended is not carried out again, and a step that says so turns the job back after any cut."""
    said = data.draw(st.lists(st.sampled_from(["abort", "continue", "rollback"]), min_size=4, max_size=4))
    plan, back = plan_of(said), way_back(2, 2)
    names = [s.id for s in plan.steps if s.action is not Action.JOIN]
    failing = data.draw(st.sets(st.sampled_from(names), max_size=2))
    left_out = data.draw(st.sets(st.sampled_from([s.id for s in plan.steps if s.action is Action.HOOK]), max_size=1))
    whole = ran(plan, failing, back, left_out=left_out)
    records, both = whole.journal.records, with_rollback(plan, back.plan)
    turned = next((n for n, r in enumerate(records) if type(r).__name__ == "RollbackRecord"), len(records))
    for cut in range(len(records) + 1):
        known = ends(records[:cut], both)
        executor = FakeExecutor(World(both), failing)
        again = run(both if cut > turned else plan, executor, back=back, left_out=left_out, records=records[:cut])
        assert not set(again.world.begun) & known.keys()
        begun = [e for e in again.events if isinstance(e, JobStarted)]
        assert [e.rolling_back for e in begun] == [cut > turned]
        ended = ends([*records[:cut], *again.journal.records[cut:]], both)
        assert ended == ends(records, both)
        assert (again.result.status, again.result.rollback) == (whole.result.status, whole.result.rollback)


def test_an_end_that_a_block_has_left_behind_is_taken_as_its_end() -> None:
    """A migration that was applied when the program died is not applied again."""
    plan = plan_of()
    records = ran(plan, ()).journal.records
    cut = next(n for n, r in enumerate(records) if isinstance(r, StepFinishedRecord) and r.step == 1)
    executor = FakeExecutor(World(plan), settled={"s1": Outcome(Ending.SUCCEEDED, exit_code=0, outputs={"n": 3})})
    again = run(plan, executor, records=records[:cut])
    assert again.world.begun[0] in RESOURCES
    (ended,) = [r for r in again.journal.records if isinstance(r, StepFinishedRecord) and r.step == 1]
    assert ended.hook is not None
    assert ended.hook.outputs == {"n": 3}
