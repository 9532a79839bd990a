"""Which host a Compute instance is: by its attributes, or by the endpoint of one that the template makes itself."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import pytest

from ordito.instances.evaluate import Evaluator
from ordito.instances.records import Delta, Instance, Snapshot
from ordito.model.service import Service
from ordito.operations.targeting import THIS_MACHINE, Targets
from ordito.work.targets import HOST, SSH, HostTarget, Unreachable
from tests.support.services import capability, compute, service


class Known:
    """Knows hosts, and what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def of_provider(self, provider: str, instance: str, attributes: Mapping[str, object]) -> HostTarget | None:
        self.asked.append(provider)
        if provider == "gone":
            raise Unreachable("gone")
        return HostTarget(SSH, instance, {"address": attributes["private_address"]})

    def at(self, instance: str, node: str, address: str, port: int | None) -> HostTarget:
        self.asked.append(node)
        return HostTarget(SSH, instance, {"address": address, "port": port})


def made(own: Service) -> tuple[Targets, Snapshot, Known]:
    snapshot, known = Snapshot(), Known()
    snapshot.apply(Delta(instances=(Instance("machine_1", "machine", 0),)))
    return Targets(own, snapshot, Evaluator(own, snapshot, {}), known), snapshot, known


def test_the_provider_that_has_made_it_is_asked_and_again_when_it_is_another_host() -> None:
    targets, snapshot, known = made(service(compute("machine")))
    assert targets.of("") is None
    assert targets.of("machine_1") is None, "nothing says that it is another machine"
    for number in (1, 2):
        host = {"provider": "pool", "id": f"host-{number}"}
        snapshot.apply(Delta(attributes={"machine_1": {HOST: host, "private_address": f"192.0.2.{number}"}}))
        for _ in range(2):
            found = targets.of("machine_1")
            assert found == HostTarget(SSH, "machine_1", {"address": f"192.0.2.{number}"})
    assert known.asked == ["pool", "pool"]


def test_a_provider_that_does_not_know_it_any_more() -> None:
    targets, snapshot, _ = made(service(compute("machine")))
    snapshot.apply(Delta(attributes={"machine_1": {HOST: {"provider": "gone", "id": "x"}}}))
    with pytest.raises(Unreachable):
        targets.of("machine_1")


def with_endpoint(*operations: str, **properties: object) -> Service:
    machine = compute("machine", operations=operations)
    endpoint = capability("endpoint", properties=properties)  # type: ignore[arg-type]
    return service(msgspec.structs.replace(machine, capabilities={"endpoint": endpoint}))


@pytest.mark.parametrize(
    ("attributes", "address"),
    [
        ({"private_address": "192.0.2.1", "public_address": "203.0.113.1"}, "192.0.2.1"),
        ({"public_address": "203.0.113.1"}, "203.0.113.1"),
        ({"endpoint::ip_address": "198.51.100.1"}, "198.51.100.1"),
    ],
)
def test_what_the_template_makes_itself_is_reached_at_its_address(
    attributes: Mapping[str, object], address: str
) -> None:
    targets, snapshot, _ = made(with_endpoint("create", protocol="ssh", port=2222))
    with pytest.raises(Unreachable, match="no address"):
        targets.of("machine_1")
    snapshot.apply(Delta(attributes={"machine_1": attributes}))
    assert targets.of("machine_1") == HostTarget(SSH, "machine_1", {"address": address, "port": 2222})


@pytest.mark.parametrize(
    "own", [with_endpoint("create", protocol="tcp"), with_endpoint(protocol="ssh"), service(compute("machine"))]
)
def test_everything_else_is_this_machine(own: Service) -> None:
    targets, snapshot, _ = made(own)
    snapshot.apply(Delta(attributes={"machine_1": {"private_address": "192.0.2.1"}}))
    assert targets.of("machine_1") is None


def test_where_nobody_reaches_hosts_that_is_said() -> None:
    assert THIS_MACHINE.of_provider("pool", "machine_1", {}) is None
    with pytest.raises(Unreachable, match=r"192\.0\.2\.1"):
        THIS_MACHINE.at("machine_1", "machine", "192.0.2.1", None)
