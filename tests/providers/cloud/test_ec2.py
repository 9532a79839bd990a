"""Machines, volumes and networks in a real server of EC2's API."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import msgspec
import pytest
from libcloud.common.base import Connection

from ordito.base.sensitive import Sensitive
from ordito.providers.cloud.provider import CloudProvider
from ordito.providers.cloud.settings import CloudSettings, MachineImage
from ordito.work.providing import Delegation, Endpoint, Far, Material, Provided, ProviderFailed, ProviderVerb
from ordito.work.providing import OpenWay as Way
from ordito.work.targets import HostTarget, Unasked
from tests.support.real.moto import Moto

COMPUTE = ("tosca.nodes.Compute", "tosca.nodes.Abstract.Compute", "tosca.nodes.Root")
STORAGE = ("tosca.nodes.Storage.BlockStorage", "tosca.nodes.Abstract.Storage", "tosca.nodes.Root")
NETWORK = ("tosca.nodes.network.Network", "tosca.nodes.Root")
PORT = ("tosca.nodes.network.Port", "tosca.nodes.Root")

TRUSTY, XENIAL = "ami-1e749f67", "ami-785db401"
PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICSBlcoSSnQVXYzKPW+ropm11Se4RliwSoQsUCduhbOI cloud"
SMALL: Mapping[str, object] = {
    "host::num_cpus": 1,
    "host::mem_size": "1 GB",
    "os::distribution": "ubuntu",
    "os::version": "16.04",
}


@pytest.fixture
def cloud(moto: Moto) -> Cloud:
    """An empty cloud."""
    moto.reset()
    return Cloud(moto)


class Cloud:
    """A cloud, and what its provider is asked."""

    def __init__(self, moto: Moto, *, reach: bool = True, **more: Any) -> None:
        arguments = {"region": moto.region, "host": moto.host, "port": moto.port, "secure": False}
        settings = CloudSettings(
            driver="EC2",
            key=Sensitive(moto.key),
            secret=Sensitive(moto.secret),
            arguments=arguments,
            images=(
                MachineImage(TRUSTY, "linux", "ubuntu", "14.04"),
                MachineImage(XENIAL, "linux", "ubuntu", "16.04", "x86_64"),
            ),
            sizes=("t2.micro", "t2.small", "m5.large", "m5.xlarge"),
            connection={"user": "ubuntu", "identity": ["/keys/cloud"]},
            timeout=60,
            interval=0.02,
        )
        self.moto = moto
        self._driver: Any = None
        self.settings = msgspec.structs.replace(settings, **more)
        self.provider = CloudProvider(lambda: self.settings, reach=reach)

    def asked(self, instance: str, kinds: tuple[str, ...], properties: Mapping[str, object], **more: Any) -> Delegation:
        """What is asked for an instance of an ensemble."""
        more = {
            "verb": ProviderVerb.CREATE,
            "ensemble": "e1",
            "job": "job-1",
            "node": instance.rpartition("_")[0],
            **more,
        }
        return Delegation(instance, kinds, properties=properties, **more)

    def create(self, asked: Delegation) -> Provided:
        """Have it made."""
        return asyncio.run(self.provider.create(asked))

    def driver(self) -> Any:
        """Another way to the cloud."""
        if self._driver is None:
            found: list[Any] = []
            asyncio.run(CloudProvider(lambda: self.settings).api.run("looking", found.append))
            self._driver = found[0]
        return self._driver

    def with_settings(self, **more: Any) -> Cloud:
        """The same cloud with other settings."""
        return Cloud(self.moto, **{**msgspec.structs.asdict(self.settings), **more})


def test_a_machine_comes_and_goes(cloud: Cloud) -> None:
    """R-5.9.3-1, R-5.9.3-2, R-2.1-3: a Compute is a machine of the smallest size that is enough, with the operating
    system that it asks for, labelled; its addresses, networks and ports are its attributes; it is removed."""
    asked = cloud.asked("web_1", COMPUTE, {"host::num_cpus": 2, "host::mem_size": "4 GiB", **_os("16.04")})
    attributes = cloud.create(asked).attributes
    (node,) = cloud.driver().list_nodes()
    assert attributes["ordito.host"] == {"provider": "cloud", "id": node.id}
    assert (node.extra["instance_type"], node.extra["image_id"]) == ("m5.large", XENIAL)
    labels = {"ordito-ensemble": "e1", "ordito-instance": "web_1", "ordito-node": "web", "ordito-job": "job-1"}
    assert labels.items() <= node.extra["tags"].items()
    (network,) = _values(attributes["networks"])
    (port,) = _values(attributes["ports"])
    assert attributes["private_address"] in network["addresses"] == port["addresses"]
    assert attributes["public_address"] == node.public_ips[0]
    assert port["network_id"] == network["network_id"] == node.extra["subnet_id"]
    assert port["mac_address"]

    target = cloud.provider.target("web_1", attributes)
    assert target == HostTarget(
        "ssh",
        "web_1",
        {"user": "ubuntu", "identity": ["/keys/cloud"], "address": node.public_ips[0]},
    )
    assert asyncio.run(cloud.provider.look(asked)).status == "ok"
    cloud.driver().stop_node(node)
    assert asyncio.run(cloud.provider.look(asked)).status == "error"
    assert cloud.create(asked).attributes["ordito.host"] == attributes["ordito.host"]
    assert asyncio.run(cloud.provider.look(asked)).status == "ok"
    assert asyncio.run(cloud.provider.delete(asked))
    assert asyncio.run(cloud.provider.look(asked)).status == "absent"
    assert asyncio.run(cloud.provider.delete(asked))


def _os(version: str) -> dict[str, object]:
    return {"os::type": "linux", "os::distribution": "ubuntu", "os::version": version}


def _values(found: object) -> list[dict[str, Any]]:
    assert isinstance(found, dict)
    return list(found.values())


def test_volumes_are_made_attached_and_removed(cloud: Cloud) -> None:
    """R-5.9.11-1, R-5.7.5-2: a volume of the size that is asked for, with its id as attribute, attached to the machine
    that requires it, whose device becomes known; a volume that was there is attached, and stays."""
    storage = cloud.asked("data_1", STORAGE, {"size": "3 GB"}, node="data")
    volume = cloud.create(storage).attributes
    assert cloud.create(storage).attributes == volume
    driver = cloud.driver()
    driver.ex_create_tags = lambda *_: False  # It is no good at them.
    there = driver.create_volume(1, "somebody's", location=cloud.driver().list_locations()[0])
    other = cloud.asked("old_1", STORAGE, {"volume_id": there.id, "size": "70 GB"}, node="old")
    assert cloud.create(other).attributes == {"volume_id": there.id}

    asked = cloud.asked(
        "web_1",
        COMPUTE,
        SMALL,
        requirements={
            "local_storage": (
                Far("data_1", STORAGE, attributes=volume, relationship={"location": "/data"}),
                Far("old_1", STORAGE, attributes={"volume_id": there.id}, relationship={"device": "/dev/sdk"}),
            )
        },
    )
    made = cloud.create(asked)
    assert cloud.create(asked).attributes == made.attributes
    volumes = {v.id: v for v in cloud.driver().list_volumes()}
    machine = made.attributes["ordito.host"]["id"]  # type: ignore[index]
    device = volumes[volume["volume_id"]].extra["device"]
    assert volumes[volume["volume_id"]].size == 3
    assert volumes[volume["volume_id"]].extra["instance_id"] == volumes[there.id].extra["instance_id"] == machine
    assert made.links == {"data_1": {"device": device}, "old_1": {"device": "/dev/sdk"}}

    assert asyncio.run(cloud.provider.look(storage)).message.endswith(machine)
    for one, removed in ((storage, True), (other, False), (asked, True)):
        assert asyncio.run(cloud.provider.delete(one)) is removed
    assert there.id in {v.id for v in cloud.driver().list_volumes()}
    assert asyncio.run(cloud.provider.look(storage)).status == "absent"
    assert asyncio.run(cloud.provider.look(other)).status == "ok"
    with pytest.raises(ProviderFailed, match="volume_id"):
        cloud.create(cloud.asked("lost_1", STORAGE, {"volume_id": "vol-00000000"}))
    snapshot = driver.create_volume_snapshot(there).id
    again = cloud.create(cloud.asked("again_1", STORAGE, {"size": "0 MB", "snapshot_id": snapshot})).attributes
    (restored,) = (v for v in driver.list_volumes() if v.id == again["volume_id"])
    assert (restored.size, restored.extra["snapshot_id"]) == (1, snapshot)
    with pytest.raises(ProviderFailed, match="look at `snapshot_id`"):
        cloud.create(cloud.asked("lost_2", STORAGE, {"snapshot_id": "snap-00000000"}))


def test_networks_are_made_or_found(cloud: Cloud) -> None:
    """R-8.5.1-1, R-8.5.1-2, R-8.5.1-3, R-8.5.1-8, R-5.3.8-1: a network with a cidr is made under its name, one of an id
    or of a name alone is there already, PRIVATE is the first one; the actual segment is an attribute."""
    new = cloud.asked("net_1", NETWORK, {"network_name": "back", "cidr": "10.20.0.0/24", "ip_version": 4})
    made = cloud.create(new).attributes
    assert cloud.create(new).attributes == made
    (subnet,) = cloud.driver().ex_list_subnets(filters={"tag:Name": "back"})
    assert made == {"network_id": subnet.id, "network_name": "back", "segmentation_id": subnet.extra["vpc_id"]}
    for properties in (
        {"network_name": "back"},
        {"network_id": subnet.id},
        {"network_id": subnet.id, "network_name": "back"},
    ):
        found = cloud.asked("same_1", NETWORK, {**properties, "dhcp_enabled": True})
        assert cloud.create(found).attributes == made
        assert asyncio.run(cloud.provider.delete(found)) is False
    first = cloud.create(cloud.asked("first_1", NETWORK, {"network_name": "PRIVATE"})).attributes
    assert first["network_id"] in {s.id for s in cloud.driver().ex_list_subnets()} - {subnet.id}
    with pytest.raises(ProviderFailed, match='no network "front"'):
        cloud.create(cloud.asked("none_1", NETWORK, {"network_name": "front"}))

    assert asyncio.run(cloud.provider.look(new)).status == "ok"
    assert asyncio.run(cloud.provider.delete(new))
    assert asyncio.run(cloud.provider.look(new)).status == "absent"
    assert subnet.extra["vpc_id"] not in {n.id for n in cloud.driver().ex_list_networks()}
    assert asyncio.run(cloud.provider.delete(new))


REFUSED_NETWORKS: tuple[tuple[dict[str, object], str], ...] = (
    ({"network_name": "x", "ip_version": 6}, "cidr"),
    ({"cidr": "10.9.0.0/24", "ip_version": 6}, "ip_version 6"),
    ({"cidr": "10.9.0.0/24", "dhcp_enabled": False}, "dhcp_enabled false"),
    ({"cidr": "10.9.0.0/24", "gateway_ip": "10.9.0.7"}, "another gateway_ip than 10.9.0.1"),
    ({"cidr": "10.9.0.0/24", "start_ip": "10.9.0.7"}, "ip_range_start"),
    ({"cidr": "10.9.0.0/24", "segmentation_id": "7"}, "segmentation_id"),
    ({"cidr": "10.9.0.0/24", "network_type": "vlan"}, "network_type"),
    ({"cidr": "10.9.0.0/24", "physical_network": "p"}, "physical_network"),
)


def test_what_networks_cannot_be_is_said(cloud: Cloud) -> None:
    """R-8.5.1-6: what a template asks of a network and the cloud does not have is refused, and nothing is made."""
    for properties, what in REFUSED_NETWORKS:
        with pytest.raises(ProviderFailed, match=what):
            cloud.create(cloud.asked("net_1", NETWORK, properties))
    assert len(cloud.driver().ex_list_networks()) == 1


def test_ports_bind_machines_to_networks(cloud: Cloud) -> None:
    """R-8.5.2-3, R-8.5.2-4, R-5.3.9-1, R-8.5.2-5: a port has the address that is asked for, or one of its range, and is
    on its machine, whose networks and ports then show it; its actual address is an attribute."""
    home = next(s for s in cloud.driver().ex_list_subnets() if s.extra["cidr_block"] == "172.31.0.0/20")
    network = Far("net_1", NETWORK, {"network_id": home.id})
    machine = cloud.create(cloud.asked("web_1", COMPUTE, SMALL)).attributes
    bound = Far("web_1", COMPUTE, machine)
    requirements = {"link": (network,), "binding": (bound,)}
    wanted = cloud.asked("a_1", PORT, {"order": 0, "ip_address": "172.31.1.7"}, requirements=requirements)
    ranged = cloud.asked(
        "b_1",
        PORT,
        {"order": 0, "ip_range_start": "172.31.1.7", "ip_range_end": "172.31.1.9"},
        requirements=requirements,
    )
    made = cloud.create(wanted).attributes
    assert made["ip_address"] == "172.31.1.7"
    assert cloud.create(wanted).attributes == made
    last = cloud.create(ranged)
    assert last.attributes["ip_address"] == "172.31.1.8"
    seen = asyncio.run(cloud.provider.look(cloud.asked("web_1", COMPUTE, SMALL))).attributes
    assert last.far == {"web_1": {"networks": seen["networks"], "ports": seen["ports"]}}
    (on,) = _values(seen["networks"])
    assert on["addresses"] == [machine["private_address"], "172.31.1.7", "172.31.1.8"]
    ports = seen["ports"]
    assert isinstance(ports, dict)
    interfaces = {i.id: i.name for i in cloud.driver().ex_list_network_interfaces() if i.id == made["port_id"]}
    assert (name := interfaces[made["port_id"]]) in ports
    assert (ports[name]["port_name"], ports[name]["port_id"]) == (name, made["port_id"])
    assert seen["private_address"] == machine["private_address"]

    assert asyncio.run(cloud.provider.look(wanted)).status == "ok"
    full = cloud.asked(
        "c_1", PORT, {"ip_range_start": "172.31.1.7", "ip_range_end": "172.31.1.8"}, requirements=requirements
    )
    with pytest.raises(ProviderFailed, match=r"no address from 172.31.1.7 to 172.31.1.8"):
        cloud.create(full)
    for one in (wanted, ranged):
        assert asyncio.run(cloud.provider.delete(one))
        assert asyncio.run(cloud.provider.look(one)).status == "absent"
        assert asyncio.run(cloud.provider.delete(one))


def test_what_must_be_reached_can_be_and_nothing_else(cloud: Cloud) -> None:
    """R-8.3.1-3, R-8.4.1-1, R-8.3.2-1, R-5.5.7-3: the ports of connections are open between the Computes that the
    components stand on, public endpoints for everybody, and nothing else; all of it goes with the machines."""
    way = Way("shop", "db", "web", "data", "tcp", ((5432, 5432), (6000, 6010)), relationship="shop.database")
    peers = Way("db", "db", "data", "data", "udp", ((7, 7),), initiator="peer")
    front = Endpoint("shop", "http", public=True, ports=((80, 80),), network="PUBLIC")
    web = cloud.asked("web_1", COMPUTE, SMALL, connections=(way,), endpoints=(front,))
    data = cloud.asked("data_1", COMPUTE, SMALL, connections=(way, peers))
    for _ in range(2):
        cloud.create(web)
        cloud.create(data)
    groups = {g.name: g for g in cloud.driver().ex_get_security_groups() if g.name != "default"}
    nodes = {n.extra["tags"]["ordito-node"]: n for n in cloud.driver().list_nodes()}
    (of_web,) = (groups[g["group_name"]] for g in nodes["web"].extra["groups"])
    (of_data,) = (groups[g["group_name"]] for g in nodes["data"].extra["groups"])
    assert len(groups) == 2
    assert rules(of_web) == {("0.0.0.0/0", "tcp", 22, 22), ("0.0.0.0/0", "tcp", 80, 80)}
    assert rules(of_data) == {
        ("0.0.0.0/0", "tcp", 22, 22),
        (of_web.id, "tcp", 5432, 5432),
        (of_web.id, "tcp", 6000, 6010),
        (of_data.id, "udp", 7, 7),
    }
    assert asyncio.run(cloud.provider.delete(web))
    (left,) = (g for g in cloud.driver().ex_get_security_groups() if g.name != "default")
    assert left.name == of_data.name
    assert rules(left) == {("0.0.0.0/0", "tcp", 22, 22), (of_data.id, "udp", 7, 7)}
    assert asyncio.run(cloud.provider.delete(data))
    assert [g.name for g in cloud.driver().ex_get_security_groups()] == ["default"]


def rules(group: Any) -> set[tuple[str, str, int, int]]:
    """What a group lets in."""
    return {
        (source, rule["protocol"], int(rule["from_port"]), int(rule["to_port"]))
        for rule in group.ingress_rules
        for source in (*rule["cidr_ips"], *(pair["group_id"] for pair in rule["group_pairs"]))
    }


def test_floating_addresses_come_and_go(cloud: Cloud) -> None:
    """R-5.5.8-3: a machine with an endpoint that floats has an address of the pool, given back with the machine."""
    endpoints = (Endpoint("web", "endpoint"), Endpoint("shop", "door", public=True, floating=True))
    asked = cloud.asked("web_1", COMPUTE, SMALL, endpoints=endpoints)
    made = cloud.create(asked).attributes
    (address,) = cloud.driver().ex_describe_all_addresses()
    assert made["public_address"] == address.ip
    assert cloud.create(asked).attributes == made
    assert asyncio.run(cloud.provider.delete(asked))
    assert cloud.driver().ex_describe_all_addresses() == []


ASKED: Mapping[str, tuple[tuple[str, ...], Mapping[str, object], str]] = {
    "RunInstances": (COMPUTE, SMALL, "list_nodes"),
    "AllocateAddress": (COMPUTE, SMALL, "ex_describe_all_addresses"),
    "CreateVolume": (STORAGE, {"size": "1 GB"}, "list_volumes"),
    "CreateVpc": (NETWORK, {"cidr": "10.3.0.0/16"}, "ex_list_networks"),
    "CreateSubnet": (NETWORK, {"cidr": "10.3.0.0/16"}, "ex_list_subnets"),
    "CreateNetworkInterface": (PORT, {}, "ex_list_network_interfaces"),
}


@pytest.mark.parametrize("action", ASKED)
def test_nothing_is_made_twice_after_a_crash(cloud: Cloud, action: str) -> None:
    """What a process has asked for that then died, before it heard the answer or could do anything more, is found."""
    kinds, properties, listed = ASKED[action]
    home = cloud.driver().ex_list_subnets()[0].id
    endpoints = (Endpoint("it", "door", floating=action == "AllocateAddress"),)
    link = (Far("net_1", NETWORK, {"network_id": home}),)
    asked = cloud.asked("it_1", kinds, properties, requirements={"link": link}, endpoints=endpoints)
    before = len(getattr(cloud.driver(), listed)())
    cloud = cloud.with_settings()
    child = os.fork()
    if child == 0:
        die_after(action)
        cloud.create(asked)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert len(getattr(cloud.driver(), listed)()) == before + 1
    cloud.create(asked)
    cloud.create(asked)
    assert len(getattr(cloud.driver(), listed)()) == before + 1
    assert asyncio.run(cloud.provider.delete(asked))
    assert (
        len([one for one in getattr(cloud.driver(), listed)() if getattr(one, "state", "") != "terminated"]) == before
    )


def die_after(action: str) -> None:
    """Let this process die as soon as the cloud has carried out a request."""
    request: Any = Connection.request

    def dying(self: Connection, path: str, params: Any = None, **more: Any) -> Any:
        answer = request(self, path, params=params, **more)
        if params and params.get("Action") == action:
            os._exit(9)
        return answer

    Connection.request = dying  # type: ignore[assignment, method-assign]


REFUSED_MACHINES: tuple[tuple[Mapping[str, object], dict[str, object], str], ...] = (
    (SMALL, {"sizes": ("t9.micro",)}, r"the cloud has none of the sizes t9.micro: look at `sizes`"),
    (SMALL, {"arguments": {"regoin": "us-east-1"}}, r'has no argument "regoin"; did you mean "region"\?'),
    ({"host::num_cpus": 64}, {}, r"none of those that `sizes` allows \(4\) has what web asks for: num_cpus 64"),
    ({"os::distribution": "plan9"}, {}, r"no image is known for web \(distribution plan9\): add one to `images`"),
    ({}, {"images": (), "image": "ami-11111111"}, 'no image "ami-11111111": look at `image`'),
    (SMALL, {"network": "elsewhere"}, 'no network "elsewhere"'),
    (SMALL, {"groups": ("nobody",)}, 'no security group "nobody"'),
    (SMALL, {"zone": "moon-1"}, 'no place "moon-1"'),
)


def test_refusals_name_the_setting(cloud: Cloud) -> None:
    """What the cloud does not have is said with the setting to change; nothing is made, and no secret is told."""
    for properties, more, what in REFUSED_MACHINES:
        with pytest.raises(ProviderFailed, match=what) as told:
            cloud.with_settings(**more).create(cloud.asked("web_1", COMPUTE, properties))
        assert cloud.moto.secret not in str(told.value)
    assert cloud.driver().list_nodes() == []


def test_a_cloud_that_is_not_there(cloud: Cloud) -> None:
    """Nothing was asked of it, so nothing can have been made."""
    nowhere = cloud.with_settings(arguments={**cloud.settings.arguments, "port": 9})
    with pytest.raises(Unasked, match=r"making web_1 failed .* cannot be reached"):
        nowhere.create(cloud.asked("web_1", COMPUTE, SMALL))
    with pytest.raises(Unasked, match=r"looking at web_1 failed .* cannot be reached"):
        asyncio.run(nowhere.provider.look(cloud.asked("web_1", COMPUTE, SMALL)))
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        arguments = {**cloud.settings.arguments, "port": silent.getsockname()[1]}
        mute = cloud.with_settings(arguments=arguments, request_timeout=0.2)
        with pytest.raises(
            ProviderFailed, match=r"making web_1 failed .* no answer .*; the next command finds out what it has done"
        ):
            mute.create(cloud.asked("web_1", COMPUTE, SMALL))
        with pytest.raises(Unasked, match=r"looking at web_1 failed .* no answer"):
            asyncio.run(mute.provider.look(cloud.asked("web_1", COMPUTE, SMALL)))


def test_settings_reach_the_machine(cloud: Cloud) -> None:
    """R-13.4.5-1, R-5.8.4.3-1: an image that is an artifact of the node comes before those of the settings; disk, key,
    zone, group and network are those that are asked for."""
    subnet = next(s for s in cloud.driver().ex_list_subnets() if s.extra["zone"] == "us-east-1b")
    group = cloud.driver().ex_create_security_group("office", "office", subnet.extra["vpc_id"])["group_id"]
    mine = cloud.with_settings(
        network=subnet.id,
        groups=("office",),
        doors=False,
        zone="us-east-1b",
        public_key=PUBLIC_KEY,
        address="private",
        size="m5.large",
    )
    image = Material("vm", ("tosca.artifacts.Deployment.Image.VM",), TRUSTY, properties={"disk_format": "ami"})
    properties = {"host::disk_size": "40 GB", "os::type": "linux"}
    made = mine.create(mine.asked("web_1", COMPUTE, properties, artifacts=(image,))).attributes
    (node,) = cloud.driver().list_nodes()
    assert (node.extra["image_id"], node.extra["instance_type"]) == (TRUSTY, "m5.large")
    assert (node.extra["subnet_id"], node.extra["availability"]) == (subnet.id, "us-east-1b")
    assert [g["group_id"] for g in node.extra["groups"]] == [group]
    assert [p.name for p in cloud.driver().list_key_pairs()] == [node.extra["key_name"]]
    (disk,) = cloud.driver().list_volumes()
    assert disk.size == 40
    target = mine.provider.target("web_1", made)
    assert target is not None
    assert target.settings["address"] == made["private_address"]
    assert mine.with_settings(reach=False).provider.target("web_1", made) is None


def test_deployments_do_not_see_each_other(cloud: Cloud) -> None:
    """Two deployments of one service have machines of their own."""
    for ensemble in ("e1", "e2"):
        cloud.create(cloud.asked("web_1", COMPUTE, SMALL, ensemble=ensemble))
    assert len(cloud.driver().list_nodes()) == 2
    assert asyncio.run(cloud.provider.delete(cloud.asked("web_1", COMPUTE, SMALL, ensemble="e1")))
    assert asyncio.run(cloud.provider.look(cloud.asked("web_1", COMPUTE, SMALL, ensemble="e2"))).status == "ok"
