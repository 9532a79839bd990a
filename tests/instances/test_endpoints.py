"""Addresses of endpoints come up from the Compute that a node stands on."""

from __future__ import annotations

import pytest

from ordito.instances.context import Context, Nothing
from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from tests.support.services import Requires, capability, compute, get_attribute, node, on, service

ENDPOINT = "tosca.capabilities.Endpoint"


class Running:
    """A Compute with addresses on three networks, a web server on it with an endpoint of each kind, and an application
    on that, which something elsewhere connects to."""

    def __init__(self, **addresses: object) -> None:
        self.snapshot = Snapshot()
        self.service = service(
            compute("server"),
            node(
                "web",
                on("server"),
                capabilities=[
                    capability("plain", ENDPOINT, attributes=["ip_address"]),
                    capability(
                        "front",
                        f"{ENDPOINT}.Public",
                        ENDPOINT,
                        properties={"network_name": "PUBLIC"},
                        attributes=["ip_address"],
                    ),
                    capability(
                        "named",
                        ENDPOINT,
                        properties={"network_name": get_attribute("SELF", "net")},
                        attributes=["ip_address"],
                    ),
                ],
                attributes={"net": "net-7"},
            ),
            node("app", on("web"), capabilities=[capability("door", ENDPOINT, attributes=["ip_address"])]),
            node("client", Requires("app", name="service", capability="door")),
            node("apart", capabilities=[capability("door", ENDPOINT, attributes=["ip_address"])]),
        )
        for name in self.service.nodes:
            host = {"web": "server_1", "app": "web_1"}.get(name, "")
            self.snapshot.apply(Delta(instances=(Instance(f"{name}_1", name, 0, host=host),)))
        if addresses:
            self.snapshot.apply(Delta(attributes={"server_1": addresses}))
        self.evaluator = Evaluator(self.service, self.snapshot, {})

    def address(self, node: str, *path: str) -> object:
        """The address that an expression in a node gives."""
        return self.evaluator.evaluate(
            get_attribute("SELF", *path, "ip_address"), Context(node=node, instance=f"{node}_1")
        )


NETWORKS = {
    "data": {"network_name": "backplane", "network_id": "net-7", "addresses": ["10.7.0.4", "10.7.0.5"]},
    "mgmt": {"network_name": "mgmt", "network_id": "net-8", "addresses": []},
}
ADDRESSES = {"private_address": "10.0.0.4", "public_address": "198.51.100.9", "networks": NETWORKS}


@pytest.mark.parametrize(
    ("node", "path", "address"),
    [
        ("web", ("plain",), "10.0.0.4"),
        ("web", ("front",), "198.51.100.9"),
        ("web", ("named",), "10.7.0.4"),
        ("app", ("door",), "10.0.0.4"),
        ("app", (), "10.0.0.4"),
        ("client", ("service",), "10.0.0.4"),
    ],
)
def test_addresses_come_up_from_the_compute(node: str, path: tuple[str, ...], address: str) -> None:
    """R-5.5.7-2, R-5.5.7-3, R-3.4.4-1: the private or the public address, or that on the network of a name or an id;
    on the node itself, on what stands on it, and through a requirement."""
    assert Running(**ADDRESSES).address(node, *path) == address


def test_what_an_operation_has_said_comes_first() -> None:
    """R-5.5.7-2: the address that was found out is the endpoint's."""
    running = Running(**ADDRESSES)
    running.snapshot.apply(Delta(attributes={"web_1": {"plain::ip_address": "10.9.9.9"}}))
    assert running.address("web", "plain") == "10.9.9.9"


@pytest.mark.parametrize(
    ("node", "path", "reason"),
    [
        ("web", ("front",), "public_address"),
        ("web", ("named",), '"net-7"'),
        ("apart", ("door",), "not hosted on a Compute"),
    ],
)
def test_an_address_that_is_not_known(node: str, path: tuple[str, ...], reason: str) -> None:
    """Without the address there is none, and it is said which one is missing."""
    found = Running(private_address="10.0.0.4", networks={}).address(node, *path)
    assert isinstance(found, Nothing)
    assert reason in found.reason
