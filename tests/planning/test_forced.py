"""``force``: nothing is skipped because it was done before."""

from dataclasses import replace

from ordito.work.plan import Action, Plan
from tests.support.runs import OPTIONS, World, assert_order, failing, steps_of
from tests.support.services import Requires, node, on, service

FORCED = replace(OPTIONS, force=True)


def shop() -> World:
    return World(
        service(
            node("db", operations=["create", "delete"]),
            node("app", on("db")),
            node("web", Requires("db", "pre_configure_source", "add_target"), operations=["start"]),
        )
    )


def working(made: Plan) -> set[str]:
    return {s.id for s in made.steps if s.action is not Action.JOIN}


def test_what_was_deployed_is_carried_out_again_in_the_same_order() -> None:
    world = shop()
    first = world.run()
    assert world.plan().is_empty
    forced = world.plan(options=FORCED)
    assert working(forced) == working(first)
    assert {(c.symbol, c.reason) for c in forced.changes} == {("~", "forced: everything is carried out again")}
    assert_order(forced, "db_1.Standard.start", "web_1.Standard.create", "web_1.db.db_1.Configure.add_target")
    world.run(options=FORCED)
    assert world.plan().is_empty
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}


def test_what_failed_begins_anew() -> None:
    world = shop()
    world.run(answers=failing("web_1.Standard.start"))
    assert "web_1.Standard.create" not in steps_of(world.plan())
    assert "web_1.Standard.create" in steps_of(world.plan(options=FORCED))


def test_undeploying_with_force_runs_what_was_done_and_what_was_never_started() -> None:
    world = shop()
    world.run(answers=failing("db_1.Standard.create"))
    assert world.snapshot.instances["web_1"].applied == {}
    usual = world.plan("undeploy")
    assert [(c.instance, c.reason) for c in usual.changes if c.instance == "web_1"] == [
        ("web_1", "it was never started")
    ]
    forced = world.plan("undeploy", FORCED)
    assert {"web_1.Standard.stop", "web_1.Standard.delete", "db_1.Standard.stop"} <= working(forced)
    world.run("undeploy", options=FORCED)
    assert not [i for i in world.snapshot.instances.values() if i.exists]


def test_what_was_undone_already_is_undone_again() -> None:
    world = shop()
    world.run()
    world.run("undeploy", answers=failing("db_1.Standard.delete"))
    assert "db_1.Standard.stop" not in steps_of(world.plan("undeploy"))
    assert "db_1.Standard.stop" in steps_of(world.plan("undeploy", FORCED))
