"""Instances of a node that are changed some at a time: each turn begins when the one before is up, and well."""

from __future__ import annotations

import pytest

from ordito.base.portion import Portion
from ordito.model.operation import Operation
from ordito.model.service import Service
from ordito.planning.options import Upgrading
from ordito.work.invocation import Ending
from ordito.work.plan import Plan
from tests.planning.test_upgrade import ALL, Running, called, kinds
from tests.support.runs import assert_order, is_before
from tests.support.services import Requires, node, on, operation, service


def turning(script: str, at_once: str = "", *, count: int = 4) -> Service:
    """A node whose start is another script, behind one that is linked with it."""
    metadata = {"ordito.max_unavailable": at_once} if at_once else {}
    changed: list[Operation | str] = [ALL[0], operation("start", script), "stop"]
    linked = Requires("app", "add_target", "remove_target")
    return service(
        node("app", operations=changed, count=count, metadata=metadata), node("front", linked, operations=ALL)
    )


def chain(plan: Plan, instance: str) -> tuple[str, str]:
    return f"{instance}.Standard.stop", f"{instance}.Standard.start"


@pytest.mark.parametrize("said", ["2", "50%", ""])
def test_each_turn_begins_when_the_one_before_is_up(said: str) -> None:
    running = Running(turning("1.sh", said))
    upgrading = Upgrading(max_unavailable=Portion() if said else Portion(2))
    plan = running.plan(turning("2.sh", said), upgrading=upgrading)
    assert set(kinds(plan).values()) == {"restart", ""}
    # What only goes along with others says with whom.
    assert {c.reason for c in plan.changes if not c.kind} == {"it is linked anew: app is stopped and started"}
    for earlier in ("app_1", "app_2"):
        for later in ("app_3", "app_4"):
            assert_order(plan, *chain(plan, earlier), *chain(plan, later))
    assert not is_before(plan, chain(plan, "app_1")[1], chain(plan, "app_2")[0])
    # Who is linked with them loses no more of them at one time.
    assert_order(plan, chain(plan, "app_1")[1], "front_1.app.app_3.Configure.remove_target", chain(plan, "app_3")[0])
    assert "front_1.Standard.stop" not in called(plan)


def test_nobody_takes_turns_where_nobody_says_so() -> None:
    plan = Running(turning("1.sh")).plan(turning("2.sh"))
    assert not is_before(plan, chain(plan, "app_1")[1], chain(plan, "app_4")[0])


def test_after_a_turn_that_has_failed_there_is_no_other() -> None:
    """What comes later is not even taken down."""
    running = Running(turning("1.sh", "1"))
    world = running.world
    world.service = turning("2.sh", "1")
    world.run(answers=lambda step, _: Ending.FAILED if step.id == "app_2.Standard.start" else None)
    assert [s for s in world.ran if s.startswith("app_")] == [*chain(running.plan(), "app_1"), "app_2.Standard.stop"]
    assert world.failed == ["app_2.Standard.start"]
    assert {i.local for n in (3, 4) for i in [world.snapshot.instances[f"app_{n}"]]} == {"ok"}
    assert world.snapshot.links["front_1.app.app_3"].applied
    again = running.plan()
    assert {name for name, kind in kinds(again).items() if kind == "restart"} == {"app_3", "app_4"}


def test_what_lies_on_hosts_takes_their_turns() -> None:
    """And what requires it goes on."""

    def made(script: str) -> Service:
        create: list[Operation | str] = [operation("create", script), *ALL[1:]]
        machine = node("m", operations=create, count=2)
        app = node("app", on("m"), operations=ALL, count=2)
        return service(machine, app, node("front", "app", operations=ALL))

    plan = Running(made("1.sh")).plan(made("2.sh"), upgrading=Upgrading(max_unavailable=Portion(1)))
    assert kinds(plan) == dict.fromkeys(("m_1", "m_2", "app_1", "app_2"), "replace")
    assert_order(
        plan,
        *("app_1.Standard.stop", "app_1.Standard.delete", "m_1.Standard.delete", "m_1.Standard.create"),
        *("app_1.Standard.create", "app_1.Standard.start", "app_2.Standard.stop", "m_2.Standard.delete"),
    )
    assert "front_1.Standard.stop" not in called(plan)


def test_what_has_to_go_down_together_takes_no_turns() -> None:
    """Hosts take turns, and all that lies on them requires something that is made anew at the same time."""

    def made(script: str) -> Service:
        create: list[Operation | str] = [operation("create", script), *ALL[1:]]
        machine = node("m", operations=create, count=2)
        return service(machine, node("db", operations=create), node("app", on("m"), "db", operations=ALL, count=2))

    plan = Running(made("1.sh")).plan(made("2.sh"), upgrading=Upgrading(max_unavailable=Portion(1)))
    assert set(kinds(plan).values()) == {"replace"}
    assert_order(plan, "app_2.Standard.delete", "db_1.Standard.delete")
    assert any("changed-at-once" in warning for warning in plan.warnings)
