"""Networks of a cloud, and the ports that connect machines to them (TOSCA 1.3 §8.5)."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from typing import Any

from ordito.base.sensitive import revealed
from ordito.providers.cloud.api import Api
from ordito.providers.cloud.dialect import CloudDialect, Net, NewNet, NewNic, Nic, Unsupported, Who, who_of
from ordito.providers.cloud.settings import CloudSettings
from ordito.providers.cloud.waiting import until
from ordito.work.providing import Delegation, Far, Provided, ProviderFailed, ProviderFinding
from ordito.work.targets import HOST

ID, NAME, SEGMENT = "network_id", "network_name", "segmentation_id"
MAKING = ("cidr", "start_ip", "end_ip", "gateway_ip", SEGMENT, "network_type", "physical_network")
"""The properties that only a network to be made can have."""

FALSE = (False, "false")


class Networks:
    """Makes networks, or finds existing ones."""

    def __init__(self, settings: CloudSettings, api: Api, dialect: CloudDialect) -> None:
        self._settings = settings
        self._api = api
        self._dialect = dialect

    async def create(self, asked: Delegation) -> Provided:
        """Find a network that is given by its id, or only by its name; make any other."""
        who, doing = who_of(asked), f"making {asked.instance}"
        if not _is_new(asked):
            net = await self._existing(asked)
            if net is None:
                raise ProviderFailed(
                    f"{asked.instance}: there is no network {_named(asked)} in the cloud; give it a `cidr` to create it"
                )
            return Provided(_attributes(net), f"network {net.id}, which existed before")
        made = await self._api.run(doing, lambda driver: self._make(driver, who, asked))
        net, there = await until(self._settings, lambda: self._own(who), lambda n: n is not None)
        if net is None or not there:
            raise ProviderFailed(f"{doing} failed: the network is not there after {self._settings.timeout:g} s")
        return Provided(_attributes(net), f"{'made' if made else 'found'} network {net.id}")

    def _make(self, driver: Any, who: Who, asked: Delegation) -> bool:
        if self._dialect.own_network(driver, who) is not None:
            return False
        self._dialect.make_network(driver, who, _new(who, asked))
        return True

    async def _existing(self, asked: Delegation) -> Net | None:
        name, id = _text(asked, NAME), _text(asked, ID)
        return await self._api.run(f"finding {asked.instance}", lambda driver: self._dialect.network(driver, name, id))

    async def _own(self, who: Who) -> Net | None:
        return await self._api.run(f"looking at {who.instance}", lambda driver: self._dialect.own_network(driver, who))

    async def delete(self, asked: Delegation) -> bool:
        """Remove a network that was made here; one that existed before stays."""
        if not _is_new(asked):
            return False
        who, doing = who_of(asked), f"removing {asked.instance}"
        await self._api.run(doing, lambda driver: self._dialect.destroy_network(driver, who))
        _, gone = await until(self._settings, lambda: self._own(who), lambda n: n is None)
        if not gone:
            raise ProviderFailed(f"{doing} failed: the network is still there; retry later")
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether a network exists."""
        net = await self._own(who_of(asked)) if _is_new(asked) else await self._existing(asked)
        if net is None:
            return ProviderFinding("absent", message="there is no such network in the cloud")
        return ProviderFinding("ok", _attributes(net), f"network {net.id}")


class CloudPorts:
    """Makes ports, and attaches them to machines."""

    def __init__(self, settings: CloudSettings, api: Api, dialect: CloudDialect) -> None:
        self._settings = settings
        self._api = api
        self._dialect = dialect

    async def create(self, asked: Delegation) -> Provided:
        """Make a port on its network, and attach it to its machine."""
        who, doing = who_of(asked), f"making {asked.instance}"
        network = _known(asked, "link", ID)
        machine = _machine(asked)
        order = asked.properties.get("order")
        number = int(str(order)) if order is not None else None
        made = await self._api.run(doing, lambda driver: self._make(driver, who, asked, network))
        if machine:
            await self._api.run(doing, lambda driver: self._dialect.attach_nic(driver, who, machine, number))
        nic, ready = await until(
            self._settings,
            lambda: self._nic(who),
            lambda n: (
                n is not None and bool(n.addresses) and n.machine in (machine, "") and bool(n.machine or not machine)
            ),
        )
        if nic is None or not ready:
            raise ProviderFailed(f"{doing} failed: the port is not there after {self._settings.timeout:g} s")
        seen = await self._api.run(doing, lambda driver: self._seen(driver, machine)) if machine else None
        far = {f.instance: seen for f in asked.requirements.get("binding", ()) if seen is not None}
        return Provided(_of_port(nic), f"{'made' if made else 'found'} port {nic.id}", far=far)

    def _seen(self, driver: Any, machine: str) -> dict[str, object] | None:
        """The networks and ports of a machine, after a port was attached."""
        node = self._dialect.node_with(driver, machine)
        found = self._dialect.machine(driver, node) if node is not None else None
        return None if found is None else {"networks": dict(found.networks), "ports": dict(found.ports)}

    def _make(self, driver: Any, who: Who, asked: Delegation, network: str) -> bool:
        if self._dialect.nic(driver, who) is not None:
            return False
        new = NewNic(network, _text(asked, "ip_address"), _text(asked, "ip_range_start"), _text(asked, "ip_range_end"))
        self._dialect.make_nic(driver, who, new)
        return True

    async def _nic(self, who: Who) -> Nic | None:
        return await self._api.run(f"looking at {who.instance}", lambda driver: self._dialect.nic(driver, who))

    async def delete(self, asked: Delegation) -> bool:
        """Detach a port from its machine, and remove it."""
        who, doing = who_of(asked), f"removing {asked.instance}"
        await self._api.run(doing, lambda driver: self._dialect.destroy_nic(driver, who))
        _, gone = await until(self._settings, lambda: self._nic(who), lambda n: n is None)
        if not gone:
            raise ProviderFailed(f"{doing} failed: the port is still there; retry later")
        return True

    async def look(self, asked: Delegation) -> ProviderFinding:
        """Check whether a port exists, and is attached to its machine."""
        nic = await self._nic(who_of(asked))
        if nic is None:
            return ProviderFinding("absent", message="there is no such port in the cloud")
        loose = nic.machine != _machine(asked)
        return ProviderFinding(
            "error" if loose else "ok",
            _of_port(nic),
            f"port {nic.id}" + (", which is not attached to its machine" if loose else ""),
        )


def _is_new(asked: Delegation) -> bool:
    """Whether a network is to be made (§8.5.1): it is given neither by its id, nor only by its name."""
    if _text(asked, ID):
        return False
    special = any(asked.properties.get(name) not in (None, "") for name in MAKING)
    special |= asked.properties.get("dhcp_enabled") in FALSE or str(asked.properties.get("ip_version") or 4) != "4"
    return special or not _text(asked, NAME)


def _new(who: Who, asked: Delegation) -> NewNet:
    return NewNet(
        name=_text(asked, NAME) or who.name,
        cidr=_text(asked, "cidr"),
        ip_version=int(_text(asked, "ip_version") or 4),
        gateway=_text(asked, "gateway_ip"),
        start=_text(asked, "start_ip"),
        end=_text(asked, "end_ip"),
        dhcp=asked.properties.get("dhcp_enabled") not in FALSE,
        segment=_text(asked, SEGMENT),
        kind=_text(asked, "network_type"),
        physical=_text(asked, "physical_network"),
    )


def _attributes(net: Net) -> dict[str, object]:
    found: dict[str, object] = {ID: net.id, NAME: net.name}
    return {**found, SEGMENT: net.segment} if net.segment else found


def _of_port(nic: Nic) -> dict[str, object]:
    return {"ip_address": next(iter(nic.addresses), ""), "port_id": nic.id, ID: nic.network, "mac_address": nic.mac}


def _text(asked: Delegation, name: str) -> str:
    value = revealed(asked.properties.get(name))
    return "" if value is None else str(value)


def _named(asked: Delegation) -> str:
    return " ".join(f'"{text}"' for text in (_text(asked, NAME), _text(asked, ID)) if text)


def _known(asked: Delegation, requirement: str, attribute: str) -> str:
    """An attribute of the target of a requirement. Raises ``ProviderFailed`` if it is not known."""
    for far in asked.requirements.get(requirement, ()):
        value = _of_far(far, attribute)
        if value:
            return value
    raise ProviderFailed(f"{asked.instance}: its {requirement} is not known ({attribute} is missing)")


def _of_far(far: Far, attribute: str) -> str:
    return str(revealed(far.attributes.get(attribute) or far.properties.get(attribute) or ""))


def _machine(asked: Delegation) -> str:
    """The machine to which a port is bound, "" for none."""
    for far in asked.requirements.get("binding", ()):
        host = far.attributes.get(HOST)
        if isinstance(host, Mapping):
            return str(host.get("id", ""))
    return ""


# The first address of a range that nobody has.


def first_free(cidr: str, start: str, end: str, taken: Collection[str], first: int, last: int) -> str:
    """The first free address from ``start`` to ``end`` ("" for the ends of the network); a cloud gives out the
    addresses of a network from its ``first`` to its ``last`` one. Raises ``Unsupported`` if none is free."""
    network = ipaddress.ip_network(cidr, strict=False)
    lowest, highest = network[first], network[last]
    begin = max(int(ipaddress.ip_address(start)) if start else int(lowest), int(lowest))
    finish = min(int(ipaddress.ip_address(end)) if end else int(highest), int(highest))
    for number in range(begin, min(finish, begin + len(taken)) + 1):
        address = str(ipaddress.ip_address(number))
        if address not in taken:
            return address
    raise Unsupported(f"no address from {start or lowest} to {end or highest} of the network {cidr} is free")
