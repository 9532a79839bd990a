"""The environment of operations: both families of variables, inputs for every instance, limits, renewal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
from msgspec.structs import replace

from ordito.model.definitions import primitive_types
from ordito.model.operation import Operation
from ordito.model.schema import Constraint, Schema
from ordito.model.service import NodeTemplate, Service
from ordito.operations.environment import MOST_VARIABLES
from ordito.operations.operations import PlanOperations
from ordito.operations.preparing import PreparedStep
from ordito.syntax.expressions import Value
from ordito.work.invocation import SCRATCH, FilePlacement, Invocation
from ordito.work.plan import Step
from tests.support.runs import World
from tests.support.services import (
    Requires,
    call,
    compute,
    definition,
    get_attribute,
    get_property,
    node,
    on,
    operation,
    script,
    service,
)

RESERVED_NODE = {"NODE", "INSTANCE", "INSTANCES", "HOST"}


class Prepare(World):
    """Runs a deployment and keeps what was prepared for each step."""

    def __init__(
        self, *nodes: NodeTemplate, inputs: dict[str, object] | None = None, given: Service | None = None
    ) -> None:
        super().__init__(given or service(*nodes, inputs=[definition(n) for n in inputs or {}]), inputs)
        self.prepared: dict[str, PreparedStep] = {}
        self.in_order: list[tuple[str, PreparedStep]] = []

    def deploy(self, workflow: str = "deploy", ip: str = "192.168.0.1") -> Prepare:
        """Every operation that maps an output ``ip`` gives the address ``ip`` with the instance's number added."""

        def answer(step: Step, _: str) -> dict[str, object]:
            return {"ip": f"{ip}{step.instance.rpartition('_')[2]}"}

        original = PlanOperations.prepare

        def patched(this: PlanOperations, step: Step, attempt: int) -> PreparedStep:
            prepared = self.prepared[step.id] = original(this, step, attempt)
            self.in_order.append((step.id, prepared))
            return prepared

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PlanOperations, "prepare", patched)
            self.run(workflow, answer)
        return self

    def invocation(self, step: str) -> Invocation:
        found = self.prepared[step].invocation
        assert found is not None, self.prepared[step].refusal
        return found

    def env(self, step: str) -> dict[str, str]:
        """The variables of an operation, without its own name: every one has that."""
        found = dict(self.invocation(step).environment)
        assert f".{found.pop('ORDITO_OPERATION')}" in step
        return found


def with_ip(name: str, count: int | None = None, *, start: int = 1) -> NodeTemplate:
    """A node whose ``create`` tells its ip."""
    create = operation("create", outputs={"ip": ("SELF", "ip_address")})
    return node(name, declares=[definition("ip_address")], operations=[create], count=count)


def test_the_sample_of_the_normative_lifecycle() -> None:
    """R-4.2-13: two sources, two targets, the pair of the first ones; verbatim."""
    add = operation("add_target", inputs={"TARGET_IP": get_attribute("TARGET", "ip_address")})
    run = Prepare(with_ip("MyNodeT", 2), node("MyNodeS", Requires("MyNodeT", add), count=2)).deploy()
    env = run.env("MyNodeS_1.MyNodeT.MyNodeT_1.Configure.add_target")
    sample = """
TARGET_NODE=MyNodeT
TARGET_INSTANCE=MyNodeT_1
TARGET_INSTANCES=MyNodeT_1,MyNodeT_2
SOURCE_NODE=MyNodeS
SOURCE_INSTANCE=MyNodeS_1
SOURCE_INSTANCES=MyNodeS_1,MyNodeS_2
TARGET_IP=192.168.0.11
MyNodeT_1_TARGET_IP=192.168.0.11
MyNodeT_2_TARGET_IP=192.168.0.12
"""
    wanted = dict(line.split("=") for line in sample.split())
    assert wanted.items() <= env.items()
    of_the_specification = {
        "SOURCE": "MyNodeS_1",
        "SOURCES": "MyNodeS_1,MyNodeS_2",
        "TARGET": "MyNodeT_1",
        "TARGETS": "MyNodeT_1,MyNodeT_2",
    }
    assert env == wanted | of_the_specification


def test_the_five_members_of_a_load_balancer() -> None:
    """R-4.2-1 to R-4.2-9: while the fifth member is added, all five are in the list, each with its address."""
    add = operation("add_target", inputs={"member_ip": get_attribute("TARGET", "ip_address")})
    run = Prepare(with_ip("node", 5), node("load_balancer", Requires("node", add, name="member"))).deploy(ip="10.0.0.")
    env = run.env("load_balancer_1.member.node_5.Configure.add_target")
    assert env["TARGET"] == "node_5"
    assert env["TARGETS"] == "node_1,node_2,node_3,node_4,node_5"
    assert env["SOURCE"] == env["SOURCES"] == "load_balancer_1"
    assert env["member_ip"] == "10.0.0.5"
    # With code like the specification's, a script reads them all.
    assert [env[f"{t}_member_ip"] for t in env["TARGETS"].split(",")] == [f"10.0.0.{n}" for n in range(1, 6)]


def test_the_variables_of_node_operations() -> None:
    """R-4.2-13: NODE, INSTANCE, INSTANCES, HOST; none of the relationship's."""
    run = Prepare(
        compute("server", count=2),
        node("my-app.x", on("server"), operations=["create"]),
        node("free", operations=["create"]),
    ).deploy()
    assert run.env("my_app_x_2.Standard.create") == {
        "NODE": "my-app.x",
        "INSTANCE": "my_app_x_2",
        "INSTANCES": "my_app_x_1,my_app_x_2",
        "HOST": "server",
    }
    assert run.env("free_1.Standard.create") == {"NODE": "free", "INSTANCE": "free_1", "INSTANCES": "free_1"}


def test_inputs_of_node_operations_for_all_instances() -> None:
    """R-4.2-6, R-4.2-10: also for SELF, constants and other nodes."""
    start = operation(
        "start",
        inputs={
            "id": get_attribute("SELF", "tosca_id"),
            "mode": "fast",
            "far": get_attribute("other", "ip_address"),
        },
    )
    run = Prepare(with_ip("other"), node("a", "other", operations=[start], count=2)).deploy()
    env = run.env("a_2.Standard.start")
    assert {k: v for k, v in env.items() if k not in RESERVED_NODE} == {
        "id": "a_2", "a_1_id": "a_1", "a_2_id": "a_2",
        "mode": "fast", "a_1_mode": "fast", "a_2_mode": "fast",
        "far": "192.168.0.11", "a_1_far": "192.168.0.11", "a_2_far": "192.168.0.11",
    }  # fmt: skip


def test_what_is_the_same_for_all_instances_is_told_from_what_is_not() -> None:
    """An input that comes to the same for every instance is found out once; one that leads to an instance by way of a
    property is not, nor one whose name is that of an instance's variable."""
    inputs: dict[str, Value] = {
        "PORT": get_property("SELF", "port"),
        "MODE": "fast",
        "OWN": get_property("SELF", "own"),
        "web_2_MODE": "mine",
    }
    same = {name: inputs[name] for name in ("PORT", "MODE", "web_2_MODE")}
    operations = [operation("create", inputs=inputs), operation("start", inputs=same), operation("stop", inputs=same)]
    own = get_attribute("SELF", "tosca_id")
    run = Prepare(node("web", properties={"port": 80, "own": own}, operations=operations, count=3)).deploy()
    for name in ("web_1", "web_2", "web_3"):
        env = run.env(f"{name}.Standard.create")
        assert (env["OWN"], env["INSTANCE"], env["web_3_OWN"], env[f"{name}_PORT"]) == (name, name, "web_3", "80")
        env = run.env(f"{name}.Standard.start")
        assert (env["NODE"], env["INSTANCE"], env["INSTANCES"]) == ("web", name, "web_1,web_2,web_3")
        assert (env["MODE"], env["web_1_MODE"], env["web_2_MODE"], env["web_3_PORT"]) == ("fast", "fast", "mine", "80")
    run.deploy("undeploy")
    counts = [len(run.env(f"web_{n}.Standard.stop")["INSTANCES"].split(",")) for n in (1, 2, 3)]
    gone = [len([v for v in run.env(f"web_{n}.Standard.stop") if v.endswith("_PORT")]) for n in (1, 2, 3)]
    assert counts == gone


def test_both_sides_of_a_relationship() -> None:
    """R-4.2-7: values of SOURCE are given for all sources, of TARGET for all targets, of both for the far side."""
    ids: dict[str, Value] = {
        "s": get_attribute("SOURCE", "tosca_id"),
        "t": get_attribute("TARGET", "tosca_id"),
        "both": call("concat", get_attribute("SOURCE", "tosca_id"), "/", get_attribute("TARGET", "tosca_id")),
        "me": get_attribute("SELF", "tosca_id"),
        "const": "c",
    }
    link = Requires("T", operation("add_target", inputs=ids), operation("add_source", inputs=ids))
    run = Prepare(node("T", count=2), node("S", link, count=2)).deploy()
    env = run.env("S_2.T.T_1.Configure.add_target")
    own = {k: v for k, v in env.items() if not k.startswith(("SOURCE", "TARGET"))}
    assert own == {
        "s": "S_2", "S_1_s": "S_1", "S_2_s": "S_2",
        "t": "T_1", "T_1_t": "T_1", "T_2_t": "T_2",
        "both": "S_2/T_1", "T_1_both": "S_2/T_1", "T_2_both": "S_2/T_2",
        "me": "S_2.T.T_1", "S_1_me": "S_1.T.T_1", "S_2_me": "S_2.T.T_1",
        "const": "c", "S_1_const": "c", "S_2_const": "c",
    }  # fmt: skip
    env = run.env("S_2.T.T_1.Configure.add_source")
    own = {k: v for k, v in env.items() if not k.startswith(("SOURCE", "TARGET"))}
    assert own == {
        "s": "S_2", "S_1_s": "S_1", "S_2_s": "S_2",
        "t": "T_1", "T_1_t": "T_1", "T_2_t": "T_2",
        "both": "S_2/T_1", "S_1_both": "S_1/T_1", "S_2_both": "S_2/T_1",
        "me": "S_2.T.T_1", "T_1_me": "S_2.T.T_1", "T_2_me": "S_2.T.T_2",
        "const": "c", "T_1_const": "c", "T_2_const": "c",
    }  # fmt: skip
    assert (env["SOURCE_INSTANCE"], env["TARGET_INSTANCE"]) == ("S_2", "T_1")


def test_once_per_near_instance_the_far_one_is_the_first() -> None:
    """In pre and post operations TARGET_INSTANCE is the first of TARGET_INSTANCES, and so on."""
    run = Prepare(
        node("T", count=2), node("S", Requires("T", "pre_configure_source", "post_configure_target"))
    ).deploy()
    env = run.env("S_1.S.T.Configure.pre_configure_source")
    assert (env["TARGET_INSTANCE"], env["TARGET_INSTANCES"], env["SOURCE_INSTANCE"]) == ("T_1", "T_1,T_2", "S_1")
    env = run.env("T_2.S.T.Configure.post_configure_target")
    assert (env["TARGET_INSTANCE"], env["SOURCE_INSTANCE"], env["SOURCES"]) == ("T_2", "S_1", "S_1")


def test_the_leaving_instance_is_still_there() -> None:
    """R-4.2-12: remove_target and remove_source see the values of what goes away."""
    links = [
        operation(n, inputs={"ip": get_attribute("TARGET", "ip_address")}) for n in ("add_target", "remove_target")
    ]
    run = Prepare(with_ip("T", 2), node("S", Requires("T", *links))).deploy()
    run.deploy("undeploy")
    env = run.env("S_1.T.T_2.Configure.remove_target")
    assert (env["TARGETS"], env["ip"], env["T_1_ip"], env["T_2_ip"]) == (
        "T_1,T_2", "192.168.0.12", "192.168.0.11", "192.168.0.12",
    )  # fmt: skip


def test_a_member_that_is_scaled_in_is_still_there() -> None:
    links = [
        operation(n, inputs={"ip": get_attribute("TARGET", "ip_address")}) for n in ("add_target", "remove_target")
    ]
    run = Prepare(with_ip("T", 2), node("S", Requires("T", *links))).deploy()
    run.service = service(with_ip("T", 1), node("S", Requires("T", *links)))
    run.deploy()
    env = run.env("S_1.T.T_2.Configure.remove_target")
    assert (env["TARGETS"], env["TARGET"], env["T_2_ip"]) == ("T_1,T_2", "T_2", "192.168.0.12")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as is\n\"'$é", "as is\n\"'$é"),
        (True, "true"),
        (False, "false"),
        (8080, "8080"),
        (1.5, "1.5"),
        (1e30, "1e30"),
        ("10 GB", "10 GB"),
        (["a", 1], '["a",1]'),
        ({"k": [1, {"x": None}]}, '{"k":[1,{"x":null}]}'),
        ("", ""),
    ],
)
def test_encodings(value: Value, text: str) -> None:
    """R-4.2-14."""
    run = Prepare(node("a", operations=[operation("create", inputs={"v": value})])).deploy()
    env = run.env("a_1.Standard.create")
    assert env["v"] == env["a_1_v"] == text


def test_null_is_unset() -> None:
    """R-4.2-14."""
    run = Prepare(node("a", operations=[operation("create", inputs={"v": None})])).deploy()
    assert set(run.env("a_1.Standard.create")) == {"NODE", "INSTANCE", "INSTANCES"}


def test_reserved_names_win() -> None:
    """R-4.2-5: with a warning; the input's prefixed forms stay."""
    links = operation("add_target", inputs={"TARGET": "mine", "TARGET_NODE": "mine", "NODE": "fine", "ORDITO_X": "no"})
    run = Prepare(node("T"), node("S", Requires("T", links), operations=[operation("create", inputs={"HOST": "x"})]))
    run.deploy()
    step = "S_1.T.T_1.Configure.add_target"
    env = run.env(step)
    assert (env["TARGET"], env["TARGET_NODE"], env["NODE"]) == ("T_1", "T", "fine")
    assert "ORDITO_X" not in env
    assert env["S_1_TARGET"] == "mine"
    assert [w.split('"')[1] for w in run.prepared[step].warnings] == ["TARGET", "TARGET_NODE", "ORDITO_X"]
    assert "HOST" not in run.env("S_1.Standard.create")


def test_a_value_that_comes_to_nothing_is_unset_with_a_warning() -> None:
    """R-4.5.1-5: never the text of the function."""
    create = operation("create", inputs={"ip": get_attribute("SELF", "ip_address")})
    run = Prepare(node("a", declares=[definition("ip_address")], operations=[create])).deploy()
    assert "ip" not in run.env("a_1.Standard.create")
    assert run.prepared["a_1.Standard.create"].warnings == (
        'input "ip" is unset: attribute "ip_address" of a_1 has no value yet',
    )


def test_a_required_input_without_a_value_refuses_the_start() -> None:
    """R-4.5.1-5: the operation is not started, and fails; the status is unchanged."""
    create = operation(
        "create", inputs={"ip": get_attribute("SELF", "ip_address"), "n": None}, required=["ip", "n", "never"]
    )
    run = Prepare(node("a", declares=[definition("ip_address")], operations=[create])).deploy()
    prepared = run.prepared["a_1.Standard.create"]
    assert prepared.invocation is None
    for name in ("ip", "n", "never"):
        assert f'required input "{name}" has no value' in prepared.refusal
    record = run.snapshot.instances["a_1"]
    assert run.failed == ["a_1.Standard.create"]
    assert (record.state, record.local, record.failed, record.created) == ("error", "pending", {}, "")


def test_an_input_that_cannot_be_evaluated_refuses_the_start() -> None:
    start = operation("start", inputs={"x": call("token", get_attribute("SELF", "ip_address"), ":", 3)})
    create = operation("create", outputs={"ip": ("SELF", "ip_address")})
    run = Prepare(node("a", declares=[definition("ip_address")], operations=[create, start])).deploy()
    assert "token finds 1 parts" in run.prepared["a_1.Standard.start"].refusal


def test_the_state_that_an_operation_sees_is_the_one_it_runs_in() -> None:
    """R-4.5.1-7, R-5.8.4-2."""
    state = {"state": get_attribute("SELF", "state")}
    every = [operation(n, inputs=state) for n in ("create", "configure", "start")]
    run = Prepare(node("a", operations=every)).deploy()
    seen = [run.env(f"a_1.Standard.{n}")["state"] for n in ("create", "configure", "start")]
    assert seen == ["creating", "configuring", "starting"]
    assert [run.env(f"a_1.Standard.{n}")["a_1_state"] for n in ("create", "configure", "start")] == seen


def test_artifacts_are_variables() -> None:
    """A variable per artifact, its path; the relationship's hide the node's."""
    a = node("S", Requires("T", "add_target", "add_source"), artifacts=[script("files/my.zip"), script("files/conf")])
    t = node("T", artifacts=[script("other/conf")])
    run = Prepare(t, a).deploy()
    env = run.env("S_1.T.T_1.Configure.add_target")
    assert (env["my_zip"], env["conf"]) == ("/pinned/files/my.zip", "/pinned/files/conf")
    env = run.env("S_1.T.T_1.Configure.add_source")
    assert env["conf"] == "/pinned/other/conf"
    assert "my_zip" not in env


def test_copies_of_artifacts() -> None:
    """R-4.8.1-3, R-4.8.1-4, R-4.8.1-9."""
    create = operation(
        "create",
        inputs={
            "local": call("get_artifact", "SELF", "x.zip", "LOCAL_FILE"),
            "there": call("get_artifact", "SELF", "x.zip", "/opt/x.zip"),
        },
    )
    run = Prepare(node("a", operations=[create], artifacts=[script("f/x.zip")], count=2)).deploy()
    invocation = run.invocation("a_2.Standard.create")
    scratch = f"{SCRATCH}artifacts/x.zip/x.zip"
    assert invocation.environment["local"] == scratch
    assert invocation.environment["there"] == "/opt/x.zip"
    assert invocation.files == (
        FilePlacement("f/x.zip", scratch, remove=True),
        FilePlacement("f/x.zip", "/opt/x.zip", remove=False),
    )


def test_names_that_no_shell_takes_are_there_twice() -> None:
    """R-4.2-6, R-2.15-1: exactly its own name, and one that a shell can read."""
    run = Prepare(node("a", operations=[operation("create", inputs={"db-port": 1})])).deploy()
    env = run.env("a_1.Standard.create")
    assert env["db-port"] == env["db_port"] == "1"


def test_topology_inputs() -> None:
    create = operation("create", inputs={"x": call("concat", call("get_input", "a"), get_property("SELF", "p"))})
    run = Prepare(node("n", operations=[create], properties={"p": 1}), inputs={"a": "in"}).deploy()
    assert run.env("n_1.Standard.create")["x"] == "in1"


def test_what_differs_by_the_number_of_the_instance_is_not_shared() -> None:
    """R-2.20-2: INDEX gives each instance its own entry of a list, directly and by way of a property."""
    port = call("get_input", "ports", "INDEX")
    create = operation("create", inputs={"PORT": port, "SAME": get_property("SELF", "port")})
    web = node("web", operations=[create], properties={"port": port}, count=3)
    run = Prepare(web, inputs={"ports": [8001, 8002, 8003]}).deploy()
    for number in (1, 2, 3):
        env, own = run.env(f"web_{number}.Standard.create"), f"800{number}"
        assert (env["PORT"], env["SAME"], env[f"web_{number}_PORT"], env["web_3_SAME"]) == (own, own, own, "8003")


def numbers(count: int) -> Iterator[str]:
    return (str(n) for n in range(1, count + 1))


def many(count: int, operations: Sequence[Operation]) -> Prepare:
    return Prepare(node("T", count=count), node("S", Requires("T", *operations))).deploy()


def test_large_environments_are_apart() -> None:
    """Own and far instance stay in the environment, the rest and the lists are in the file."""
    add = operation("add_target", inputs={"id": get_attribute("TARGET", "tosca_id"), "const": "c"})
    count = MOST_VARIABLES + 10
    run = many(count, [add])
    invocation = run.invocation(f"S_1.T.T_{count}.Configure.add_target")
    assert invocation.environment == {
        "SOURCE_NODE": "S", "SOURCE_INSTANCE": "S_1", "SOURCE": "S_1",
        "TARGET_NODE": "T", "TARGET_INSTANCE": f"T_{count}", "TARGET": f"T_{count}",
        "id": f"T_{count}", f"T_{count}_id": f"T_{count}", "const": "c", "S_1_const": "c",
        "ORDITO_OPERATION": "add_target",
    }  # fmt: skip
    assert {f"T_{n}_id" for n in numbers(count)} <= set(invocation.large)
    assert invocation.large["TARGETS"] == ",".join(f"T_{n}" for n in numbers(count))
    # All operations that see the same share one mapping.
    assert run.invocation("S_1.T.T_1.Configure.add_target").large is invocation.large


def test_bytes_count_as_well() -> None:
    add = operation("add_target", inputs={"big": call("concat", "é" * 4000, get_attribute("TARGET", "tosca_id"))})
    assert many(7, [add]).invocation("S_1.T.T_1.Configure.add_target").large == {}
    run = many(9, [add])
    assert len(run.invocation("S_1.T.T_1.Configure.add_target").large) == 9 + 4


def test_blocks_follow_what_they_have_read() -> None:
    """An attribute that an operation changes is seen by the next one, for every instance there is."""
    create = operation("create", outputs={"ip": ("SELF", "ip_address")})
    start = operation("start", inputs={"ip": get_attribute("SELF", "ip_address")})
    first = node("a", declares=[definition("ip_address")], operations=[create, start], count=1)
    run = Prepare(first).deploy()
    assert {k for k in run.env("a_1.Standard.start") if k.endswith("_ip")} == {"a_1_ip"}
    run = Prepare(
        node("a", declares=[definition("ip_address")], operations=[create, start], count=2),
        node("s", Requires("a", operation(
            "add_target",
            inputs={"ip": get_attribute("TARGET", "ip_address")},
            outputs={"ip": ("TARGET", "ip_address")},
        ))),
    ).deploy()  # fmt: skip
    links = [p.invocation for step, p in run.in_order if "add_target" in step]
    seen = [(i.environment["a_1_ip"], i.environment["a_2_ip"]) for i in links if i]
    # The first link wrote what the source's number gives to the first target; the second link sees it.
    assert seen == [("192.168.0.11", "192.168.0.12"), ("192.168.0.11", "192.168.0.12")]
    assert run.snapshot.attributes["a_2"] == {"ip_address": "192.168.0.11"}


def test_blocks_lose_what_is_gone() -> None:
    """While one after the other is removed, the lists and the prefixed variables shrink together."""
    delete = operation("delete", inputs={"id": get_attribute("SELF", "tosca_id")})
    run = Prepare(node("a", operations=[delete], count=3)).deploy()
    run.in_order.clear()
    run.deploy("undeploy")
    left = [
        (p.invocation.environment["INSTANCES"], sorted(k for k in p.invocation.environment if k.endswith("_id")))
        for _, p in run.in_order
        if p.invocation
    ]
    assert left == [
        ("a_1,a_2,a_3", ["a_1_id", "a_2_id", "a_3_id"]),
        ("a_2,a_3", ["a_2_id", "a_3_id"]),
        ("a_3", ["a_3_id"]),
    ]


def test_maps_round_trip() -> None:
    value: Value = {"a": [1, "x"], "b": {"c": True}}
    run = Prepare(node("n", operations=[operation("create", inputs={"v": value})])).deploy()
    assert json.loads(run.env("n_1.Standard.create")["v"]) == value


def test_ids_of_a_type_are_separated_by_commas() -> None:
    """R-4.7.1-2, R-4.7.1-3: as those in TARGETS are."""
    ask = call("get_nodes_of_type", "my.Base")
    create = operation("create", inputs={"ALL": ask, "LIST": call("join", ask, "+")})
    run = Prepare(
        node("a", kinds=("my.Base", "tosca.nodes.Root"), count=2),
        node("b", "a", kinds=("my.Derived", "my.Base", "tosca.nodes.Root"), operations=[create]),
    ).deploy()
    env = run.env("b_1.Standard.create")
    assert env["ALL"] == env["b_1_ALL"] == "a_1,a_2,b_1"
    assert env["LIST"] == "a_1+a_2+b_1"


@pytest.mark.parametrize(("address", "problem"), [("x", '"x1" is no integer'), ("7", "it must be less than 50")])
def test_an_input_that_does_not_fit_refuses_the_start(address: str, problem: str) -> None:
    """R-3.6.11-2: what is known when the operation runs is held to what its input is declared to be."""
    schema = Schema("integer", constraints=(Constraint("less_than", 50),))
    start = operation("start", inputs={"n": get_attribute("SELF", "ip_address")})
    start = replace(start, inputs={"n": replace(start.inputs["n"], schema=schema)})
    create = operation("create", outputs={"ip": ("SELF", "ip_address")})
    given = service(node("a", declares=[definition("ip_address")], operations=[create, start]))
    run = Prepare(given=replace(given, data_types=primitive_types())).deploy(ip=address)
    prepared = run.prepared["a_1.Standard.start"]
    assert prepared.invocation is None
    assert problem in prepared.refusal
