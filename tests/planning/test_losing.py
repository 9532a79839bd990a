"""Whatever is known of what keeps data, and whatever is asked for: once it was made it is never removed, nor made over,
by a plan that does not say whose data it loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import msgspec
import pytest

from ordito.instances.records import Delta, StatusReason
from ordito.planning.options import DataLoss, Goal, Healing, PlanOptions, Scaling, ServicePart
from ordito.planning.refused import PlanRefused
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import AUTO, INSTANCE_ONLY, WHOLE_HOST, ChangeOptions
from ordito.work.plan import Step
from tests.support.runs import OPTIONS, Answers, Reply, World, failing
from tests.support.services import Requires, compute, maintain, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]
SCOPES = (AUTO, INSTANCE_ONLY, WHOLE_HOST)
LOSE = ("Standard.create", "Standard.delete")


def shop() -> World:
    database = node("db", on("server"), operations=ALL)
    interfaces = {**database.interfaces, **maintain("check")}
    kinds = ("tosca.nodes.Database",)
    database = msgspec.structs.replace(database, kinds=kinds, interfaces=interfaces, occurrences=(0, 3))
    world = World(
        service(
            compute("server"),
            database,
            node("web", on("server"), Requires("db", "add_target", "remove_target"), operations=ALL),
        )
    )
    world.run()
    return world


def scaled(number: int) -> PlanOptions:
    return replace(OPTIONS, scaling=Scaling((Goal("db", number),)))


def known(world: World, name: str, **values: object) -> None:
    record = msgspec.structs.replace(world.snapshot.instances[name], **values)
    links = tuple(world.snapshot.links_of(name)) if record.local == "absent" else ()
    world.snapshot.apply(Delta(instances=(record,), unlinked=links))


def absent(name: str) -> Callable[[World], None]:
    return lambda world: known(world, name, local="absent", state="deleted", status_reason=StatusReason.FOUND_ABSENT)


def without(world: World, **values: object) -> None:
    """What is known where its configuration has failed."""
    record = world.snapshot.instances["db_1"]
    applied = {k: v for k, v in record.applied.items() if k == "Standard.create"}
    known(world, "db_1", applied=applied, failed={"Standard.configure": record.created}, **values)


def both(world: World) -> None:
    absent("db_1")(world)
    absent("server_1")(world)


def went(world: World) -> None:
    absent("db_1")(world)
    world.run("undeploy")


def cut_short(world: World) -> None:
    options = replace(
        OPTIONS, instances=frozenset({"db_1"}), healing=Healing(reinstall=True), data_loss=DataLoss(frozenset({"db"}))
    )
    world.run("heal", failing("db_1.Standard.create"), options=options)
    absent("db_1")(world)


STATES: Mapping[str, tuple[Callable[[World], object], bool]] = {
    "ok": (lambda _: None, True),
    "error": (lambda w: known(w, "db_1", local="error", state="error"), True),
    "unknown": (lambda w: known(w, "db_1", local="unknown"), True),
    "stopped": (lambda w: w.run("stop", options=replace(OPTIONS, instances=frozenset({"db_1"}))), True),
    "not configured": (lambda w: without(w, local="error", state="error"), True),
    "not configured, unknown": (lambda w: without(w, local="unknown", state="error"), True),
    "found absent": (absent("db_1"), True),
    "its host found absent": (absent("server_1"), True),
    "found absent with its host": (both, True),
    "undeployed": (lambda w: w.run("undeploy"), False),
    "found absent, and its host undeployed": (went, False),
    "removed by a healing that was permitted": (cut_short, False),
    "never begun": (lambda w: known(w, "db_1", created="", applied={}, local="pending", state="initial"), False),
}
"""What is known of the database, and whether there are data to be lost."""


def changes(**values: object) -> PlanOptions:
    return replace(OPTIONS, changes=ChangeOptions(**values))  # type: ignore[arg-type]


def healing(name: str, scope: str, *, reinstall: bool = False) -> PlanOptions:
    return replace(OPTIONS, instances=frozenset({name}), healing=Healing(reinstall, scope))


ASKED: Mapping[str, tuple[str, PlanOptions]] = {
    "deploy": ("deploy", OPTIONS),
    "deploy --force": ("deploy", replace(OPTIONS, force=True)),
    "deploy --check": ("deploy", changes(checks=True)),
    "upgrade --skip-heal": ("upgrade", changes(skip_heal=True)),
    "upgrade --replace db": ("upgrade", changes(replaced=("db",))),
    "upgrade --replace server": ("upgrade", changes(replaced=("server",))),
    "upgrade --replace web": ("upgrade", changes(replaced=("web",))),
    "rollback": ("rollback", OPTIONS),
    "undeploy": ("undeploy", OPTIONS),
    "scale db=0": ("scale", scaled(0)),
    "scale db=2": ("scale", scaled(2)),
    **{
        f"heal {name} --scope {scope}{' --reinstall' if reinstall else ''}": (
            "heal",
            healing(name, scope, reinstall=reinstall),
        )
        for name, scope, reinstall in product(("db_1", "web_1", "server_1"), SCOPES, (False, True))
    },
    **{w: (w, replace(OPTIONS, instances=frozenset({"db_1"}))) for w in ("stop", "start", "restart", "check")},
}


def checks(code: int) -> Answers:
    def answer(_: Step, name: str) -> Reply:
        if name != "Maintain.check":
            return None
        return Outcome(Ending.FAILED if code else Ending.SUCCEEDED, exit_code=code)

    return answer


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("asked", ASKED)
def test_a_plan_names_whose_data_it_loses(state: str, asked: str) -> None:
    become, is_there = STATES[state]
    workflow, options = ASKED[asked]
    for code in (0, 1, 3):
        world = shop()
        become(world)
        try:
            plan = world.run(workflow, checks(code), options=options)
        except PlanRefused:
            return
        begun = {
            step.partition(".")[0] for step in (*world.ran, *world.failed) if step.removesuffix(".again").endswith(LOSE)
        }
        gone = {change.instance for change in plan.changes if change.symbol == "-"}
        lost = bool({"db_1"} & begun) or ("server_1" in gone and state == "found absent")
        if is_there and lost:
            assert "db_1" in plan.summary.losing, f"check exits {code}"
        elif not is_there and asked in ("deploy", "deploy --check"):
            assert plan.summary.losing == (), f"check exits {code}"
        if all(call.name != "Maintain.check" for call in plan.calls):
            return


@pytest.mark.parametrize("state", [s for s in STATES if "absent" not in s and "removed" not in s and s != "undeployed"])
@pytest.mark.parametrize("asked", ["deploy", "deploy --check", "heal db_1 --scope auto"])
def test_what_is_there_and_can_be_asked_loses_nothing_unasked(state: str, asked: str) -> None:
    """Where less can be done than to make it once more, that is planned, and nothing is refused."""
    workflow, options = ASKED[asked]
    world = shop()
    STATES[state][0](world)
    assert world.plan(workflow, options).summary.losing == ()


def test_what_may_be_lost_is_made_once_more_by_the_job_that_finds_it_absent() -> None:
    world = shop()
    known(world, "db_1", local="unknown", failed={"Standard.start": "x"}, state="error")
    plan = world.run("deploy", checks(3), options=replace(OPTIONS, data_loss=DataLoss(frozenset({"db"}))))
    assert (plan.summary.losing, plan.summary.lost_if) == (("db_1",), {"db_1": "if its check finds it to be absent"})
    assert "db_1.Standard.create" in world.ran
    assert world.failed == []


@pytest.mark.parametrize("hosted", [True, False])
def test_what_was_undeployed_while_it_was_absent_is_not_at_stake(hosted: bool) -> None:
    world = shop() if hosted else free()
    absent("db_1")(world)
    world.run("undeploy")
    assert not world.snapshot.instances["db_1"].is_missed
    assert world.plan("deploy").summary.losing == ()
    assert world.plan("undeploy").is_empty


def test_a_part_that_is_undeployed_forgets_only_what_it_was_about() -> None:
    world = free()
    absent("db_1")(world)
    world.run("undeploy", options=replace(OPTIONS, part=ServicePart(nodes=frozenset({"web"}))))
    assert world.plan("deploy").summary.losing == ("db_1",)


def free() -> World:
    database = node("db", operations=ALL)
    database = msgspec.structs.replace(database, kinds=("tosca.nodes.Database",))
    world = World(service(database, node("web", operations=ALL)))
    world.run()
    return world


def test_going_back_by_itself_spares_what_lies_on_a_host_that_is_absent() -> None:
    for also in (True, False):
        world = shop()
        absent("server_1")(world)
        if also:
            absent("db_1")(world)
            absent("web_1")(world)
        plan = world.run("rollback", options=replace(OPTIONS, data_loss=DataLoss(leaves_absent=True)))
        assert plan.summary.losing == ()
        assert world.done("create", "delete") == []


@pytest.mark.parametrize("kind", ["tosca.nodes.Root"])
def test_going_back_by_itself_makes_a_host_again_that_carries_no_data(kind: str) -> None:
    world = shop()
    database = msgspec.structs.replace(world.service.nodes["db"], kinds=(kind,))
    world.service = service(world.service.nodes["server"], database, world.service.nodes["web"])
    absent("server_1")(world)
    world.run("rollback", options=replace(OPTIONS, data_loss=DataLoss(leaves_absent=True)))
    assert "db_1.Standard.create" in world.ran
