"""What undeploy plans, and what becomes of what it removes."""

import pytest

from ordito.instances.records import note_of
from ordito.work.invocation import Ending
from tests.support.runs import World, assert_order, failing, is_before, steps_of
from tests.support.services import Requires, compute, node, on, service

ALL = ["create", "configure", "start", "stop", "delete"]


def shop() -> World:
    return World(
        service(
            compute("server"),
            node("db", on("server"), operations=ALL),
            node(
                "web",
                Requires("db", "pre_configure_source", "add_target", "add_source", "remove_target", "remove_source"),
                operations=ALL,
                count=2,
            ),
            node("lb", Requires("web", "add_target", "remove_target"), operations=ALL),
        )
    )


def test_removal_mirrors_deployment() -> None:
    """R-7.2-3, R-5.8.5-6: links are undone while both ends exist, dependents are deleted before their targets."""
    world = shop()
    world.run()
    made = world.plan("undeploy")
    assert_order(
        made,
        "lb_1.web.web_2.Configure.remove_target",
        "lb_1.web.web_1.Configure.remove_target",
        "lb_1.Standard.stop",
        "lb_1.Standard.delete",
        "web_1.db.db_1.Configure.remove_target",
        "web_1.db.db_1.Configure.remove_source",
        "web_1.Standard.stop",
        "web_1.Standard.delete",
        "db_1.Standard.stop",
        "db_1.Standard.delete",
        "server_1.delegate.undeploy",
    )
    assert not is_before(made, "web_1.Standard.stop", "web_2.Standard.delete")
    assert all(s.flow.after_failure for s in made.steps)


def test_states_on_the_way_down() -> None:
    """R-3.4.1-1, R-3.4.1-2, R-5.8.4-4, R-5.8.4-5: stopping, configured, deleting, and then there is no instance any
    more."""
    world = shop()
    world.run()
    world.run("undeploy")
    assert world.states_of("web_1") == ["stopping", "configured", "deleting", "deleted"]
    assert world.states_of("server_1") == ["stopping", "deleted"]
    assert world.existing == []
    assert world.snapshot.links == {}
    assert world.snapshot.attributes == {}
    assert world.snapshot.outputs == {}


def test_nothing_is_left_to_remove() -> None:
    world = shop()
    world.run()
    world.run("undeploy")
    assert world.plan("undeploy").is_empty


def test_a_failed_stop_does_not_hold_up_the_delete() -> None:
    """R-7.3.7-2: what can still be removed is removed."""
    world = shop()
    world.run()
    world.run("undeploy", failing("web_1.Standard.stop"))
    assert world.failed == ["web_1.Standard.stop"]
    assert world.skipped == []
    assert world.existing == []


def test_a_failed_delete_leaves_a_record_with_state_error() -> None:
    world = shop()
    world.run()
    world.run("undeploy", failing("web_1.Standard.delete"))
    left = world.snapshot.instances["web_1"]
    assert (left.state, left.local) == ("error", "unknown")
    assert list(left.failed) == ["Standard.delete"]
    assert world.existing == ["web_1"]
    # The next one continues where this one failed: what stopped is not stopped again.
    assert steps_of(world.plan("undeploy")) == ["web_1.Standard.delete"]
    world.run("undeploy")
    assert world.existing == []


def test_it_went_with_its_host() -> None:
    world = shop()
    world.run()
    world.run("undeploy", failing("db_1.Standard.delete"))
    db = world.snapshot.instances["db_1"]
    assert (db.state, db.local, note_of(db)) == ("deleted", "absent", "removed with its host")
    assert world.existing == []


def test_unlinked_only_where_linking_was_begun() -> None:
    """R-5.8.5-10: no remove_target for a pair of which neither pre_configure_source nor add_target was started."""
    world = shop()
    world.run(answers=failing("web_1.Standard.create", "web_2.web.db.Configure.pre_configure_source"))
    made = world.plan("undeploy")
    assert [s for s in steps_of(made) if "remove_" in s] == [
        "web_2.db.db_1.Configure.remove_target",
        "web_2.db.db_1.Configure.remove_source",
    ]


def test_only_remove_target_is_implemented() -> None:
    """Where no operation begins a pair, the start of its source does."""
    world = World(service(node("b"), node("a", Requires("b", "remove_target"), operations=["start"])))
    world.run(answers=failing("a_1.Standard.start"))
    assert [s for s in steps_of(world.plan("undeploy")) if "remove" in s] == ["a_1.b.b_1.Configure.remove_target"]
    other = World(service(node("b"), node("a", Requires("b", "remove_target"), operations=["create"])))
    other.run(answers=failing("a_1.Standard.create"))
    assert [s for s in steps_of(other.plan("undeploy")) if "remove" in s] == []


@pytest.mark.parametrize("cut", range(20))
def test_undeploy_after_a_deployment_that_was_cut_anywhere(cut: int) -> None:
    world = shop()
    world.run(cut=cut)
    world.run("undeploy")
    assert world.failed == []
    assert world.skipped == []
    assert world.existing == []
    assert world.snapshot.links == {}


def every_operation() -> list[str]:
    return [s for s in steps_of(shop().plan()) if "delegate" not in s]


@pytest.mark.parametrize("step", every_operation())
def test_undeploy_after_a_failure_at_every_operation(step: str) -> None:
    world = shop()
    world.run(answers=failing(step))
    assert world.failed == [step]
    world.run("undeploy")
    assert world.failed == []
    assert world.existing == []
    assert world.snapshot.links == {}
    # And it can be deployed again as if nothing had been, under the same ids.
    world.run()
    assert world.existing == ["db_1", "lb_1", "server_1", "web_1", "web_2"]
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}
    assert world.plan().is_empty


def test_what_was_never_started_is_only_forgotten() -> None:
    world = shop()
    world.run(answers=failing("db_1.Standard.create"))
    made = world.plan("undeploy")
    dropped = [s for s in made.steps if s.instance == "lb_1"]
    assert [(s.id, made.calls[s.call].artifact, s.effect.leave) for s in dropped] == [
        ("lb_1.Standard.delete", "", "deleted")
    ]


def test_unreachable_and_cancelled_operations_count_as_started_or_not() -> None:
    world = World(service(node("a", operations=["create", "delete"])))
    world.run(answers=lambda *_: Ending.UNREACHABLE)
    assert world.snapshot.instances["a_1"].local == "pending"
    assert world.snapshot.instances["a_1"].failed == {}
    world.run(answers=lambda *_: Ending.CANCELLED)
    assert world.snapshot.instances["a_1"].local == "unknown"
    assert list(world.snapshot.instances["a_1"].failed) == ["Standard.create"]


def test_instances_of_which_nothing_is_known_any_more_are_kept_and_told_of() -> None:
    world = shop()
    world.run()
    world.service = service(compute("server"), node("db", on("server"), operations=ALL))
    made = world.plan()
    assert made.is_empty
    assert [w for w in made.summary.warnings if "web_1, web_2" in w]


def test_what_goes_with_its_host_may_be_of_a_node_that_the_service_does_not_have() -> None:
    world = World(service(compute("server"), node("a", on("server")), node("b", on("server"))))
    world.run()
    world.service = service(compute("server"), node("a", on("server")))
    world.run("undeploy")
    assert note_of(world.snapshot.instances["b_1"]) == "removed with its host"
