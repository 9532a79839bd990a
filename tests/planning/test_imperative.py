"""Workflows that somebody wrote, as plans, and what the scheduler makes of them whatever fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordito.engine.core import Core
from ordito.engine.messages import Start, StepEnded
from ordito.engine.states import StepState
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.imperative import Activity, Workflow
from ordito.model.imperative import Step as Written
from ordito.model.service import NodeTemplate, Service
from ordito.planning.options import WrittenWorkflow
from ordito.planning.preview import AFTER_FAILURE, preview
from ordito.planning.workflows import plan
from ordito.work.options import JobOptions
from ordito.work.plan import Action, Gate, Plan
from tests.support.runs import OPTIONS
from tests.support.services import compute, node, on, operation, service

NAME = "w"


def with_workflow(steps: Mapping[str, Written], *nodes: NodeTemplate) -> Service:
    """A service with one workflow; without others its nodes are a, with an instance, and b, with two."""
    made = service(*(nodes or (node("a", operations=["configure"]), node("b", operations=["configure"], count=2))))
    return msgspec.structs.replace(made, workflows={NAME: Workflow(NAME, steps=steps)})


def planned(made: Service) -> Plan:
    snapshot = Snapshot()
    records = [
        Instance(
            f"{n.name}_{i + 1}", n.name, i, host=f"{n.host.target}_1" if n.host else "", state="started", local="ok"
        )
        for n in made.nodes.values()
        for i in range(2 if n.name == "b" else 1)
    ]
    snapshot.apply(Delta(instances=tuple(records)))
    return plan(f"workflow {NAME}", made, snapshot, {}, replace(OPTIONS, written=WrittenWorkflow(NAME)))


def call(name: str = "Standard.configure") -> Activity:
    interface, _, called = name.rpartition(".")
    return Activity("call_operation", name, interface, called)


def state(name: str) -> Activity:
    return Activity("set_state", name)


@pytest.mark.parametrize(
    ("written", "operation_host", "wanted"),
    [
        ("", "", "host_1"),
        ("", "SELF", "host_1"),
        ("", "HOST", "host_1"),
        ("", "ORCHESTRATOR", ""),
        ("ORCHESTRATOR", "", ""),
        ("ORCHESTRATOR", "SELF", "host_1"),
    ],
)
def test_where_operations_run(written: str, operation_host: str, wanted: str) -> None:
    """R-3.6.27-oh1, R-3.6.16-oh2: as the step says, else as the operation does."""
    web = node("web", on("host"), operations=[operation("configure", host=written)])
    step = Written("s", "web", operation_host=operation_host, activities=(call(),))
    made = planned(with_workflow({"s": step}, web, compute("host")))
    assert [s.runs_on for s in made.steps] == [wanted]


def test_steps_that_nothing_asks_for_are_not_there() -> None:
    """What only stands for an order falls away, and every edge has its reason."""
    steps = {
        "one": Written("one", "b", activities=(state("x"), call()), on_success=("two",)),
        "two": Written("two", "a", activities=(call(),)),
    }
    made = planned(with_workflow(steps))
    assert [s.id for s in made.steps if s.action is not Action.JOIN] == [
        "one.b_1.set_state.x",
        "one.b_2.set_state.x",
        "one.b_1.Standard.configure",
        "one.b_2.Standard.configure",
        "two.a_1.Standard.configure",
    ]
    assert not [s for s in made.steps if s.flow.gate is not Gate.NONE]
    assert all(made.reasons[reason] for _, _, reason in made.edges)
    assert all(made.reasons[s.reason] for s in made.steps)


@st.composite
def workflows(draw: st.DrawFn) -> dict[str, Written]:
    """Up to seven steps, each of which names later ones."""
    count = draw(st.integers(1, 7))
    steps = {}
    for number in range(count):
        later = [f"s{n}" for n in range(number + 1, count)]
        some = st.lists(st.sampled_from(later), unique=True, max_size=2) if later else st.just([])
        activities = draw(st.lists(st.sampled_from([state("x"), call()]), max_size=2))
        steps[f"s{number}"] = Written(
            f"s{number}",
            draw(st.sampled_from("ab")),
            activities=(call(), *activities),
            on_success=tuple(draw(some)),
            on_failure=tuple(draw(some)),
        )
    return steps


class Run:
    """A workflow that is run by itself: which of its steps began, in order, and which ended well or failed."""

    def __init__(self, steps: dict[str, Written], data: st.DataObject) -> None:
        self.steps = steps
        self.plan = planned(with_workflow(steps))
        self.core = Core(self.plan, JobOptions(parallel=data.draw(st.integers(1, 3))))
        self.begun: dict[str, bool] = {}
        self.failed: set[str] = set()
        self._go(data)

    def _go(self, data: st.DataObject) -> None:
        failing = data.draw(st.sets(st.sampled_from(sorted(self.steps)), max_size=2))
        running: list[int] = []
        while not self.core.is_finished:
            for command in self.core.wake():
                if isinstance(command, Start):
                    self._starts(self.plan.steps[command.step].id.partition(".")[0])
                    running.append(command.step)
            if not running:
                break
            index = running.pop(data.draw(st.integers(0, len(running) - 1)))
            name, _, rest = self.plan.steps[index].id.partition(".")
            well = not (name in failing and rest.endswith("configure") and data.draw(st.booleans()))
            if not well:
                self.failed.add(name)
            self.core.react(StepEnded(index, well))

    def _starts(self, name: str) -> None:
        """Hold the beginning of a step to what must have ended before, and what follows a failure to what is there for
        it."""
        self.begun.setdefault(name, bool(self.failed))
        before = [n for n, s in self.steps.items() if name in s.on_success]
        rescues = [n for n, s in self.steps.items() if name in s.on_failure]
        if before or rescues:
            all_well = bool(before) and all(self.ended_well(n) for n in before)
            assert all_well or any(n in self.failed for n in rescues), name
        if self.failed:
            assert self.is_rescue(name), name

    def is_rescue(self, name: str) -> bool:
        for other, step in self.steps.items():
            if name in step.on_failure and other in self.failed:
                return True
            if name in step.on_success and self.is_rescue(other):
                return True
        return False

    def ended_well(self, name: str) -> bool:
        own = [i for i, s in enumerate(self.plan.steps) if s.id.startswith(f"{name}.") and s.action is not Action.JOIN]
        return all(self.core.state(i) is StepState.SUCCEEDED for i in own)


@given(workflows(), st.data())
def test_what_runs_is_what_is_written(steps: dict[str, Written], data: st.DataObject) -> None:
    """R-7.3.1-2, R-7.3.1-3, R-7.3.7-1, R-7.3.7-3, R-3.6.27-4: whatever fails, every step that begins may, what is there
    for a failure runs, and the workflow comes to its end."""
    run = Run(steps, data)
    assert run.core.is_finished
    for name in run.failed:
        # One that success has let begin as well may have been skipped because of a failure before.
        follow = {n for step in steps.values() for n in step.on_success} if len(run.failed) > 1 else set()
        assert set(steps[name].on_failure) - follow <= run.begun.keys()
    if run.failed:
        assert run.core.counts.lacks
        assert run.core.is_handled == all(steps[name].on_failure for name in run.failed)
        return
    assert not run.core.counts.lacks
    taken: dict[str, bool] = {}
    for name in steps:
        before = [n for n, s in steps.items() if name in s.on_success]
        rescues = [n for n, s in steps.items() if name in s.on_failure]
        taken[name] = all(taken[n] for n in before) if before else not rescues
    assert {name for name, wanted in taken.items() if wanted} == run.begun.keys()


def test_a_plan_says_what_runs_after_a_failure_only() -> None:
    """R-7.3.7-3: and of each edge which step follows which."""
    steps = {
        "one": Written("one", "a", activities=(call(), state("x")), on_success=("two",), on_failure=("back",)),
        "two": Written("two", "b", activities=(call(),), on_failure=("both",)),
        "back": Written("back", "b", activities=(call(),), on_success=("after", "both")),
        "after": Written("after", "a", activities=(call(),)),
        "both": Written("both", "a", activities=(call(),)),
    }
    made = planned(with_workflow(steps))
    shown = {s.id: s.condition for wave in preview(made).waves for s in wave}
    assert {i.partition(".")[0] for i, c in shown.items() if c == AFTER_FAILURE} == {"back", "after", "both"}
    assert not any(c for i, c in shown.items() if i.partition(".")[0] in {"one", "two"})
    found = {
        made.reasons[reason]
        for before, after, reason in made.edges
        if made.steps[after].id.startswith(("two.", "after."))
    }
    assert found == {'"two" follows "one"', '"after" follows "back"'}
