"""A job that has failed is rolled back: further steps of the same job, through any crash."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.engine.ports import JobControl
from ordito.work.events import JobRollback, StepRetrying, StepStarted
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Plan
from ordito.work.records import Record, RollbackRecord, StepStartedRecord
from ordito.work.rollback import PREFIX, WayBack, with_rollback
from tests.engine.fakes import FakeExecutor, Ran, World, ends, essence, make_plan, plans, run, way_back
from tests.support.thorough import examples

OPTIONS = JobOptions(on_failure="rollback")


def rolled(plan: Plan, back: WayBack, failing: list[str] | set[str], **more: object) -> Ran:
    """Run a plan with a way back; its world knows the steps of both."""
    executor = FakeExecutor(World(with_rollback(plan, back.plan)), failing)
    return run(plan, executor, **{"options": OPTIONS, "back": back, **more})  # type: ignore[arg-type]


def test_what_was_done_is_taken_back_after_a_failure() -> None:
    plan, back = make_plan(3, [(0, 1), (1, 2)]), way_back(2, 2)
    ran = rolled(plan, back, ["s1"])
    assert ran.world.begun == ["s0", "s1", "rollback.s0", "rollback.s1"]
    assert (ran.result.status, ran.result.rollback, ran.result.remains) == ("failed", "complete", ())
    (event,) = (e for e in ran.events if isinstance(e, JobRollback))
    assert event.steps == 2
    assert ends(ran.journal.records, with_rollback(plan, back.plan))["s2"] == "skipped"


def test_a_failure_in_the_rollback_stops_nothing_and_is_said() -> None:
    plan, back = make_plan(1), way_back(3, 1)
    ran = rolled(plan, msgspec.structs.replace(back, remains=("a data base",)), {"s0", "rollback.s1"})
    assert ran.world.begun == ["s0", "rollback.s0", "rollback.s1", "rollback.s2"]
    assert ran.result.rollback == "incomplete"
    assert ran.result.remains == ("a data base", "rollback.s1: exit code 1")


@pytest.mark.parametrize("on_failure", ["continue", "abort"])
def test_nothing_is_taken_back_unasked(on_failure: str) -> None:
    ran = rolled(make_plan(1), way_back(1, 1), {"s0"}, options=JobOptions(on_failure=on_failure))
    assert ran.world.begun == ["s0"]
    assert ran.result.rollback == ""


def test_nothing_is_taken_back_of_a_job_that_ends_well() -> None:
    assert rolled(make_plan(2), way_back(1, 1), set()).result.rollback == ""


def test_nothing_new_starts_before_what_was_done_is_taken_back() -> None:
    """Running steps finish first; independent ones that have not begun are left out."""
    ran = rolled(make_plan(4, hosts={2: "h_1", 3: "h_1"}), way_back(1, 1), {"s2"})
    begun = ran.world.begun
    assert "s3" not in begun
    assert begun[-1] == "rollback.s0"


def test_a_cancelled_job_is_not_rolled_back() -> None:
    control = JobControl()

    def listen(event: object) -> None:
        if isinstance(event, StepRetrying):
            control.request_cancel()

    options = JobOptions(on_failure="rollback", attempts=2, interval=3600.0)
    ran = rolled(make_plan(1), way_back(1, 1), {"s0"}, control=control, listener=listen, options=options)
    assert (ran.result.status, ran.result.rollback) == ("cancelled", "")


def test_a_rollback_that_is_cancelled_is_incomplete() -> None:
    control = JobControl()

    def listen(event: object) -> None:
        if isinstance(event, StepStarted) and event.step == "rollback.s0":
            control.request_cancel()

    ran = rolled(make_plan(1), way_back(3, 1), {"s0"}, control=control, listener=listen)
    assert (ran.result.status, ran.result.rollback) == ("cancelled", "incomplete")
    assert ran.result.remains == ("2 steps of the rollback did not run",)


@given(plans(largest=8), st.integers(1, 5), st.data())
@settings(max_examples=examples(15), deadline=None)
def test_cut_after_any_record_a_rollback_goes_on_as_one(plan: Plan, count: int, data: st.DataObject) -> None:
    """No completed step runs again. Once it has begun nothing of the job itself starts any more, and the end is the
    same; before, another failure than in the whole run may be the first, after which nothing starts."""
    named = {step.instance for step in plan.steps if step.instance}
    if not named:
        return
    back = way_back(count, len(named))
    whole_plan = with_rollback(plan, back.plan)
    names = [step.id for step in whole_plan.steps]
    failing = data.draw(st.sets(st.sampled_from(names), min_size=1, max_size=3))
    whole = rolled(plan, back, failing)
    records = whole.journal.records
    begins = next((n for n, r in enumerate(records) if isinstance(r, RollbackRecord)), len(records))
    for cut in range(len(records) + 1):
        kept = records[:cut]
        known = ends(kept, whole_plan)
        again = rolled(whole_plan if cut > begins else plan, back, failing, records=kept)
        assert not set(again.world.begun) & known.keys()
        if cut > begins:
            assert all(name.startswith(PREFIX) for name in again.world.begun)
        everything = [*kept, *again.journal.records[cut:]]
        ended = ends(everything, whole_plan)
        assert {name for name in ended if name.startswith(PREFIX)} == {
            name for name in ends(records, whole_plan) if name.startswith(PREFIX)
        }
        if cut > begins:
            assert ended == ends(records, whole_plan)
            assert essence(again.snapshot) == essence(whole.snapshot)
            assert again.result.counts == whole.result.counts
        assert (again.result.status, again.result.rollback) == (whole.result.status, whole.result.rollback)
        assert set(again.result.remains) == set(whole.result.remains)
        assert len(rollbacks(everything)) == len(rollbacks(records)) <= 1


def rollbacks(records: list[Record]) -> list[Record]:
    return [record for record in records if isinstance(record, RollbackRecord)]


def test_the_plan_of_a_rollback_is_numbered_after_the_job_s() -> None:
    plan, back = make_plan(2, [(0, 1)]), way_back(2, 1)
    both = with_rollback(plan, back.plan)
    assert [step.id for step in both.steps] == ["s0", "s1", "rollback.s0", "rollback.s1"]
    assert both.edges == ((0, 1, 0), (2, 3, 1))
    assert [both.calls[step.call] for step in both.steps] == [plan.calls[0]] * 2 + [back.plan.calls[0]] * 2
    assert all(step.action is Action.CALL for step in both.steps)
    assert not any(isinstance(record, StepStartedRecord) for record in rollbacks([]))
