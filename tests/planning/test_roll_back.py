"""How what a job did is taken back."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from ordito.model.service import Service
from ordito.planning.options import PlanOptions, RolledBack
from ordito.planning.roll_back import cannot_be_taken_back, made
from ordito.planning.workflows import ROLLBACK_OF_JOB
from ordito.work.invocation import Ending
from ordito.work.plan import Action, Plan
from tests.planning.test_random_topologies import QUICK, topologies
from tests.support.runs import OPTIONS, World, assert_order, failing
from tests.support.services import Requires, compute, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]


def rolled_back(world: World, deployed: Plan) -> RolledBack:
    """The job that the world has run last."""
    return RolledBack(f"job{world.jobs}", frozenset(i.id for i in deployed.records.new))


def options(back: RolledBack) -> PlanOptions:
    return replace(OPTIONS, rolled_back=back)


def shop(web: int = 1) -> Service:
    return service(
        compute("server"),
        node("db", on("server"), operations=ALL),
        node("web", Requires("db", "add_target", "remove_target"), operations=ALL, count=web),
    )


def test_what_a_job_made_goes_in_the_reverse_order() -> None:
    world = World(shop())
    deployed = world.run(answers=failing("web_1.db.db_1.Configure.add_target"))
    back = rolled_back(world, deployed)
    assert made(world.snapshot, back) == ("server_1", "db_1", "web_1")
    plan = world.run(ROLLBACK_OF_JOB, options=options(back))
    assert_order(
        plan,
        "web_1.db.db_1.Configure.remove_target",
        "web_1.Standard.stop",
        "web_1.Standard.delete",
        "db_1.Standard.stop",
        "db_1.Standard.delete",
        "server_1.delegate.undeploy",
    )
    assert world.existing == []
    assert cannot_be_taken_back(world.snapshot, back) == ()


def test_an_instance_that_was_there_is_stopped_and_what_it_keeps_is_said() -> None:
    world = World(shop())
    world.run(answers=failing("db_1.Standard.configure"))
    deployed = world.run(answers=failing("web_1.Standard.create"))
    back = rolled_back(world, deployed)
    assert cannot_be_taken_back(world.snapshot, back) == ("db_1 keeps what Standard.configure did",)
    world.run(ROLLBACK_OF_JOB, options=options(back))
    assert [s for s in world.ran if s.startswith("db_1")] == ["db_1.Standard.stop"]
    assert world.existing == ["db_1", "server_1"]
    assert (world.snapshot.instances["db_1"].state, world.snapshot.instances["db_1"].local) == ("configured", "pending")


def test_instances_that_a_job_removed_are_not_made_again() -> None:
    world = World(shop(web=2))
    world.run()
    world.service = shop(web=1)
    deployed = world.run()
    back = rolled_back(world, deployed)
    assert cannot_be_taken_back(world.snapshot, back) == ("web_2 was removed, and is not created again",)
    assert world.plan(ROLLBACK_OF_JOB, options(back)).is_empty


@QUICK
@given(topologies(), st.integers(0, 2**32), st.integers(0, 40))
def test_whatever_failed_in_a_first_deployment_nothing_is_left_of_it(
    given_service: Service, seed: int, broken: int
) -> None:
    world, random = World(given_service), Random(seed)
    called = [s.id for s in world.plan().steps if s.action is Action.CALL]
    unlucky = called[broken % len(called)] if called else ""
    deployed = world.run(random=random, answers=lambda step, _: None if step.id != unlucky else Ending.FAILED)
    back = rolled_back(world, deployed)
    world.run(ROLLBACK_OF_JOB, options=options(back), random=random)
    assert world.failed == []
    assert world.existing == []
    assert world.snapshot.links == {}
    assert made(world.snapshot, back) == ()
    world.run(random=random)
    assert {i.local for i in world.snapshot.instances.values() if i.exists} == {"ok"}
