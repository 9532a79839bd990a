"""Instances of a node that are changed some at a time: each turn begins when the one before is up, and well."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, product

import msgspec
import pytest

from ordito.base.portion import Portion
from ordito.instances.records import Delta
from ordito.model.operation import Operation
from ordito.model.service import Service
from ordito.work.invocation import Ending
from ordito.work.options import ChangeOptions
from ordito.work.plan import Plan, Step
from tests.planning.test_upgrade import ALL, Running, _with, called, kinds
from tests.support.runs import assert_order, is_before
from tests.support.services import Requires, maintain, node, on, operation, service


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
    changes = ChangeOptions(max_unavailable=Portion() if said else Portion(2))
    plan = running.plan(turning("2.sh", said), changes=changes)
    assert set(kinds(plan).values()) == {"restart", ""}
    # What only goes along with others says with whom.
    assert {c.reason for c in plan.changes if not c.kind} == {"it is linked again: app is stopped and started"}
    for earlier in ("app_1", "app_2"):
        for later in ("app_3", "app_4"):
            assert_order(plan, *chain(plan, earlier), *chain(plan, later))
    assert not is_before(plan, chain(plan, "app_1")[1], chain(plan, "app_2")[0])
    # Who is linked with them loses no more of them at one time.
    assert_order(plan, chain(plan, "app_1")[1], "front_1.app.app_3.Configure.remove_target", chain(plan, "app_3")[0])
    assert "front_1.Standard.stop" not in called(plan)


@pytest.mark.parametrize("workflow", ["upgrade", "deploy", "rollback"])
def test_what_would_be_down_as_a_whole_takes_turns(workflow: str) -> None:
    """One at a time of up to seven, then a quarter, whoever is linked with it; nobody has to say so."""
    plan = Running(turning("1.sh")).plan(turning("2.sh"), workflow=workflow)
    for earlier, later in pairwise([f"app_{number}" for number in range(1, 5)]):
        linked = f"front_1.app.{earlier}.Configure.add_target"
        assert_order(plan, *chain(plan, earlier), linked, f"front_1.app.{later}.Configure.remove_target")
        assert_order(plan, linked, chain(plan, later)[0])
    assert plan.summary.outages == ()
    many = Running(turning("1.sh", count=8)).plan(turning("2.sh", count=8), workflow=workflow)
    assert not is_before(many, chain(many, "app_1")[1], chain(many, "app_2")[0])
    assert_order(many, chain(many, "app_2")[1], chain(many, "app_3")[0])


@pytest.mark.parametrize("requires", [("base", "app"), ("app", "base")])
@pytest.mark.parametrize("above", [True, False])
def test_who_is_linked_with_several_nodes_that_take_turns_always_has_some_of_each(
    requires: tuple[str, str], *, above: bool
) -> None:
    """In whatever order it requires them, and whether one of them requires the other."""

    def made(script: str) -> Service:
        changed: list[Operation | str] = [ALL[0], operation("configure", script), *ALL[2:]]
        links = {name: Requires(name, "add_target", "remove_target") for name in requires}
        return service(
            node("base", operations=changed, count=3),
            node("app", *([links["base"]] if above else []), operations=changed, count=3),
            node("front", *links.values(), operations=ALL, count=2),
        )

    plan = Running(made("1.sh")).plan(made("2.sh"))
    for name, number, front in product(requires, (1, 2), ("front_1", "front_2")):
        again = f"{front}.{name}.{name}_{number}.Configure.add_target"
        then = f"{name}_{number + 1}"
        assert_order(plan, f"{name}_{number}.Standard.start", again, f"{then}.Standard.stop")
        assert_order(plan, again, f"{front}.{name}.{then}.Configure.remove_target", f"{then}.Standard.stop")
    assert not [step for step in called(plan) if step.startswith("front") and "Standard" in step]
    assert not plan.summary.outages
    assert not plan.summary.warnings


def test_what_is_updated_in_place_has_those_of_one_turn_again_before_the_next() -> None:
    def made(script: str) -> Service:
        changed: list[Operation | str] = [ALL[0], operation("start", script), "stop"]
        linked = Requires("app", "add_target", "remove_target")
        own: list[Operation | str] = [ALL[0], operation("configure", script), *ALL[2:]]
        return service(
            node("app", operations=changed, count=2), _with(node("front", linked, operations=own), maintain("update"))
        )

    plan = Running(made("1.sh")).plan(made("2.sh"))
    assert kinds(plan) == {"app_1": "restart", "app_2": "restart", "front_1": "update"}
    linked = [f"front_1.app.app_{number}.Configure.add_target" for number in (1, 2)]
    assert_order(plan, linked[0], "front_1.app.app_2.Configure.remove_target", "app_2.Standard.stop", linked[1])
    assert_order(plan, "app_2.Standard.start", "front_1.Maintain.update")


def test_the_next_turn_waits_for_links_that_fail() -> None:
    running = Running(turning("1.sh"))
    world = running.world
    world.service = turning("2.sh")
    link = "front_1.app.app_1.Configure.add_target"
    world.run(answers=lambda step, _: Ending.FAILED if step.id == link else None)
    assert world.failed == [link]
    assert "app_2.Standard.stop" not in world.ran
    assert world.snapshot.links["front_1.app.app_2"].applied


def test_all_may_be_down_where_somebody_says_so() -> None:
    for said, changes in (
        ("", ChangeOptions(max_unavailable=Portion(100, is_percentage=True))),
        ("100%", ChangeOptions()),
    ):
        plan = Running(turning("1.sh", said)).plan(turning("2.sh", said), changes=changes)
        assert not is_before(plan, chain(plan, "app_1")[1], chain(plan, "app_4")[0])
        assert [(o.node, o.instances) for o in plan.summary.outages] == [("app", 4)]


def test_what_is_down_already_is_changed_first_and_at_once() -> None:
    running = Running(turning("1.sh"))
    for name in ("app_2", "app_4"):
        record = running.world.snapshot.instances[name]
        running.world.snapshot.apply(Delta((msgspec.structs.replace(record, local="error"),)))
    plan = running.plan(turning("2.sh"), changes=ChangeOptions(skip_heal=True))
    assert not is_before(plan, chain(plan, "app_2")[1], chain(plan, "app_4")[0])
    assert_order(plan, chain(plan, "app_4")[1], *chain(plan, "app_1"), *chain(plan, "app_3"))


def test_an_outage_that_remains_is_named() -> None:
    """What requires something of which there is but one, and that is replaced, is down with it."""

    def made(script: str) -> Service:
        create: list[Operation | str] = [operation("create", script), *ALL[1:]]
        return service(node("db", operations=create), node("app", "db", operations=ALL, count=3))

    plan = Running(made("1.sh")).plan(made("2.sh"))
    assert [(o.node, o.instances) for o in plan.summary.outages] == [("db", 1), ("app", 3)]
    # Also where it is changed itself, and could take turns otherwise.
    create: list[Operation | str] = [operation("create", "3.sh"), *ALL[1:]]
    alike = service(node("db", operations=create), node("app", "db", operations=create, count=3))
    assert Running(made("1.sh")).plan(alike).summary.outages[1].reason == plan.summary.outages[1].reason
    # What nothing stops goes on, whatever is carried out for it.
    reads = service(node("app", operations=[ALL[0], operation("configure", "1.sh")]))
    assert (
        not Running(reads)
        .plan(service(node("app", operations=[ALL[0], operation("configure", "2.sh")])))
        .summary.outages
    )
    assert plan.summary.outages[1].reason == "it requires db (db), which is replaced"


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


@pytest.mark.parametrize("said", ["1", ""])
def test_trying_again_takes_no_more_down_before_what_is_down_is_up(said: str) -> None:
    """However often it is tried, and whichever of them is down: by the same version, by one more, or by the one
    before."""
    count = 3
    running = Running(turning("1.sh", said, count=count))
    world = running.world
    for script, number in (("2.sh", 1), ("2.sh", 1), ("3.sh", 1), ("4.sh", 2), ("4.sh", 2)):
        world.service = turning(script, said, count=count)
        start = f"app_{number}.Standard.start"
        up = {i.id for i in world.snapshot.instances.values() if i.node == "app" and i.local == "ok"}
        world.run(answers=partial(_failing, start))
        assert world.failed == [start]
        assert len([i for i in world.snapshot.instances.values() if i.node == "app" and i.local == "ok"]) == count - 1
        assert not [
            s for s in world.ran for name in up - {f"app_{number}", "app_1"} if s.startswith(f"{name}.Standard")
        ]
    plan = running.plan()
    assert_order(plan, "app_2.Standard.start", *chain(plan, "app_3"))
    assert plan.summary.outages == ()
    world.run()
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}


def _failing(start: str, step: Step, _: object) -> Ending | None:
    return Ending.FAILED if step.id == start else None


def test_the_last_that_is_up_waits_for_those_that_are_down() -> None:
    running = Running(turning("1.sh", count=3))
    for name in ("app_1", "app_2"):
        record = running.world.snapshot.instances[name]
        failed = {"Standard.start": "job-2@1"}
        record = msgspec.structs.replace(record, local="unknown", state="error", failed=failed)
        running.world.snapshot.apply(Delta((record,)))
    plan = running.plan(turning("2.sh", count=3))
    assert_order(plan, "app_1.Standard.start", "front_1.app.app_3.Configure.remove_target", "app_3.Standard.stop")
    assert_order(plan, "app_2.Standard.start", "app_3.Standard.stop")
    assert plan.summary.outages == ()


def test_what_lies_on_hosts_takes_their_turns() -> None:
    """And what requires it goes on."""

    def made(script: str) -> Service:
        create: list[Operation | str] = [operation("create", script), *ALL[1:]]
        machine = node("m", operations=create, count=2)
        app = node("app", on("m"), operations=ALL, count=2)
        return service(machine, app, node("front", "app", operations=ALL))

    plan = Running(made("1.sh")).plan(made("2.sh"), changes=ChangeOptions(max_unavailable=Portion(1)))
    assert kinds(plan) == dict.fromkeys(("m_1", "m_2", "app_1", "app_2"), "replace")
    assert_order(
        plan,
        *("app_1.Standard.stop", "app_1.Standard.delete", "m_1.Standard.delete", "m_1.Standard.create"),
        *("app_1.Standard.create", "app_1.Standard.start", "app_2.Standard.stop", "m_2.Standard.delete"),
    )
    assert "front_1.Standard.stop" not in called(plan)


def test_what_has_to_go_down_together_takes_no_turns() -> None:
    """Hosts take turns, and all that lies on them requires something that is replaced at the same time."""

    def made(script: str) -> Service:
        create: list[Operation | str] = [operation("create", script), *ALL[1:]]
        machine = node("m", operations=create, count=2)
        return service(machine, node("db", operations=create), node("app", on("m"), "db", operations=ALL, count=2))

    plan = Running(made("1.sh")).plan(made("2.sh"), changes=ChangeOptions(max_unavailable=Portion(1)))
    assert set(kinds(plan).values()) == {"replace"}
    assert_order(plan, "app_2.Standard.delete", "db_1.Standard.delete")
    assert any("changed-at-once" in warning for warning in plan.summary.warnings)
