"""More and fewer instances: who is linked and unlinked, who keeps running, and which ids there are."""

from dataclasses import replace

import pytest

from ordito.instances.records import note_of
from ordito.model.service import Service
from ordito.planning.refused import PlanRefused
from tests.support.runs import OPTIONS, World, assert_order, codes, failing, steps_of
from tests.support.services import Requires, compute, node, on, service

LINKS = ["pre_configure_source", "add_target", "add_source", "remove_target", "remove_source"]


def shop(web: int) -> Service:
    return service(
        node("db"),
        node("web", Requires("db", *LINKS), count=web, operations=["create", "start", "stop", "delete"]),
        node("lb", Requires("web", *LINKS), operations=["create"]),
        node("monitor", "lb"),
    )


def deployed(web: int) -> World:
    world = World(shop(web))
    world.run()
    return world


def test_growing_touches_survivors_only_by_their_new_pairs() -> None:
    """R-5.8.5-4, R-5.8.5-5: add_* for new pairs, no pre_configure_source again, nothing else on what runs."""
    world = deployed(1)
    world.service = shop(3)
    made = world.plan()
    touched = {s for s in steps_of(made) if not s.startswith("web_")}
    assert touched == {
        *("lb_1.web.web_2.Configure.add_target", "lb_1.web.web_2.Configure.add_source"),
        *("lb_1.web.web_3.Configure.add_target", "lb_1.web.web_3.Configure.add_source"),
    }
    assert not [s for s in steps_of(made) if s.startswith("web_1")]
    assert_order(made, "web_2.Standard.start", "lb_1.web.web_2.Configure.add_target")
    # A survivor is linked with nothing that has not got all that it requires itself.
    assert_order(made, "web_2.db.db_1.Configure.add_target", "lb_1.web.web_2.Configure.add_target")
    world.run()
    assert world.failed == []
    assert world.plan().is_empty
    assert {c.instance: c.symbol for c in made.changes} == {"web_2": "+", "web_3": "+", "lb_1": "~"}


def test_one_new_target_that_fails_does_not_keep_the_others_out() -> None:
    world = deployed(1)
    world.service = shop(3)
    world.run(answers=failing("web_2.Standard.create"))
    assert "lb_1.web.web_3.Configure.add_target" in world.ran
    assert "lb_1.web.web_2.Configure.add_target" in world.skipped
    world.run()
    assert world.done("add_target") == ["web_2.db.db_1.Configure.add_target", "lb_1.web.web_2.Configure.add_target"]
    assert world.plan().is_empty


def test_a_new_instance_that_depends_on_a_survivor_waits_for_its_new_links() -> None:
    world = deployed(1)
    grown = shop(2)
    nodes = {**grown.nodes, "client": node("client", "lb")}
    world.service = service(*nodes.values())
    assert_order(world.plan(), "lb_1.web.web_2.Configure.add_target", "client_1.Standard.create")


def test_shrinking_removes_the_newest_and_unlinks_survivors_first() -> None:
    """R-5.8.5-6: remove_target on the source that stays, before the target goes away."""
    world = deployed(3)
    world.service = shop(1)
    made = world.plan()
    assert {c.instance: c.symbol for c in made.changes} == {"web_2": "-", "web_3": "-", "lb_1": "~"}
    for gone in ("web_2", "web_3"):
        assert_order(
            made,
            f"lb_1.web.{gone}.Configure.remove_target",
            f"lb_1.web.{gone}.Configure.remove_source",
            f"{gone}.db.db_1.Configure.remove_target",
            f"{gone}.Standard.stop",
            f"{gone}.Standard.delete",
        )
    world.run()
    assert world.failed == []
    assert world.existing == ["db_1", "lb_1", "monitor_1", "web_1"]
    assert world.snapshot.instances["lb_1"].local == "ok"
    assert world.snapshot.instances["lb_1"].state == "started"
    assert sorted(world.snapshot.links) == ["lb_1.web.web_1", "web_1.db.db_1"]
    assert world.plan().is_empty


def test_dependents_that_leave_go_before_the_links_of_their_target_are_undone() -> None:
    def make(count: int) -> Service:
        return service(
            node("t", count=count),
            node("s", Requires("t", "add_target", "remove_target")),
            node("x", "s", count=count),
        )

    world = World(make(2))
    world.run()
    world.service = make(1)
    assert_order(world.plan(), "x_2.Standard.delete", "s_1.t.t_2.Configure.remove_target", "t_2.Standard.stop")


def test_old_links_are_undone_before_new_ones_are_made_on_one_instance() -> None:
    def make(a: int, b: int) -> Service:
        link = ["add_target", "remove_target"]
        return service(
            node("a", count=a), node("b", count=b), node("s", Requires("a", *link), Requires("b", *link), operations=[])
        )

    world = World(make(1, 2))
    world.run()
    world.service = make(2, 1)
    made = world.plan()
    assert_order(made, "s_1.b.b_2.Configure.remove_target", "s_1.a.a_2.Configure.add_target")
    world.run(answers=failing("s_1.b.b_2.Configure.remove_target"))
    assert "s_1.a.a_2.Configure.add_target" in world.ran


def test_growth_never_uses_an_id_again() -> None:
    """Ids from 1; one that was scaled in does not come back, slots are filled from the lowest."""
    world = deployed(3)
    world.service = shop(2)
    world.run()
    world.service = shop(3)
    made = world.run()
    assert [(r.id, r.index) for r in made.records.new] == [("web_4", 2)]
    assert world.existing == ["db_1", "lb_1", "monitor_1", "web_1", "web_2", "web_4"]


def test_a_deployment_after_an_undeployment_keeps_the_ids() -> None:
    world = deployed(2)
    world.run("undeploy")
    world.service = shop(3)
    made = world.run()
    assert [r.id for r in made.records.new if r.node == "web"] == ["web_1", "web_2", "web_3"]
    assert world.plan().is_empty


def test_what_is_hosted_comes_and_goes_with_its_host() -> None:
    def make(count: int) -> Service:
        return service(compute("h", count=count), node("app", on("h"), operations=["create", "delete"]))

    world = World(make(3))
    world.run()
    world.service = make(1)
    made = world.plan()
    assert_order(made, "app_3.Standard.delete", "h_3.delegate.undeploy")
    world.run()
    assert world.existing == ["app_1", "h_1"]
    world.service = make(2)
    world.run()
    assert world.existing == ["app_1", "app_4", "h_1", "h_4"]
    assert world.snapshot.instances["app_4"].host == "h_4"


def test_what_went_with_a_host_that_was_scaled_in_does_not_come_back() -> None:
    def make(count: int) -> Service:
        return service(compute("h", count=count), node("app", on("h"), operations=["delete"]))

    world = World(make(2))
    world.run()
    world.service = make(1)
    world.run(answers=failing("app_2.Standard.delete"))
    assert note_of(world.snapshot.instances["app_2"]) == "scaled in, removed with its host"
    world.service = make(2)
    world.run()
    assert world.existing == ["app_1", "app_3", "h_1", "h_3"]


def test_an_explicit_count_moves_to_the_hosts_that_stay() -> None:
    def make(hosts: int) -> Service:
        return service(compute("h", count=hosts), node("app", on("h"), count=3))

    world = World(make(3))
    world.run()
    world.service = make(2)
    world.run()
    assert {i: world.snapshot.instances[i].host for i in world.existing if i.startswith("app")} == {
        "app_1": "h_1",
        "app_2": "h_2",
        "app_4": "h_1",
    }


def test_one_to_five_and_back() -> None:
    world = deployed(1)
    before = sorted(world.snapshot.instances.values(), key=lambda i: i.id)
    world.service = shop(5)
    world.run()
    assert len([i for i in world.existing if i.startswith("web")]) == 5
    world.service = shop(1)
    world.run()
    after = sorted((i for i in world.snapshot.instances.values() if i.exists), key=lambda i: i.id)
    assert [(i.id, i.state, i.local, i.applied) for i in before] == [(i.id, i.state, i.local, i.applied) for i in after]


def test_a_failing_removal_of_a_survivors_link_does_not_keep_the_target() -> None:
    world = deployed(2)
    world.service = shop(1)
    world.run(answers=failing("lb_1.web.web_2.Configure.remove_target"))
    assert world.failed == ["lb_1.web.web_2.Configure.remove_target"]
    assert "web_2" not in world.existing
    lb = world.snapshot.instances["lb_1"]
    assert (lb.local, lb.state) == ("unknown", "started")
    # Everything was carried out, and nobody can be asked how it is: to be stopped and started shows it.
    world.run()
    assert {"lb_1.Standard.stop", "lb_1.Standard.start"} <= set(world.ran)
    assert world.snapshot.instances["lb_1"].local == "ok"
    assert world.plan().is_empty


def test_many_link_operations_have_to_be_asked_for() -> None:
    world = World(service(node("t", count=400), node("s", Requires("t", "add_target"), count=300)))
    with pytest.raises(PlanRefused) as caught:
        world.plan()
    assert codes(caught.value.diagnostics) == ["too-many-pairs"]
    assert "120000 link operations" in caught.value.diagnostics[0].message
    assert len(world.plan(options=replace(OPTIONS, allow_large=True)).steps) > 120_000
