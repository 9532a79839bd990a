"""Hosts that are not this machine: they are waited for, looked at, and replaced with what was on them."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import note_of
from ordito.planning.options import Goal, Healing, Maker, Scaling
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import AUTO, WHOLE_HOST
from ordito.work.plan import Step
from ordito.work.targets import HOST, SSH
from tests.support.runs import Answers, Reply, World, able, is_before
from tests.support.services import Requires, capability, compute, maintain, node, on, operation, service

DEPLOY = "delegate.deploy"
REMOTE = able(maker=lambda *_: Maker("pool", SSH, looks=True))
ALL = ["create", "configure", "start", "stop", "delete"]


def shop(*, checks: bool = False, count: int = 2) -> World:
    """Web servers on hosts of their own, and a balancer on another host that knows all of them."""
    web = node("web", on("machine"), operations=ALL)
    if checks:
        web = msgspec.structs.replace(web, interfaces={**web.interfaces, **maintain("check", "heal")})
    world = World(
        service(
            compute("machine", count=count),
            compute("front"),
            web,
            node("balancer", on("front"), Requires("web", "add_target", "remove_target"), operations=ALL),
        )
    )
    world.run(answers=made, options=REMOTE)
    return world


def made(step: Step, name: str) -> Reply:
    """Providers say which host it is."""
    return {HOST: {"provider": "pool", "id": f"host of {step.instance}"}} if name == "delegate.deploy" else None


def lost(*hosts: str, otherwise: Answers = made) -> Answers:
    """Some hosts cannot be reached, and their provider knows it."""

    def answer(step: Step, name: str) -> Reply:
        if name == "delegate.look" and step.instance in hosts:
            return Outcome(Ending.SUCCEEDED, status="error", message="no route")
        if name == "delegate.undeploy":
            return Outcome(Ending.SUCCEEDED, changed=True)
        if step.runs_on in hosts or (name == "delegate.reach" and step.instance in hosts):
            return Outcome(Ending.UNREACHABLE, message="no route")
        return otherwise(step, name)

    return answer


def notes(world: World) -> dict[str, tuple[str, str]]:
    return {i.id: (i.local, note_of(i)) for i in world.snapshot.instances.values()}


def test_a_host_is_reached_before_anything_runs_on_it_and_once_only() -> None:
    """R-13.2.2-1: what runs on a host waits until that can be reached; on this machine there is nothing to wait for."""
    world = World(service(compute("machine"), node("web", on("machine"), operations=ALL)))
    plan = world.run(answers=made, options=REMOTE)
    assert is_before(plan, "machine_1.delegate.deploy", "machine_1.delegate.reach")
    assert is_before(plan, "machine_1.delegate.reach", "web_1.Standard.create")
    assert world.plan(options=REMOTE).is_empty
    assert world.plan().is_empty, "that it was reached once is no other form of it"
    here = World(world.service)
    assert not [s for s in here.run().steps if s.id.endswith(".reach")]
    assert here.plan(options=REMOTE).is_empty, "it runs, however it was reached"


def test_a_host_that_could_not_be_reached_is_waited_for_again() -> None:
    world = World(service(compute("machine"), node("web", on("machine"), operations=ALL)))
    world.run(answers=lost("machine_1"), options=REMOTE)
    assert world.failed == ["machine_1.delegate.reach"]
    assert notes(world)["machine_1"][0] == "pending"
    world.run(answers=made, options=REMOTE)
    assert world.ran[0] == "machine_1.delegate.reach"
    assert {local for local, _ in notes(world).values()} == {"ok"}


def test_a_host_that_is_started_again_is_waited_for() -> None:
    world = shop()
    plan = world.run("restart", options=replace(REMOTE, instances=frozenset({"machine_1"})))
    assert is_before(plan, "machine_1.delegate.reach", "web_1.Standard.start")


@pytest.mark.parametrize(("said", "waits"), [("ssh", True), ("tcp", False)])
def test_a_host_that_the_template_makes_is_reached_as_its_endpoint_says(said: str, waits: bool) -> None:
    endpoint = capability("endpoint", properties={"protocol": said})
    machine = compute("machine", operations=["create", "delete"])
    machine = msgspec.structs.replace(machine, capabilities={"endpoint": endpoint})
    plan = World(service(machine, node("web", on("machine"), operations=ALL))).plan(options=REMOTE)
    assert ("machine_1.delegate.reach" in [s.id for s in plan.steps]) is waits
    if waits:
        assert is_before(plan, "machine_1.Standard.start", "machine_1.delegate.reach")
        assert is_before(plan, "machine_1.delegate.reach", "web_1.Standard.create")


def test_checking_asks_the_provider_of_what_has_no_check_of_its_own() -> None:
    world = shop()
    world.run("check", lost("machine_2"), options=REMOTE)
    assert sorted(world.ran) == ["front_1.delegate.look", "machine_1.delegate.look", "machine_2.delegate.look"]
    found = notes(world)
    assert found["machine_2"] == ("error", "cannot be reached")
    assert found["machine_1"] == ("ok", "")
    assert found["web_2"] == ("ok", "")
    world.run("check", made, options=REMOTE)
    assert notes(world)["machine_2"] == ("ok", "")
    assert not world.plan("undeploy", REMOTE).summary.drifted, "nobody has changed a host that was away for a while"


@pytest.mark.parametrize("asked", ["machine_2", "web_2"])
@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("reinstall", [False, True])
def test_healing_on_a_lost_host_goes_straight_to_replacing_all_of_it(asked: str, checks: bool, reinstall: bool) -> None:
    world = shop(checks=checks)
    options = replace(REMOTE, instances=frozenset({asked}), healing=Healing(reinstall))
    world.run("heal", again(lost("machine_2")), options=options)
    assert not world.failed
    ran = [s for s in world.ran if not s.startswith("balancer_1.")]
    assert ran[0] == "machine_2.delegate.look"
    assert not [s for s in ran if s.startswith("web_2.") and s.endswith((".stop", ".delete", ".check", ".heal"))]
    order = ["machine_2.delegate.undeploy", "machine_2.delegate.deploy", "machine_2.delegate.reach"]
    assert [s for s in ran if s in order] == order
    assert set(notes(world).values()) == {("ok", "")}
    assert world.existing == ["balancer_1", "front_1", "machine_1", "machine_2", "web_1", "web_2"]
    assert len(world.snapshot.links) == 2


def locked(*hosts: str) -> Answers:
    """Some hosts are there and let nobody in: that is all that is known of them."""

    def answer(step: Step, name: str) -> Reply:
        if step.runs_on in hosts or (step.instance in hosts and name.startswith("delegate.") and name != DEPLOY):
            return Outcome(Ending.UNREACHABLE, message="it lets nobody in")
        return made(step, name)

    return answer


@pytest.mark.parametrize("asked", ["machine_2", "web_2", "machine_2 web_2", "machine_1 machine_2", "web_1 web_2"])
@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("reinstall", [False, True])
def test_healing_on_a_host_that_lets_nobody_in_does_nothing(asked: str, checks: bool, reinstall: bool) -> None:
    """What runs there must not be forgotten, since it would be started once more later."""
    world = shop(checks=checks)
    records, links = dict(world.snapshot.instances), dict(world.snapshot.links)
    scope = WHOLE_HOST if " " in asked else AUTO
    options = replace(REMOTE, instances=frozenset(asked.split()), healing=Healing(reinstall, scope))
    world.run("heal", locked("machine_2"), options=options)
    assert {step.rpartition(".")[2] for step in world.ran} <= {"look", "check", "heal", "known", "whether", "there"}
    assert world.failed == ["machine_2.delegate.look"]
    assert notes(world)["machine_2"] == ("unknown", "it could not be found out how it is")
    del records["machine_2"]
    assert {name: world.snapshot.instances[name] for name in records} == records
    assert dict(world.snapshot.links) == links
    world.run("heal", made, options=replace(REMOTE, instances=frozenset({"machine_2"})))
    assert world.ran == ["machine_2.delegate.look"]
    assert set(notes(world).values()) == {("ok", "")}


def again(answers: Answers) -> Answers:
    """What is asked for a host is another one once it was replaced."""
    fresh: set[str] = set()

    def answer(step: Step, name: str) -> Reply:
        if name == "delegate.deploy":
            fresh.add(step.instance)
        return made(step, name) if {step.instance, step.runs_on} & fresh else answers(step, name)

    return answer


def test_a_host_that_answers_is_not_replaced() -> None:
    world = shop()
    world.run("heal", made, options=replace(REMOTE, instances=frozenset({"machine_2"})))
    assert world.ran == ["machine_2.delegate.look"]


def test_what_a_lost_host_carried_went_with_it() -> None:
    world = shop(count=1)
    world.run("undeploy", lost("machine_1"), options=REMOTE)
    assert sorted(world.failed) == ["web_1.Standard.delete", "web_1.Standard.stop"]
    assert notes(world)["web_1"] == ("absent", "removed with its host")
    assert world.existing == []
    assert not world.snapshot.links


def test_scaling_makes_hosts_by_their_provider() -> None:
    world = shop()
    scaling = Scaling((Goal("machine", count=4),))
    plan = world.run("scale", made, options=replace(REMOTE, scaling=scaling))
    for number in (3, 4):
        assert is_before(plan, f"machine_{number}.delegate.deploy", f"machine_{number}.delegate.reach")
        assert is_before(plan, f"machine_{number}.delegate.reach", f"web_{number}.Standard.create")
        assert HOST in world.snapshot.attributes[f"machine_{number}"]


def test_what_a_provider_has_made_is_known_though_it_has_failed() -> None:
    world = World(service(compute("machine")))
    half = Outcome(Ending.FAILED, message="no address", outputs={HOST: {"provider": "pool", "id": "i-1"}})
    world.run(answers=lambda *_: half, options=REMOTE)
    assert world.snapshot.attributes["machine_1"][HOST] == {"provider": "pool", "id": "i-1"}
    world.run("undeploy", options=REMOTE)
    assert world.ran == ["machine_1.delegate.look", "machine_1.delegate.undeploy"]


@pytest.mark.parametrize(
    ("where", "runs_on"),
    [("", "machine_1"), ("ORCHESTRATOR", ""), ("HOST", "machine_1"), ("SELF", "machine_1")],
)
def test_where_an_operation_of_software_runs(where: str, runs_on: str) -> None:
    """R-13.2.2-1, R-13.2.2-2: on the Compute that hosts it, unless the designer says otherwise."""
    web = node("web", on("machine"), operations=[operation("create", host=where)])
    plan = World(service(compute("machine"), web)).run(options=REMOTE)
    assert next(s.runs_on for s in plan.steps if s.id == "web_1.Standard.create") == runs_on
