"""Evaluation of functions, in every argument form of chapter 4."""

from __future__ import annotations

import pytest

from ordito.instances.context import ArtifactCopy, Context, EvaluationError, Nothing, Trace
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot, end_id, link_id
from ordito.model.service import Relationship, Service
from ordito.syntax.expressions import Value
from tests.support.services import (
    SPAN,
    Requires,
    call,
    capability,
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

ENDPOINT = ("tosca.capabilities.Endpoint.Database", "tosca.capabilities.Endpoint")


def shop() -> Service:
    return service(
        compute("server"),
        node(
            "mysql",
            on("server"),
            properties={
                "name": "db",
                "size": "10 GB",
                "ports": [{"http": 80}, {"http": 81}],
                "own_ip": call("concat", "ip ", get_attribute("SELF", "ip")),
            },
            declares=[definition("ip"), definition("unset")],
            attributes={"greeting": call("concat", "hello ", get_property("SELF", "name"))},
            capabilities=[
                capability("database_endpoint", *ENDPOINT, properties={"port": 3306}, attributes=["url"]),
                capability("both", "x", properties={"p": "capability"}),
            ],
            operations=[operation("create"), operation("start")],
            artifacts=[script("files/dump.sql", ("tosca.artifacts.File",))],
        ),
        node(
            "wordpress",
            on("server"),
            Requires("mysql", name="database_endpoint", capability="database_endpoint", properties={"pool": 5}),
            Requires("mysql", name="both", capability="both"),
            properties={"title": "blog"},
            capabilities=[capability("both", "x", properties={"q": "own"})],
            artifacts=[script("files/wp.zip", ("tosca.artifacts.File",))],
        ),
        inputs=[definition(name) for name in ("cpus", "ips", "unset", "deep")],
    )


class Running:
    """The shop with an instance of each node, and what it is asked."""

    def __init__(self, given: Service | None = None, counts: dict[str, int] | None = None) -> None:
        self.service = given or shop()
        self.snapshot = Snapshot()
        for name in self.service.nodes:
            for number in range((counts or {}).get(name, 1)):
                self.add(name, number + 1)
        self.evaluator = Evaluator(
            self.service,
            self.snapshot,
            {"cpus": 4, "ips": ["9.12.1.10", "9.12.1.20"], "deep": {"a": [{"b": "c"}]}},
            root="/pinned",
            scratch="SCRATCH/",
        )

    def add(self, name: str, number: int) -> None:
        template = self.service.nodes[name]
        host = ""
        if template.host:
            hosts = self.snapshot.ids_of(template.host.target)
            host = hosts[(number - 1) % len(hosts)]
        self.put(Instance(f"{name}_{number}", name, number - 1, host, "started", "ok"))

    def put(self, record: Instance) -> None:
        self.snapshot.apply(Delta(instances=(record,)))

    def set(self, entity: str, **attributes: object) -> None:
        self.snapshot.apply(Delta(attributes={entity: {k.replace("__", "::"): v for k, v in attributes.items()}}))

    def at(self, name: str, value: Value, number: int = 1, trace: Trace | None = None) -> object:
        return self.evaluator.evaluate(value, Context(node=name, instance=f"{name}_{number}"), trace)

    def relationship(self, key: str) -> Relationship:
        return next(r for n in self.service.nodes.values() for r in n.requirements if r.key == key)

    def link(self, key: str, value: Value, source: str, target: str) -> object:
        return self.evaluator.evaluate(
            value, Context(relationship=self.relationship(key), source=source, target=target)
        )

    def fails(self, name: str, value: Value) -> str:
        with pytest.raises(EvaluationError) as caught:
            self.at(name, value)
        assert caught.value.span is SPAN
        return str(caught.value)


def test_concat() -> None:
    """R-4.3.1-1, R-4.3.1-2, R-4.3.1-3: as evaluated."""
    run = Running()
    run.set("mysql_1", ip="1.2.3.4")
    url = call("concat", "http://", get_attribute("mysql", "ip"), ":", 80)
    assert run.at("wordpress", url) == "http://1.2.3.4:80"
    assert run.at("wordpress", call("concat", True, 1.5, 2)) == "true1.52"


@pytest.mark.parametrize("part", [["a"], {"a": 1}, None])
def test_concat_takes_texts_only(part: Value) -> None:
    """R-4.3.1-4: as evaluated."""
    assert "concat joins texts" in Running().fails("mysql", call("concat", "a", part))


def test_join() -> None:
    """R-4.3.2-1 to R-4.3.2-4: as evaluated."""
    run = Running()
    assert run.at("mysql", call("join", ["prefix", 1111, "suffix"], "_")) == "prefix_1111_suffix"
    assert run.at("mysql", call("join", ["a", "b"])) == "ab"
    assert run.at("mysql", call("join", call("get_input", "ips"), ",")) == "9.12.1.10,9.12.1.20"
    assert run.at("mysql", call("join", [get_property("SELF", "name"), "x"], "-")) == "db-x"
    assert "first argument of join is a list" in run.fails("mysql", call("join", call("get_input", "cpus"), ","))


def test_token() -> None:
    """R-4.3.3-1, R-4.3.3-2, R-4.3.3-4: as evaluated."""
    run = Running()
    assert run.at("mysql", call("token", "10.0.0.1:80", ":", 1)) == "80"
    assert run.at("mysql", call("token", "a,b;c", ",;", 2)) == "c"
    assert "finds 2 parts" in run.fails("mysql", call("token", "a:b", ":", 2))
    assert "separator" in run.fails("mysql", call("token", "a:b", "", 0))


def test_get_input() -> None:
    """R-4.4.1-1, R-4.4.1-2, R-4.4.1-4, R-4.4.1-5: as evaluated."""
    run = Running()
    assert run.at("mysql", call("get_input", "cpus")) == 4
    assert run.at("mysql", call("get_input", "ips", 1)) == "9.12.1.20"
    assert run.at("mysql", call("get_input", "deep", "a", 0, "b")) == "c"
    assert isinstance(run.at("mysql", call("get_input", "unset")), Nothing)
    assert 'no input named "other"' in run.fails("mysql", call("get_input", "other"))
    assert 'no entry "x"' in run.fails("mysql", call("get_input", "deep", "x"))
    assert "index 7 was requested" in run.fails("mysql", call("get_input", "ips", 7))


def test_the_index_of_an_instance() -> None:
    """R-4.4.1-7, R-2.20-2: as evaluated."""
    run = Running(counts={"mysql": 2})
    assert run.at("mysql", call("get_input", "ips", "INDEX"), 1) == "9.12.1.10"
    assert run.at("mysql", call("get_input", "ips", "INDEX"), 2) == "9.12.1.20"


def test_get_property_of_nodes() -> None:
    """R-4.4.2-1, R-4.4.2-2, R-4.4.2-5, R-4.4.2-7: as evaluated."""
    run = Running()
    assert run.at("wordpress", get_property("mysql", "name")) == "db"
    assert run.at("wordpress", get_property("SELF", "title")) == "blog"
    assert run.at("wordpress", get_property("mysql", "ports", 1, "http")) == 81
    assert 'no property "nam"' in run.fails("wordpress", get_property("mysql", "nam"))
    assert 'did you mean "name"' in run.fails("wordpress", get_property("mysql", "nam"))
    assert 'did you mean "mysql"' in run.fails("wordpress", get_property("mysq", "name"))


def test_get_property_of_capabilities_and_through_requirements() -> None:
    """R-4.4.2-3, R-4.4.2-4: as evaluated."""
    run = Running()
    assert run.at("wordpress", get_property("mysql", "database_endpoint", "port")) == 3306
    assert run.at("wordpress", get_property("SELF", "database_endpoint", "port")) == 3306
    assert run.at("wordpress", get_property("SELF", "database_endpoint", "name")) == "db"
    # A name that is both: the capability first, and the requirement if the capability has no such property.
    assert run.at("wordpress", get_property("SELF", "both", "q")) == "own"
    assert run.at("wordpress", get_property("SELF", "both", "p")) == "capability"


def test_get_property_in_relationships() -> None:
    """R-4.1-2, R-4.1-3, R-4.4.2-2: as evaluated."""
    run = Running()
    key, ends = "wordpress.database_endpoint", ("wordpress_1", "mysql_1")
    assert run.link(key, get_property("SOURCE", "title"), *ends) == "blog"
    assert run.link(key, get_property("TARGET", "name"), *ends) == "db"
    assert run.link(key, get_property("SELF", "pool"), *ends) == 5
    with pytest.raises(EvaluationError, match="HOST means the hosts of a node"):
        run.link(key, get_property("HOST", "name"), *ends)
    assert "end of a relationship" in run.fails("mysql", get_property("TARGET", "name"))


def stack() -> Service:
    return service(
        compute("server", properties={"zone": "eu"}),
        node("tomcat", on("server"), properties={"both": "tomcat", "port": 8080}),
        node("app", on("tomcat"), properties={"both": "app"}),
    )


def test_host_searches_up_the_chain() -> None:
    """R-4.1-4, R-4.1-5: from the immediate host on, the first that has the name wins."""
    run = Running(stack())
    assert run.at("app", get_property("HOST", "both")) == "tomcat"
    assert run.at("app", get_property("HOST", "zone")) == "eu"
    assert "app" in run.fails("app", get_property("HOST", "color"))
    assert "tomcat -> server" in run.fails("app", get_property("HOST", "color"))
    run.set("server_1", private_address="10.0.0.1")
    assert run.at("app", get_attribute("HOST", "private_address")) == "10.0.0.1"
    assert "has no host" in run.fails("server", get_property("HOST", "zone"))


def test_properties_are_static() -> None:
    """R-4.4-1, R-4.5.1-2, R-4.5.1-3: reflected as attributes, which alone change."""
    run = Running()
    assert run.at("wordpress", get_attribute("mysql", "name")) == "db"
    run.set("mysql_1", name="other")
    assert run.at("wordpress", get_attribute("mysql", "name")) == "other"
    assert run.at("wordpress", get_property("mysql", "name")) == "db"


def test_get_attribute() -> None:
    """R-4.5.1-1, R-4.5.1-5, R-4.1-6: values of the running system, as they are when they are asked for."""
    run = Running()
    assert isinstance(run.at("wordpress", get_attribute("mysql", "ip")), Nothing)
    run.set("mysql_1", ip="1.1.1.1", database_endpoint__url="mysql://x", nested={"a": [1, 2]})
    assert run.at("wordpress", get_attribute("mysql", "ip")) == "1.1.1.1"
    assert run.at("wordpress", get_attribute("mysql", "nested", "a", 1)) == 2
    assert run.at("wordpress", get_attribute("mysql", "database_endpoint", "url")) == "mysql://x"
    assert run.at("wordpress", get_attribute("SELF", "database_endpoint", "url")) == "mysql://x"
    assert run.at("wordpress", get_attribute("SELF", "database_endpoint", "port")) == 3306
    assert run.at("wordpress", get_attribute("SELF", "database_endpoint", "ip")) == "1.1.1.1"
    assert run.at("mysql", get_attribute("SELF", "greeting")) == "hello db"
    assert run.at("mysql", get_property("SELF", "own_ip")) == "ip 1.1.1.1"
    assert 'no attribute "nothing"' in run.fails("server", get_attribute("SELF", "nothing"))


def test_an_attribute_written_in_the_template_is_only_initial() -> None:
    """R-3.6.15-7: as evaluated."""
    run = Running()
    run.set("mysql_1", greeting="new")
    assert run.at("mysql", get_attribute("SELF", "greeting")) == "new"


def test_built_in_attributes() -> None:
    """R-4.5.1-7, R-4.1-1, R-3.4.2-1: tosca_id, tosca_name and state, of nodes and relationships."""
    run = Running(counts={"mysql": 2})
    assert run.at("mysql", get_attribute("SELF", "tosca_id"), 2) == "mysql_2"
    assert run.at("mysql", get_attribute("SELF", "tosca_name"), 2) == "mysql"
    assert run.at("mysql", get_attribute("SELF", "state"), 1) == "started"
    assert run.at("mysql", get_attribute("SELF", "state"), 1, Trace({"mysql_1": "stopping"})) == "stopping"
    key = "wordpress.database_endpoint"
    found = run.link(key, get_attribute("SELF", "tosca_id"), "wordpress_1", "mysql_2")
    assert found == "wordpress_1.database_endpoint.mysql_2"
    assert run.link(key, get_attribute("SELF", "state"), "wordpress_1", "mysql_2") == "initial"


def test_what_a_node_does_not_have_comes_from_its_endpoint_or_its_hosts() -> None:
    """R-4.5.1-1: an attribute that a node lacks is looked for in its endpoints and hosts."""
    run = Running(stack())
    assert isinstance(run.at("app", get_attribute("SELF", "ip_address")), Nothing)
    run.set("server_1", endpoint__ip_address="10.0.0.9")
    assert run.at("server", get_attribute("SELF", "ip_address")) == "10.0.0.9"
    assert run.at("app", get_attribute("SELF", "ip_address")) == "10.0.0.9"
    assert run.at("app", get_attribute("HOST", "ip_address")) == "10.0.0.9"
    assert "app -> tomcat -> server" in run.fails("app", get_attribute("SELF", "color"))


def test_endpoints_that_disagree() -> None:
    two = [capability(f"e{i}", *ENDPOINT, properties={"port": i}) for i in (1, 2)]
    run = Running(service(node("a", capabilities=two)))
    assert "different values" in run.fails("a", get_attribute("SELF", "port"))
    assert run.at("a", get_attribute("SELF", "e2", "port")) == 2


def test_attributes_of_a_pair_and_of_one_end_of_it() -> None:
    run = Running()
    rel = run.relationship("wordpress.database_endpoint")
    ends = ("wordpress_1", "mysql_1")
    run.set(end_id(rel.key, "wordpress_1", "source"), ticket="end")
    assert run.link(rel.key, get_attribute("SELF", "ticket"), *ends) == "end"
    run.set(link_id(rel.key, rel.source, *ends), ticket="pair")
    assert run.link(rel.key, get_attribute("SELF", "ticket"), *ends) == "pair"
    assert run.link(rel.key, get_attribute("SELF", "pool"), *ends) == 5


def test_one_of_several_instances() -> None:
    """R-4.5.1-4: the one on the caller's own path, else of the same slot, never silently the first."""
    run = Running(
        service(
            compute("h"),
            node("db", on("h"), declares=[definition("ip")]),
            node("app", on("h")),
            node("free", "db"),
            node("odd", "db"),
        ),
        {"h": 3, "db": 3, "app": 3, "free": 3, "odd": 2},
    )
    for number in (1, 2, 3):
        run.set(f"db_{number}", ip=f"10.0.0.{number}")
    ip = get_attribute("db", "ip")
    assert [run.at("app", ip, n) for n in (1, 2, 3)] == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]  # the same host
    assert [run.at("db", ip, n) for n in (1, 2)] == ["10.0.0.1", "10.0.0.2"]  # itself
    assert [run.at("h", ip, n) for n in (1, 2)] == ["10.0.0.1", "10.0.0.2"]  # what it hosts
    assert run.at("free", ip, 2) == "10.0.0.2"  # the same slot
    assert 'node "db" has 3 instances' in run.fails("odd", ip)


def test_a_node_without_instances_gives_nothing() -> None:
    run = Running(counts={"mysql": 0})
    assert isinstance(run.at("wordpress", get_attribute("mysql", "ip")), Nothing)


def test_get_operation_output() -> None:
    """R-4.6.1-1, R-4.6.1-6, R-4.6.1-7, R-4.6.1-8: as evaluated."""
    run = Running()
    output = call("get_operation_output", "SELF", "Standard", "create", "port")
    assert isinstance(run.at("mysql", output), Nothing)
    run.snapshot.apply(Delta(outputs={"mysql_1": {"Standard.create": {"port": "80"}}}))
    assert run.at("mysql", output) == "80"
    full = "tosca.interfaces.node.lifecycle.Standard"
    assert run.at("wordpress", call("get_operation_output", "mysql", full, "create", "port")) == "80"
    for name in ("standard", "STANDARD", "zork:Standard"):
        assert "no operation" in run.fails("mysql", call("get_operation_output", "SELF", name, "create", "port"))
    assert isinstance(run.at("mysql", call("get_operation_output", "SELF", "Standard", "create", "x")), Nothing)
    assert "no operation" in run.fails("mysql", call("get_operation_output", "SELF", "Standard", "nothing", "x"))
    assert "HOST cannot be used" in run.fails("mysql", call("get_operation_output", "HOST", "Standard", "create", "x"))


@pytest.mark.parametrize(
    ("arguments", "path", "copy"),
    [
        ((), "SCRATCH/service/files/wp.zip", True),
        (("LOCAL_FILE",), "SCRATCH/artifacts/wp.zip/wp.zip", True),
        (("LOCAL_FILE", True), "SCRATCH/artifacts/wp.zip/wp.zip", True),
        (("LOCAL_FILE", "false"), "/pinned/files/wp.zip", None),
        (("/opt/wp.zip",), "/opt/wp.zip", False),
        (("/opt/wp.zip", "true"), "/opt/wp.zip", True),
        (("/opt/wp.zip", False), "/opt/wp.zip", False),
        (("C:/wpdata/wp.zip",), "C:/wpdata/wp.zip", False),
    ],
)
def test_get_artifact(arguments: tuple[str | bool, ...], path: str, copy: bool | None) -> None:
    """R-4.8.1-1, R-4.8.1-3 to R-4.8.1-5, R-4.8.1-8: as evaluated."""
    trace = Trace()
    assert Running().at("wordpress", call("get_artifact", "SELF", "wp.zip", *arguments), trace=trace) == path
    own = not arguments
    assert list(trace.copies) == ([] if copy is None else [ArtifactCopy("files/wp.zip", path, copy, own)])


def test_artifacts_of_every_entity() -> None:
    """R-4.8.1-2: as evaluated."""
    run = Running(service(node("t", artifacts=[script("t.sh")]), node("s", on("t"), artifacts=[script("s.sh")])))
    assert run.at("s", call("get_artifact", "t", "t.sh")) == "/pinned/t.sh"
    assert run.at("s", call("get_artifact", "HOST", "t.sh")) == "/pinned/t.sh"
    assert run.link("s.host", call("get_artifact", "SOURCE", "s.sh"), "s_1", "t_1") == "/pinned/s.sh"
    assert run.link("s.host", call("get_artifact", "TARGET", "t.sh"), "s_1", "t_1") == "/pinned/t.sh"
    assert 'no artifact "x"' in run.fails("s", call("get_artifact", "SELF", "x"))


def test_values_that_depend_on_themselves_are_named() -> None:
    """R-4.4.2-8: as evaluated."""
    run = Running(
        service(
            node("a", properties={"x": get_property("b", "y")}),
            node("b", properties={"y": call("concat", "1", get_property("a", "x"))}),
        )
    )
    assert "a_1.x -> b_1.y -> a_1.x" in run.fails("a", get_property("a", "x"))


def test_references_may_be_as_deep_as_they_like() -> None:
    """R-4.3-2: no recursion over what users write."""
    nodes = [node("n0", properties={"x": "end"})]
    nodes += [node(f"n{i}", properties={"x": call("concat", get_property(f"n{i - 1}", "x"))}) for i in range(1, 3000)]
    run = Running(service(*nodes))
    assert run.at("n2999", get_property("SELF", "x")) == "end"


def test_containers_are_evaluated_inside() -> None:
    """R-4.3-2: as evaluated."""
    run = Running()
    value: Value = {"a": [call("get_input", "cpus"), {"b": get_property("SELF", "name")}], "c": None}
    assert run.at("mysql", value) == {"a": [4, {"b": "db"}], "c": None}


def test_nothing_and_null_differ() -> None:
    """R-3.6.12-3: an attribute that has no value yet is a clear answer to whoever needs it, not null."""
    run = Running()
    assert run.at("mysql", None) is None
    found = run.at("mysql", call("concat", "a", get_attribute("SELF", "unset")))
    assert found == Nothing('attribute "unset" of mysql_1 has no value yet')


def test_what_was_read_is_traced() -> None:
    run = Running()
    trace = Trace()
    run.at("wordpress", get_attribute("mysql", "ip"), trace=trace)
    assert {"mysql_1", "#mysql"} <= trace.reads


def test_get_nodes_of_type() -> None:
    """R-4.7.1-1 to R-4.7.1-4: the ids of all instances, those of derived types included; none where there are none."""
    run = Running(
        service(
            compute("server"),
            node("a", kinds=("my.Derived", "my.Base", "tosca.nodes.Root")),
            node("b", kinds=("my.Base", "tosca.nodes.Root")),
        ),
        {"a": 2, "b": 1},
    )
    trace = Trace()
    assert run.at("a", call("get_nodes_of_type", "my.Base"), trace=trace) == ["a_1", "a_2", "b_1"]
    assert trace.reads == {"#a", "#b"}
    assert run.at("a", call("get_nodes_of_type", "my.Derived")) == ["a_1", "a_2"]
    assert run.at("a", call("get_nodes_of_type", "my.None")) == []
    assert run.at("a", call("join", call("get_nodes_of_type", "my.Base"), "+")) == "a_1+a_2+b_1"


def test_arguments_may_be_calls() -> None:
    """R-4.3-2: keys, indexes and names of values may be computed, and the index of token."""
    run = Running()
    run.evaluator.inputs = {"key": "b", "index": 0, "deep": {"a": [{"b": "c"}]}}
    key, index = call("get_input", "key"), call("get_input", "index")
    assert run.at("mysql", call("get_input", "deep", "a", index, key)) == "c"
    assert run.at("mysql", call("get_property", "SELF", "ports", index, call("concat", "ht", "tp"))) == 80
    assert run.at("mysql", call("get_property", "SELF", call("concat", "na", "me"))) == "db"
    assert run.at("mysql", call("token", "a:b", ":", index)) == "a"
    assert "takes names and indexes, and this is a list" in run.fails(
        "mysql", call("get_property", "SELF", "ports", ["x"])
    )


def test_inputs_of_a_workflow_come_first() -> None:
    """R-4.4.1-6: they hold for what is written there, not for values elsewhere that it refers to."""
    run = Running(
        service(node("a", properties={"x": call("get_input", "cpus")}), inputs=[definition("cpus"), definition("ips")])
    )
    here = Context(node="a", instance="a_1", inputs={"cpus": 16, "mine": "m"})
    assert run.evaluator.evaluate(call("get_input", "cpus"), here) == 16
    assert run.evaluator.evaluate(call("get_input", "mine"), here) == "m"
    assert run.evaluator.evaluate(call("get_input", "ips", 0), here) == "9.12.1.10"
    assert run.evaluator.evaluate(get_property("SELF", "x"), here) == 4


def test_only_the_part_that_is_asked_for_is_evaluated() -> None:
    """R-4.4.2-5: a value may refer to another part of itself."""
    run = Running(
        service(
            node(
                "a",
                properties={
                    "map": {"x": 1, "y": get_property("SELF", "map", "x"), "z": get_property("SELF", "map", "z")},
                    "list": ["p", get_property("SELF", "list", 0)],
                },
            )
        )
    )
    assert run.at("a", get_property("SELF", "map", "y")) == 1
    assert run.at("a", get_property("SELF", "list", 1)) == "p"
    assert run.at("a", get_property("SELF", "list")) == ["p", "p"]
    assert "a_1.map.z -> a_1.map.z" in run.fails("a", get_property("SELF", "map"))


def test_values_are_evaluated_once() -> None:
    """R-4.3-2: what very many ways lead to is evaluated once, and what becomes too large is refused."""
    nodes = [node("n0", properties={"x": "end"})]
    for i in range(1, 60):
        before = get_property(f"n{i - 1}", "x")
        nodes.append(node(f"n{i}", properties={"x": call("token", call("join", [before, before], ","), ",", 1)}))
    run = Running(service(*nodes))
    assert run.at("n59", get_property("SELF", "x")) == "end"
    nodes = [node("n0", properties={"x": "end"})]
    for i in range(1, 60):
        before = get_property(f"n{i - 1}", "x")
        nodes.append(node(f"n{i}", properties={"x": call("concat", before, before), "y": [before, before]}))
    run = Running(service(*nodes))
    assert "longer than 16,000,000 characters" in run.fails("n59", get_property("SELF", "x"))


def test_lists_that_double_or_nest_without_end_are_refused() -> None:
    """R-4.3-2: as documents, values have a bounded size and depth."""
    for width, message in ((2, "larger than 16,000,000 characters"), (1, "nested more than 100 levels deep")):
        values: list[Value] = [["end"]]
        for i in range(200):
            before: list[Value] = [get_property(f"n{i}", "x")]
            values.append(before * width)
        run = Running(service(*(node(f"n{i}", properties={"x": value}) for i, value in enumerate(values))))
        with pytest.raises(EvaluationError, match=message):
            run.at("n199", get_property("SELF", "x"))
