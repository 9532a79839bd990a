"""What an instance is worth whose links, which it can do without, fail and are made good."""

from __future__ import annotations

from ordito.work.invocation import Ending
from ordito.work.plan import Step
from tests.support.runs import Answers, Reply, World
from tests.support.services import Requires, node, service

OPTIONAL = {"ordito.Configure.add_target.priority": "optional"}


def world() -> World:
    """A consumer of two, linked with both, that can do without the links."""
    links = (Requires("db", "add_target"), Requires("cache", "add_target"))
    return World(service(node("db"), node("cache"), node("web", *links, operations=["create"], metadata=OPTIONAL)))


def failing(*targets: str) -> Answers:
    """The links with these targets fail, and say nothing about what they have modified."""

    def answer(step: Step, operation: str) -> Reply:
        return Ending.FAILED if step.link and step.far in targets else None

    return answer


def local(there: World) -> str:
    return there.snapshot.instances["web_1"].local


def test_a_link_that_fails_leaves_it_degraded_whatever_follows() -> None:
    """Also where the last operation of its chain ends well."""
    for target in ("db_1", "cache_1"):
        there = world()
        there.run(answers=failing(target))
        assert local(there) == "degraded"


def test_it_is_ok_again_when_the_last_link_is_made_good() -> None:
    there = world()
    there.run(answers=failing("db_1", "cache_1"))
    there.run(answers=failing("cache_1"))
    assert local(there) == "degraded"
    there.run()
    assert local(there) == "ok"
    assert not there.plan().steps


def test_a_link_that_fails_again_leaves_it_degraded() -> None:
    there = world()
    there.run(answers=failing("db_1"))
    there.run(answers=failing("db_1"))
    assert local(there) == "degraded"
