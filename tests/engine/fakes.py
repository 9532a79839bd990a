"""Stand-ins for what the driver works with: an executor without processes, operations without a model, a journal in
memory that can be cut after any record, and plans made of a few numbers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

import msgspec
from hypothesis import strategies as st

from ordito.base.change_ids import ChangeIds
from ordito.base.masking import Masking
from ordito.engine.driver import JobResult, run_job
from ordito.engine.ports import JobControl
from ordito.instances.records import Applied, Delta, Instance, Snapshot
from ordito.testing import FakeClock, MemoryJournal
from ordito.work.events import Event, Listener
from ordito.work.hooks import HookResult
from ordito.work.invocation import (
    Ending,
    InDoubt,
    Invocation,
    Outcome,
    Printed,
    Progress,
    Started,
)
from ordito.work.options import JobOptions
from ordito.work.plan import Action, InstanceCounts, OperationCall, Plan, PlannedRecords, Step, StepEffect, StepFlow
from ordito.work.providing import Delegation, Provided, ProviderFinding, Providers, ProviderVerb
from ordito.work.records import (
    JobHeader,
    Record,
    StepFinishedRecord,
    StepSkippedRecord,
    StepStartedRecord,
)
from ordito.work.rollback import WayBack
from ordito.work.targets import Hands, HostTarget

JOB = "A6BKKQCN0000"
REAL, NO_OP = 0, 1
CALLS = (
    OperationCall(
        "node", "", "Standard", "create", "create.sh", "bash", outputs=("port",), digest="d1", declared="s.yaml:3:5"
    ),
    OperationCall("node", "", "Standard", "configure"),
)


class FakePrepared(msgspec.Struct, frozen=True):
    invocation: Invocation | None
    refusal: str = ""
    warnings: tuple[str, ...] = ()
    withholds: bool = False
    locked: bool = False
    ending: Ending = Ending.NOT_STARTED


class FakeOperations:
    """States and statuses by the simplest of rules."""

    def __init__(
        self,
        plan: Plan,
        snapshot: Snapshot,
        refused: Iterable[str] = (),
        warned: Iterable[str] = (),
        questions: Iterable[str] = (),
    ) -> None:
        self.plan = plan
        self.snapshot = snapshot
        self.refused = frozenset(refused)
        self.warned = frozenset(warned)
        self.questions = frozenset(questions)
        self.masking = Masking()

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        return outcome

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        if step.id in self.refused:
            return FakePrepared(None, "a required input has no value", ("input has no value",))
        call = self.plan.calls[step.call]
        return FakePrepared(
            Invocation(JOB, step.id, attempt, call.processor, "/", call.artifact, {}, host=step.runs_on),
            warnings=("input has no value",) if step.id in self.warned else (),
        )

    def shown_inputs(self, step: Step) -> Mapping[str, object]:
        return {"step": step.id}

    def delegation(self, step: Step) -> Delegation:
        verb = ProviderVerb.DELETE if step.effect.leave == "deleted" else ProviderVerb.CREATE
        return Delegation(step.instance, ("tosca.nodes.Compute",), verb)

    def target(self, step: Step) -> HostTarget | None:
        return None

    def on_start(self, step: Step, change: str) -> Delta:
        before = self.snapshot.instances.get(step.instance)
        if before is None:
            return Delta()
        local = "pending" if step.effect.opens else before.local
        created = before.created or change
        return Delta(
            (msgspec.structs.replace(before, state=step.effect.enter or before.state, local=local, created=created),)
        )

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        before = self.snapshot.instances.get(step.instance)
        if before is None:
            return outcome, Delta()
        name = f"Standard.{step.id}"
        if not outcome.succeeded:
            after = msgspec.structs.replace(
                before, state="error", local="error", failed={**before.failed, name: change}
            )
            return outcome, Delta((after,))
        after = msgspec.structs.replace(
            before,
            state=step.effect.leave or before.state,
            local="ok" if step.effect.closes else before.local,
            applied={**before.applied, name: Applied(change, "d")},
        )
        values: Mapping[str, Mapping[str, object]] = {step.instance: outcome.outputs} if outcome.outputs else {}
        return outcome, Delta((after,), attributes=values)

    def question(self, step: Step, accepts: object) -> Invocation | None:
        if step.id not in self.questions:
            return None
        return Invocation(JOB, f"{step.id}.check", 1, "bash", "/", "check.sh", {})

    def needless(self, step: Step) -> str:
        return ""

    def on_needless(self, step: Step, change: str) -> Delta:
        return Delta()

    def extend(self, plan: Plan) -> None:
        self.plan = plan

    def topology_outputs(self) -> dict[str, object]:
        return {"instances": sorted(self.snapshot.instances)}


class FakeHooks:
    """Lifecycle steps that are carried out as operations are; some are left out."""

    def __init__(self, plan: Plan, left_out: Iterable[str] = ()) -> None:
        self.plan = plan
        self.left_out = frozenset(left_out)

    def needless(self, step: Step) -> str:
        return "its condition does not hold" if step.id in self.left_out else ""

    def problem(self, step: Step) -> str:
        return ""

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        call = self.plan.calls[step.call]
        return FakePrepared(Invocation(JOB, step.id, attempt, call.processor, "/", call.artifact, {}))

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        return outcome

    def result(self, step: Step, outcome: Outcome) -> HookResult:
        return HookResult(outputs=outcome.outputs)

    def extend(self, plan: Plan) -> None:
        self.plan = plan


class World:
    """What really happened: which steps were carried out, in which order, and whether the rules were kept."""

    def __init__(self, plan: Plan, parallel: int = 64) -> None:
        self.plan = plan
        self.parallel = parallel
        self.index = {step.id: index for index, step in enumerate(plan.steps)}
        self.begun: list[str] = []
        self.completed: list[str] = []
        self.running: set[str] = set()
        self.most = 0
        self.faults: list[str] = []

    def begin(self, step: str) -> None:
        if step in self.running:
            self.faults.append(f"{step} runs twice at a time")
        self.begun.append(step)
        self.running.add(step)
        self.most = max(self.most, len(self.running))
        if len(self.running) > self.parallel:
            self.faults.append("too many at a time")
        hosts = Counter(self.plan.steps[self.index[name]].runs_on for name in self.running)
        for host, count in hosts.items():
            if host and count > self.plan.capacity.get(host, 1):
                self.faults.append(f"{count} at a time on {host}")

    def end(self, step: str) -> None:
        self.running.discard(step)
        self.completed.append(step)


class FakeExecutor:
    """Carries out nothing, but for real: takes turns of the loop, fails where told, prints what it is told."""

    def __init__(
        self,
        world: World,
        failing: Iterable[str] = (),
        *,
        prints: Mapping[str, Sequence[bytes]] | None = None,
        settled: Mapping[str, Outcome] | None = None,
        raising: Iterable[str] = (),
        blocked: Iterable[str] = (),
        takes: Mapping[str, int] | None = None,
        size: int = 1,
        flaky: Mapping[str, int] | None = None,
        code: int = 1,
        slow: Iterable[str] = (),
        answers: Mapping[str, Outcome] | None = None,
    ) -> None:
        self.answers = answers or {}
        self.slow = frozenset(slow)
        self.flaky = dict(flaky or {})
        self.code = code
        self.attempts: list[tuple[str, int]] = []
        self.world = world
        self.failing = frozenset(failing)
        self.prints = prints or {}
        self.settled = settled or {}
        self.settlings: list[tuple[str, Started | None]] = []
        self.raising = frozenset(raising)
        self.blocked = frozenset(blocked)
        self.takes = takes or {}
        self.size = size
        self.cancelled: dict[str, asyncio.Event] = {}

    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        return "bash" in processor_kinds

    def batch_key(self, invocation: Invocation) -> str:
        return invocation.step if self.size == 1 else "all"

    async def run(self, batch: Sequence[Invocation]) -> AsyncIterator[tuple[str, Progress]]:
        for invocation in batch:
            self.world.begin(invocation.step)
            self.attempts.append((invocation.step, invocation.attempt))
            self.cancelled[invocation.step] = asyncio.Event()
            yield invocation.step, Started(self.world.index[invocation.step] + 100, 7, "boot", "here", "slot")
        for invocation in batch:
            step = invocation.step
            for piece in self.prints.get(step, ()):
                yield step, Printed(piece)
            for _ in range(self.takes.get(step, 1)):
                await asyncio.sleep(0)
            if step in self.raising:
                self.world.running.discard(step)
                raise LookupError("no such thing")
            if step in self.blocked:
                await self.cancelled[step].wait()
                self.world.running.discard(step)
                yield step, Outcome(Ending.CANCELLED, message="cancelled")
                continue
            self.world.end(step)
            if step in self.answers:
                yield step, self.answers[step]
            elif step in self.slow:
                yield step, Outcome(Ending.TIMED_OUT, message="timed out")
            elif step in self.failing or invocation.attempt <= self.flaky.get(step, 0):
                yield step, Outcome(Ending.FAILED, exit_code=self.code, message=f"exit code {self.code}")
            else:
                yield step, Outcome(Ending.SUCCEEDED, exit_code=0, outputs={"port": step})

    async def cancel(self, step: str) -> None:
        self.cancelled[step].set()

    async def settle(self, doubt: InDoubt) -> Outcome | None:
        await asyncio.sleep(0)
        self.settlings.append((doubt.step, doubt.started))
        return self.settled.get(doubt.step)

    def close(self) -> None:
        self.settled = {}


class FakeProvider:
    name = "fake"
    protocol = ""

    def __init__(self) -> None:
        self.made: list[str] = []

    def provides(self, kinds: Sequence[str]) -> bool:
        return "tosca.nodes.Compute" in kinds

    async def create(self, asked: Delegation) -> Provided:
        await asyncio.sleep(0)
        self.made.append(asked.instance)
        return Provided({"public_address": "127.0.0.1"}, "made")

    async def delete(self, asked: Delegation) -> bool:
        await asyncio.sleep(0)
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        await asyncio.sleep(0)
        return ProviderFinding("ok" if asked.instance in self.made else "absent")

    def target(self, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        return None


def make_plan(
    count: int,
    edges: Iterable[tuple[int, int]] = (),
    *,
    hosts: Mapping[int, str] | None = None,
    joins: Iterable[int] = (),
    no_ops: Iterable[int] = (),
    after_failure: Iterable[int] = (),
    delegated: Iterable[int] = (),
    capacity: Mapping[str, int] | None = None,
    owners: Mapping[int, int] | None = None,
) -> Plan:
    """A plan of steps s0, s1, ...; every step but joins has an instance of its own, or that of its owner."""
    owners = owners or {}
    hosts, joins, no_ops = hosts or {}, frozenset(joins), frozenset(no_ops)
    after_failure, delegated = frozenset(after_failure), frozenset(delegated)
    edges = sorted(set(edges))
    after: dict[int, list[int]] = {}
    for first, second in edges:
        after.setdefault(first, []).append(second)
    chain = [0] * count
    for index in reversed(range(count)):
        chain[index] = max((chain[n] + 1 for n in after.get(index, ())), default=0)
    steps = []
    for index in range(count):
        if index in joins:
            steps.append(
                Step(f"s{index}", Action.JOIN, chain=chain[index], flow=StepFlow(after_failure=index in after_failure))
            )
            continue
        steps.append(
            Step(
                f"s{index}",
                Action.DELEGATE if index in delegated else Action.CALL,
                instance=f"node_{owners.get(index, index) + 1}",
                call=-1 if index in delegated else NO_OP if index in no_ops else REAL,
                runs_on=hosts.get(index, ""),
                chain=chain[index],
                flow=StepFlow(after_failure=index in after_failure),
                effect=StepEffect("creating", "created", opens=True, closes=True),
            )
        )
    names = dict.fromkeys(step.instance for step in steps if step.instance)
    instances = tuple(Instance(name, "node", number) for number, name in enumerate(names))
    return Plan(
        "deploy",
        tuple(steps),
        tuple((first, second, 0) for first, second in edges),
        CALLS,
        ("because",),
        capacity=dict(capacity or {}),
        counts=InstanceCounts({"node": len(instances)}),
        records=PlannedRecords(new=instances),
    )


@st.composite
def plans(draw: st.DrawFn, largest: int = 24) -> Plan:
    """Any plan: steps on a few hosts, joins, no-ops, delegated steps, steps that run after failures; edges lead on."""
    count = draw(st.integers(1, largest))
    numbers = st.integers(0, count - 1)
    pairs = st.tuples(numbers, numbers).filter(lambda pair: pair[0] < pair[1])
    edges = draw(st.lists(pairs, max_size=3 * count)) if count > 1 else []
    names = ("", "h_1", "h_2", "h_3")
    return make_plan(
        count,
        edges,
        hosts={index: draw(st.sampled_from(names)) for index in range(count)},
        joins=draw(st.sets(numbers, max_size=4)),
        no_ops=draw(st.sets(numbers, max_size=4)),
        after_failure=draw(st.sets(numbers, max_size=5)),
        delegated=draw(st.sets(numbers, max_size=3)),
        capacity=draw(st.dictionaries(st.sampled_from(names[1:]), st.integers(1, 3))),
    )


class Ran(msgspec.Struct):
    """A job that was run with fakes."""

    result: JobResult
    snapshot: Snapshot
    journal: MemoryJournal
    world: World
    events: list[Event]
    executor: FakeExecutor
    provider: FakeProvider


def run(
    plan: Plan,
    executor: FakeExecutor | None = None,
    *,
    options: JobOptions | None = None,
    records: Sequence[Record] | None = None,
    refused: Iterable[str] = (),
    warned: Iterable[str] = (),
    questions: Iterable[str] = (),
    listeners: Sequence[Listener] = (),
    control: JobControl | None = None,
    listener: object = None,
    with_executor: bool = True,
    journal: MemoryJournal | None = None,
    provider: FakeProvider | None = None,
    back: WayBack | None = None,
    operations: type[FakeOperations] | None = None,
    hands: Hands | None = None,
    left_out: Iterable[str] = (),
) -> Ran:
    """Run a plan, or continue from the records of a cut journal."""
    options = options or JobOptions()
    executor = executor or FakeExecutor(World(plan, options.parallel))
    journal = journal or MemoryJournal(records or ())
    snapshot, events, provider = Snapshot(), [], provider or FakeProvider()
    ids = ChangeIds(JOB)
    if records is not None:
        snapshot.apply(Delta(instances=plan.records.new))
        for record in records:
            if (delta := getattr(record, "delta", None)) is not None:
                snapshot.apply(delta)
        ids = ChangeIds(JOB, used=used(records))

    def listen(event: Event) -> None:
        events.append(event)
        if callable(listener):
            listener(event)

    result = asyncio.run(
        run_job(
            JobHeader(JOB, "deploy", "digest", "service.yaml", 1_800_000_000.0, options=options),
            plan,
            (operations or FakeOperations)(plan, snapshot, refused, warned, questions),
            snapshot,
            executors=[executor] if with_executor else [],
            providers=Providers((provider,)),
            journal=journal,
            clock=FakeClock(),
            change_ids=ids,
            listeners=[*listeners, listen],
            control=control,
            resume=records,
            way_back=None if back is None else lambda: back,
            hands=hands,
            hooks=FakeHooks(plan, left_out),
        )
    )
    return Ran(result, snapshot, journal, executor.world, events, executor, provider)


def used(records: Iterable[Record]) -> list[str]:
    """The changeIds that records hold."""
    return [r.change for r in records if isinstance(r, StepStartedRecord | StepFinishedRecord) and r.change]


def essence(snapshot: Snapshot) -> dict[str, object]:
    """A snapshot without changeIds."""
    return {
        "instances": {
            name: (i.state, i.local, sorted(i.applied), sorted(i.failed)) for name, i in snapshot.instances.items()
        },
        "attributes": snapshot.attributes,
    }


def ends(records: Iterable[Record], plan: Plan) -> dict[str, str]:
    """How each step ended, by its id."""
    found: dict[str, str] = {}
    for record in records:
        if isinstance(record, StepFinishedRecord):
            assert plan.steps[record.step].id not in found
            found[plan.steps[record.step].id] = "ok" if record.outcome.succeeded else "failed"
        elif isinstance(record, StepSkippedRecord):
            assert plan.steps[record.step].id not in found
            found[plan.steps[record.step].id] = "skipped"
    return found


def way_back(count: int, instances: int, *, joins: Iterable[int] = ()) -> WayBack:
    """A rollback of steps one after the other, on the first instances; they go on past failures."""
    plan = make_plan(
        count,
        [(index, index + 1) for index in range(count - 1)],
        after_failure=range(count),
        joins=joins,
        owners={index: index % instances for index in range(count)},
    )
    return WayBack(plan)
