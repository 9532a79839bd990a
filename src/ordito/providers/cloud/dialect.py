"""How a cloud is spoken with: what all drivers of libcloud have. Where one can do more, a dialect of its own says how.

All functions wait for the cloud, so they are called in threads, with a driver of libcloud as the first argument.
Things are known again by their names here (``naming.py``): that is what every cloud keeps.
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
"""What libcloud calls states, and what they mean here; all others are nobody's knowledge."""


ANYWHERE = "0.0.0.0/0"


class Unsupported(Exception):
    """The driver of a cloud has no way to do that. The text is for people."""


class WantedMachine(msgspec.Struct, frozen=True):
    """A machine to be made: libcloud's size and image, GB of its disk (0: as the size and image have it), the
    names of groups it is in, and the network that it is made in."""

    size: Any
    image: Any
    disk: int = 0
    groups: tuple[str, ...] = ()
    key_pair: str = ""


class CloudMachine(msgspec.Struct, frozen=True):
    """A machine that is there: its addresses, the first ones first, and its networks and ports as the attributes of a
    Compute have them."""

    id: str
    name: str
    state: str
    private: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    networks: Mapping[str, object] = {}
    ports: Mapping[str, object] = {}
    instance: str = ""


class Volume(msgspec.Struct, frozen=True):
    """A volume that is there: whether it is ready, and the machine and device it is attached to."""

    id: str
    name: str
    ready: bool = True
    machine: str = ""
    device: str = ""


class Net(msgspec.Struct, frozen=True):
    """A network that is there: its id and name, and the id of the segment that it is on."""

    id: str
    name: str
    segment: str = ""


class Nic(msgspec.Struct, frozen=True):
    """A port that is there: its addresses, and the machine that it is attached to."""

    id: str
    network: str
    addresses: tuple[str, ...] = ()
    mac: str = ""
    machine: str = ""


class NewNet(msgspec.Struct, frozen=True):
    """A network that is to be made, as its properties say (§8.5.1); "" is for what they do not say."""

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
    """A port that is to be made on a network: the address that is asked for, or the range that it is to be from."""

    network: str
    address: str = ""
    start: str = ""
    end: str = ""


class Way(msgspec.Struct, frozen=True, order=True):
    """What is let through to a group: from the members of another, or from addresses (``source`` is the name of a
    group, or a range such as 10.0.0.0/8), by a protocol, at ports from the first to the last."""

    source: str
    protocol: str
    first: int
    last: int

    @property
    def is_range(self) -> bool:
        """Whether it is from a range of addresses."""
        return "/" in self.source


class CloudDialect:
    """A cloud of which nothing is known but what libcloud asks of every driver."""

    arguments: Mapping[str, object] = {}
    """Arguments of the driver that are better than its own defaults."""

    disk_is_apart: bool = False
    """Whether a machine's disk is chosen apart from its size."""

    def __init__(self, settings: CloudSettings) -> None:
        self.settings = settings

    def opened(self, driver: Any) -> Any:
        """A driver as it is used here."""
        return driver

    # ------------------------------------------------------------------------------------------------- machines

    def nodes(self, driver: Any, ensemble: str) -> list[Any]:
        """The machines of a deployment, as libcloud has them."""
        return [node for node in driver.list_nodes() if str(node.name).startswith(prefix_of(ensemble))]

    def node(self, driver: Any, who: Who) -> Any | None:
        """The machine of an instance, that is not gone."""
        found = [n for n in self.nodes(driver, who.ensemble) if self.is_of(n, who) and state_of(n) != GONE]
        return found[0] if found else None

    def node_with(self, driver: Any, id: str) -> Any | None:
        """The machine of an id."""
        return next((node for node in driver.list_nodes() if str(node.id) == id), None)

    def is_of(self, node: Any, who: Who) -> bool:
        """Whether a machine, volume or network is that of an instance."""
        return bool(node.name == who.name)

    def make(self, driver: Any, who: Who, wanted: WantedMachine) -> Any:
        """Make a machine, by one request that also says whose it is."""
        if wanted.groups:
            raise Unsupported(f"the driver {self.settings.driver} has no security groups: leave `groups` out")
        more: dict[str, Any] = {"location": self.location(driver)} if self.settings.zone else {}
        if wanted.key_pair:
            more["ex_keyname"] = wanted.key_pair
        return driver.create_node(name=who.name, size=wanted.size, image=wanted.image, **more)

    def location(self, driver: Any) -> Any:
        """The place that the settings name."""
        return named(driver.list_locations(), self.settings.zone, "place", "zone")

    def machine(self, driver: Any, node: Any) -> CloudMachine:
        """What is to be known of a machine."""
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
        """The instance that a machine is of, as far as the cloud knows it."""
        return str(node.name)

    def node_of(self, node: Any) -> str:
        """The node template that a machine is of, "" where the cloud does not know it."""
        return ""

    def start(self, driver: Any, node: Any) -> None:
        """Have a machine started that is stopped."""
        driver.start_node(node)

    def destroy(self, driver: Any, node: Any) -> None:
        """Have a machine removed."""
        driver.destroy_node(node)

    # -------------------------------------------------------------------------------------------------- choosing

    def sizes(self, driver: Any, architecture: str) -> list[Any]:
        """The sizes in which machines of an architecture can be made."""
        return list(driver.list_sizes())

    def cpus(self, size: Any) -> int | None:
        """The processors of a size, None where it does not say."""
        extra = size.extra or {}
        found = next(
            (extra[n] for n in ("vcpu", "vcpus", "cpus", "cpu", "cores") if extra.get(n) not in (None, "")), None
        )
        found = getattr(size, "vcpus", None) if found is None else found
        text = str(found)
        return int(float(text)) if text.replace(".", "", 1).isdecimal() else None

    def image(self, driver: Any, wanted: str) -> Any | None:
        """The image of an id or a name."""
        images = driver.list_images()
        return next((i for i in images if wanted in (str(i.id), i.name)), None)

    def make_image(self, driver: Any, artifact: Material) -> Any:
        """Make an image of an artifact, with its properties as they are."""
        raise Unsupported(
            f'the cloud has no image "{artifact.file}", and the driver {self.settings.driver} makes none of a file:'
            " put it into the cloud, and name it in the artifact"
        )

    def key_pair(self, driver: Any, name: str, public_key: str) -> None:
        """Let a public key be a key pair, if it is not one already."""
        if all(pair.name != name for pair in driver.list_key_pairs()):
            driver.import_key_pair_from_string(name, public_key)

    # --------------------------------------------------------------------------------------------------- volumes

    def volume(self, driver: Any, who: Who, id: str = "") -> Volume | None:
        """The volume of an instance, or that of an id."""
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
        """The machine and device that a volume is attached to, "" for none."""
        for one in extra.get("attachments") or ():
            return str(one.get("server_id") or one.get("serverId") or ""), str(one.get("device") or "")
        return str(extra.get("instance_id") or ""), str(extra.get("device") or "")

    def make_volume(self, driver: Any, who: Who, size: int, snapshot: str) -> None:
        """Make a volume of so many GB, from a snapshot where one is named: of its size where nobody says another."""
        more: dict[str, Any] = {}
        if snapshot:
            found = more["snapshot"] = self.snapshot(driver, snapshot)
            size = size or int(found.size or 0)
        if self.settings.zone:
            more["location"] = self.location(driver)
        driver.create_volume(size, who.name, **more)

    def snapshot(self, driver: Any, id: str) -> Any:
        """A snapshot by its id."""
        every = (one for volume in driver.list_volumes() for one in driver.list_volume_snapshots(volume))
        return _with_id(every, id, "snapshot")

    def attach(self, driver: Any, node: Any, id: str, device: str) -> None:
        """Attach a volume to a machine."""
        driver.attach_volume(node, _with_id(driver.list_volumes(), id, "volume"), device or None)

    def detach(self, driver: Any, id: str) -> None:
        """Detach a volume from its machine."""
        driver.detach_volume(_with_id(driver.list_volumes(), id, "volume"))

    def destroy_volume(self, driver: Any, id: str) -> None:
        """Have a volume removed."""
        driver.destroy_volume(_with_id(driver.list_volumes(), id, "volume"))

    # ---------------------------------------------------------------------------------------- networks and ports

    def network(self, driver: Any, name: str, id: str) -> Net | None:
        """The network that there is already of an id, or of a name: PRIVATE and PUBLIC are the first ones of their
        kind."""
        raise self.without("networks")

    def own_network(self, driver: Any, who: Who) -> Net | None:
        """The network that was made for an instance."""
        raise self.without("networks")

    def make_network(self, driver: Any, who: Who, new: NewNet) -> None:
        """Make a network."""
        raise self.without("networks")

    def destroy_network(self, driver: Any, who: Who) -> None:
        """Have the network of an instance removed."""
        raise self.without("networks")

    def nic(self, driver: Any, who: Who) -> Nic | None:
        """The port of an instance."""
        raise self.without("ports of machines")

    def make_nic(self, driver: Any, who: Who, new: NewNic) -> None:
        """Make a port on a network."""
        raise self.without("ports of machines")

    def attach_nic(self, driver: Any, who: Who, machine: str, order: int | None) -> None:
        """Attach the port of an instance to a machine, as that one of its ports."""
        raise self.without("ports of machines")

    def destroy_nic(self, driver: Any, who: Who) -> None:
        """Take the port of an instance from its machine, and have it removed."""
        raise self.without("ports of machines")

    # ------------------------------------------------------------------------------------------ groups, addresses

    has_groups: bool = False
    """Whether there are security groups."""

    def open(self, driver: Any, name: str, who: Who, ways: Iterable[Way]) -> None:
        """Let through to a group, made for it where it is not there, what is listed, and of that what is missing."""
        raise self.without("security groups")

    def destroy_group(self, driver: Any, name: str) -> None:
        """Remove a group, where nothing is in it any more."""
        raise self.without("security groups")

    def float(self, driver: Any, who: Who, node: Any) -> str:
        """Give a machine a floating address, and tell which, if it has none yet."""
        raise self.without("floating addresses")

    def sink(self, driver: Any, who: Who) -> None:
        """Give the floating address of an instance back, if it has one."""

    def without(self, what: str) -> Unsupported:
        """That the driver cannot do something."""
        return Unsupported(
            f"the driver {self.settings.driver} of libcloud makes no {what}; make them in the cloud, and name them"
        )


def state_of(node: Any) -> str:
    """The state that a machine is in, "" where that is none of those."""
    state = getattr(node.state, "value", node.state)
    return STATES.get(str(state).lower(), "")


def named(found: Iterable[Any], wanted: str, what: str, setting: str) -> Any:
    """What has that id or name. Raises ``Unsupported`` with what there is."""
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
    """For whom something is made: the deployment, its instance, the node, and the job that makes it."""

    ensemble: str
    instance: str
    node: str = ""
    job: str = ""

    @property
    def labels(self) -> dict[str, str]:
        """What is attached to it. By the first two it is found."""
        return {ENSEMBLE: self.ensemble, INSTANCE: self.instance, NODE: self.node, JOB: self.job}

    @property
    def name(self) -> str:
        """Its name: of small letters, digits and ``-``, at most 63, unlike that of any other instance anywhere."""
        return name_of(self.ensemble, self.instance)

    @property
    def token(self) -> str:
        """What makes two requests of one job the same to a cloud that knows such tokens."""
        return _digest(self.ensemble, self.instance, self.job, length=40)


def who_of(asked: Delegation) -> Who:
    """For whom a provider is asked."""
    return Who(asked.ensemble, asked.instance, asked.node, asked.job)


def name_of(ensemble: str, instance: str) -> str:
    """The name of what is made for an instance: readable, and not to be mistaken for another's by its end."""
    readable = re.sub(r"[^a-z0-9]+", "-", instance.lower()).strip("-")[:LONGEST].strip("-")
    return f"{prefix_of(ensemble)}{readable or 'x'}-{_digest(ensemble, instance, length=8)}"


def prefix_of(ensemble: str) -> str:
    """What the names of everything begin with that belongs to a deployment."""
    return f"{PREFIX}-{_digest(ensemble, length=6)}-"


def _digest(*parts: str, length: int) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:length]
