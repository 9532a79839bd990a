"""Steps on hosts that are not this machine: who runs them, and how they end when their host is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from ordito.engine.delegates import LENT_WITHIN, REACHED_WITHIN, Delegates
from ordito.work.invocation import Ending, InDoubt, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import Step
from ordito.work.providing import Delegation, Provided, ProviderFailed, ProviderFinding, Providers, ProviderVerb
from ordito.work.records import Record, StepProcessRecord, StepRetryRecord, StepStartedRecord
from ordito.work.targets import HOST, SSH, HostTarget, Ran, Unreachable
from tests.engine.fakes import FakeExecutor, FakeOperations, FakePrepared, FakeProvider, World, make_plan, run

FAR = HostTarget(SSH, "far", {"address": "192.0.2.1"})
COMPUTE = ("tosca.nodes.Compute", "tosca.nodes.Root")


class OnHost(FakeOperations):
    """All operations run on one host."""

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        prepared = super().prepare(step, attempt)
        assert prepared.invocation is not None
        return msgspec.structs.replace(prepared, invocation=msgspec.structs.replace(prepared.invocation, target=FAR))

    def target(self, step: Step) -> HostTarget | None:
        return FAR


class Away(OnHost):
    """Nobody knows that host any more."""

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        return FakePrepared(None, "far: no route", ending=Ending.UNREACHABLE)

    def target(self, step: Step) -> HostTarget | None:
        raise Unreachable("far: no route")


class AwayOnce(OnHost):
    """The host is there when it is asked for the second time."""

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        return super().prepare(step, attempt) if attempt > 1 else FakePrepared(None, "", ending=Ending.UNREACHABLE)


class ByPigeon(OnHost):
    """The host of the plan is reached in a way that nobody knows."""

    def prepare(self, step: Step, attempt: int) -> FakePrepared:
        prepared = super().prepare(step, attempt)
        assert prepared.invocation is not None
        other = HostTarget("pigeon", "far")
        return msgspec.structs.replace(prepared, invocation=msgspec.structs.replace(prepared.invocation, target=other))


class OnSsh(FakeExecutor):
    def accepts(self, processor_kinds: Sequence[str], protocol: str = "") -> bool:
        return protocol == SSH and "bash" in processor_kinds


class HostIsLost(OnSsh):
    async def settle(self, doubt: InDoubt) -> Outcome | None:
        assert doubt.target == FAR
        raise Unreachable("far: no route")


def in_doubt() -> list[Record]:
    records = run(make_plan(1), OnSsh(World(make_plan(1))), operations=OnHost).journal.records
    return [r for r in records if isinstance(r, StepStartedRecord | StepProcessRecord)]


def test_an_operation_is_run_by_who_reaches_its_host() -> None:
    plan = make_plan(1)
    assert run(plan, OnSsh(World(plan)), operations=OnHost).result.status == "ok"
    for operations, said in ((FakeOperations, "no executor runs artifacts of type bash"), (ByPigeon, "pigeon")):
        (failed,) = run(plan, OnSsh(World(plan)), operations=operations).result.failed
        assert failed.outcome.ending is Ending.NOT_STARTED
        assert said in failed.outcome.message


def test_a_host_that_is_away_ends_the_step_unreachable_though_nothing_was_started() -> None:
    plan = make_plan(2, [(0, 1)])
    ran = run(plan, OnSsh(World(plan)), operations=Away)
    assert [(f.step, f.outcome.ending) for f in ran.result.failed] == [("s0", Ending.UNREACHABLE)]
    assert ran.world.begun == []
    assert ran.result.counts.skipped == 1


def test_another_attempt_is_made_where_attempts_are_given() -> None:
    plan = make_plan(1)
    options = JobOptions(attempts=2, interval=0.0)
    ran = run(plan, OnSsh(World(plan)), operations=AwayOnce, options=options)
    assert ran.result.status == "ok"
    assert ran.world.begun == ["s0"]
    (retry,) = (r for r in ran.journal.records if isinstance(r, StepRetryRecord))
    assert retry.outcome.ending is Ending.UNREACHABLE
    begun = [r for r in ran.journal.records if isinstance(r, StepStartedRecord)]
    assert begun[0].delta is not None, "what its start changes is known once, whatever became of it"


@pytest.mark.parametrize("executor", [HostIsLost, OnSsh])
def test_what_was_at_work_on_a_host_that_is_lost_is_not_started_again(executor: type[OnSsh]) -> None:
    plan = make_plan(1)
    ran = run(plan, executor(World(plan)), records=in_doubt(), operations=OnHost if executor is HostIsLost else Away)
    assert [(f.step, f.outcome.ending) for f in ran.result.failed] == [("s0", Ending.LOST)]
    assert "far: no route" in ran.result.failed[0].outcome.message
    assert ran.world.begun == []


def test_what_was_at_work_on_a_host_is_settled_there() -> None:
    plan = make_plan(1)
    ran = run(plan, OnSsh(World(plan)), records=in_doubt(), operations=OnHost)
    assert ran.world.begun == ["s0"]
    assert ran.result.status == "ok"


# ------------------------------------------------------------------------------------------------------- delegated


class FakeHands:
    def __init__(self, *, away: bool = False) -> None:
        self.away = away
        self.waited: list[float] = []

    async def run(
        self, target: HostTarget | None, words: Sequence[str], *, given: bytes = b"", timeout: float | None = None
    ) -> Ran:
        await asyncio.sleep(0)
        if self.away:
            raise Unreachable("far: no route")
        return Ran(0)

    async def reach(self, target: HostTarget, timeout: float) -> None:
        self.waited.append(timeout)
        await self.run(target, ("true",))


class Pool(FakeProvider):
    """Lends hosts."""

    name = "pool"
    protocol = SSH

    def given_back(self, ensemble: str) -> Sequence[HostTarget]:
        return ()

    def tidied(self, ensemble: str, hosts: Sequence[HostTarget]) -> None:
        return None


class Breaks(Pool):
    async def create(self, asked: Delegation) -> Provided:
        await asyncio.sleep(0)
        raise ProviderFailed("no address; it said:\nwhere am I?", {HOST: {"provider": "pool", "id": "i-1"}})

    async def look(self, asked: Delegation) -> ProviderFinding:
        await asyncio.sleep(0)
        raise Unreachable("far: no route")


def outcome(verb: ProviderVerb, provider: FakeProvider | None, hands: FakeHands, **more: object) -> Outcome:
    delegates = Delegates(Providers(() if provider is None else (provider,)), hands)
    asked = Delegation("machine_1", COMPUTE, verb, **more)  # type: ignore[arg-type]
    return delegates.problem(asked) or asyncio.run(delegates.carry_out(asked))


@pytest.mark.parametrize(
    ("provider", "said", "waited"),
    [(Pool(), None, LENT_WITHIN), (None, None, REACHED_WITHIN), (Pool(), 7.0, 7.0)],
)
def test_a_host_is_waited_for_as_long_as_makes_sense(
    provider: FakeProvider | None, said: float | None, waited: float
) -> None:
    hands = FakeHands()
    assert outcome(ProviderVerb.REACH, provider, hands, host=FAR, timeout=said).succeeded
    assert hands.waited == [waited]


def test_this_machine_is_not_waited_for() -> None:
    hands = FakeHands(away=True)
    assert outcome(ProviderVerb.REACH, Pool(), hands).succeeded
    assert hands.waited == []


def test_a_host_that_cannot_be_reached() -> None:
    away = FakeHands(away=True)
    assert outcome(ProviderVerb.REACH, Pool(), away, host=FAR).ending is Ending.UNREACHABLE
    for provider in (Breaks(), None):
        seen = outcome(ProviderVerb.LOOK, provider, away, host=FAR)
        assert seen.succeeded
        assert (seen.status, seen.message) == ("error", "far: no route")
    assert outcome(ProviderVerb.LOOK, None, FakeHands(), host=FAR).status == "ok"


def test_what_a_provider_has_made_is_told_with_its_failure() -> None:
    failed = outcome(ProviderVerb.CREATE, Breaks(), FakeHands())
    assert failed.ending is Ending.FAILED
    assert failed.outputs == {HOST: {"provider": "pool", "id": "i-1"}}
    assert (failed.message, failed.tail) == ("no address; it said:", ("where am I?",))


def test_a_provider_that_has_made_an_instance_is_asked_and_no_other() -> None:
    gone = {HOST: {"provider": "cloud", "id": "i-1"}}
    refused = outcome(ProviderVerb.DELETE, Pool(), FakeHands(), attributes=gone)
    assert refused.ending is Ending.NOT_STARTED
    assert "cloud" in refused.message
