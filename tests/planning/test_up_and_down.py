"""Plans in which instances go down and up: stopped, started, restarted, replaced."""

from dataclasses import replace
from random import Random

import msgspec
import pytest

from ordito.instances.records import Delta, note_of
from ordito.planning.options import Healing, PlanOptions
from ordito.planning.refused import PlanRefused
from ordito.work.options import WHOLE_HOST
from tests.support.runs import OPTIONS, World, assert_order, codes, failing, is_before, steps_of
from tests.support.services import Requires, compute, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]
PAIR = ["add_target", "add_source", "remove_target", "remove_source"]


def shop() -> World:
    """Two servers; a database and a web server on each, every web server linked with both databases; a balancer."""
    world = World(
        service(
            compute("server", count=2),
            node("db", on("server"), operations=ALL),
            node("web", on("server"), Requires("db", "pre_configure_source", *PAIR), operations=ALL),
            node("lb", Requires("web", *PAIR), operations=ALL),
        )
    )
    world.run()
    return world


def about(*instances: str) -> PlanOptions:
    return replace(OPTIONS, instances=frozenset(instances))


def locals_of(world: World) -> dict[str, str]:
    return {i.id: i.local for i in world.snapshot.instances.values()}


def run(world: World, workflow: str, *instances: str, **how: object):  # type: ignore[no-untyped-def]
    options = replace(about(*instances), healing=Healing(scope=WHOLE_HOST))
    return world.run(workflow, options=options, **how)  # type: ignore[arg-type]


def test_a_stop_takes_a_member_out_and_a_start_takes_it_in() -> None:
    """What can do with the other members stays, and is unlinked from this one."""
    world = shop()
    made = run(world, "stop", "web_1")
    assert set(world.ran) == {
        *(f"lb_1.web.web_1.Configure.{n}" for n in ("remove_target", "remove_source")),
        *(f"web_1.db.db_{n}.Configure.{o}" for n in (1, 2) for o in ("remove_target", "remove_source")),
        "web_1.Standard.stop",
    }
    assert_order(made, "lb_1.web.web_1.Configure.remove_source", "web_1.db.db_2.Configure.remove_target")
    assert_order(made, "web_1.db.db_1.Configure.remove_source", "web_1.Standard.stop")
    assert world.states_of("web_1") == ["stopping", "configured"]
    assert locals_of(world)["web_1"] == "pending"
    assert locals_of(world)["lb_1"] == "ok"
    assert world.plan("stop", about("web_1")).is_empty
    made = run(world, "start", "web_1")
    assert set(world.ran) == {
        "web_1.Standard.start",
        *(f"web_1.db.db_{n}.Configure.{o}" for n in (1, 2) for o in ("add_target", "add_source")),
        *(f"lb_1.web.web_1.Configure.{n}" for n in ("add_target", "add_source")),
    }
    assert_order(made, "web_1.Standard.start", "web_1.db.db_1.Configure.add_target")
    assert world.states_of("web_1") == ["starting", "started"]
    assert set(locals_of(world).values()) == {"ok"}
    assert world.plan("start", about("web_1")).is_empty
    assert world.plan().is_empty


def test_what_depends_on_what_is_stopped_is_stopped_first() -> None:
    world = shop()
    made = run(world, "stop", "db_1", "db_2")
    assert {s for s in steps_of(made) if s.endswith(".stop")} == {
        f"{i}.Standard.stop" for i in ("db_1", "db_2", "web_1", "web_2", "lb_1")
    }
    assert_order(made, "lb_1.Standard.stop", "web_1.Standard.stop", "db_2.Standard.stop")
    reasons = {c.instance: c.reason for c in made.changes}
    assert reasons["web_1"] == "it requires db (db), of which no other instance is up"
    assert reasons["db_1"] == "it was asked for"


def test_a_deployment_starts_what_is_stopped() -> None:
    world = shop()
    run(world, "stop", "server_1", "server_2")
    assert {i.state for i in world.snapshot.instances.values()} == {"configured"}
    made = world.run()
    assert not world.failed
    assert not [s for s in steps_of(made) if s.endswith((".create", ".configure", ".deploy"))]
    assert {i.state for i in world.snapshot.instances.values()} == {"started"}
    assert set(locals_of(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_a_restart_stops_and_starts_what_is_asked_for_and_what_depends_on_it() -> None:
    world = shop()
    made = run(world, "restart", "db_1", "db_2")
    assert_order(
        made,
        "lb_1.Standard.stop",
        "web_2.db.db_1.Configure.remove_target",
        "web_2.Standard.stop",
        "db_1.Standard.stop",
        "db_1.Standard.start",
        "web_2.Standard.start",
        "web_2.db.db_1.Configure.add_target",
        "lb_1.Standard.start",
    )
    assert set(locals_of(world).values()) == {"ok"}
    assert world.states_of("db_1") == ["stopping", "configured", "starting", "started"]
    assert world.plan().is_empty


def test_a_restart_goes_on_where_something_cannot_be_stopped() -> None:
    world = shop()
    run(world, "restart", "db_1", answers=failing("db_1.Standard.stop"))
    assert world.skipped == []
    assert world.snapshot.instances["db_1"].state == "started"


def test_replaced_is_the_host_with_all_on_it_and_the_links_of_survivors() -> None:
    world = shop()
    before = dict(world.snapshot.instances)
    made = run(world, "heal", "web_1")
    assert {c.instance: c.symbol for c in made.changes} == {
        "server_1": "-/+",
        "db_1": "-/+",
        "web_1": "-/+",
        "web_2": "~",
        "lb_1": "~",
    }
    assert_order(
        made,
        "lb_1.web.web_1.Configure.remove_source",
        "web_1.db.db_2.Configure.remove_target",
        "web_1.Standard.stop",
        "web_1.Standard.delete",
        "db_1.Standard.stop",
        "db_1.Standard.delete",
        "server_1.delegate.undeploy",
        "server_1.delegate.deploy",
        "db_1.Standard.create",
        "db_1.Standard.start",
        "web_1.Standard.create",
        "web_1.Standard.start",
        "lb_1.web.web_1.Configure.add_target",
    )
    assert_order(
        made,
        "web_2.db.db_1.Configure.remove_source",
        "db_1.Standard.stop",
        "db_1.Standard.start",
        "web_2.db.db_1.Configure.add_target",
    )
    assert not is_before(made, "web_1.Standard.start", "web_2.db.db_1.Configure.add_target")
    after = world.snapshot.instances
    assert set(after) == set(before)
    assert {i: (r.index, r.host, r.local, r.state, note_of(r)) for i, r in after.items()} == {
        i: (r.index, r.host, r.local, r.state, note_of(r)) for i, r in before.items()
    }
    assert world.plan().is_empty


@pytest.mark.parametrize(
    "fails", ["db_1.Standard.stop", "db_1.Standard.delete", "web_1.db.db_2.Configure.remove_target"]
)
def test_what_could_not_be_removed_is_made_again_nevertheless(fails: str) -> None:
    """The record of what is made again is as new, whatever was left of the one before."""
    world = shop()
    run(world, "heal", "web_1", answers=failing(fails))
    assert world.failed == [fails]
    assert world.skipped == []
    record = world.snapshot.instances["db_1"]
    assert (record.state, record.local, record.failed, record.index) == ("started", "ok", {}, 0)
    assert world.plan().is_empty


def test_any_order_that_the_edges_allow_ends_the_same() -> None:
    for seed in range(6):
        world = shop()
        run(world, "heal", "db_2", random=Random(seed))
        assert world.plan().is_empty
        assert set(locals_of(world).values()) == {"ok"}


def test_two_broken_hosts_whose_software_depends_on_each_others() -> None:
    """Pairs with what is not ok outside are left out, and made when that is healed."""
    world = shop()
    for host in ("server_1", "server_2"):
        for i in (host, *world.snapshot.hosted_on(host)):
            record = world.snapshot.instances[i]
            world._apply(Delta(instances=(msgspec.structs.replace(record, local="error", state="error"),)))
    made = run(world, "heal", "server_1")
    assert not [s for s in steps_of(made) if s.endswith("add_target") and ("db_2" in s or "web_2" in s)]
    run(world, "heal", "server_2")
    assert "web_1.db.db_2.Configure.add_target" in world.ran
    assert set(locals_of(world).values()) == {"ok"}
    assert world.plan().is_empty


def test_what_is_started_needs_what_it_requires() -> None:
    """R-5.8.5: what it requires is up already, or named too; of several instances one is enough."""
    world = shop()
    run(world, "stop", "db_1", "db_2")
    with pytest.raises(PlanRefused) as caught:
        world.plan("start", about("web_1"))
    assert codes(caught.value.diagnostics) == ["dependency-not-up"]
    assert "web_1 requires db_1, which is stopped" in str(caught.value)
    made = run(world, "start", "web_1", "db_2")
    assert_order(made, "db_2.Standard.start", "web_1.Standard.start", "web_1.db.db_2.Configure.add_target")
    assert not [s for s in steps_of(made) if s.startswith("web_1.db.db_1")]
    assert "not linked: web_1 with db_1; not up: db_1 (pending)" in made.summary.warnings[0]
    run(world, "start", "db_1")
    assert "web_1.db.db_1.Configure.add_target" in world.ran
    run(world, "start", "web_2", "lb_1")
    assert world.plan().is_empty


def test_what_is_stopped_on_a_stopped_host_is_not_started_alone() -> None:
    world = shop()
    run(world, "stop", "server_1")
    with pytest.raises(PlanRefused, match="db_1 is hosted on server_1, which is stopped"):
        world.plan("start", about("db_1"))


def test_what_was_never_configured_is_not_started() -> None:
    world = World(service(node("a", operations=ALL)))
    world.run(answers=failing("a_1.Standard.configure"))
    with pytest.raises(PlanRefused) as caught:
        world.plan("start", about("a_1"))
    assert codes(caught.value.diagnostics) == ["not-configured"]
    assert world.plan("stop", about("a_1")).is_empty


@pytest.mark.parametrize("workflow", ["stop", "start", "restart", "heal"])
@pytest.mark.parametrize("cut", range(0, 12, 2))
def test_a_failure_anywhere_is_mended_by_the_same_command(workflow: str, cut: int) -> None:
    """Whatever fails, a second run completes, and deploying brings everything back."""
    world = shop()
    if workflow == "start":
        run(world, "stop", "db_1", "db_2")
    chosen = ("db_1", "db_2", "web_1", "web_2", "lb_1") if workflow != "heal" else ("server_1",)
    steps = steps_of(world.plan(workflow, about(*chosen)))
    run(world, workflow, *chosen, answers=failing(steps[cut % len(steps)]))
    run(world, workflow, *chosen)
    assert world.failed == []
    wanted = "pending" if workflow == "stop" else "ok"
    assert {local for i, local in locals_of(world).items() if not i.startswith("server")} == {wanted}
    world.run()
    assert world.failed == []
    assert set(locals_of(world).values()) == {"ok"}
    assert world.plan().is_empty
    world.run("undeploy")
    assert world.existing == []


def test_what_is_optional_does_not_take_its_dependents_along() -> None:
    world = World(
        service(
            node("cache", operations=ALL, metadata={"ordito.priority": "optional"}),
            node("web", Requires("cache", *PAIR), operations=ALL),
        )
    )
    world.run()
    run(world, "stop", "cache_1")
    assert locals_of(world) == {"cache_1": "pending", "web_1": "ok"}
    assert "web_1.cache.cache_1.Configure.remove_target" in world.ran


def test_a_pair_that_nothing_undoes_is_linked_again_all_the_same() -> None:
    world = World(service(node("db", operations=ALL), node("web", Requires("db", "add_target"), operations=ALL)))
    world.run()
    run(world, "restart", "db_1")
    assert world.done("add_target") == ["web_1.db.db_1.Configure.add_target"]
    run(world, "stop", "web_1")
    world.run()
    assert world.done("add_target", "start") == ["web_1.Standard.start", "web_1.db.db_1.Configure.add_target"]
    assert world.plan().is_empty
