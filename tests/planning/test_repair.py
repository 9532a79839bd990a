"""Deploying repairs what is known to be broken though everything was carried out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import Delta
from ordito.model.service import NodeTemplate
from ordito.planning.options import DataLoss, ServicePart
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import ChangeOptions
from ordito.work.plan import Step
from tests.support.runs import OPTIONS, Answers, Reply, World, failing, is_before
from tests.support.services import Requires, compute, maintain, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]
PAIR = ["add_target", "remove_target"]


def looked_after(name: str, *requires: Requires | str, by: tuple[str, ...] = ("check",)) -> NodeTemplate:
    made = node(name, *requires, operations=ALL)
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain(*by)}) if by else made


def shop(*by: str) -> World:
    world = World(
        service(
            compute("server"),
            msgspec.structs.replace(looked_after("db", on("server"), by=by), kinds=("tosca.nodes.Database",)),
            msgspec.structs.replace(
                looked_after("web", on("server"), Requires("db", *PAIR), by=by), occurrences=(3, 3)
            ),
            node("proxy", Requires("web", *PAIR), operations=ALL),
        )
    )
    world.run()
    return world


def broken(world: World, *instances: str, local: str = "error", state: str = "error") -> None:
    for name in instances:
        record = msgspec.structs.replace(world.snapshot.instances[name], local=local, state=state)
        world.snapshot.apply(Delta(instances=(record,)))


def checks(**codes: list[int]) -> Answers:
    """What the checks of instances exit with, one after the other, and 0 then."""

    def answer(step: Step, name: str) -> Reply:
        left = codes.get(step.instance, [])
        if name != "Maintain.check" or not left:
            return None
        code = left.pop(0)
        return Outcome(Ending.FAILED if code else Ending.SUCCEEDED, exit_code=code)

    return answer


def statuses(world: World) -> dict[str, str]:
    return {i.id: i.local for i in world.snapshot.instances.values()}


def of(world: World, instance: str) -> list[str]:
    return [s.removeprefix(f"{instance}.Standard.") for s in world.ran if s.startswith(f"{instance}.Standard.")]


RESTART = ["stop", "start"]
ANEW = ["stop", "start", "stop.again", "delete", "create", "configure", "start.again"]


@pytest.mark.parametrize(
    ("codes", "did"),
    [([0], []), ([1, 0], RESTART), ([1, 1, 0], ANEW), ([3, 0], ["create", "configure", "start.again"])],
)
@pytest.mark.parametrize("local", ["error", "unknown"])
def test_what_a_check_does_not_find_to_be_ok_is_repaired_as_far_as_that_needs(
    codes: list[int], did: list[str], local: str
) -> None:
    world = shop("check")
    broken(world, "web_2", local=local, state="error" if local == "error" else "started")
    world.run(answers=checks(web_2=[*codes]))
    assert world.failed in ([], ["web_2.Maintain.check.ready"])
    assert of(world, "web_2") == did
    assert of(world, "web_1") == of(world, "db_1") == of(world, "proxy_1") == []
    assert any(s.startswith("proxy_1.web.web_2.Configure.add_target") for s in world.ran) is bool(did)
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_without_a_check_what_is_stopped_and_started_well_is_ok() -> None:
    world = shop()
    broken(world, "web_2", "web_3")
    world.run()
    assert of(world, "web_2") == of(world, "web_3") == RESTART
    assert set(statuses(world).values()) == {"ok"}


def test_each_goes_as_far_as_it_has_to() -> None:
    world = shop("check")
    broken(world, "web_1", "web_2", "web_3")
    world.run(answers=checks(web_1=[0], web_2=[1, 0], web_3=[1, 1]))
    assert (of(world, "web_1"), of(world, "web_2"), of(world, "web_3")) == ([], RESTART, ANEW)
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_is_found_ok_leaves_out_nothing_of_what_is_not() -> None:
    world = shop("check")
    broken(world, "web_1", "web_2", "web_3")
    world.run(answers=checks(web_2=[1, 0]))
    assert (of(world, "web_1"), of(world, "web_2"), of(world, "web_3")) == ([], RESTART, [])
    assert set(statuses(world).values()) == {"ok"}


def test_what_others_require_is_repaired_first() -> None:
    world = shop("check")
    broken(world, "db_1", "web_1")
    plan = world.run(answers=checks(web_1=[1], db_1=[1]))
    assert is_before(plan, "db_1.ordito.healed", "web_1.Maintain.check")
    assert of(world, "db_1") == of(world, "web_1") == RESTART
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_keeps_data_is_not_replaced_and_the_plan_says_so() -> None:
    world = shop("check")
    broken(world, "db_1")
    plan = world.run(answers=checks(db_1=[1, 1]))
    assert of(world, "db_1") == RESTART
    assert world.failed == ["db_1.Maintain.check.ready", "db_1.ordito.healed"]
    assert [c.instance for c in plan.summary.kept] == ["db_1"]
    assert plan.summary.losing == ()
    assert statuses(world)["db_1"] == "error"
    options = replace(OPTIONS, data_loss=DataLoss(frozenset({"db_1"})))
    assert world.run(answers=checks(db_1=[1, 1]), options=options).summary.losing == ("db_1",)
    assert of(world, "db_1") == ANEW
    assert set(statuses(world).values()) == {"ok"}


def test_what_cannot_be_repaired_stays_broken_and_what_needs_it_is_not_begun() -> None:
    world = shop("check")
    world.run("stop", options=replace(OPTIONS, instances=frozenset({"web_1"})))
    broken(world, "db_1")
    in_vain = failing("db_1.Standard.start")
    asked = checks(db_1=[1])
    world.run(answers=lambda step, name: asked(step, name) or in_vain(step, name))
    assert statuses(world)["db_1"] in ("error", "unknown")
    assert "db_1.ordito.healed" in world.failed
    assert of(world, "web_1") == []
    assert statuses(world)["web_1"] == "pending"
    world.run(answers=checks(db_1=[1]))
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


CHECKS = replace(OPTIONS, changes=ChangeOptions(checks=True))


def test_what_is_to_stay_is_asked_where_that_is_wanted_and_left_alone_where_it_is_ok() -> None:
    world = shop("check")
    plan = world.run(options=CHECKS)
    asked = [s for s in world.ran if ".ordito." not in s]
    assert asked == ["db_1.Maintain.check", *(f"web_{n}.Maintain.check" for n in (1, 2, 3))]
    assert [(c.instance, c.reason) for c in plan.summary.kept if "nothing tells" in c.reason] == [
        (name, "not checked: nothing tells how it is") for name in ("server_1", "proxy_1")
    ]
    assert world.plan().is_empty


@pytest.mark.parametrize(("codes", "did"), [([1, 0], RESTART), ([1, 1, 0], ANEW)])
def test_what_is_asked_and_not_ok_is_repaired_and_nothing_else(codes: list[int], did: list[str]) -> None:
    world = shop("check")
    world.run(answers=checks(web_2=[*codes]), options=CHECKS)
    assert of(world, "web_2") == did
    assert of(world, "web_1") == of(world, "web_3") == of(world, "db_1") == of(world, "proxy_1") == []
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_is_asked_and_keeps_data_is_not_replaced() -> None:
    world = shop("check")
    world.run(answers=checks(db_1=[1, 1]), options=CHECKS)
    assert of(world, "db_1") == RESTART
    assert world.failed == ["db_1.Maintain.check.ready", "db_1.ordito.healed"]


def test_only_what_is_part_of_it_is_asked() -> None:
    world = shop("check")
    world.run(options=replace(CHECKS, part=ServicePart(instances=frozenset({"web_2"}))))
    assert [s for s in world.ran if ".ordito." not in s] == ["web_2.Maintain.check"]


def test_what_others_change_around_is_not_asked_and_that_is_said() -> None:
    world = shop("check")
    broken(world, "web_1")
    plan = world.run(options=replace(CHECKS, changes=ChangeOptions(checks=True, replaced=("web",))))
    assert not any(s.startswith("db_1.") for s in world.ran)
    assert any(c.instance == "db_1" and "not checked" in c.reason for c in plan.summary.kept)


@pytest.mark.parametrize("instances", [("web_1",), ()])
def test_a_host_is_asked_once_and_where_it_is_not_ok_nothing_on_it_is_touched(instances: tuple[str, ...]) -> None:
    server = compute("server")
    server = msgspec.structs.replace(server, interfaces={**server.interfaces, **maintain("check")})
    nodes = [looked_after("web", on("server"))] if instances else []
    world = World(service(server, *nodes))
    world.run()
    world.run(options=CHECKS)
    asked = [s for s in world.ran if ".ordito." not in s]
    assert asked == ["server_1.Maintain.check", *(f"{name}.Maintain.check" for name in instances)]
    assert not world.failed
    world.run(answers=checks(server_1=[1], web_1=[1]), options=CHECKS)
    assert of(world, "web_1") == of(world, "server_1") == []
    assert "server_1.ordito.healed" in world.failed


def test_what_requires_one_that_is_begun_is_not_repaired_and_so_on() -> None:
    """One that has failed while it was begun is gone on with; what requires it, whatever is between, waits for it."""
    by = ("check",)
    world = World(
        service(
            looked_after("base", by=by),
            looked_after("middle", "base", by=by),
            looked_after("top", "middle", by=by),
            looked_after("apart", by=by),
        )
    )
    world.run()
    broken(world, "base_1", "middle_1", "top_1", "apart_1")
    record = world.snapshot.instances["base_1"]
    failed = {"Standard.start": record.created}
    world.snapshot.apply(Delta(instances=(msgspec.structs.replace(record, failed=failed),)))
    repaired = {step.instance for step in world.plan().steps if step.id.endswith(".ordito.healed")}
    assert repaired == {"apart_1"}
    broken(world, "base_1", "middle_1", "top_1", "apart_1", local="error", state="started")
    world.snapshot.apply(Delta(instances=(msgspec.structs.replace(world.snapshot.instances["base_1"], failed={}),)))
    repaired = {step.instance for step in world.plan().steps if step.id.endswith(".ordito.healed")}
    assert repaired == {"base_1", "middle_1", "top_1", "apart_1"}


def test_what_could_neither_be_mended_nor_stopped_is_repaired_another_time_as_well() -> None:
    """That an operation failed which looks after an instance, or stops it, leaves nothing to go on with."""
    world = shop("check", "heal")
    for failing_now in ("web_1.Maintain.heal", "web_1.Standard.stop"):
        broken(world, "web_1", local="unknown", state="started")
        world.run(answers=either(failing(failing_now), checks(web_1=[1, 1])))
        assert statuses(world)["web_1"] == "ok"
        assert "start" in of(world, "web_1"), failing_now


def either(first: Answers, second: Answers) -> Answers:
    return lambda step, name: first(step, name) or second(step, name)


def a_link_fails(world: World) -> None:
    (link,) = (name for name in world.snapshot.links_of("proxy_1") if name.endswith("web_1"))
    record = world.snapshot.links[link]
    failed = {"Configure.add_target": record.applied["Configure.add_target"].change}
    world.snapshot.apply(Delta(links=(msgspec.structs.replace(record, failed=failed),)))
    broken(world, "proxy_1")


def a_host_is_down(world: World) -> None:
    broken(world, "server_1")


def nothing_makes_it(world: World) -> None:
    bare = service(*world.service.nodes.values(), node("bare"))
    world.service = bare
    world.run()
    broken(world, "bare_1", local="error", state="started")


@pytest.mark.parametrize(
    ("makes", "workflow", "instance", "why"),
    [
        (a_host_is_down, "deploy", "server_1", "its provider says how it is"),
        (a_link_fails, "deploy", "proxy_1", "a link of it has failed"),
        (nothing_makes_it, "deploy", "bare_1", "nothing is run to make it"),
        (lambda w: broken(w, "web_1"), "rollback", "web_1", "going back repairs nothing"),
    ],
)
def test_why_it_is_not_repaired_is_said(makes: Callable[[World], None], workflow: str, instance: str, why: str) -> None:
    world = shop("check")
    makes(world)
    warnings = [w for w in world.plan(workflow).summary.warnings if "[not-repaired]" in w]
    assert [instance in w and why in w and f"`ordito heal {instance}`" in w for w in warnings] == [True], warnings
