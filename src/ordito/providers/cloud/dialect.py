"""The requests that all drivers of libcloud support. For clouds that can do more, subclasses (dialects) add to them.

All functions block until the cloud answers, so they are called in threads, with a driver of libcloud as the first
argument. Things are recognized by their names here (``Who.name``), because every cloud keeps names.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ordito.providers.cloud.settings import CloudSettings
from ordito.work.providing import Delegation, Material

RUNNING, PENDING, STOPPED, BROKEN, GONE = "running", "pending", "stopped", "error", "gone"

STATES: Mapping[str, str] = {
    "running": RUNNING,
    "active": RUNNING,
    "starting": PENDING,
    "rebooting": PENDING,
    "pending": PENDING,
    "migrating": PENDING,
    "reconfiguring": PENDING,
    "updating": PENDING,
    "stopping": STOPPED,
    "stopped": STOPPED,
    "suspended": STOPPED,
    "paused": STOPPED,
    "error": BROKEN,
    "terminated": GONE,
}
"""The states of libcloud, and what they mean here; all others count as unknown."""


ANYWHERE = "0.0.0.0/0"


class Unsupported(Exception):
    """The driver of a cloud cannot do that. The text is for people."""


class WantedMachine(msgspec.Struct, frozen=True):
    """A machine to be made."""

    size: Any
    """A size of libcloud."""

    image: Any
    """An image of libcloud."""

    disk: int = 0
    """GB of its disk; 0: as the size and the image say."""

    groups: tuple[str, ...] = ()
    """The names of its security groups."""

    key_pair: str = ""
    """The name of its key pair, "" for none."""


class CloudMachine(msgspec.Struct, frozen=True):
    """An existing machine: its addresses in order, and its networks and ports in the form of the attributes of a
    Compute."""

    id: str
    name: str
    state: str
    private: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    networks: Mapping[str, object] = {}
    ports: Mapping[str, object] = {}
    instance: str = ""


class Volume(msgspec.Struct, frozen=True):
    """An existing volume: whether it is ready, and the machine and device to which it is attached."""

    id: str
    name: str
    ready: bool = True
    machine: str = ""
    device: str = ""


class Net(msgspec.Struct, frozen=True):
    """An existing network: its id and name, and the id of its segment."""

    id: str
    name: str
    segment: str = ""


class Nic(msgspec.Struct, frozen=True):
    """An existing port: its addresses, and the machine to which it is attached."""

    id: str
    network: str
    addresses: tuple[str, ...] = ()
    mac: str = ""
    machine: str = ""


class NewNet(msgspec.Struct, frozen=True):
    """A network to be made, by its properties (§8.5.1); "" if they leave something out."""

    name: str
    cidr: str = ""
    ip_version: int = 4
    gateway: str = ""
    start: str = ""
    end: str = ""
    dhcp: bool = True
    segment: str = ""
    kind: str = ""
    physical: str = ""


class NewNic(msgspec.Struct, frozen=True):
    """A port to be made on a network: the wanted address, or the range from which it is taken."""

    network: str
    address: str = ""
    start: str = ""
    end: str = ""


class Way(msgspec.Struct, frozen=True, order=True):
    """Traffic that a security group lets in: ``source`` is the name of another group or a range such as 10.0.0.0/8, the
    ports go from ``first`` to ``last``."""

    source: str
    protocol: str
    first: int
    last: int

    @property
    def is_range(self) -> bool:
        """Whether ``source`` is a range of addresses."""
        return "/" in self.source


class CloudDialect:
    """A cloud of which only the common interface of libcloud is used."""

    arguments: Mapping[str, object] = {}
    """Arguments of the driver that replace its own defaults."""

    disk_is_apart: bool = False
    """Whether the disk of a machine is chosen independently of its size."""

    def __init__(self, settings: CloudSettings) -> None:
        self.settings = settings

    def opened(self, driver: Any) -> Any:
        """Prepare a driver for use here."""
        return driver

    # ------------------------------------------------------------------------------------------------- machines

    def nodes(self, driver: Any, ensemble: str) -> list[Any]:
        """The machines of a deployment, as objects of libcloud."""
        return [node for node in driver.list_nodes() if str(node.name).startswith(prefix_of(ensemble))]

    def node(self, driver: Any, who: Who) -> Any | None:
        """The machine of an instance, None if it is gone."""
        found = [n for n in self.nodes(driver, who.ensemble) if self.is_of(n, who) and state_of(n) != GONE]
        return found[0] if found else None

    def node_with(self, driver: Any, id: str) -> Any | None:
        """The machine with an id."""
        return next((node for node in driver.list_nodes() if str(node.id) == id), None)

    def is_of(self, node: Any, who: Who) -> bool:
        """Whether a machine, volume or network belongs to an instance."""
        return bool(node.name == who.name)

    def make(self, driver: Any, who: Who, wanted: WantedMachine) -> Any:
        """Make a machine, by one request that also marks to which instance it belongs."""
        if wanted.groups:
            raise Unsupported(f"the driver {self.settings.driver} has no security groups: leave `groups` out")
        more: dict[str, Any] = {"location": self.location(driver)} if self.settings.zone else {}
        if wanted.key_pair:
            more["ex_keyname"] = wanted.key_pair
        return driver.create_node(name=who.name, size=wanted.size, image=wanted.image, **more)

    def location(self, driver: Any) -> Any:
        """The location (zone) that the settings name."""
        return named(driver.list_locations(), self.settings.zone, "place", "zone")

    def machine(self, driver: Any, node: Any) -> CloudMachine:
        """The description of a machine."""
        private, public = tuple(map(str, node.private_ips)), tuple(map(str, node.public_ips))
        networks = {
            name: {"network_name": name, "network_id": name, "addresses": list(addresses)}
            for name, addresses in (("private", private), ("public", public))
            if addresses
        }
        ports = {
            name: {"port_name": name, "port_id": name, "network_id": name, "addresses": network["addresses"]}
            for name, network in networks.items()
        }
        return CloudMachine(
            str(node.id), str(node.name), state_of(node), private, public, networks, ports, self.instance(node)
        )

    def instance(self, node: Any) -> str:
        """The instance to which a machine belongs, "" if the cloud does not know it."""
        return str(node.name)

    def node_of(self, node: Any) -> str:
        """The node template of a machine, "" if the cloud does not know it."""
        return ""

    def start(self, driver: Any, node: Any) -> None:
        """Start a stopped machine."""
        driver.start_node(node)

    def destroy(self, driver: Any, node: Any) -> None:
        """Remove a machine."""
        driver.destroy_node(node)

    # -------------------------------------------------------------------------------------------------- choosing

    def sizes(self, driver: Any, architecture: str) -> list[Any]:
        """The sizes for machines of an architecture."""
        return list(driver.list_sizes())

    def cpus(self, size: Any) -> int | None:
        """The number of processors of a size, None if it is not known."""
        extra = size.extra or {}
        found = next(
            (extra[n] for n in ("vcpu", "vcpus", "cpus", "cpu", "cores") if extra.get(n) not in (None, "")), None
        )
        found = getattr(size, "vcpus", None) if found is None else found
        text = str(found)
        return int(float(text)) if text.replace(".", "", 1).isdecimal() else None

    def image(self, driver: Any, wanted: str) -> Any | None:
        """The image with an id or a name."""
        images = driver.list_images()
        return next((i for i in images if wanted in (str(i.id), i.name)), None)

    def make_image(self, driver: Any, artifact: Material) -> Any:
        """Make an image from an artifact, with its properties unchanged."""
        raise Unsupported(
            f'the cloud has no image "{artifact.file}", and the driver {self.settings.driver} cannot make one'
            " from a file: put it into the cloud, and name it in the artifact"
        )

    def key_pair(self, driver: Any, name: str, public_key: str) -> None:
        """Make a key pair from a public key, if there is none yet."""
        if all(pair.name != name for pair in driver.list_key_pairs()):
            driver.import_key_pair_from_string(name, public_key)

    # --------------------------------------------------------------------------------------------------- volumes

    def volume(self, driver: Any, who: Who, id: str = "") -> Volume | None:
        """The volume of an instance, or the one with an id."""
        found = self._volume(driver, who, id)
        return None if found is None else self._as_volume(found, who)

    def _volume(self, driver: Any, who: Who, id: str) -> Any | None:
        volumes = driver.list_volumes()
        return next((v for v in volumes if (str(v.id) == id if id else self.is_of(v, who))), None)

    def _as_volume(self, volume: Any, who: Who) -> Volume:
        extra, state = volume.extra or {}, str(volume.state or "").lower()
        machine, device = self.attachment(extra)
        ready = state in ("", "unknown", "available", "inuse", "in-use")
        return Volume(str(volume.id), str(volume.name), ready, machine, device)

    def attachment(self, extra: Mapping[str, Any]) -> tuple[str, str]:
        """The machine and device to which a volume is attached, "" for none."""
        for one in extra.get("attachments") or ():
            return str(one.get("server_id") or one.get("serverId") or ""), str(one.get("device") or "")
        return str(extra.get("instance_id") or ""), str(extra.get("device") or "")

    def make_volume(self, driver: Any, who: Who, size: int, snapshot: str) -> None:
        """Make a volume of ``size`` GB, from a snapshot if one is named; 0 means the size of the snapshot."""
        more: dict[str, Any] = {}
        if snapshot:
            found = more["snapshot"] = self.snapshot(driver, snapshot)
            size = size or int(found.size or 0)
        if self.settings.zone:
            more["location"] = self.location(driver)
        driver.create_volume(size, who.name, **more)

    def snapshot(self, driver: Any, id: str) -> Any:
        """The snapshot with an id."""
        every = (one for volume in driver.list_volumes() for one in driver.list_volume_snapshots(volume))
        return _with_id(every, id, "snapshot")

    def attach(self, driver: Any, node: Any, id: str, device: str) -> None:
        """Attach a volume to a machine."""
        driver.attach_volume(node, _with_id(driver.list_volumes(), id, "volume"), device or None)

    def detach(self, driver: Any, id: str) -> None:
        """Detach a volume from its machine."""
        driver.detach_volume(_with_id(driver.list_volumes(), id, "volume"))

    def destroy_volume(self, driver: Any, id: str) -> None:
        """Remove a volume."""
        driver.destroy_volume(_with_id(driver.list_volumes(), id, "volume"))

    # ---------------------------------------------------------------------------------------- networks and ports

    def network(self, driver: Any, name: str, id: str) -> Net | None:
        """The existing network with an id, or with a name: PRIVATE and PUBLIC are the first ones of their kind."""
        raise self.without("networks")

    def own_network(self, driver: Any, who: Who) -> Net | None:
        """The network that was made for an instance."""
        raise self.without("networks")

    def make_network(self, driver: Any, who: Who, new: NewNet) -> None:
        """Make a network."""
        raise self.without("networks")

    def destroy_network(self, driver: Any, who: Who) -> None:
        """Remove the network of an instance."""
        raise self.without("networks")

    def nic(self, driver: Any, who: Who) -> Nic | None:
        """The port of an instance."""
        raise self.without("ports of machines")

    def make_nic(self, driver: Any, who: Who, new: NewNic) -> None:
        """Make a port on a network."""
        raise self.without("ports of machines")

    def attach_nic(self, driver: Any, who: Who, machine: str, order: int | None) -> None:
        """Attach the port of an instance to a machine, as its port number ``order``."""
        raise self.without("ports of machines")

    def destroy_nic(self, driver: Any, who: Who) -> None:
        """Detach the port of an instance from its machine, and remove it."""
        raise self.without("ports of machines")

    # ------------------------------------------------------------------------------------------ groups, addresses

    has_groups: bool = False
    """Whether there are security groups."""

    def open(self, driver: Any, name: str, who: Who, ways: Iterable[Way]) -> None:
        """Add the missing ways to a security group, which is made if it does not exist."""
        raise self.without("security groups")

    def destroy_group(self, driver: Any, name: str) -> None:
        """Remove a security group that no machine is in."""
        raise self.without("security groups")

    def float(self, driver: Any, who: Who, node: Any) -> str:
        """Give a machine a floating address if it has none yet; returns the address."""
        raise self.without("floating addresses")

    def sink(self, driver: Any, who: Who) -> None:
        """Release the floating address of an instance, if it has one."""

    def without(self, what: str) -> Unsupported:
        """The exception for something that the driver cannot do."""
        return Unsupported(
            f"the driver {self.settings.driver} of libcloud cannot make {what}; make them in the cloud, and name them"
        )


def state_of(node: Any) -> str:
    """The state of a machine, "" if it is unknown."""
    state = getattr(node.state, "value", node.state)
    return STATES.get(str(state).lower(), "")


def named(found: Iterable[Any], wanted: str, what: str, setting: str) -> Any:
    """The one with this id or name. Raises ``Unsupported``, with the existing ones, if there is none."""
    known = list(found)
    one = next((f for f in known if wanted in (str(f.id), str(f.name))), None)
    if one is None:
        names = ", ".join(sorted(str(f.name) for f in known)[:8])
        raise Unsupported(f'there is no {what} "{wanted}" ({names or "there is none"}): look at `{setting}`')
    return one


def _with_id(found: Iterable[Any], id: str, what: str) -> Any:
    one = next((f for f in found if str(f.id) == id), None)
    if one is None:
        raise Unsupported(f'there is no {what} "{id}" any more')
    return one


# By what something in a cloud is known again: labels where the cloud has them, else its name alone.
#
# Both are part of the very request that makes it, so that no crash can leave anything behind that nobody knows.

ENSEMBLE, INSTANCE, NODE, JOB = "ordito-ensemble", "ordito-instance", "ordito-node", "ordito-job"
PREFIX = "ordito"
LONGEST = 40


class Who(msgspec.Struct, frozen=True):
    """The owner of something in the cloud: the deployment, its instance, the node, and the job that makes it."""

    ensemble: str
    instance: str
    node: str = ""
    job: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """The labels that are attached to it. It is found by the first two."""
        return {ENSEMBLE: self.ensemble, INSTANCE: self.instance, NODE: self.node, JOB: self.job}

    @property
    def name(self) -> str:
        """Its name: at most 63 lower-case letters, digits and ``-``, different from that of every other instance
        anywhere."""
        return name_of(self.ensemble, self.instance)

    @property
    def token(self) -> str:
        """The token by which a cloud recognizes a repeated request of one job."""
        return _digest(self.ensemble, self.instance, self.job, length=40)


def who_of(asked: Delegation) -> Who:
    """The owner of what a provider is asked for."""
    return Who(asked.ensemble, asked.instance, asked.node, asked.job)


def name_of(ensemble: str, instance: str) -> str:
    """The name of what is made for an instance: readable, with an end that makes it unique."""
    readable = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")[:LONGEST].strip("-")
    return f"{prefix_of(ensemble)}{readable or 'x'}-{_digest(ensemble, instance, length=8)}"


def prefix_of(ensemble: str) -> str:
    """The prefix of all names of a deployment."""
    return f"{PREFIX}-{_digest(ensemble, length=6)}-"


def _digest(*parts: str, length: int) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:length]
