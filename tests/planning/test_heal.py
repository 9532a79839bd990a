"""Healing: what is checked and repaired first, and what is replaced where that does not help."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import Delta, Instance, StatusReason
from ordito.model.service import NodeTemplate
from ordito.planning.options import DataLoss, Healing
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import AUTO, INSTANCE_ONLY, WHOLE_HOST
from ordito.work.plan import ChangeCause, Step
from tests.support.runs import OPTIONS, Answers, Reply, World, assert_order, failing, steps_of
from tests.support.services import Requires, compute, definition, maintain, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]
PAIR = ["add_target", "remove_target"]


def looked_after(name: str, *requires: Requires | str, by: tuple[str, ...] = ("check", "heal")) -> NodeTemplate:
    made = node(name, *requires, operations=ALL)
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **maintain(*by)}) if by else made


def shop(*by: str) -> World:
    world = World(
        service(
            compute("server"),
            looked_after("db", on("server"), by=by),
            node("app", on("server"), operations=ALL),
            node("web", Requires("db", *PAIR), operations=ALL),
        )
    )
    world.run()
    return world


def heal(  # type: ignore[no-untyped-def]
    world: World,
    *instances: str,
    answers: Answers = lambda *_: None,
    reinstall: bool = False,
    scope: str = WHOLE_HOST,
    may_lose: tuple[str, ...] = (),
):
    options = replace(
        OPTIONS,
        instances=frozenset(instances),
        healing=Healing(reinstall, scope),
        data_loss=DataLoss(frozenset(may_lose)),
    )
    return world.run("heal", answers, options=options)


def checks(*codes: int, otherwise: Answers = lambda *_: None) -> Answers:
    """What the checks exit with, one after the other, and 0 then; -1 where one cannot be carried out."""
    left = list(codes)

    def answer(step: Step, name: str) -> Reply:
        if name != "Maintain.check":
            return otherwise(step, name)
        code = left.pop(0) if left else 0
        if code < 0:
            return Outcome(Ending.UNREACHABLE, message="no route")
        return Outcome(Ending.FAILED if code else Ending.SUCCEEDED, exit_code=code)

    return answer


def statuses(world: World) -> dict[str, str]:
    return {i.id: i.local for i in world.snapshot.instances.values()}


CHECK, HEAL, AGAIN = "db_1.Maintain.check", "db_1.Maintain.heal", "db_1.Maintain.check.again"
READY = "db_1.Maintain.check.ready"
REPLACED = {"db_1.Standard.create", "app_1.Standard.create", "server_1.delegate.deploy"}


@pytest.mark.parametrize(
    ("by", "codes", "fails", "looked", "replaced"),
    [
        (("check", "heal"), (0,), (), [CHECK], False),
        (
            ("check", "heal"),
            (1, 0),
            (),
            [CHECK, HEAL, AGAIN],
            False,
        ),
        (
            ("check", "heal"),
            (1, 1),
            (),
            [CHECK, HEAL, AGAIN],
            True,
        ),
        (("check", "heal"), (2, 1), ("heal",), [CHECK, AGAIN], True),
        (
            ("check", "heal"),
            (3, 3),
            (),
            [CHECK, HEAL, AGAIN],
            True,
        ),
        (("check", "heal"), (-1, -1), (), [HEAL], True),
        (("check",), (0,), (), [CHECK], False),
        (("check",), (1,), (), [CHECK], True),
        (("heal",), (), (), [HEAL], False),
        (("heal",), (), ("heal",), [], True),
        ((), (), (), [], True),
    ],
)
def test_what_is_replaced_and_when(
    by: tuple[str, ...], codes: tuple[int, ...], fails: tuple[str, ...], looked: list[str], replaced: bool
) -> None:
    """Only what a check does not find to be ok, and its own operation does not repair, is replaced."""
    world = shop(*by)
    heal(world, "db_1", answers=checks(*codes, otherwise=failing(*(f"Maintain.{name}" for name in fails))))
    afterwards = [READY] if replaced and "check" in by else []
    assert [s for s in world.ran if "Maintain" in s] == looked + afterwards
    assert set(world.ran) >= REPLACED if replaced else not REPLACED & set(world.ran)
    assert set(statuses(world).values()) == {"ok"}
    assert {i.state for i in world.snapshot.instances.values()} == {"started"}
    assert world.plan().is_empty


def test_what_is_found_to_be_absent_is_only_made() -> None:
    """Nothing is stopped or deleted that is not there; who was linked with it is unlinked all the same."""
    world = shop("check")
    heal(world, "db_1", answers=checks(3))
    assert not {"db_1.Standard.stop", "db_1.Standard.delete"} & set(world.ran)
    assert {"web_1.db.db_1.Configure.remove_target", "web_1.db.db_1.Configure.add_target"} <= set(world.ran)
    assert set(statuses(world).values()) == {"ok"}


def test_without_asking() -> None:
    world = shop("check", "heal")
    heal(world, "db_1", reinstall=True)
    assert set(world.ran) >= REPLACED
    assert [s for s in world.ran if "Maintain" in s] == [READY]


def test_one_that_is_ok_does_not_keep_another_from_being_replaced() -> None:
    world = World(service(compute("server"), looked_after("a", on("server")), looked_after("b", on("server"))))
    world.run()
    plan = heal(world, "a_1", "b_1", answers=checks(0, 1, 1))
    assert {"a_1.Standard.create", "b_1.Standard.create"} <= set(world.ran)
    assert_order(plan, "a_1.Maintain.check", "b_1.ordito.whether", "b_1.Standard.stop", "b_1.Standard.create")
    heal(world, "a_1", "b_1", answers=checks(0, 0))
    assert [s for s in world.ran if "Standard" in s] == []


def gone(world: World, *instances: str, reason: StatusReason = StatusReason.FOUND_ABSENT) -> None:
    for name in instances:
        record = msgspec.structs.replace(
            world.snapshot.instances[name],
            local="absent",
            state="deleted",
            applied={},
            failed={},
            status_reason=reason,
        )
        world.snapshot.apply(Delta(instances=(record,), unlinked=tuple(world.snapshot.links_of(name))))


def test_what_is_known_to_be_gone_is_made_without_asking_and_so_is_what_it_hosted() -> None:
    world = shop("check", "heal")
    gone(world, "server_1")
    heal(world, "db_1")
    assert not [s for s in world.ran if s.endswith((".stop", ".delete", ".undeploy"))]
    assert [s for s in world.ran if "Maintain" in s] == [READY]
    assert set(world.ran) >= REPLACED
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_a_failed_healing_has_removed_is_made_by_the_next_one() -> None:
    """An id that was to be made again is not lost, nor used for something else."""
    world = shop()
    heal(world, "db_1", answers=failing("server_1.delegate.deploy"))
    assert statuses(world) == {"server_1": "unknown", "db_1": "absent", "app_1": "absent", "web_1": "ok"}
    assert world.snapshot.instances["db_1"].status_reason is StatusReason.REPLACED
    heal(world, "app_1")
    assert set(statuses(world).values()) == {"ok"}
    assert {i.index for i in world.snapshot.instances.values()} == {0}
    assert world.plan().is_empty


def test_a_deployment_makes_what_a_failed_healing_has_removed() -> None:
    world = shop()
    before: dict[str, Instance] = dict(world.snapshot.instances)
    heal(world, "db_1", answers=failing("server_1.delegate.deploy"))
    world.run()
    assert set(statuses(world).values()) == {"ok"}
    assert set(world.snapshot.instances) == set(before)
    assert world.plan().is_empty


@pytest.mark.parametrize("cut", range(0, 24, 3))
def test_a_deployment_goes_on_after_a_cut_anywhere(cut: int) -> None:
    world = shop()
    options = replace(OPTIONS, instances=frozenset({"db_1"}))
    world.run("heal", options=options, cut=cut)
    world.run()
    assert world.failed == []
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_protected_is_not_replaced() -> None:
    world = World(
        service(
            node("disk", operations=ALL, metadata={"ordito.protected": "true"}),
            node("files", on("disk"), operations=ALL),
        )
    )
    world.run()
    plan = heal(world, "files_1")
    assert {s.rpartition(".")[0] for s in steps_of(plan)} == {"files_1.Standard"}


def test_values_do_not_outlive_what_they_are_of() -> None:
    """Not even where the instance before could not be deleted."""
    world = World(service(node("a", declares=[definition("ip")], operations=ALL)))
    world.run()
    world.snapshot.apply(Delta(attributes={"a_1": {"ip": "10.0.0.1"}}))
    heal(world, "a_1", answers=failing("a_1.Standard.delete", "a_1.Standard.start"))
    assert not world.snapshot.attributes.get("a_1")
    record = world.snapshot.instances["a_1"]
    assert set(record.applied) == {"Standard.create", "Standard.configure"}
    assert set(record.failed) == {"Standard.start"}


@pytest.mark.parametrize("heals", [True, False])
def test_what_the_job_has_mended_counts_as_it_was_made(heals: bool) -> None:
    """And what came back by itself as changed from outside: removing it asks."""
    world = shop("check", "heal")
    world.run("check", checks(1))
    found = world.snapshot.instances["db_1"]
    assert found.last_state_change > found.last_config_change
    heal(world, "db_1", answers=checks(*([1, 0] if heals else [0])))
    mended = world.snapshot.instances["db_1"]
    assert mended.local == "ok"
    assert (mended.last_state_change <= mended.last_config_change) is heals


def test_pairs_with_others_that_are_not_up_are_neither_undone_nor_made() -> None:
    """They are made when those are healed."""
    world = shop()
    broken = msgspec.structs.replace(world.snapshot.instances["web_1"], local="error", state="error")
    world.snapshot.apply(Delta(instances=(broken,)))
    plan = heal(world, "db_1")
    assert not [s for s in world.ran if s.startswith("web_1")]
    assert "not linked: web_1 with db_1; not up: web_1 (error)" in plan.summary.warnings[0]
    heal(world, "web_1")
    assert {"web_1.Standard.create", "web_1.db.db_1.Configure.add_target"} <= set(world.ran)
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_deploying_continues_is_linked_with_those_that_run() -> None:
    """R-5.8.5: a pair that was left out is made when its target has come up."""
    world = World(service(node("db", operations=ALL, count=2), node("web", Requires("db", *PAIR), operations=ALL)))
    world.run()
    world.run("stop", options=replace(OPTIONS, instances=frozenset({"db_2"})))
    heal(world, "web_1")
    assert "web_1.db.db_2.Configure.add_target" not in world.ran
    world.run()
    assert "web_1.db.db_2.Configure.add_target" in world.ran
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def one_host(*by: str) -> World:
    """A web of three, a database and a proxy on one host."""
    keeps = msgspec.structs.replace(looked_after("db", on("server"), by=by), kinds=DATABASE)
    world = World(
        service(
            compute("server"),
            keeps,
            msgspec.structs.replace(
                looked_after("web", on("server"), Requires("db", *PAIR), by=by), occurrences=(3, 3)
            ),
            looked_after("app", on("web"), by=by),
            node("proxy", on("server"), Requires("web", *PAIR), operations=ALL),
        )
    )
    world.run()
    return world


DATABASE = ("tosca.nodes.Database", "tosca.nodes.Root")
RESTARTED = {"web_2.Standard.stop", "web_2.Standard.start"}
WEB_ANEW = {"web_2.Standard.delete", "web_2.Standard.create", "app_2.Standard.create"}


def of_others(world: World) -> set[str]:
    """What was done to instances that are no part of web_2."""
    own = {s.split(".")[0] for s in world.ran if ".Standard." in s or ".delegate." in s}
    return own - {"web_2", "app_2"}


@pytest.mark.parametrize(
    ("by", "codes", "fails", "ran"),
    [
        (("check", "heal"), (0,), (), set()),
        (("check", "heal"), (1, 0), (), set()),
        (("check", "heal"), (1, 1, 0), (), RESTARTED),
        (("check",), (1, 0), (), RESTARTED),
        (("check",), (1, 1, 0), (), RESTARTED | WEB_ANEW),
        (("check",), (1, 0, 0), ("web_2.Standard.start",), RESTARTED | WEB_ANEW),
        ((), (), (), RESTARTED),
        ((), (), ("web_2.Standard.start",), RESTARTED | WEB_ANEW),
    ],
)
def test_healing_goes_no_further_than_it_has_to(
    by: tuple[str, ...], codes: tuple[int, ...], fails: tuple[str, ...], ran: set[str]
) -> None:
    """One that is not ok is repaired, else stopped and started, else replaced: and nothing else on its host."""
    world = one_host(*by)
    heal(world, "web_2", answers=checks(*codes, otherwise=failing(*fails)), scope=AUTO)
    done = {s.removesuffix(".again") for s in world.ran + world.failed if s.startswith(("web_2.S", "app_2.S"))}
    assert done >= ran
    assert (not done & WEB_ANEW) if ran in (set(), RESTARTED) else done >= WEB_ANEW
    assert of_others(world) == set()
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty
    links = {"proxy_1.web.web_2.Configure.add_target", "proxy_1.web.web_2.Configure.remove_target"}
    assert bool(links & set(world.ran)) is bool(ran)


def test_what_is_not_ok_in_the_end_makes_the_healing_fail() -> None:
    world = one_host("check")
    heal(world, "web_2", answers=checks(1, 1, 1), scope=AUTO)
    assert statuses(world)["web_2"] == "error"
    assert {s for s in world.failed if "ready" in s} == {
        "web_2.Maintain.check.ready",
        "web_2.Maintain.check.ready.again",
    }
    assert "web_2.ordito.healed" in world.skipped


def test_to_reinstall_begins_with_replacing_the_instance_and_spares_its_host() -> None:
    world = one_host("check", "heal")
    heal(world, "web_2", scope=AUTO, reinstall=True)
    assert set(world.ran) >= {
        "web_2.Standard.stop",
        *WEB_ANEW,
        "web_2.Maintain.check.ready",
        "app_2.Maintain.check.ready",
    }
    assert of_others(world) == set()
    assert statuses(world)["web_2"] == "ok"


def test_the_plan_says_what_is_not_taken_along() -> None:
    world = one_host("check")
    plan = heal(world, "web_2", scope=INSTANCE_ONLY)
    assert {c.instance: c.reason for c in plan.summary.kept} == dict.fromkeys(
        ["db_1", "web_1", "web_3", "app_1", "app_3", "proxy_1", "server_1"], "not taken along"
    )


@pytest.mark.parametrize("scope", [AUTO, INSTANCE_ONLY, WHOLE_HOST])
@pytest.mark.parametrize("by", [(), ("check",), ("check", "heal")])
def test_the_plan_tells_what_is_to_be_healed_by_its_cause(scope: str, by: tuple[str, ...]) -> None:
    """And so from what is replaced with it; the words say the same."""
    plan = heal(shop(*by), "db_1", scope=scope)
    said = {c.instance for c in plan.changes if c.reason.startswith("it is to be healed")}
    assert {c.instance for c in plan.changes if c.cause is ChangeCause.TO_HEAL} == said == {"db_1"}


def test_data_are_not_lost_unless_somebody_has_said_that_they_may_be() -> None:
    """What keeps data is checked, and stopped and started, and replaced only where that was said."""
    world = one_host("check")
    plan = heal(world, "db_1", answers=checks(1, 1), scope=AUTO)
    assert "db_1.Standard.delete" not in world.ran
    assert world.failed == ["db_1.Maintain.check.ready", "db_1.ordito.healed"]
    assert ("db_1", "not replaced whatever is found: data of db_1 would be lost (--allow-data-loss)") in {
        (c.instance, c.reason) for c in plan.summary.kept
    }
    assert plan.summary.losing == ()
    plan = heal(world, "db_1", answers=checks(1, 1, 0), scope=AUTO, may_lose=("db",))
    assert "db_1.Standard.delete" in world.ran
    assert plan.summary.losing == ("db_1",)
    assert set(statuses(world).values()) == {"ok"}


def test_a_plan_for_the_whole_host_tells_whose_data_it_loses() -> None:
    world = one_host("check")
    assert heal(world, "web_2", answers=checks(0), scope=WHOLE_HOST).summary.losing == ("db_1",)


@pytest.mark.parametrize("codes", [(1, 1), (1,)])
def test_a_link_that_the_restart_has_made_is_undone_before_the_replacement(codes: tuple[int, ...]) -> None:
    """The start had failed before it was linked, so that nothing of the pair was recorded when the plan was made."""
    world = World(
        service(
            compute("server"),
            node("db", operations=ALL),
            looked_after("web", on("server"), Requires("db", *PAIR), by=("check",)),
        )
    )
    world.run(answers=failing("web_1.Standard.start"))
    assert not world.snapshot.links
    heal(world, "web_1", answers=checks(*codes), scope=AUTO)
    pairs = [s.removesuffix(".again") for s in world.ran if ".Configure." in s]
    added, removed = (f"web_1.db.db_1.Configure.{name}" for name in PAIR)
    assert pairs == ([added, removed, added] if len(codes) == 2 else [added])
    assert statuses(world)["web_1"] == "ok"
