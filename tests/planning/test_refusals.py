"""What has no plan: every reason at once, each with its place and what to do next."""

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostic
from ordito.planning.options import Maker, PlanOptions
from ordito.planning.refused import PlanRefused
from ordito.planning.workflows import plan
from tests.support.runs import OPTIONS, World, able, codes
from tests.support.services import Requires, compute, get_attribute, node, on, operation, service
from tests.support.services import call as function


def refused(world: World, workflow: str = "deploy", options: PlanOptions = OPTIONS) -> list[Diagnostic]:
    with pytest.raises(PlanRefused) as caught:
        world.plan(workflow, options)
    return caught.value.diagnostics


def test_a_cycle_of_requirements_is_named() -> None:
    """R-7.2-2."""
    found = refused(World(service(node("a", "b"), node("b", "c"), node("c", "a"), node("d", "a"))))
    assert codes(found) == ["requirement-cycle"]
    assert "a -> b -> c -> a" in found[0].message
    assert len(found[0].related) == 3
    assert found[0].hint


def test_a_node_that_requires_itself_and_another_cycle() -> None:
    found = refused(World(service(node("a", "a"), node("b", "c"), node("c", "b"), node("d", "c", "a"))))
    assert codes(found) == ["requirement-cycle"] * 2
    assert '"a" requires itself: a -> a' in found[0].message
    assert '"b" and "c" are in a cycle of requirements: b -> c -> b' in found[1].message


def test_mutual_connections_are_a_cycle() -> None:
    found = refused(World(service(node("a", Requires("b", "add_target")), node("b", Requires("a", "add_target")))))
    assert codes(found) == ["requirement-cycle"]


def test_a_node_hosted_on_and_connected_to_one_target_is_no_cycle() -> None:
    made = World(service(node("t"), node("a", on("t"), Requires("t", "pre_configure_target", "add_target")))).plan()
    assert len(made.steps) == 8


def test_no_executor_for_an_artifact() -> None:
    """R-5.4-4, R-13.2.1-1, R-13.2.4-1, R-3.6.16-7: found when the plan is made, not when the operation would run;
    removal is looked at too."""
    options = able(accepts=lambda _: False)
    found = refused(World(service(node("a", operations=["create", "delete"]))), options=options)
    assert codes(found) == ["no-executor"] * 2
    assert 'no executor processes "scripts/create.sh"' in found[0].message
    assert found[0].hint


def test_no_executor_for_an_artifact_on_hosts_that_are_reached_in_another_way() -> None:
    """Found when the plan is made, once for each operation and host; what runs elsewhere is not refused."""
    web = node("web", on("far"), operations=["create"], count=3)
    made = service(compute("far"), web, node("here", operations=["create"]))
    options = able(
        maker=lambda name, _: Maker("acme", "acme") if name == "far" else Maker(),
        accepts_on=lambda _, protocol: protocol != "acme",
    )
    [found] = refused(World(made), options=options)
    assert found.code == "no-executor"
    assert '"scripts/create.sh"' in found.message
    assert 'on "far", which is reached by acme' in found.message


def test_the_nearest_known_type_of_an_artifact_processes_it() -> None:
    options = able(accepts=lambda kinds: "tosca.artifacts.Implementation.Bash" in kinds)
    made = World(service(node("a", operations=["create"]))).plan(options=options)
    assert made.calls[0].processor == "tosca.artifacts.Implementation.Bash"


def test_a_version_by_which_nothing_chooses_is_said() -> None:
    """R-3.6.7-7: where nothing heeds a version, that is no secret; for scripts it is that of the interpreter."""
    world = World(service(node("a", operations=["create"])))
    created = world.service.nodes["a"].interfaces["Standard"].operations["create"]
    assert created.implementation is not None
    asking = msgspec.structs.replace(created.implementation, kinds=("my.Play",), version="2.9")
    operation = msgspec.structs.replace(created, implementation=asking)
    standard = world.service.nodes["a"].interfaces["Standard"]
    interface = msgspec.structs.replace(standard, operations={"create": operation})
    changed = msgspec.structs.replace(world.service.nodes["a"], interfaces={"Standard": interface})
    world.service = msgspec.structs.replace(world.service, nodes={"a": changed})
    made = world.plan(options=able(accepts=lambda kinds: "my.Play" in kinds))
    assert ["artifact_version 2.9" in warning for warning in made.summary.warnings] == [True]


@pytest.mark.parametrize("name", ["pre_configure_target", "post_configure_target"])
def test_configure_operations_at_a_delegated_node(name: str) -> None:
    """R-7.2.1.1-3: a provider leaves no moment for them; add_* and the other side run."""
    world = World(service(compute("server"), node("a", on("server", name, "add_source", "pre_configure_source"))))
    found = refused(world)
    assert codes(found) == ["delegated-node-operation"]
    assert name in found[0].message
    assert '"server"' in found[0].message


def test_values_that_cannot_be_evaluated_are_found_when_planning() -> None:
    """R-4.4.2-8, R-4.4.2-9."""
    broken = operation(
        "create", inputs={"x": function("get_property", "a", "nothing"), "y": function("get_input", "n")}
    )
    found = refused(World(service(node("a", operations=[broken]))))
    assert codes(found) == ["bad-value"] * 2
    assert {d.message for d in found} == {'node "a" has no property "nothing"', 'there is no input named "n"'}


def test_reasons_of_different_kinds_come_together() -> None:
    world = World(
        service(
            node("a", "a"),
            node("b", count=9, occurrences=(1, 2)),
            node("d", operations=["create"]),
        )
    )
    found = refused(world, options=able(accepts=lambda _: False))
    assert set(codes(found)) == {"requirement-cycle", "count-out-of-bounds", "no-executor"}


def test_a_workflow_that_there_is_not() -> None:
    world = World(service(node("a")))
    with pytest.raises(ValueError, match='did you mean "undeploy"'):
        plan("undploy", world.service, world.snapshot, {}, OPTIONS)


def test_aliases() -> None:
    """R-7.1-3."""
    world = World(service(node("a")))
    assert world.plan("install").workflow == "deploy"
    assert world.plan("uninstall").workflow == "undeploy"


def test_undeploy_is_not_held_up_by_what_only_concerns_deploying() -> None:
    world = World(service(compute("server"), node("a", operations=["create"])))
    world.run()
    world.service = service(compute("server"), node("a", on("server", "pre_configure_target"), operations=["create"]))
    world.run("undeploy", options=able(accepts=lambda _: False))
    assert world.existing == []


def test_reading_from_what_nothing_orders_before_is_a_warning() -> None:
    """Naming both and the missing requirement."""
    reads = operation("create", inputs={"x": get_attribute("b", "port")})
    made = World(service(node("b", declares=[]), node("a", operations=[reads]))).plan()
    assert len(made.summary.warnings) == 1
    assert 'Standard.create of node "a" reads from node "b"' in made.summary.warnings[0]
    assert World(service(node("b"), node("c", "b"), node("a", "c", operations=[reads]))).plan().summary.warnings == ()


@pytest.mark.parametrize(
    ("name", "waits"), [("pre_configure_source", "S"), ("add_source", "S"), ("pre_configure_target", "T")]
)
def test_links_that_read_from_what_nothing_orders_before(name: str, waits: str) -> None:
    """Operations of relationships wait for what their source requires, those that configure a target for what that one
    requires; the warning names the node that lacks the requirement."""
    reads = operation(name, inputs={"x": get_attribute("b", "port")})
    made = World(service(node("b"), node("T"), node("S", Requires("T", reads)))).plan()
    (warning,) = made.summary.warnings
    assert f'Configure.{name} of relationship "S.T" reads from node "b", and nothing has "b" deployed before' in warning
    assert f'"{waits}" lacks a requirement that leads to it' in warning
    requires = {waits: ["b"]}
    ordered = service(
        node("b"), node("T", *requires.get("T", [])), node("S", *requires.get("S", []), Requires("T", reads))
    )
    assert World(ordered).plan().summary.warnings == ()


def test_source_attributes_before_the_source_exists_are_a_warning() -> None:
    """R-7.2.3.3-1."""
    early = operation("pre_configure_target", inputs={"x": get_attribute("SOURCE", "port")})
    late = operation("add_source", inputs={"x": get_attribute("SOURCE", "port")})
    fine = operation("post_configure_target", inputs={"x": function("get_property", "SOURCE", "port")})
    source = node("a", Requires("b", early, late, fine), properties={"port": 1})
    made = World(service(node("b"), source)).plan()
    assert len(made.summary.warnings) == 1
    assert 'pre_configure_target of "a.b"' in made.summary.warnings[0]
