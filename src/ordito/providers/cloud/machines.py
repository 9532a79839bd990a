"""Computes that are machines of a cloud (TOSCA 1.3 §5.9.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ordito.base.sensitive import revealed
from ordito.providers.cloud.api import Api
from ordito.providers.cloud.choosing import disk_of, gigabytes, image_of, size_of
from ordito.providers.cloud.dialect import (
    ANYWHERE,
    BROKEN,
    GONE,
    RUNNING,
    STOPPED,
    CloudDialect,
    CloudMachine,
    Volume,
    WantedMachine,
    Way,
    Who,
    name_of,
    prefix_of,
    state_of,
    who_of,
)
from ordito.providers.cloud.settings import CloudSettings
from ordito.providers.cloud.waiting import until
from ordito.work.providing import Delegation, Far, OpenWay, Provided, ProviderFailed, ProviderFinding, Span
from ordito.work.targets import HOST

PROVIDER = "cloud"
STORAGE = "tosca.nodes.Storage.BlockStorage"
VOLUME = "volume_id"

LOOKS: Mapping[str, str] = {RUNNING: "ok", STOPPED: "error", BROKEN: "error", GONE: "absent"}


class Machines:
    """Makes, checks and removes machines."""

    def __init__(self, settings: CloudSettings, api: Api, dialect: CloudDialect) -> None:
        self._settings = settings
        self._api = api
        self._dialect = dialect

    async def create(self, asked: Delegation) -> Provided:
        """Make a machine, or find it; wait until it runs, and attach its volumes."""
        who = who_of(asked)
        doing = f"making {asked.instance}"
        made = await self._api.run(doing, lambda driver: self._make(driver, who, asked))
        machine, runs = await self._until(who, lambda m: m.state in (RUNNING, BROKEN))
        if machine is None or machine.state != RUNNING:
            raise self._not_running(asked, machine, ended=runs)
        attributes = self._attributes(machine)
        try:
            devices = await self._attach(who, asked, machine)
            if self._floats(asked):
                address = await self._api.run(doing, lambda d: self._dialect.float(d, who, self._dialect.node(d, who)))
                machine, _ = await self._until(who, lambda m: address in m.public)
        except ProviderFailed as failed:
            raise ProviderFailed(str(failed), {**attributes, **failed.made}) from failed
        if machine is not None:
            attributes = self._attributes(machine)
        said = f"{'made' if made else 'found'} {attributes[HOST]['id']} in the cloud {self._settings.driver}"
        return Provided(attributes, said, links={far: {"device": device} for far, device in devices.items()})

    def _make(self, driver: Any, who: Who, asked: Delegation) -> bool:
        """Make a machine, or start a stopped one; returns whether it was made."""
        settings, dialect = self._settings, self._dialect
        node = dialect.node(driver, who)
        if node is not None:
            if self._has_doors:
                self._open(driver, who, asked)
            if state_of(node) == STOPPED:
                dialect.start(driver, node)
            return False
        size = size_of(driver, dialect, settings, asked)
        image = image_of(driver, dialect, settings, asked)
        key_pair = settings.key_pair
        if settings.public_key:
            key_pair = key_pair or prefix_of(who.ensemble).rstrip("-")
            dialect.key_pair(driver, key_pair, settings.public_key)
        groups = settings.groups
        if self._has_doors:
            self._open(driver, who, asked)
            groups = (*groups, group_of(who.ensemble, asked.node))
        disk = disk_of(asked) if dialect.disk_is_apart else 0
        _ = dialect.make(driver, who, WantedMachine(size, image, disk, groups, key_pair))
        return True

    @property
    def _has_doors(self) -> bool:
        return self._settings.doors and self._dialect.has_groups

    def _open(self, driver: Any, who: Who, asked: Delegation) -> None:
        """Open the ways to the machine, and from it to others."""
        for group, ways in ways_of(asked, self._settings).items():
            self._dialect.open(driver, group, who, ways)

    async def _attach(self, who: Who, asked: Delegation, machine: CloudMachine) -> dict[str, str]:
        """Attach the volumes that the machine requires; returns their devices."""
        devices: dict[str, str] = {}
        for far in (f for fars in asked.requirements.values() for f in fars if STORAGE in f.kinds):
            id = str(revealed(far.attributes.get(VOLUME) or far.properties.get(VOLUME) or ""))
            if not id:
                raise ProviderFailed(f"{far.instance} has no volume_id, so that it cannot be attached")
            devices[far.instance] = await self._attach_one(who, asked, far, id, machine.id)
        return devices

    async def _attach_one(self, who: Who, asked: Delegation, far: Far, id: str, machine: str) -> str:
        doing = f"attaching {far.instance} to {asked.instance}"
        device = str(far.relationship.get("device") or "")
        volume = await self._api.run(doing, lambda d: self._dialect.volume(d, who, id))
        if volume is None:
            raise ProviderFailed(f'{doing} failed: there is no volume "{id}"')
        if volume.machine not in ("", machine):
            raise ProviderFailed(f"{doing} failed: volume {id} is attached to {volume.machine}")
        if not volume.machine:
            await self._api.run(doing, lambda d: self._dialect.attach(d, self._dialect.node(d, who), id, device))
        volume, done = await until(
            self._settings,
            lambda: self._api.run(doing, lambda d: self._dialect.volume(d, who, id)),
            lambda v: v is not None and v.machine == machine and bool(v.device),
        )
        if not done or volume is None:
            raise ProviderFailed(f"{doing} failed: it was not attached within {self._settings.timeout:g} s")
        return volume.device

    async def _until(self, who: Who, enough: Any) -> tuple[CloudMachine | None, bool]:
        return await until(
            self._settings, lambda: self.machine(who), lambda machine: machine is not None and enough(machine)
        )

    async def machine(self, who: Who) -> CloudMachine | None:
        """The present machine of an instance."""
        dialect = self._dialect

        def look(driver: Any) -> CloudMachine | None:
            node = dialect.node(driver, who)
            return None if node is None else dialect.machine(driver, node)

        return await self._api.run(f"looking at {who.instance}", look)

    def _not_running(self, asked: Delegation, machine: CloudMachine | None, *, ended: bool) -> ProviderFailed:
        if machine is None:
            return ProviderFailed(f"{asked.instance} was made in the cloud, but no longer exists")
        how = f"it is {machine.state}" if ended else f"it does not run after {self._settings.timeout:g} s"
        return ProviderFailed(
            f"{asked.instance} is machine {machine.id}, and {how}: look at it in the cloud, and retry",
            self._attributes(machine),
        )

    def _attributes(self, machine: CloudMachine) -> dict[str, Any]:
        found: dict[str, Any] = {HOST: {"provider": PROVIDER, "id": machine.id}}
        found["private_address"] = next(iter(machine.private), "") or next(iter(machine.public), "")
        found["public_address"] = next(iter(machine.public), "") or next(iter(machine.private), "")
        return {**found, "networks": dict(machine.networks), "ports": dict(machine.ports)}

    def _floats(self, asked: Delegation) -> bool:
        """Whether an endpoint on the machine asks for a floating address (§5.5.8)."""
        return any(endpoint.floating for endpoint in asked.endpoints)

    async def delete(self, asked: Delegation) -> bool:
        """Remove a machine and everything that was made for it alone, and wait until it is gone."""
        who, dialect = who_of(asked), self._dialect
        doing = f"removing {asked.instance}"

        def remove(driver: Any) -> None:
            dialect.sink(driver, who)
            node = dialect.node(driver, who)
            if node is not None:
                dialect.destroy(driver, node)

        await self._api.run(doing, remove)
        machine, gone = await until(self._settings, lambda: self.machine(who), lambda m: m is None)
        if not gone and machine is not None:
            raise ProviderFailed(f"{doing} failed: {machine.id} is still {machine.state or 'there'}; retry later")
        if self._has_doors:
            await self._api.run(doing, lambda driver: self._close(driver, who))
        return True

    def _close(self, driver: Any, who: Who) -> None:
        """Remove the security group of a node that has no machine any more."""
        others = [n for n in self._dialect.nodes(driver, who.ensemble) if self._dialect.node_of(n) == who.node]
        if all(state_of(node) == GONE for node in others):
            self._dialect.destroy_group(driver, group_of(who.ensemble, who.node))

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether a machine exists and runs."""
        machine = await self.machine(who_of(asked))
        if machine is None:
            return ProviderFinding("absent", message="there is no such machine in the cloud")
        status = LOOKS.get(machine.state, "degraded")
        return ProviderFinding(
            status, self._attributes(machine), f"machine {machine.id} is {machine.state or 'changing'}"
        )


# Which ways have to be open between the machines of a deployment: those of the connections of what stands on them
# (§8.2), those of public endpoints for everybody, and that by which the program itself reaches them.

EVERY: Span = (0, 65_535)
SSH_PORT = 22


def group_of(ensemble: str, node: str) -> str:
    """The name of the security group of all machines of a node."""
    return name_of(ensemble, f"{node}/group")


def ways_of(asked: Delegation, settings: CloudSettings) -> dict[str, list[Way]]:
    """The ways to and from a Compute, by the group that lets them in. Its own group is always included."""
    found: dict[str, set[Way]] = {group_of(asked.ensemble, asked.node): set()}
    for connection in asked.connections:
        for begins, ends, spans in _directions(connection):
            if begins and ends:
                source = group_of(asked.ensemble, begins)
                ways = {Way(source, connection.protocol, first, last) for first, last in spans or (EVERY,)}
                found.setdefault(group_of(asked.ensemble, ends), set()).update(ways)
    own = found[group_of(asked.ensemble, asked.node)]
    if settings.admits and not settings.groups:
        port = int(str(settings.connection.get("port", SSH_PORT)))
        own.add(Way(settings.admits, "tcp", port, port))
    for endpoint in asked.endpoints:
        if endpoint.public:
            own |= {Way(ANYWHERE, endpoint.protocol, first, last) for first, last in endpoint.ports}
    return {group: sorted(ways) for group, ways in found.items()}


def _directions(connection: OpenWay) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    """For each direction of a connection: the end that connects, the other end, and the ports of that (§8.3.1)."""
    if connection.initiator != "target":
        yield connection.source_host, connection.target_host, connection.ports
    if connection.initiator in {"target", "peer"} and connection.relationship:
        yield connection.target_host, connection.source_host, connection.source_ports


# Block storage that is volumes of a cloud (TOSCA 1.3 §5.9.11).

SIZE, BLOCK_STORAGE, SNAPSHOT = "size", "volume_id", "snapshot_id"


class Volumes:
    """Makes, checks and removes volumes."""

    def __init__(self, settings: CloudSettings, api: Api, dialect: CloudDialect) -> None:
        self._settings = settings
        self._api = api
        self._dialect = dialect

    async def create(self, asked: Delegation) -> Provided:
        """Make a volume, or find it. One that ``volume_id`` names exists already; its size is not checked."""
        who, given = who_of(asked), self._given(asked)
        doing = f"making {asked.instance}"
        if given:
            volume = await self._api.run(doing, lambda d: self._dialect.volume(d, who, given))
            if volume is None:
                raise ProviderFailed(
                    f'{asked.instance}: there is no volume "{given}" in the cloud: look at `volume_id`'
                )
            return Provided({BLOCK_STORAGE: volume.id}, f"volume {volume.id}, which existed before")
        made = await self._api.run(doing, lambda driver: self._make(driver, who, asked))
        volume, ready = await until(self._settings, lambda: self._volume(who), lambda v: v is not None and v.ready)
        if volume is None or not ready:
            raise ProviderFailed(f"{doing} failed: the volume is not ready after {self._settings.timeout:g} s")
        return Provided({BLOCK_STORAGE: volume.id}, f"{'made' if made else 'found'} volume {volume.id}")

    def _make(self, driver: Any, who: Who, asked: Delegation) -> bool:
        if self._dialect.volume(driver, who) is not None:
            return False
        wanted, snapshot = str(revealed(asked.properties.get(SIZE) or "0 B")), asked.properties.get(SNAPSHOT)
        size = gigabytes(wanted)
        if not size and not snapshot:
            raise ProviderFailed(f"{asked.instance}: a new volume needs its `size`")
        self._dialect.make_volume(driver, who, size, str(revealed(snapshot or "")))
        return True

    async def _volume(self, who: Who) -> Volume | None:
        return await self._api.run(f"looking at {who.instance}", lambda driver: self._dialect.volume(driver, who))

    def _given(self, asked: Delegation) -> str:
        return str(revealed(asked.properties.get(BLOCK_STORAGE) or ""))

    async def delete(self, asked: Delegation) -> bool:
        """Remove a volume that was made here; one that existed before stays, with its data."""
        who = who_of(asked)
        if self._given(asked):
            return False
        doing = f"removing {asked.instance}"
        volume = await self._volume(who)
        if volume is None:
            return True
        if volume.machine:
            await self._api.run(doing, lambda d: self._dialect.detach(d, volume.id))
            _ = await until(self._settings, lambda: self._volume(who), lambda v: v is None or not v.machine)
        await self._api.run(doing, lambda d: self._dialect.destroy_volume(d, volume.id))
        _, gone = await until(self._settings, lambda: self._volume(who), lambda v: v is None)
        if not gone:
            raise ProviderFailed(f"{doing} failed: volume {volume.id} is still there; retry later")
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether a volume exists."""
        given = self._given(asked)
        volume = await self._api.run(
            f"looking at {asked.instance}", lambda driver: self._dialect.volume(driver, who_of(asked), given)
        )
        if volume is None:
            return ProviderFinding("absent", message="there is no such volume in the cloud")
        attached = f", attached to {volume.machine}" if volume.machine else ""
        return ProviderFinding(
            "ok" if volume.ready else "degraded", {BLOCK_STORAGE: volume.id}, f"volume {volume.id}{attached}"
        )
