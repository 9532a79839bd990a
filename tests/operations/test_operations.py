"""What ends of operations change: outputs and attributes, states and status, what is remembered."""

from __future__ import annotations

import pytest

from ordito.instances.records import Delta, end_id
from ordito.instances.states import DELETED
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.service import NodeTemplate
from ordito.operations.operations import PlanOperations
from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Step, StepEffect
from ordito.work.providing import ProviderVerb
from tests.support.runs import Reply, World, failing
from tests.support.services import (
    Requires,
    call,
    capability,
    compute,
    definition,
    get_attribute,
    node,
    on,
    operation,
    schema,
    service,
)

Given = dict[str, dict[str, object]]


def gives(outputs: Given, endings: dict[str, Ending] | None = None):  # type: ignore[no-untyped-def]
    """Answers by the ends of step ids."""

    def answer(step: Step, _: str) -> Reply:
        for end, ending in (endings or {}).items():
            if step.id.endswith(end):
                return Outcome(ending, outputs=outputs.get(end, {}))
        return next((Outcome(Ending.SUCCEEDED, outputs=o) for end, o in outputs.items() if step.id.endswith(end)), None)

    return answer


def test_outputs_feed_later_operations() -> None:
    """R-4.6.1-6: create exports, configure consumes; what is asked back is what somebody refers to."""
    consume = operation("configure", inputs={"p": call("get_operation_output", "SELF", "Standard", "create", "port")})
    world = World(service(node("a", operations=["create", consume])))
    made = world.run(answers=gives({"create": {"port": "80", "other": "x"}}))
    assert made.calls[0].outputs == ("port",)
    assert world.snapshot.outputs == {"a_1": {"Standard.create": {"port": "80"}}}
    assert world.failed == []


def test_an_attribute_fed_by_an_output() -> None:
    """R-4.6.1-4, §13.4.1: log_attr is computed from what create exported, when it is asked for."""
    log = call("get_operation_output", "SELF", "Standard", "create", "LOG_OUT")
    logger = node("logger", operations=["create"], attributes={"log_attr": log})
    world = World(service(logger, outputs={"log": get_attribute("logger", "log_attr")}))
    world.run(answers=gives({"create": {"LOG_OUT": "text"}}))
    assert world.operations is not None
    assert world.operations.topology_outputs() == {"log": "text"}


def test_outputs_of_a_failed_run_are_ignored() -> None:
    """R-4.6.1-2, R-4.6.1-3: the last successful run counts."""
    mapped = operation("create", outputs={"port": ("SELF", "port")})
    world = World(service(node("a", declares=[definition("port")], operations=[mapped])))
    world.run(answers=gives({"create": {"port": "80"}}, {"create": Ending.FAILED}))
    assert world.snapshot.outputs == {}
    assert world.snapshot.attributes == {}
    world.run(answers=gives({"create": {"port": "81"}}))
    assert world.snapshot.attributes == {"a_1": {"port": "81"}}
    assert world.snapshot.outputs["a_1"]["Standard.create"] == {"port": "81"}


def test_a_declared_output_that_is_missing_fails_the_operation() -> None:
    """A script that forgets what it should give has not done its work."""
    mapped = operation("create", outputs={"port": ("SELF", "port")})
    end = _end(service(node("a", declares=[definition("port")], operations=[mapped])), {"other": "x"})
    assert end.ending is Ending.FAILED
    assert 'no output "port", which is mapped to SELF.port' in end.message


def _end(given, outputs: dict[str, object]) -> Outcome:  # type: ignore[no-untyped-def]
    """How the first operation of a fresh deployment ends with these outputs."""
    world = World(given)
    made = world.plan()
    world.snapshot.apply(Delta(instances=made.records.new))
    operations = PlanOperations(given, world.snapshot, made, {}, root="/pinned", job="job")
    step = made.steps[0]
    world.snapshot.apply(operations.on_start(step, "change"))
    outcome, delta = operations.on_end(step, Outcome(Ending.SUCCEEDED, outputs=outputs), "change")
    world.snapshot.apply(delta)
    if outcome.succeeded:
        return outcome
    assert world.snapshot.instances["a_1"].state == "error"
    assert world.snapshot.attributes == {}
    return outcome


ADDRESSES = DataType(
    "Net", ("Net", "tosca.datatypes.Root"), "", {"addresses": PropertyDefinition("addresses", schema("list", schema()))}
)


def mapping(*path: str | int, **more: object) -> NodeTemplate:
    create = operation("create", outputs={"o": path})
    return node(
        "a",
        operations=[create],
        declares=[
            definition("port", "integer"),
            definition("ok", "boolean"),
            definition("load", "float"),
            definition("names", "list"),
            definition("text", "string"),
            definition("map", "map"),
            PropertyDefinition("networks", Schema("map", Schema("Net"))),
        ],
        capabilities=[capability("endpoint", "x", properties={"p": 1}, attributes=["ip_address"])],
        **more,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("attribute", "output", "value"),
    [
        ("port", "80", 80),
        ("port", 80, 80),
        ("port", " -7\n", -7),
        ("ok", "true", True),
        ("ok", "False", False),
        ("load", "1.5", 1.5),
        ("load", 2, 2.0),
        ("names", '["a"]', ["a"]),
        ("names", ["a"], ["a"]),
        ("map", '{"a": 1}', {"a": 1}),
        ("text", 80, "80"),
        ("text", "8 0", "8 0"),
        ("undeclared", [1], [1]),
    ],
)
def test_outputs_take_the_type_of_their_attribute(attribute: str, output: object, value: object) -> None:
    """R-3.6.15-5: what a shell gives is text, and is read as the attribute asks."""
    world = World(service(mapping("SELF", attribute)))
    world.run(answers=gives({"create": {"o": output}}))
    assert world.failed == []
    assert world.snapshot.attributes == {"a_1": {attribute: value}}


@pytest.mark.parametrize(
    ("attribute", "output"),
    [
        ("port", "eighty"),
        ("port", "8.0"),
        ("port", True),
        ("ok", "yes"),
        ("load", "x"),
        ("names", "a,b"),
        ("map", "[]"),
        ("text", [1]),
    ],
)
def test_outputs_that_do_not_fit_fail_the_operation(attribute: str, output: object) -> None:
    """R-3.6.15-5."""
    end = _end(service(mapping("SELF", attribute)), {"o": output})
    assert end.ending is Ending.FAILED
    assert f'output "o" does not fit attribute "{attribute}" of a_1' in end.message


def test_outputs_to_capabilities_and_nested_places() -> None:
    """R-3.6.15-1, R-3.6.15-3, R-3.6.15-4: one element is set, the others stay."""
    world = World(service(mapping("SELF", "endpoint", "ip_address")))
    world.run(answers=gives({"create": {"o": "1.1.1.1"}}))
    assert world.snapshot.attributes == {"a_1": {"endpoint::ip_address": "1.1.1.1"}}
    attributes = {"networks": {"private": {"addresses": ["a", "b"]}, "public": {"addresses": ["c"]}}}
    world = World(
        service(mapping("SELF", "networks", "private", "addresses", 0, attributes=attributes), data_types=[ADDRESSES])
    )
    world.run(answers=gives({"create": {"o": "new"}}))
    assert world.snapshot.attributes["a_1"]["networks"] == {
        "private": {"addresses": ["new", "b"]},
        "public": {"addresses": ["c"]},
    }


def test_nested_places_that_there_are_not() -> None:
    end = _end(service(mapping("SELF", "networks", "x", "addresses", 3), data_types=[ADDRESSES]), {"o": "v"})
    assert "is no place in a list" in end.message
    end = _end(service(mapping("SELF", "text", "x", attributes={"text": "plain"})), {"o": "v"})
    assert "in a single value" in end.message


def test_the_last_write_wins() -> None:
    """R-3.6.15-6: what is written last is what is read."""
    every = [operation(n, outputs={"o": ("SELF", "text")}) for n in ("create", "configure")]
    world = World(service(node("a", declares=[definition("text")], operations=every)))
    world.run(answers=gives({"create": {"o": "first"}, "configure": {"o": "second"}}))
    assert world.snapshot.attributes == {"a_1": {"text": "second"}}


def test_outputs_of_relationship_operations() -> None:
    """R-3.6.15-2: SELF is the pair, SOURCE and TARGET the nodes at its ends."""
    add = operation("add_target", outputs={"s": ("SOURCE", "text"), "t": ("TARGET", "text"), "me": ("SELF", "ticket")})
    ends = [node(n, declares=[definition("text")], count=2) for n in ("T",)]
    world = World(service(*ends, node("S", Requires("T", add), declares=[definition("text")])))
    world.run(answers=lambda step, _: {n: f"{n} of {step.far}" for n in ("s", "t", "me")})
    assert world.snapshot.attributes == {
        "T_1": {"text": "t of T_1"},
        "T_2": {"text": "t of T_2"},
        "S_1": {"text": "s of T_2"},
        "S_1.T.T_1": {"ticket": "me of T_1"},
        "S_1.T.T_2": {"ticket": "me of T_2"},
    }


def test_outputs_of_operations_once_per_near_instance() -> None:
    """They belong to that end of the relationship, and TARGET is all targets."""
    pre = operation("pre_configure_source", outputs={"t": ("TARGET", "text"), "me": ("SELF", "ticket")})
    reads = operation("add_target", inputs={"x": get_attribute("SELF", "ticket")}, required=["x"])
    world = World(service(node("T", declares=[definition("text")], count=2), node("S", Requires("T", pre, reads))))
    world.run(answers=lambda *_: {"t": "same", "me": "ticket"})
    assert world.failed == []
    assert world.snapshot.attributes == {
        "T_1": {"text": "same"},
        "T_2": {"text": "same"},
        end_id("S.T", "S_1", "source"): {"ticket": "ticket"},
    }
    world.run("undeploy")
    assert world.snapshot.attributes == {}


def test_what_a_provider_made() -> None:
    """Attributes of a delegated node are what its provider gave, those of capabilities as capability::name."""
    app = node(
        "app", on("server"), operations=[operation("create", inputs={"ip": get_attribute("HOST", "ip_address")})]
    )
    world = World(service(compute("server"), app, outputs={"ip": get_attribute("server", "private_address")}))
    made: dict[str, object] = {"private_address": "127.0.0.1", "endpoint::ip_address": "127.0.0.1"}
    world.run(answers=lambda _, name: made if name == "delegate.deploy" else None)
    assert world.snapshot.attributes["server_1"] == made
    assert world.operations is not None
    assert world.operations.topology_outputs() == {"ip": "127.0.0.1"}


def test_what_a_provider_is_asked() -> None:
    world = World(service(compute("server", properties={"size": call("concat", "1", "0")})))
    made = world.plan()
    world.snapshot.apply(Delta(instances=made.records.new, attributes={"server_1": {"x": 1}}))
    asked = PlanOperations(world.service, world.snapshot, made, {}, root="", job="j").delegation(made.steps[0])
    assert (asked.instance, asked.verb, asked.properties, asked.attributes) == (
        "server_1",
        ProviderVerb.CREATE,
        {"size": "10"},
        {"x": 1},
    )
    assert asked.kinds[0] == "tosca.nodes.Compute"


def test_a_failed_link_counts_for_its_source_only() -> None:
    """A consumer's link never touches the target's status; the state stays."""
    world = World(service(node("T"), node("S", Requires("T", "add_target", "add_source"))))
    world.run(answers=lambda _, name: Outcome(Ending.FAILED, changed=True) if name.endswith("add_source") else None)
    source, target = world.snapshot.instances["S_1"], world.snapshot.instances["T_1"]
    assert (source.local, source.state) == ("error", "started")
    assert (target.local, target.state, target.failed) == ("ok", "started", {})
    link = world.snapshot.links["S_1.T.T_1"]
    assert (list(link.applied), list(link.failed)) == (["Configure.add_target"], ["Configure.add_source"])
    world.run()
    assert world.ran == ["S_1.T.T_1.Configure.add_source"]
    assert world.snapshot.links["S_1.T.T_1"].failed == {}


def test_a_failed_pre_configure_sets_error() -> None:
    """R-5.8.4-6, R-5.8.5-12."""
    world = World(service(node("T"), node("S", Requires("T", "pre_configure_target"))))
    world.run(answers=failing("pre_configure_target"))
    record = world.snapshot.instances["T_1"]
    assert record.state == "error"
    assert list(record.failed) == ["S.T/Configure.pre_configure_target"]
    assert world.skipped[0] == "T_1.Standard.configure"


def test_changes_are_remembered() -> None:
    """Created, the last change applied and the last one that changed the instance."""

    def answer(step: Step, name: str) -> Reply:
        return Outcome(Ending.SUCCEEDED, changed=not name.endswith("start"))

    world = World(service(node("a", operations=["create", "start"])))
    world.run(answers=answer)
    record = world.snapshot.instances["a_1"]
    assert record.created == "job1-0001-a_1.Standard.create"
    assert record.last_config_change == "job1-0003-a_1.Standard.start"
    assert record.last_state_change == "job1-0001-a_1.Standard.create"
    assert list(record.applied) == ["Standard.create", "Standard.configure", "Standard.start"]


def test_a_status_that_an_operation_reports() -> None:
    def answer(step: Step, name: str) -> Reply:
        return Outcome(Ending.SUCCEEDED, status="degraded" if name.endswith("start") else "error")

    world = World(service(node("a", operations=["create", "start"])))
    world.run(answers=answer)
    assert world.snapshot.instances["a_1"].local == "degraded"


def test_what_was_deleted_forgets_what_was_carried_out() -> None:
    world = World(service(node("a", operations=["create", "delete"])))
    world.run()
    world.run("undeploy")
    record = world.snapshot.instances["a_1"]
    assert (record.applied, record.failed, record.state, record.local) == ({}, {}, "deleted", "absent")
    assert record.created == "job1-0001-a_1.Standard.create"


def test_timeouts_do_not_say_whether_anything_changed() -> None:
    world = World(service(node("a", operations=["create"])))
    world.run(answers=lambda *_: Ending.TIMED_OUT)
    assert world.snapshot.instances["a_1"].local == "unknown"


def test_what_a_step_counts_for_does_not_depend_on_the_step_before() -> None:
    """What turns out to be removed already counts as removed by the job, also where the last operation that ended was
    one that a lifecycle step runs, which counts for nothing."""
    world = World(service(node("a", operations=["create", "delete"])))
    world.run()
    assert world.operations is not None
    needless = Step("a_1.Standard.delete", instance="a_1", call=0, effect=StepEffect(leave=DELETED))
    before = world.operations.on_needless(needless, "change")
    world.operations.on_end(Step("hook", instance="a_1", call=0, hook=0), Outcome(Ending.SUCCEEDED), "change")
    assert world.operations.on_needless(needless, "change") == before
    assert before.instances[0].last_config_change == "change"
