"""How many instances are wanted, which ids they have and where they are hosted."""

import msgspec
import pytest

from ordito.base.diagnostics import Diagnostic
from ordito.model.service import NodeTemplate
from ordito.planning.refused import PlanRefused
from tests.support.runs import World, codes
from tests.support.services import Requires, call, capability, compute, definition, node, on, service

SCALABLE = "tosca.capabilities.Scalable"


def scalable(**properties: int) -> list:  # type: ignore[type-arg]
    every = {"min_instances": 1, "max_instances": 1, **properties}
    return [capability("scalable", SCALABLE, properties=every, assigned=list(properties))]


def refused(*nodes: NodeTemplate, inputs: dict[str, object] | None = None) -> list[Diagnostic]:
    with pytest.raises(PlanRefused) as caught:
        World(service(*nodes, inputs=[definition("n", "integer")]), inputs).plan()
    return caught.value.diagnostics


def count(given: NodeTemplate, *others: NodeTemplate, inputs: dict[str, object] | None = None) -> int:
    return World(service(given, *others, inputs=[definition("n", "integer")]), inputs).plan().counts.wanted[given.name]


def test_wanted_counts() -> None:
    """R-2.20-1, R-2.20-3, R-5.5.13-2: instance_count, then default_instances, then the lower bounds."""
    assert count(node("a")) == 1
    assert count(node("a", count=3)) == 3
    assert count(node("a", count=0)) == 0
    assert count(node("a", count=call("get_input", "n")), inputs={"n": 4}) == 4
    assert count(node("a", capabilities=scalable(default_instances=2, max_instances=3))) == 2
    assert count(node("a", count=3, capabilities=scalable(default_instances=2, max_instances=3))) == 3
    assert count(node("a", occurrences=(2, 5))) == 2
    assert count(node("a", occurrences=(0, 5))) == 1
    assert count(node("a", capabilities=scalable(min_instances=2, max_instances=3))) == 2
    assert count(node("a", capabilities=scalable())) == 1


def test_bounds() -> None:
    found = refused(node("a", count=6, occurrences=(1, 5)))
    assert codes(found) == ["count-out-of-bounds"]
    assert "occurrences" in found[0].hint
    found = refused(node("b", count=4, capabilities=scalable(max_instances=3)))
    assert codes(found) == ["count-out-of-bounds"]
    assert "max_instances" in found[0].hint
    assert codes(refused(node("c", count=0, occurrences=(1, None)))) == ["count-out-of-bounds"]


def test_capabilities_serve_instances() -> None:
    """R-3.7.2-8: the upper bound of a capability counts instances, those of hosted nodes on each host."""
    door = Requires("server", capability="door")
    few = [msgspec.structs.replace(capability("door", "tosca.capabilities.Endpoint"), occurrences=(1, 2))]
    found = refused(node("server", capabilities=few), node("client", door, count=3))
    assert codes(found) == ["too-many-sources"]
    assert "3 instances" in found[0].message
    assert count(node("server", capabilities=few), node("client", door, count=2)) == 1
    host = [msgspec.structs.replace(capability("host", "tosca.capabilities.Compute"), occurrences=(1, 1))]
    server = node("server", count=3, capabilities=host)
    assert count(server, node("client", on("server"))) == 3


def test_all_refusals_come_together() -> None:
    found = refused(node("a", count=6, occurrences=(1, 5)), node("b", count=9, occurrences=(1, 5)))
    assert codes(found) == ["count-out-of-bounds"] * 2


@pytest.mark.parametrize("value", [-1, "many", 1.5, True])
def test_a_count_that_is_none(value: object) -> None:
    assert codes(refused(node("a", count=call("get_input", "n")), inputs={"n": value})) == ["bad-count"]


def test_hosted_nodes_follow_their_hosts() -> None:
    """R-5.5.13-4: one on each host where nothing else is said; equal counts pair i with i; three on one
    host are three on it."""
    world = World(
        service(
            compute("h", count=3),
            node("one", on("h")),
            node("stack", on("one")),
            node("equal", on("h"), count=3),
            node("five", on("h"), count=5),
        )
    )
    hosts: dict[str, list[str]] = {}
    for record in world.plan().records.new:
        hosts.setdefault(record.node, []).append(record.host)
    assert hosts["one"] == hosts["equal"] == ["h_1", "h_2", "h_3"]
    assert hosts["stack"] == ["one_1", "one_2", "one_3"]
    assert hosts["five"] == ["h_1", "h_2", "h_3", "h_1", "h_2"]
    alone = World(service(compute("h"), node("three", on("h"), count=3)))
    assert [r.host for r in alone.plan().records.new if r.node == "three"] == ["h_1"] * 3


def test_ids_and_slots() -> None:
    """R-1.9-3, R-4.2-11: ids are made of the sanitised name and a number from 1; INDEX counts slots from 0."""
    made = World(service(node("my-app.x", count=2))).plan()
    assert [(r.id, r.index) for r in made.records.new] == [("my_app_x_1", 0), ("my_app_x_2", 1)]


def test_a_host_without_instances() -> None:
    found = refused(compute("h", count=0), node("a", on("h"), count=1))
    assert codes(found) == ["no-host"]
    assert World(service(compute("h", count=0), node("a", on("h")))).plan().is_empty
