"""Nothing is EC2's alone: the same in OpenStack, which keeps what belongs to a deployment in metadata and names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ordito.base.sensitive import Sensitive
from ordito.providers.cloud.provider import CloudProvider
from ordito.providers.cloud.settings import CloudSettings, MachineImage
from ordito.work.providing import Delegation, Endpoint, Far, Material, OpenWay, Provided, ProviderFailed, ProviderVerb
from tests.providers.cloud.openstack_server import OpenStackServer, World

COMPUTE, STORAGE = ("tosca.nodes.Compute",), ("tosca.nodes.Storage.BlockStorage",)
NETWORK, PORT = ("tosca.nodes.network.Network",), ("tosca.nodes.network.Port",)
PASSWORD = "the password"


class Cloud:
    """A cloud, and what its provider is asked."""

    def __init__(self, server: OpenStackServer, password: str = PASSWORD) -> None:
        settings = CloudSettings(
            driver="OPENSTACK",
            key="me",
            secret=Sensitive(password),
            arguments={
                "ex_force_auth_url": server.url,
                "ex_tenant_name": "mine",
                "ex_force_service_region": "R",
            },
            images=(MachineImage("debian-12", "linux", "debian"),),
            timeout=60,
            interval=0.01,
        )
        self.world: World = server.world
        self.provider = CloudProvider(lambda: settings)

    def asked(self, instance: str, kinds: tuple[str, ...], properties: Mapping[str, object], **more: Any) -> Delegation:
        """What is asked for an instance."""
        node = instance.rpartition("_")[0]
        return Delegation(instance, kinds, ProviderVerb.CREATE, node=node, ensemble="e1", properties=properties, **more)

    def create(self, asked: Delegation) -> Provided:
        """Have it made, twice."""
        made = asyncio.run(self.provider.create(asked))
        again = asyncio.run(self.provider.create(asked))
        assert (again.attributes, again.links) == (made.attributes, made.links)
        return made

    def gone(self, *every: Delegation) -> None:
        """Have everything removed, and look that it is."""
        for asked in every:
            asyncio.run(self.provider.delete(asked))
            assert asyncio.run(self.provider.look(asked)).status == "absent"
            asyncio.run(self.provider.delete(asked))


@pytest.fixture
def cloud() -> Iterator[Cloud]:
    """An empty cloud."""
    with OpenStackServer() as server:
        yield Cloud(server)


def test_machines_with_all_that_belongs_to_them(cloud: Cloud) -> None:
    """R-5.9.3-1, R-5.9.3-2, R-8.4.1-1, R-5.5.8-3, R-5.7.5-2, R-5.9.11-1: size and image, addresses, ways, a floating
    address and a volume."""
    disk = cloud.asked("disk_1", STORAGE, {"size": "2 GB"})
    volume = cloud.create(disk).attributes
    way = OpenWay("a", "b", "web", "db", "tcp", ((5432, 5432),), relationship="a.b")
    door = Endpoint("a", "door", public=True, floating=True, ports=((80, 80),))
    web = cloud.asked(
        "web_1",
        COMPUTE,
        {"host::num_cpus": 2, "os::distribution": "Debian"},
        connections=(way,),
        endpoints=(door,),
        requirements={"local_storage": (Far("disk_1", STORAGE, volume),)},
    )
    made = cloud.create(web)
    (server,) = cloud.world.all("servers").values()
    assert (server["flavorRef"], server["imageRef"]) == ("f2", "i1")
    assert server["metadata"]["ordito-instance"] == "web_1"
    assert made.attributes["private_address"].startswith("10.1.")  # type: ignore[attr-defined]
    assert made.attributes["networks"]["inside"]["network_id"] == "in"  # type: ignore[index]
    assert made.links == {"disk_1": {"device": "/dev/vdb"}}
    (floating,) = cloud.world.all("floatingips").values()
    assert floating["floating_network_id"] == "out"
    assert made.attributes["public_address"] == floating["floating_ip_address"]
    assert floating["port_id"] in cloud.world.all("ports")
    groups = {id: group["name"] for id, group in cloud.world.all("security-groups").items()}
    rules = {
        (
            groups[r["security_group_id"]][14:17],
            r.get("remote_ip_prefix") or groups[r["remote_group_id"]][14:17],
            r["port_range_min"],
        )
        for r in cloud.world.all("security-group-rules").values()
    }
    assert rules == {("web", "0.0.0.0/0", 22), ("web", "0.0.0.0/0", 80), ("db-", "web", 5432)}
    server["status"] = "SHUTOFF"
    assert asyncio.run(cloud.provider.look(web)).status == "error"
    cloud.gone(web, disk)
    assert cloud.world.all("floatingips") == {}
    assert [g["name"][14:17] for g in cloud.world.all("security-groups").values()] == ["db-"]


def test_networks_and_ports(cloud: Cloud) -> None:
    """R-8.5.1-3, R-8.5.1-6, R-8.5.1-8, R-8.5.2-3, R-8.5.2-4, R-5.3.8-1, R-5.3.9-1: a network with all that its
    properties say, its actual segment, and ports on it with the address or the range that is asked for."""
    properties = {
        "network_name": "back",
        "cidr": "10.8.0.0/24",
        "gateway_ip": "10.8.0.9",
        "start_ip": "10.8.0.10",
        "end_ip": "10.8.0.90",
        "dhcp_enabled": False,
        "network_type": "vlan",
        "physical_network": "cable",
    }
    net = cloud.asked("net_1", NETWORK, properties)
    made = cloud.create(net).attributes
    (subnet,) = cloud.world.all("subnets").values()
    network = cloud.world.all("networks")[str(made["network_id"])]
    assert made == {"network_id": network["id"], "network_name": "back", "segmentation_id": "77"}
    assert (network["provider:network_type"], network["provider:physical_network"]) == ("vlan", "cable")
    assert (subnet["enable_dhcp"], subnet["gateway_ip"]) == (False, "10.8.0.9")
    assert subnet["allocation_pools"] == [{"start": "10.8.0.10", "end": "10.8.0.90"}]
    for name, id in (("PUBLIC", "out"), ("PRIVATE", "in"), ("inside", "in")):
        assert cloud.create(cloud.asked("known_1", NETWORK, {"network_name": name})).attributes["network_id"] == id

    machine = cloud.create(cloud.asked("web_1", COMPUTE, {"os::distribution": "debian"})).attributes
    requirements = {"link": (Far("net_1", NETWORK, made),), "binding": (Far("web_1", COMPUTE, machine),)}
    first = cloud.asked("a_1", PORT, {"ip_address": "10.8.0.20"}, requirements=requirements)
    second = cloud.asked(
        "b_1", PORT, {"ip_range_start": "10.8.0.20", "ip_range_end": "10.8.0.22"}, requirements=requirements
    )
    assert cloud.create(first).attributes["ip_address"] == "10.8.0.20"
    assert cloud.create(second).attributes["ip_address"] == "10.8.0.21"
    seen = asyncio.run(cloud.provider.look(cloud.asked("web_1", COMPUTE, {}))).attributes
    assert seen["networks"]["back"]["addresses"] == ["10.8.0.20", "10.8.0.21"]  # type: ignore[index]
    cloud.gone(first, second, net)


def test_an_image_is_made_of_a_file(cloud: Cloud, tmp_path: Path) -> None:
    """R-13.4.5-1, R-5.8.4.3-1: the file of an artifact goes to the cloud, its properties as they are."""
    file = tmp_path / "mine.qcow2"
    file.write_bytes(b"an image")
    artifact = Material(
        "vm",
        ("tosca.artifacts.Deployment.Image.VM.QCOW2", "tosca.artifacts.Deployment.Image.VM"),
        str(file),
        properties={"disk_format": "qcow2", "container_format": "bare", "min_disk": 7},
    )
    cloud.create(cloud.asked("web_1", COMPUTE, {}, artifacts=(artifact,)))
    (server,) = cloud.world.all("servers").values()
    image = cloud.world.all("images")[server["imageRef"]]
    assert (image["name"], image["disk_format"], image["container_format"]) == ("mine.qcow2", "qcow2", "bare")
    assert cloud.world.uploads == {image["id"]: b"an image"}


def test_a_wrong_password(cloud: Cloud) -> None:
    """The setting is named, the password is not."""
    with OpenStackServer() as server, pytest.raises(ProviderFailed, match="look at `key` and `secret`") as told:
        asyncio.run(Cloud(server, "wrong-password").provider.create(cloud.asked("web_1", COMPUTE, {})))
    assert "wrong-password" not in str(told.value)
