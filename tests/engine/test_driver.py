"""The driver with a fake executor: order, failures, events, cancelling, and continuing from any cut of the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordito.engine.messages import CANCELLED
from ordito.engine.ports import JobControl
from ordito.testing import MemoryJournal
from ordito.work.events import (
    InstanceState,
    JobFinished,
    JobStarted,
    StepFailed,
    StepLog,
    StepRetrying,
    StepSkipped,
    StepStarted,
    StepSucceeded,
    StepWarning,
)
from ordito.work.invocation import Ending, InDoubt, Invocation, Outcome, Progress
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Plan
from ordito.work.records import (
    JobClosingRecord,
    Record,
    StepFinishedRecord,
    StepProcessRecord,
    StepRetryRecord,
    StepSkippedRecord,
    StepStartedRecord,
)
from tests.engine.fakes import (
    FakeExecutor,
    FakeProvider,
    World,
    ends,
    essence,
    make_plan,
    plans,
    run,
)
from tests.support.thorough import examples


def calls(plan: Plan) -> list[str]:
    """The steps that an executor carries out."""
    return [step.id for step in plan.steps if step.action is Action.CALL and step.call == 0]


def random_executor(plan: Plan, data: st.DataObject, parallel: int = 64) -> FakeExecutor:
    names = [step.id for step in plan.steps]
    return FakeExecutor(
        World(plan, parallel),
        data.draw(st.sets(st.sampled_from(names), max_size=3)),
        takes=data.draw(st.dictionaries(st.sampled_from(names), st.integers(0, 5))),
        size=data.draw(st.sampled_from([1, 2])),
    )


@given(plans(), st.data(), st.integers(1, 5))
@settings(max_examples=examples(25), deadline=None)
def test_any_plan_is_carried_out_once_and_in_order(plan: Plan, data: st.DataObject, parallel: int) -> None:
    """Every step ends once, in an order that keeps all edges, with no more at a time than there are places."""
    ran = run(plan, random_executor(plan, data, parallel), options=JobOptions(parallel=parallel))
    assert ran.world.faults == []
    assert len(ran.world.begun) == len(set(ran.world.begun))
    ended = ends(ran.journal.records, plan)
    assert set(ended) == {step.id for step in plan.steps if step.action is not Action.JOIN}
    assert ran.world.completed == [name for name in ran.world.completed if ended[name] in ("ok", "failed")]
    place = {id(record): number for number, record in enumerate(ran.journal.records)}
    begun = {r.step: place[id(r)] for r in ran.journal.records if isinstance(r, StepStartedRecord)}
    finished = {r.step: place[id(r)] for r in ran.journal.records if isinstance(r, StepFinishedRecord)}
    for first, second, _ in plan.edges:
        if second in begun and first in finished:
            assert finished[first] < begun[second]
    assert ran.result.status == ("failed" if "failed" in ended.values() else "ok")
    assert ran.result.counts.failed == len(ran.result.failed)
    assert isinstance(ran.journal.records[-1], JobClosingRecord)


@given(plans(largest=10), st.data())
@settings(max_examples=examples(15), deadline=None)
def test_cut_after_any_record_the_job_continues_to_the_same_end(plan: Plan, data: st.DataObject) -> None:
    """A completed step never runs again, one in doubt is settled, and the end is that of an undisturbed run."""
    names = st.sampled_from([step.id for step in plan.steps])
    failing = data.draw(st.sets(names, max_size=2))
    flaky = data.draw(st.dictionaries(names, st.integers(1, 3), max_size=3))
    options = JobOptions(attempts=3, interval=0.0)
    whole = run(plan, FakeExecutor(World(plan), failing, flaky=flaky), options=options)
    records = whole.journal.records
    for cut in range(len(records) + 1):
        kept = records[:cut]
        known = ends(kept, plan)
        doubtful = {
            plan.steps[r.step].id
            for r in kept
            if isinstance(r, StepStartedRecord) and plan.steps[r.step].id not in known
        } - {plan.steps[index].id for index in pausing(kept)}
        executor = FakeExecutor(World(plan), failing, flaky=flaky)
        again = run(plan, executor, records=kept, options=options)
        assert again.world.faults == []
        assert not set(again.world.begun) & known.keys()
        assert {name for name, _ in executor.settlings} == doubtful & set(calls(plan))
        everything = [*kept, *(r for r in again.journal.records[cut:])]
        assert ends(everything, plan) == ends(records, plan)
        assert essence(again.snapshot) == essence(whole.snapshot)
        assert again.result.status == whole.result.status
        assert again.result.counts == whole.result.counts
        assert again.result.outputs == whole.result.outputs
        assert {f.step for f in again.result.failed} == {f.step for f in whole.result.failed}
        changes = [r.change for r in everything if isinstance(r, StepFinishedRecord) and r.change]
        assert len(changes) == len(set(changes))
        assert attempts(everything) == attempts(records)


def pausing(records: Sequence[Record]) -> set[int]:
    """The steps that wait for another attempt at the end of these records."""
    found: set[int] = set()
    for record in records:
        if isinstance(record, StepRetryRecord):
            found.add(record.step)
        elif isinstance(record, StepStartedRecord | StepFinishedRecord | StepSkippedRecord):
            found.discard(record.step)
    return found


def attempts(records: Sequence[Record]) -> dict[int, int]:
    """How many attempts each step had in all."""
    return {record.step: record.attempt for record in records if isinstance(record, StepFinishedRecord)}


def test_a_failing_operation_is_tried_again_under_the_same_changeid() -> None:
    plan = make_plan(2, [(0, 1)])
    executor = FakeExecutor(World(plan), flaky={"s0": 2})
    ran = run(plan, executor, options=JobOptions(attempts=3, interval=0.001))
    assert ran.result.status == "ok"
    assert executor.attempts == [("s0", 1), ("s0", 2), ("s0", 3), ("s1", 1)]
    told = [(e.step, e.next, e.attempts, round(e.seconds, 6)) for e in ran.events if isinstance(e, StepRetrying)]
    assert told == [("s0", 2, 3, 0.001), ("s0", 3, 3, 0.002)]
    assert [e.attempt for e in ran.events if isinstance(e, StepStarted)] == [1, 2, 3, 1]
    about = StepStartedRecord | StepRetryRecord | StepFinishedRecord
    changes = {r.change for r in ran.journal.records if isinstance(r, about) and r.step == 0}
    assert len(changes) == 1


def test_attempts_are_used_up() -> None:
    plan = make_plan(2, [(0, 1)])
    executor = FakeExecutor(World(plan), ["s0"])
    ran = run(plan, executor, options=JobOptions(attempts=2, interval=0.0))
    assert executor.attempts == [("s0", 1), ("s0", 2)]
    assert ends(ran.journal.records, plan) == {"s0": "failed", "s1": "skipped"}
    assert len(ran.result.failed) == 1


@pytest.mark.parametrize("requests", [1, 2])
def test_cancelling_ends_a_pause_at_once(requests: int) -> None:
    """The pause is an hour long."""
    plan = make_plan(2, [(0, 1)])
    control = JobControl()

    def listen(event: object) -> None:
        if isinstance(event, StepRetrying):
            for _ in range(requests):
                control.request_cancel()

    executor = FakeExecutor(World(plan), ["s0"])
    ran = run(plan, executor, options=JobOptions(attempts=3, interval=3600.0), control=control, listener=listen)
    assert ran.result.status == "cancelled"
    assert ends(ran.journal.records, plan) == {"s0": "failed", "s1": "skipped"}
    (failed,) = ran.result.failed
    assert failed.outcome.ending is Ending.CANCELLED
    assert failed.outcome.message == "exit code 1; not tried again, because the job was cancelled"


def test_a_pause_ends_when_another_step_fails_under_abort() -> None:
    plan = make_plan(2)
    options = JobOptions(on_failure="abort", attempts=2, interval=3600.0)
    executor = FakeExecutor(World(plan), ["s0"], raising=["s1"], takes={"s1": 9})
    plan = msgspec.structs.replace(
        plan,
        calls=(*plan.calls, msgspec.structs.replace(plan.calls[0], attempts=1)),
        steps=(plan.steps[0], msgspec.structs.replace(plan.steps[1], call=len(plan.calls))),
    )
    ran = run(plan, executor, options=options)
    assert ran.result.status == "failed"
    assert ran.result.failed[-1].outcome.message == "exit code 1; not tried again, because s1 failed"


def test_the_rest_of_a_pause_is_waited_for_after_a_crash() -> None:
    """The fake clock moves a second a look: what is due by then starts at once."""
    plan = make_plan(1)
    options = JobOptions(attempts=2, interval=2.0)
    executor = FakeExecutor(World(plan), flaky={"s0": 1})

    class Dying(MemoryJournal):
        def commit(self) -> None:
            super().commit()
            if any(isinstance(r, StepRetryRecord) for r in self.records):
                raise OSError("the machine died")

    journal = Dying()
    with pytest.raises(OSError, match="died"):
        run(plan, executor, options=options, journal=journal)
    again = run(plan, FakeExecutor(World(plan), flaky={"s0": 1}), options=options, records=journal.records)
    assert again.result.status == "ok"
    assert again.executor.attempts == [("s0", 2)]
    assert again.executor.settlings == []


def test_an_end_that_the_process_left_behind_is_taken_as_the_steps_end() -> None:
    plan = make_plan(2, [(0, 1)])
    whole = run(plan)
    started = [r for r in whole.journal.records if r.__class__ in (StepStartedRecord, StepProcessRecord)][:2]
    executor = FakeExecutor(World(plan), settled={"s0": Outcome(Ending.SUCCEEDED, outputs={"port": "s0"})})
    again = run(plan, executor, records=started)
    assert again.world.begun == ["s1"]
    assert executor.settlings[0][1] is not None
    assert essence(again.snapshot) == essence(whole.snapshot)


def test_a_step_that_runs_again_keeps_its_changeid() -> None:
    plan = make_plan(1)
    whole = run(plan)
    (begun,) = (r for r in whole.journal.records if isinstance(r, StepStartedRecord))
    again = run(plan, records=[begun])
    (ended,) = (r for r in again.journal.records if isinstance(r, StepFinishedRecord))
    assert ended.change == begun.change


def test_a_process_starts_only_after_its_record_is_committed() -> None:
    plan = make_plan(6, [(0, 1), (0, 2), (1, 3), (2, 4)])
    journal = MemoryJournal()
    missing: list[str] = []

    class Watching(World):
        def begin(self, step: str) -> None:
            known = {plan.steps[r.step].id for r in journal.records if isinstance(r, StepStartedRecord)}
            missing.extend({step} - known)
            super().begin(step)

    ran = run(plan, FakeExecutor(Watching(plan)), journal=journal)
    assert len(ran.world.begun) == 6
    assert missing == []


def test_the_end_of_a_step_and_the_starts_it_allows_are_one_commit() -> None:
    plan = make_plan(3, [(0, 1), (0, 2)])
    ran = run(plan)
    kinds = [type(record).__name__ for record in ran.journal.records]
    assert kinds == [
        "StepStartedRecord",
        "StepProcessRecord",
        *(["StepFinishedRecord", "StepStartedRecord", "StepStartedRecord"]),
        *(["StepProcessRecord", "StepProcessRecord", "StepFinishedRecord", "StepFinishedRecord"]),
        "JobClosingRecord",
    ]
    ends_of_turns = ran.journal.turns
    assert 1 in ends_of_turns
    assert 3 not in ends_of_turns
    assert 4 not in ends_of_turns
    assert 5 in ends_of_turns


def test_events_tell_the_story_in_order() -> None:
    plan = make_plan(4, [(0, 1), (1, 2), (2, 3)], no_ops=[1])
    ran = run(plan, FakeExecutor(World(plan), ["s2"], prints={"s0": [b"one\ntw", b"o\nthree"]}))
    first, *_, last = ran.events
    assert first == JobStarted("A6BKKQCN0000", "deploy", 4, 0, ("node_1", "node_2", "node_3", "node_4"), at=first.at)
    assert isinstance(last, JobFinished)
    assert (last.status, last.succeeded, last.failed, last.skipped, last.no_op) == ("failed", 2, 1, 1, 1)
    story = [type(e).__name__ for e in ran.events if not isinstance(e, InstanceState | JobStarted | JobFinished)]
    assert story == [
        "StepStarted",
        "StepLog",
        "StepLog",
        "StepLog",
        "StepSucceeded",
        "StepSucceeded",
        "StepStarted",
        "StepFailed",
        "StepSkipped",
    ]
    assert [e.text for e in ran.events if isinstance(e, StepLog)] == ["one", "two", "three"]
    (no_op,) = (e for e in ran.events if isinstance(e, StepSucceeded) and e.no_op)
    assert no_op.change == ""
    (failed,) = (e for e in ran.events if isinstance(e, StepFailed))
    assert (failed.declared, failed.artifact, failed.operation) == ("s.yaml:3:5", "create.sh", "Standard.create")
    assert failed.change == "A6BKKQCN0002"
    (skipped,) = (e for e in ran.events if isinstance(e, StepSkipped))
    assert skipped.because == "s2"
    states = [(e.instance, e.state, e.local) for e in ran.events if isinstance(e, InstanceState)]
    assert states[:2] == [("node_1", "creating", "pending"), ("node_1", "created", "ok")]


def test_a_failure_carries_the_last_lines() -> None:
    plan = make_plan(1)
    lines = "".join(f"line {number}\n" for number in range(30)).encode()
    ran = run(plan, FakeExecutor(World(plan), ["s0"], prints={"s0": [lines, b"caf\xc3", b"\xa9 \xff"]}))
    tail = ran.result.failed[0].outcome.tail
    assert tail[-1] == "café \ufffd"
    assert tail[0] == "line 11"


def test_a_fault_in_an_executor_fails_its_step_only() -> None:
    plan = make_plan(3, [(0, 2)])
    ran = run(plan, FakeExecutor(World(plan), raising=["s0"]))
    assert ends(ran.journal.records, plan) == {"s0": "failed", "s1": "ok", "s2": "skipped"}
    (crash,) = ran.result.crashes
    assert crash.step == "s0"
    assert "LookupError: no such thing" in crash.report
    assert "no such thing" in ran.result.failed[0].outcome.message


def test_a_fault_in_a_listener_ends_neither_the_job_nor_the_others() -> None:
    plan = make_plan(2, [(0, 1)])
    times: list[object] = []

    def failing(event: object) -> None:
        times.append(event)
        raise LookupError("the screen is gone")

    ran = run(plan, listeners=[failing])
    assert ran.result.status == "ok"
    assert len(times) == 1
    (crash,) = ran.result.crashes
    assert "the screen is gone" in crash.report
    assert isinstance(ran.events[-1], JobFinished)


def test_a_job_with_warnings_is_degraded_also_after_a_crash() -> None:
    plan = make_plan(2, [(0, 1)])
    whole = run(plan, warned=["s0"])
    assert whole.result.status == "degraded"
    for cut in range(2, len(whole.journal.records)):
        assert run(plan, records=whole.journal.records[:cut]).result.status == "degraded"


def test_an_operation_that_takes_too_long_names_who_waits_for_its_host() -> None:
    plan = make_plan(9, hosts=dict.fromkeys(range(8), "h_1"))
    executor = FakeExecutor(World(plan), settled={}, slow=["s0"])
    ran = run(plan, executor, options=JobOptions(on_failure="abort"))
    message = ran.result.failed[0].outcome.message
    assert message == "timed out; waiting for h_1 meanwhile: s1, s2, s3, s4, s5 and 2 more"


def test_a_refused_step_fails_without_being_started() -> None:
    """A required input without value: the operation is not started and fails."""
    plan = make_plan(2, [(0, 1)])
    ran = run(plan, refused=["s0"])
    assert ran.world.begun == []
    assert ran.result.failed[0].outcome.ending is Ending.NOT_STARTED
    assert [e.message for e in ran.events if isinstance(e, StepWarning)] == ["input has no value"]
    assert not any(isinstance(e, StepStarted) for e in ran.events)


def test_an_artifact_that_nobody_processes_fails_its_step() -> None:
    ran = run(make_plan(1), with_executor=False)
    assert "no executor runs artifacts of type bash" in ran.result.failed[0].outcome.message


def test_a_node_that_nobody_provides_fails_its_step() -> None:
    class Nobody(FakeProvider):
        def provides(self, kinds: Sequence[str]) -> bool:
            return False

    ran = run(make_plan(1, delegated=[0]), provider=Nobody())
    assert "no provider makes nodes of type tosca.nodes.Compute" in ran.result.failed[0].outcome.message
    assert ran.snapshot.instances["node_1"].created == ""


def test_an_executor_that_does_not_tell_the_end_fails_the_step() -> None:
    class Silent(FakeExecutor):
        async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
            async for step, progress in super().run(batch):
                if not isinstance(progress, Outcome):
                    yield step, progress

    plan = make_plan(1)
    ran = run(plan, Silent(World(plan)))
    assert "does not say how" in ran.result.failed[0].outcome.message


def test_what_the_journal_raises_ends_the_job_and_what_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: nothing is taken for done that is not written down, and no task is left behind."""
    monkeypatch.setattr("ordito.engine.workers.LAST_WAIT", 0.01)

    class Full(MemoryJournal):
        def commit(self) -> None:
            if len(self.turns) == 1:
                raise OSError("no space left")
            super().commit()

    plan = make_plan(3, [(0, 1)])
    journal = Full()
    executor = FakeExecutor(World(plan), blocked=["s2"])
    with pytest.raises(OSError, match="no space"):
        run(plan, executor, journal=journal)
    assert "s1" not in executor.world.begun
    again = run(plan, records=journal.records)
    assert again.result.status == "ok"


def test_a_delegated_step_gives_attributes() -> None:
    ran = run(make_plan(2, [(0, 1)], delegated=[0]))
    assert ran.provider.made == ["node_1"]
    assert ran.snapshot.attributes["node_1"] == {"public_address": "127.0.0.1"}
    assert ran.world.begun == ["s1"]


@pytest.mark.parametrize("requests", [1, 2])
def test_cancelling(requests: int) -> None:
    """The first request lets running steps finish, the second ends them; the job says what was left out."""
    plan = make_plan(3, [(0, 1), (2, 1)])
    control = JobControl()
    blocked = ["s0"] if requests == 2 else []

    def listen(event: object) -> None:
        if isinstance(event, StepStarted) and event.step == "s2":
            for _ in range(requests):
                control.request_cancel()

    executor = FakeExecutor(World(plan), blocked=blocked, takes={"s0": 20})
    ran = run(plan, executor, control=control, listener=listen)
    assert ran.result.status == "cancelled"
    found = ends(ran.journal.records, plan)
    assert found == {"s0": "failed" if requests == 2 else "ok", "s2": "ok", "s1": "skipped"}
    assert [e.because for e in ran.events if isinstance(e, StepSkipped)] == [CANCELLED]


def test_a_job_that_was_only_to_be_closed_does_nothing_again() -> None:
    plan = make_plan(2)
    whole = run(plan)
    again = run(plan, records=whole.journal.records)
    assert again.journal.records == whole.journal.records
    assert again.world.begun == []
    assert again.result.outputs == whole.result.outputs


def test_many_steps_without_operation_are_committed_in_turns() -> None:
    count = 2_500
    ran = run(make_plan(count, [(i, i + 1) for i in range(count - 1)], no_ops=range(count)))
    assert ran.result.counts.no_op == count
    assert len(ran.journal.turns) >= 3


def in_doubt(plan: Plan) -> Sequence[Record]:
    """The records of a job that was interrupted while its first step was at work."""
    begun = [r for r in run(plan).journal.records if isinstance(r, StepStartedRecord | StepProcessRecord)]
    return [record for record in begun if record.step == 0]


@pytest.mark.parametrize(
    ("found", "again"),
    [
        (Outcome(Ending.SUCCEEDED, done=True, outputs={"port": "s0"}), False),
        (Outcome(Ending.SUCCEEDED, done=False), True),
        (Outcome(Ending.FAILED, exit_code=5), True),
    ],
)
def test_the_check_says_whether_a_step_in_doubt_is_done(found: Outcome, again: bool) -> None:
    plan = make_plan(2, [(0, 1)])
    executor = FakeExecutor(AnyWorld(plan), answers={"s0.check": found})
    ran = run(plan, executor, records=in_doubt(plan), questions=["s0"])
    assert ran.world.begun == (["s0.check", "s0", "s1"] if again else ["s0.check", "s1"])
    assert ran.result.status == "ok"
    assert [step for step, _ in executor.settlings] == ["s0", "s0.check"]
    assert essence(ran.snapshot) == essence(run(plan).snapshot)


def test_nobody_is_asked_about_a_step_whose_end_was_left_behind() -> None:
    plan = make_plan(1)
    executor = FakeExecutor(AnyWorld(plan), settled={"s0": Outcome(Ending.SUCCEEDED, outputs={"port": "s0"})})
    assert run(plan, executor, records=in_doubt(plan), questions=["s0"]).world.begun == []


@pytest.mark.parametrize("at_once", [False, True])
def test_a_check_that_does_not_end_is_ended_by_cancelling(at_once: bool) -> None:
    """What it was asked about does not start again, since nothing does."""
    plan = make_plan(1)
    control = JobControl()
    executor = FakeExecutor(AnyWorld(plan), blocked=["s0.check"])

    def begun(step: str) -> None:
        assert step == "s0.check"
        control.request_cancel(at_once=at_once)

    executor.world.begin = begun  # type: ignore[method-assign]
    ran = run(plan, executor, records=in_doubt(plan), questions=["s0"], control=control)
    assert ran.result.status == "cancelled"
    assert "in doubt" in ran.result.failed[0].outcome.message


class SilentMachine(FakeExecutor):
    """Does not say how s0 has ended before s1 has."""

    def __init__(self, world: World, settled: Mapping[str, Outcome] | None = None) -> None:
        super().__init__(world, settled=settled)
        self.known = asyncio.Event()
        end = world.end

        def ended(step: str) -> None:
            end(step)
            if step == "s1":
                self.known.set()

        world.end = ended  # type: ignore[method-assign]

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        await self.known.wait()
        return await super().settle(doubt)


@pytest.mark.parametrize("left", [Outcome(Ending.SUCCEEDED, outputs={"port": "s0"}), Outcome(Ending.LOST), None])
def test_a_job_goes_on_while_it_is_found_out_how_a_step_has_ended(left: Outcome | None) -> None:
    """What depends on the step waits for that: it is not run before, and fails with it where that is not known."""
    plan = make_plan(3, [(0, 2)])
    executor = SilentMachine(World(plan), settled={} if left is None else {"s0": left})
    ran = run(plan, executor, records=in_doubt(plan))
    is_lost = left is not None and not left.succeeded
    assert ran.world.completed == ["s1", *(["s0"] if left is None else []), *([] if is_lost else ["s2"])]
    assert ran.result.status == ("failed" if is_lost else "ok")
    assert ran.world.faults == []


def test_a_step_in_doubt_keeps_its_place() -> None:
    """With room for two, one other step runs at a time until it is known."""
    plan = make_plan(4)
    executor = SilentMachine(World(plan, 2))
    ran = run(plan, executor, records=in_doubt(plan), options=JobOptions(parallel=2))
    begun = executor.world.begun
    assert begun.index("s0") > begun.index("s1")
    assert ran.result.status == "ok"
    assert ran.world.most <= 2


class AnyWorld(World):
    """A world in which checks run as well, which are no steps of the plan."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.index = {**self.index, **{f"{name}.check": 0 for name in self.index}}
