"""A second deploy: what is done is skipped by the record, what is unfinished is continued, what differs is changed."""

import msgspec
import pytest

from ordito.instances.records import Delta
from ordito.model.service import Service
from ordito.planning.refused import PlanRefused
from ordito.work.invocation import Ending, Outcome
from tests.support.forming import Forming
from tests.support.runs import World, codes, failing, steps_of, with_files
from tests.support.services import Requires, compute, definition, get_attribute, maintain, node, on, operation, service
from tests.support.services import call as function

ALL = ["create", "configure", "start"]
NEAR = ["pre_configure_source", "pre_configure_target", "post_configure_target", "add_target"]


def shop() -> World:
    return World(
        service(
            compute("server"),
            node("db", on("server"), operations=ALL),
            node("web", Requires("db", *NEAR), operations=ALL, count=2),
        )
    )


@pytest.mark.parametrize("step", [s for s in steps_of(shop().plan()) if "delegate" not in s])
def test_continues_after_a_failure_at_every_operation(step: str) -> None:
    """What was carried out is not carried out again; in the end everything is as after an undisturbed run."""
    world = shop()
    world.run(answers=failing(step))
    done = set(world.ran)
    made = world.run()
    assert step in world.ran
    assert not done & set(world.ran)
    assert world.failed == []
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}
    assert world.plan().is_empty
    whole = set(steps_of(shop().plan()))
    assert done | set(steps_of(made)) == whole


@pytest.mark.parametrize("cut", range(22))
def test_continues_after_a_job_that_was_cut_anywhere(cut: int) -> None:
    world = shop()
    world.run(cut=cut)
    done = set(world.ran)
    world.run()
    assert not done & set(world.ran)
    assert world.plan().is_empty
    assert {i.local for i in world.snapshot.instances.values()} == {"ok"}


@pytest.mark.parametrize(
    ("fails", "cut"), [("web_1.Maintain.monitor_stop", 1), ("web_1.db.db_1.Configure.remove_target", 2)]
)
def test_what_began_to_stop_and_was_not_stopped_goes_on(fails: str, cut: int) -> None:
    """It is linked and watched again, and counts as started; nothing starts it once more."""
    requires = Requires("db", "add_target", "remove_target")

    def tiers(script: str) -> Service:
        web = node("web", requires, operations=["create", operation("start", script), "stop"])
        watched = maintain("monitor_start", "monitor_stop")
        return service(
            node("db", operations=ALL),
            msgspec.structs.replace(web, interfaces={**web.interfaces, **watched}),
        )

    world = Forming(tiers("1.sh"))
    world.to(tiers("1.sh"))
    world.to(tiers("2.sh"), answers=failing(fails), cut=cut)
    assert (world.snapshot.instances["web_1"].state, world.failed) == ("stopping", [fails])
    world.to(tiers("1.sh"))
    assert world.failed == []
    assert not [name for name in world.ran if name.endswith("Standard.start")]
    assert (world.snapshot.instances["web_1"].state, world.snapshot.instances["web_1"].local) == ("started", "ok")
    assert "Configure.add_target" in world.snapshot.links["web_1.db.db_1"].applied
    assert "Maintain.monitor_start" in world.snapshot.instances["web_1"].applied
    assert world.differs(tiers("1.sh")).is_empty


def test_independent_branches_are_deployed_in_spite_of_a_failure() -> None:
    """R-5.8.5-12: what depends on the failure stops, the rest goes on."""
    world = shop()
    world.run(answers=failing("web_1.Standard.create"))
    assert world.snapshot.instances["web_2"].local == "ok"
    assert world.snapshot.instances["web_1"].state == "error"
    assert world.snapshot.instances["web_1"].local == "unknown"


def test_what_the_failure_says_decides_the_status() -> None:
    """Modified is error, not reported is unknown, not modified leaves it unchanged."""
    for changed, local in ((True, "error"), (None, "unknown"), (False, "pending")):
        world = World(service(node("a", operations=["create"])))
        world.run(answers=lambda *_, c=changed: Outcome(Ending.FAILED, changed=c))
        assert world.snapshot.instances["a_1"].local == local


def test_a_change_of_what_runs_is_carried_out_in_place() -> None:
    world = shop()
    world.run()
    made = world.plan(options=with_files({"scripts/configure.sh": "other"}))
    changes = {c.instance: c for c in made.changes}
    assert {name: change.kind for name, change in changes.items()} == dict.fromkeys(
        ("db_1", "web_1", "web_2"), "reconfigure"
    )
    assert changes["web_1"].reason == "Standard.configure was carried out in another form"
    assert steps_of(made).index("db_1.Standard.start") < steps_of(made).index(
        "web_1.web.db.Configure.pre_configure_source"
    )


def inputs_service(value: object) -> Service:
    return service(
        node("a", operations=[operation("create", inputs={"port": function("get_input", "port")}), "start"]),
        inputs=[definition("port", "integer")],
    )


def test_a_changed_static_input_is_a_change() -> None:
    world = World(inputs_service(1), {"port": 1})
    world.run()
    assert world.plan().is_empty
    world.inputs["port"] = 2
    assert [c.kind for c in world.plan().changes] == ["replace"]


def test_inputs_by_slot() -> None:
    """R-2.20-2: a list by INDEX, directly and through a property; what changes in it is a change."""
    by_slot = function("get_input", "places", "INDEX")
    create = operation("create", inputs={"direct": by_slot, "through": function("get_property", "SELF", "place")})
    world = World(
        service(node("a", operations=[create], properties={"place": by_slot}, count=2), inputs=[definition("places")]),
        {"places": ["x", "y"]},
    )
    world.run()
    assert world.failed == []
    assert world.plan().is_empty
    world.inputs["places"] = ["x", "y", "z"]
    assert world.plan().is_empty
    world.inputs["places"] = ["x", "z"]
    assert [(c.instance, c.kind) for c in world.plan().changes] == [("a_2", "replace")]
    world.inputs["places"] = ["x"]
    with pytest.raises(PlanRefused) as caught:
        world.plan()
    assert codes(caught.value.diagnostics) == ["bad-value"]


def test_a_changed_attribute_is_no_change() -> None:
    world = World(
        service(
            node("b", declares=[definition("port")], operations=[operation("create", outputs={"p": ("SELF", "port")})]),
            node("a", "b", operations=[operation("start", inputs={"port": get_attribute("b", "port")})]),
        )
    )
    world.run()
    assert world.snapshot.attributes["b_1"] == {"port": "x"}
    assert world.plan().is_empty


def test_an_operation_that_is_new_on_what_runs_is_a_change() -> None:
    world = World(service(node("a", operations=["create"])))
    world.run()
    world.service = service(node("a", operations=["create", "start"]))
    made = world.plan()
    assert [c.kind for c in made.changes] == ["restart"]
    assert steps_of(made) == ["a_1.Standard.stop", "a_1.Standard.start"]


def test_what_failed_is_continued_with_what_was_put_right() -> None:
    world = World(service(node("a", operations=ALL)))
    world.run(answers=failing("a_1.Standard.configure"))
    made = world.plan(options=with_files({"scripts/configure.sh": "fixed"}))
    assert steps_of(made) == ["a_1.Standard.configure", "a_1.Standard.start"]


def test_an_earlier_operation_that_changed_runs_again_but_for_create() -> None:
    world = World(service(node("a", operations=ALL)))
    world.run(answers=failing("a_1.Standard.start"))
    made = world.plan(options=with_files({"scripts/configure.sh": "other"}))
    # What has failed to start may have done so in part.
    assert steps_of(made) == ["a_1.Standard.stop", "a_1.Standard.configure", "a_1.Standard.start"]
    made = world.plan(options=with_files({"scripts/create.sh": "other"}))
    assert [c.kind for c in made.changes] == ["replace"]
    assert steps_of(made)[:2] == ["a_1.Standard.stop", "a_1.Standard.delete"]


def test_a_relationship_added_to_a_running_target() -> None:
    """It runs add_* only, not pre_configure_target or post_configure_target."""
    world = World(service(node("b", operations=ALL)))
    world.run()
    world.service = service(
        node("b", operations=ALL), node("a", Requires("b", "pre_configure_target", "add_target", "add_source"))
    )
    made = world.plan()
    assert [s for s in steps_of(made) if "Configure" in s] == [
        "a_1.b.b_1.Configure.add_target",
        "a_1.b.b_1.Configure.add_source",
    ]


def test_what_failed_to_be_deleted_is_made_again_from_the_start() -> None:
    world = World(service(node("a", operations=[*ALL, "stop", "delete"])))
    world.run()
    world.run("undeploy", failing("a_1.Standard.delete"))
    assert steps_of(world.run()) == ["a_1.Standard.create", "a_1.Standard.configure", "a_1.Standard.start"]
    assert world.snapshot.instances["a_1"].local == "ok"
    # And when it goes again, it is stopped again.
    assert steps_of(world.plan("undeploy")) == ["a_1.Standard.stop", "a_1.Standard.delete"]


def test_a_kept_node_in_the_middle_hands_the_order_on() -> None:
    world = World(service(node("a"), node("b", "a"), node("c", "b", operations=["create"])))
    world.run(answers=failing("c_1.Standard.create"))
    world.snapshot.apply(_with_local(world, "a_1", "unknown"))
    made = world.plan()
    assert steps_of(made) == [
        "a_1.ordito.settle",
        "c_1.Standard.create",
        "c_1.Standard.configure",
        "c_1.Standard.start",
    ]
    assert made.edges[0][:2] == (0, 1)


def _with_local(world: World, instance: str, local: str) -> Delta:
    return Delta(instances=(msgspec.structs.replace(world.snapshot.instances[instance], local=local),))


def test_another_host_or_another_target_is_another_form() -> None:
    """What exists is moved, or bound to something else: it is not passed over."""
    script = ["create"]
    world = World(
        service(compute("h"), compute("h2"), node("d"), node("e"), node("a", on("h"), "d", operations=script))
    )
    world.run()
    world.service = service(
        compute("h"), compute("h2"), node("d"), node("e"), node("a", on("h2"), "d", operations=script)
    )
    made = world.plan()
    assert [(c.kind, c.reason) for c in made.changes if c.instance == "a_1"] == [("replace", "host has changed")]
    assert made.records.moved == {"a_1": "h2_1"}
    world.service = service(
        compute("h"), compute("h2"), node("d"), node("e"), node("a", on("h"), "e", operations=script)
    )
    # Nobody knows what was deployed, save that it was not this.
    assert [c.kind for c in world.plan().changes] == ["replace"]
