"""What a provider is told of who reaches a Compute."""

from __future__ import annotations

from ordito.instances.context import Context, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.operations.delegating import Connecting
from ordito.syntax.expressions import Value
from ordito.work.providing import Endpoint, OpenWay
from tests.support.services import Requires, capability, compute, get_property, node, on, service

ENDPOINT = "tosca.capabilities.Endpoint"
PUBLIC = f"{ENDPOINT}.Public"


def told(given: Service, name: str) -> tuple[tuple[OpenWay, ...], tuple[Endpoint, ...]]:
    """What is told of a node."""
    evaluator = Evaluator(given, Snapshot(), {})

    def evaluated(values: dict[str, Value], context: Context) -> dict[str, object]:
        found = {n: evaluator.evaluate(v, context) for n, v in values.items()}
        return {n: v for n, v in found.items() if not isinstance(v, Nothing)}

    return Connecting(given, evaluated).of(name)  # type: ignore[arg-type]


def shop(initiator: str = "source") -> Service:
    """A web server that connects to a database, which has peers."""
    base: dict[str, Value] = {
        "port": get_property("SELF", "port"),
        "protocol": "mysql",
        "initiator": initiator,
        "secure": True,
    }
    ports: dict[str, Value] = {"metrics": {"protocol": "udp", "target_range": [9000, 9010], "source": 9999}}
    return service(
        compute("front"),
        compute("back"),
        node(
            "web",
            on("front"),
            Requires("base", name="database", capability="database"),
            properties={"port": 7},
            capabilities=[
                capability("database", ENDPOINT, properties={"port": get_property("SELF", "port")}),
                capability("http", PUBLIC, ENDPOINT, properties={"port": 80, "floating": True, "dns_name": "x.test"}),
            ],
        ),
        node(
            "base",
            on("back"),
            properties={"port": 3306},
            capabilities=[capability("database", ENDPOINT, properties={**base, "ports": ports})],
        ),
    )


def test_ports_are_those_of_both_ends_by_protocol() -> None:
    """R-8.2-1, R-8.3.2-1: each protocol with the ports at the target and at the source, evaluated where they are
    written; protocols of applications are carried by TCP."""
    connections, endpoints = told(shop(), "back")
    common = {"source_host": "front", "target_host": "back", "secure": True, "relationship": "web.database"}
    assert connections == (
        OpenWay("web", "base", protocol="tcp", ports=((3306, 3306),), source_ports=((7, 7),), **common),  # type: ignore[arg-type]
        OpenWay("web", "base", protocol="udp", ports=((9000, 9010),), source_ports=((9999, 9999),), **common),  # type: ignore[arg-type]
    )
    assert told(shop(), "front")[0] == told(shop(), "web")[0] == connections
    assert [(e.node, e.name) for e in endpoints] == [("back", "endpoint"), ("base", "database")]


def test_endpoints_are_told_to_the_compute_below_them() -> None:
    """R-5.5.8-2, R-5.5.8-3: with what the provider has to do about them."""
    _, endpoints = told(shop(), "front")
    assert Endpoint("web", "http", True, "tcp", ((80, 80),), "", "x.test", True) in endpoints
    assert told(shop(), "web")[1] == ()
