"""A cloud of which nothing is known but what libcloud asks of every driver: names are all that it keeps."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, ClassVar

import pytest
from libcloud.common.exceptions import RateLimitReachedError
from libcloud.compute.base import Node, NodeDriver, NodeImage, NodeSize, StorageVolume
from libcloud.compute.providers import DRIVERS, set_driver
from libcloud.compute.types import NodeState

from ordito.providers.cloud.dialect import Who, name_of
from ordito.providers.cloud.provider import CloudProvider
from ordito.providers.cloud.settings import CloudSettings
from ordito.work.providing import Delegation, Far, ProviderFailed, ProviderVerb

COMPUTE, STORAGE = ("tosca.nodes.Compute",), ("tosca.nodes.Storage.BlockStorage",)


class Shed(NodeDriver):
    """A cloud in this process."""

    name = "Shed"
    type = "shed"
    machines: ClassVar[list[Node]] = []
    volumes: ClassVar[list[StorageVolume]] = []
    busy: ClassVar[list[str]] = []

    def __init__(self, key: str = "", **_: Any) -> None:
        self.key = key

    def list_sizes(self, location: Any = None) -> list[NodeSize]:
        return [NodeSize(str(ram), f"m{ram}", ram, ram // 100, 0, 0.0, self) for ram in (4096, 512, 1024)]

    def list_images(self, location: Any = None) -> list[NodeImage]:
        return [NodeImage("1", "plain", self)]

    def list_nodes(self) -> list[Node]:
        return list(self.machines)

    def create_node(self, name: str, size: NodeSize, image: NodeImage) -> Node:  # type: ignore[override]
        if self.busy:
            raise RateLimitReachedError(headers={"retry-after": self.busy.pop()})  # type: ignore[no-untyped-call]
        node = Node(
            str(len(self.machines) + 1), name, NodeState.RUNNING, ["198.51.100.1"], ["10.0.0.1"], self, size, image
        )
        self.machines.append(node)
        return node

    def destroy_node(self, node: Node) -> bool:
        self.machines.remove(node)
        return True

    def list_volumes(self) -> list[StorageVolume]:
        return list(self.volumes)

    def create_volume(self, size: int, name: str) -> StorageVolume:  # type: ignore[override]
        self.volumes.append(StorageVolume(f"v{len(self.volumes)}", name, size, self, extra={}))
        return self.volumes[-1]

    def attach_volume(self, node: Node, volume: StorageVolume, device: str | None = None) -> bool:
        volume.extra = {"attachments": [{"server_id": node.id, "device": device or "/dev/vdb"}]}
        return True

    def detach_volume(self, volume: StorageVolume) -> bool:
        volume.extra = {}
        return True

    def destroy_volume(self, volume: StorageVolume) -> bool:
        self.volumes.remove(volume)
        return True


@pytest.fixture
def provider() -> CloudProvider:
    if "shed" not in DRIVERS:
        set_driver("shed", sys.modules[__name__].__name__, "Shed")  # type: ignore[arg-type]
    for everything in (Shed.machines, Shed.volumes, Shed.busy):
        everything.clear()
    settings = CloudSettings(driver="shed", image="plain", timeout=5, interval=0.01)
    return CloudProvider(lambda: settings)


def asked(instance: str, kinds: tuple[str, ...] = COMPUTE, **more: Any) -> Delegation:
    """What is asked for an instance."""
    return Delegation(instance, kinds, ProviderVerb.CREATE, node="web", ensemble="e", **more)


def test_machines_and_volumes_by_their_names(provider: CloudProvider) -> None:
    """R-5.9.3-1, R-5.9.11-1: the smallest size that is enough, whatever the order of sizes; nothing is made twice."""
    disk = asked("disk_1", STORAGE, properties={"size": "3 GiB"})
    volume = asyncio.run(provider.create(disk)).attributes
    far = {"local_storage": (Far("disk_1", STORAGE, volume, relationship={"device": "/dev/vdx"}),)}
    web = asked("web_1", properties={"host::mem_size": "600 MB", "host::num_cpus": 2}, requirements=far)
    for _ in range(2):
        made = asyncio.run(provider.create(web))
        asyncio.run(provider.create(disk))
    (machine,) = Shed.machines
    assert (machine.name, machine.size and machine.size.id) == (name_of("e", "web_1"), "1024")
    assert [v.size for v in Shed.volumes] == [3]
    assert made.links == {"disk_1": {"device": "/dev/vdx"}}
    assert made.attributes["public_address"] == "198.51.100.1"
    assert [n["addresses"] for n in made.attributes["networks"].values()] == [["10.0.0.1"], ["198.51.100.1"]]  # type: ignore[attr-defined]
    for one in (web, disk):
        assert asyncio.run(provider.look(one)).status == "ok"
        assert asyncio.run(provider.delete(one))
        assert asyncio.run(provider.look(one)).status == "absent"


def test_a_cloud_that_is_too_busy_is_asked_again(provider: CloudProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few times; then it is said."""
    monkeypatch.setattr("ordito.providers.cloud.api.WAITS", (0.0, 0.0))
    Shed.busy.extend("11")
    asyncio.run(provider.create(asked("web_1")))
    assert len(Shed.machines) == 1
    Shed.busy.extend("111")
    with pytest.raises(ProviderFailed, match="Rate limit exceeded; retry later"):
        asyncio.run(provider.create(asked("web_2")))


def test_what_the_driver_cannot_do(provider: CloudProvider) -> None:
    """It is said what it cannot, and what to do instead."""
    network = asked("net_1", ("tosca.nodes.network.Network",), properties={"cidr": "10.0.0.0/24"})
    with pytest.raises(ProviderFailed, match="the driver shed of libcloud cannot make networks"):
        asyncio.run(provider.create(network))


def test_names_are_readable_and_never_alike() -> None:
    """A name fits every cloud, says what it is of, and is that of no other instance."""
    instances = ["web_1", "web-1", "WEB_1", "outer/inner_1", "ü" * 90, "x" * 90, "x" * 91]
    names = [Who("e", i).name for i in instances] + [Who("f", i).name for i in instances]
    assert len(set(names)) == len(names)
    assert all(len(n) <= 63 and n.replace("-", "").isalnum() and n == n.lower() for n in names)
    assert "outer-inner-1" in Who("e", "outer/inner_1").name
