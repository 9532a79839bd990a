"""Cloudify's operations in plans: where they run."""

from __future__ import annotations

import msgspec

from ordito.model.operation import Interface
from ordito.model.service import LIFECYCLE, MONITORING, MONITORING_AGENT, RELATIONSHIP_LIFECYCLE, NodeTemplate
from tests.support.runs import World
from tests.support.services import Requires, compute, node, on, operation, service


def interface(name: str, kind: str, *operations: str) -> dict[str, Interface]:
    """An interface of a type, with these operations implemented."""
    own = {o: operation(o, f"scripts/{name}_{o}.sh", interface=name) for o in operations}
    return {name: Interface(name, (kind, "tosca.interfaces.Root"), own)}


def with_interfaces(made: NodeTemplate, *found: dict[str, Interface]) -> NodeTemplate:
    """A node template with more interfaces."""
    return msgspec.structs.replace(made, interfaces={**made.interfaces, **{n: i for f in found for n, i in f.items()}})


def test_what_makes_a_host_runs_beside_it_and_what_links_and_watches_it_on_it() -> None:
    linked = Requires("net")
    pairs = ("preconfigure", "postconfigure", "establish", "unlink")
    linked.interfaces = {
        **interface("source", RELATIONSHIP_LIFECYCLE, *pairs),
        **interface("target", RELATIONSHIP_LIFECYCLE, *pairs),
    }
    host = with_interfaces(
        compute("host", linked),
        interface("life", LIFECYCLE, "create", "start", "stop", "delete"),
        interface("agent", MONITORING_AGENT, "install", "start", "stop", "uninstall"),
        interface("watch", MONITORING, "start", "stop"),
    )
    software = with_interfaces(node("app", on("host")), interface("life", LIFECYCLE, "create"))
    world = World(service(node("net"), host, software))
    made = world.run()
    places = {s.id: s.runs_on for s in made.steps if s.call >= 0 and made.calls[s.call].artifact}
    assert {i for i, place in places.items() if not place} == {
        "host_1.life.create",
        "host_1.life.start",
        "host_1.net.net_1.source.preconfigure",
        "host_1.net.net_1.source.postconfigure",
        *(f"host_1.net.net_1.target.{o}" for o in ("preconfigure", "postconfigure", "establish")),
    }
    assert {i for i, place in places.items() if place == "host_1"} == {
        "host_1.agent.install",
        "host_1.agent.start",
        "host_1.net.net_1.source.establish",
        "host_1.watch.start",
        "app_1.life.create",
    }
    assert world.states_of("host_1") == [
        "initial", "creating", "created", "configuring", "configured", "starting", "started",
    ]  # fmt: skip
    made = world.run("undeploy")
    places = {s.id: s.runs_on for s in made.steps if s.call >= 0 and made.calls[s.call].artifact}
    assert places == {
        "host_1.watch.stop": "host_1",
        "host_1.agent.stop": "host_1",
        "host_1.agent.uninstall": "host_1",
        "host_1.life.stop": "",
        "host_1.net.net_1.source.unlink": "host_1",
        "host_1.net.net_1.target.unlink": "",
        "host_1.life.delete": "",
    }
    assert world.existing == []
