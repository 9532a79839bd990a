"""Runs of plans in tests, without an engine: steps one after the other, in an order that the edges allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from random import Random

import msgspec

from ordito.base.diagnostics import Diagnostic
from ordito.instances.records import Delta, Snapshot
from ordito.model.service import COMPUTE, Service
from ordito.operations.operations import FormedOperations, PlanOperations
from ordito.planning.options import Abilities, FileDigests, PlanOptions
from ordito.planning.workflows import plan
from ordito.work.forms import begun
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Action, Gate, Plan, Step

OPTIONS = PlanOptions(
    Abilities(
        accepts=lambda kinds: any(k.startswith("tosca.artifacts.Implementation.") for k in kinds),
        provides=lambda _, kinds: COMPUTE in kinds,
    )
)


def able(options: PlanOptions = OPTIONS, **abilities: object) -> PlanOptions:
    """The same options where other things can be carried out."""
    return replace(options, abilities=msgspec.structs.replace(options.abilities, **abilities))


def with_files(contents: Mapping[str, str], options: PlanOptions = OPTIONS) -> PlanOptions:
    """The same options where artifact files have these contents."""
    return replace(options, files=FileDigests(contents))


Reply = Outcome | Ending | dict[str, object] | None
Answers = Callable[[Step, str], Reply]
"""How a step ends, given the step and ``Interface.operation``: None and outputs for success."""


def always_well(step: Step, operation: str) -> Reply:
    return None


class World:
    """A snapshot with the service it belongs to, on which workflows are planned and run."""

    def __init__(self, service: Service, inputs: Mapping[str, object] | None = None) -> None:
        self.service = service
        self.inputs = dict(inputs or {})
        self.snapshot = Snapshot()
        self.jobs = 0
        self.changes = 0
        self.ran: list[str] = []
        self.failed: list[str] = []
        self.skipped: list[str] = []
        self.needless: dict[str, str] = {}
        self.left_out: set[str] = set()
        self.states: list[tuple[str, str]] = []
        self.operations: PlanOperations | FormedOperations | None = None

    def plan(self, workflow: str = "deploy", options: PlanOptions = OPTIONS) -> Plan:
        return plan(workflow, self.service, self.snapshot, self.inputs, options)

    def run(
        self,
        workflow: str = "deploy",
        answers: Answers = always_well,
        *,
        options: PlanOptions = OPTIONS,
        random: Random | None = None,
        cut: int | None = None,
    ) -> Plan:
        """Plan and run; ``random`` chooses among the ready steps, ``cut`` ends the job after so many steps."""
        made = self.plan(workflow, options)
        self.jobs += 1
        self.ran, self.failed, self.skipped, self.states = [], [], [], []
        self.needless, self.left_out = {}, set()
        self._apply(Delta(instances=begun(made, self.snapshot).instances))
        self.operations = self.operations_of(made)
        before: list[list[int]] = [[] for _ in made.steps]
        after: list[list[int]] = [[] for _ in made.steps]
        for first, second, _ in made.edges:
            before[second].append(first)
            after[first].append(second)
        waits = [len(b) for b in before]
        ready = [i for i, w in enumerate(waits) if not w]
        well: dict[int, bool] = {}
        while ready and (cut is None or len(self.ran) + len(self.failed) < cut):
            index = ready.pop(random.randrange(len(ready)) if random else 0)
            step = made.steps[index]
            if self._is_left_out(step, [made.steps[b] for b in before[index]]):
                well[index] = True
                self.left_out.add(step.id)
            elif not step.flow.after_failure and not all(well[b] for b in before[index]):
                well[index] = False
                if step.action is not Action.JOIN:
                    self.skipped.append(step.id)
            elif step.action is Action.JOIN:
                well[index] = True
            else:
                well[index] = self._step(made, step, answers)
            for other in after[index]:
                waits[other] -= 1
                if not waits[other]:
                    ready.append(other)
        return made

    def operations_of(self, made: Plan) -> PlanOperations | FormedOperations:
        """The operations of a plan."""
        return PlanOperations(self.service, self.snapshot, made, self.inputs, root="/pinned", job=f"job{self.jobs}")

    def _is_left_out(self, step: Step, before: list[Step]) -> bool:
        """What the gate of a step makes of those before it."""
        left = [b.id in self.left_out for b in before]
        return any(left) if step.flow.gate is Gate.ALL else step.flow.gate is Gate.ANY and all(left)

    def _step(self, made: Plan, step: Step, answers: Answers) -> bool:
        assert self.operations is not None
        if because := self.operations.needless(step):
            self._apply(self.operations.on_needless(step, f"job{self.jobs}"))
            self.needless[step.id] = because
            if step.action is Action.FILTER:
                self.left_out.add(step.id)
            return True
        call = made.calls[step.call]
        nothing = step.action in (Action.CALL, Action.FILTER, Action.ADOPT) and not call.artifact
        job = f"job{self.jobs}"
        self.changes += 1
        change = job if nothing else f"{job}-{self.changes:04}-{step.id}"
        reply: Reply = None
        refused = ""
        if step.action is Action.DELEGATE:
            self.operations.delegation(step)
        elif not nothing:
            prepared = self.operations.prepare(step, 1)
            refused = prepared.refusal
        if refused:
            reply = Outcome(Ending.NOT_STARTED, message=refused)
        else:
            self._apply(self.operations.on_start(step, change))
            reply = Outcome(Ending.SUCCEEDED, changed=False) if nothing else answers(step, call.name)
        outcome = _outcome(reply, made, step)
        outcome, delta = self.operations.on_end(step, outcome, change)
        self._apply(delta)
        (self.ran if outcome.succeeded else self.failed).append(step.id)
        return outcome.succeeded or step.flow.non_blocking

    def _apply(self, delta: Delta) -> None:
        for record in delta.instances:
            known = self.snapshot.instances.get(record.id)
            if known is None or known.state != record.state:
                self.states.append((record.id, record.state))
        self.snapshot.apply(delta)

    def states_of(self, instance: str) -> list[str]:
        return [state for name, state in self.states if name == instance]

    @property
    def existing(self) -> list[str]:
        return sorted(i.id for i in self.snapshot.instances.values() if i.exists)

    def done(self, *operations: str) -> list[str]:
        """The steps that ran of some operations, for example ``create``."""
        return [s for s in self.ran if s.rpartition(".")[2] in operations]


def _outcome(reply: Reply, made: Plan, step: Step) -> Outcome:
    if isinstance(reply, Outcome):
        return reply
    if isinstance(reply, Ending):
        return Outcome(reply)
    given = dict.fromkeys(made.calls[step.call].outputs, "x")
    if reply:
        given.update(reply)  # type: ignore[arg-type]
    return Outcome(Ending.SUCCEEDED, outputs=given)  # type: ignore[arg-type]


def failing(*steps: str) -> Answers:
    """Some steps fail, by the ends of their ids."""
    return lambda step, _: Ending.FAILED if any(step.id.endswith(s) for s in steps) else None


def codes(diagnostics: Iterable[Diagnostic]) -> list[str]:
    return [d.code for d in diagnostics]


def is_before(made: Plan, first: str, second: str) -> bool:
    """Whether every order that a plan allows has one step before another."""
    places = {s.id: i for i, s in enumerate(made.steps)}
    after: dict[int, list[int]] = {}
    for b, a, _ in made.edges:
        after.setdefault(b, []).append(a)
    waiting, seen = [places[first]], {places[first]}
    while waiting:
        for follower in after.get(waiting.pop(), ()):
            if follower not in seen:
                seen.add(follower)
                waiting.append(follower)
    return places[second] in seen


def assert_order(made: Plan, *steps: str) -> None:
    for first, second in pairwise(steps):
        assert is_before(made, first, second), f"{first} is not before {second}"


def steps_of(made: Plan) -> list[str]:
    return [s.id for s in made.steps if s.action is not Action.JOIN]
