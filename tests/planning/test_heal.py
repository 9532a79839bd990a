"""Healing: what is checked and mended first, and what is made anew where that does not help."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from ordito.instances.records import Delta, Instance
from ordito.model.service import NodeTemplate
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Step
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


def heal(world: World, *instances: str, answers: Answers = lambda *_: None, reinstall: bool = False):  # type: ignore[no-untyped-def]
    options = replace(OPTIONS, instances=frozenset(instances), reinstall=reinstall)
    return world.run("heal", answers, options=options)


def checks(*codes: int, otherwise: Answers = lambda *_: None) -> Answers:
    """What the checks exit with, one after the other; -1 where one cannot be carried out."""
    left = list(codes)

    def answer(step: Step, name: str) -> Reply:
        if name != "Maintain.check":
            return otherwise(step, name)
        code = left.pop(0)
        if code < 0:
            return Outcome(Ending.UNREACHABLE, message="no route")
        return Outcome(Ending.FAILED if code else Ending.SUCCEEDED, exit_code=code)

    return answer


def statuses(world: World) -> dict[str, str]:
    return {i.id: i.local for i in world.snapshot.instances.values()}


CHECK, HEAL, AGAIN = "db_1.Maintain.check", "db_1.Maintain.heal", "db_1.Maintain.check.again"
ANEW = {"db_1.Standard.create", "app_1.Standard.create", "server_1.delegate.deploy"}


@pytest.mark.parametrize(
    ("by", "codes", "fails", "looked", "anew"),
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
def test_what_is_made_anew_and_when(
    by: tuple[str, ...], codes: tuple[int, ...], fails: tuple[str, ...], looked: list[str], anew: bool
) -> None:
    """Only what a check does not find to be ok, and its own operation does not mend, is made anew."""
    world = shop(*by)
    heal(world, "db_1", answers=checks(*codes, otherwise=failing(*(f"Maintain.{name}" for name in fails))))
    assert [s for s in world.ran if "Maintain" in s] == looked
    assert set(world.ran) >= ANEW if anew else not ANEW & set(world.ran)
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
    assert set(world.ran) >= ANEW
    assert not [s for s in world.ran if "Maintain" in s]


def test_one_that_is_ok_does_not_keep_another_from_being_made_anew() -> None:
    world = World(service(compute("server"), looked_after("a", on("server")), looked_after("b", on("server"))))
    world.run()
    plan = heal(world, "a_1", "b_1", answers=checks(0, 1, 1))
    assert {"a_1.Standard.create", "b_1.Standard.create"} <= set(world.ran)
    assert_order(plan, "a_1.Maintain.check", "b_1.ordito.whether", "b_1.Standard.stop", "b_1.Standard.create")
    heal(world, "a_1", "b_1", answers=checks(0, 0))
    assert [s for s in world.ran if "Standard" in s] == []


def gone(world: World, *instances: str, note: str = "found to be absent") -> None:
    for name in instances:
        record = msgspec.structs.replace(
            world.snapshot.instances[name], local="absent", state="deleted", applied={}, failed={}, note=note
        )
        world.snapshot.apply(Delta(instances=(record,), unlinked=tuple(world.snapshot.links_of(name))))


def test_what_is_known_to_be_gone_is_made_without_asking_and_so_is_what_it_hosted() -> None:
    world = shop("check", "heal")
    gone(world, "server_1")
    heal(world, "db_1")
    assert not [s for s in world.ran if s.endswith((".stop", ".delete", ".undeploy")) or "Maintain" in s]
    assert set(world.ran) >= ANEW
    assert set(statuses(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_a_failed_healing_has_removed_is_made_by_the_next_one() -> None:
    """An id that was to be made again is not lost, nor used for something else."""
    world = shop()
    heal(world, "db_1", answers=failing("server_1.delegate.deploy"))
    assert statuses(world) == {"server_1": "unknown", "db_1": "absent", "app_1": "absent", "web_1": "ok"}
    assert world.snapshot.instances["db_1"].note.startswith("removed to be made again")
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


def test_protected_is_not_made_anew() -> None:
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
    assert "not linked: web_1 with db_1; not up: web_1 (error)" in plan.warnings[0]
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
