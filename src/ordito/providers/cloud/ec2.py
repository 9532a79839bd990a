"""EC2, and clouds that speak its language: what belongs to a deployment has tags, which are part of the requests that
make it. Networks are subnets, ports are network interfaces, floating addresses are elastic ones."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ordito.providers.cloud.dialect import (
    Dialect,
    Machine,
    Net,
    NewNet,
    NewNic,
    Nic,
    Unsupported,
    Wanted,
    Way,
    named,
)
from ordito.providers.cloud.free_addresses import first_free
from ordito.providers.cloud.naming import ENSEMBLE, INSTANCE, NODE, Who

DEVICES = tuple(f"/dev/sd{letter}" for letter in "fghijklmnop")
ARM = frozenset({"arm64", "aarch64", "arm"})
ALIASES = ("PRIVATE", "PUBLIC")
NOT_THERE = ("notfound", "not found", "does not exist")


class Ec2(Dialect):
    """EC2 by its own API."""

    arguments: Mapping[str, object] = {"signature_version": "4"}
    disk_is_apart = True
    has_groups = True

    def opened(self, driver: Any) -> Any:
        """A driver that understands answers whose namespace lacks the last slash, as those of some servers do."""
        from libcloud.compute.drivers.ec2 import NAMESPACE, EC2Response

        class Response(EC2Response):
            def parse_body(self) -> Any:
                text = self.body if isinstance(self.body, str) else (self.body or b"").decode()
                self.body = text.replace(f'{NAMESPACE.rstrip("/")}"', f'{NAMESPACE}"')
                return super().parse_body()  # type: ignore[no-untyped-call]  # it is so there

            def parse_error(self) -> Any:
                said = super().parse_error()  # type: ignore[no-untyped-call]
                return said or " ".join(re.sub(r"<[^>]*>", " ", str(self.body)).split())

        if driver.connection.responseCls is EC2Response:
            driver.connection.responseCls = Response
        return driver

    # ------------------------------------------------------------------------------------------------- machines

    def nodes(self, driver: Any, ensemble: str) -> list[Any]:
        """Those with the tag of the deployment."""
        return list(driver.list_nodes(ex_filters={f"tag:{ENSEMBLE}": ensemble}))

    def node_with(self, driver: Any, id: str) -> Any | None:
        """It is asked for alone."""
        return next(iter(driver.list_nodes(ex_node_ids=[id])), None)

    def is_of(self, node: Any, who: Who) -> bool:
        """By its tags."""
        tags = node.extra.get("tags", {})
        return bool(tags.get(ENSEMBLE) == who.ensemble and tags.get(INSTANCE) == who.instance)

    def instance(self, node: Any) -> str:
        """As its tag says."""
        return str(node.extra.get("tags", {}).get(INSTANCE, ""))

    def node_of(self, node: Any) -> str:
        """As its tag says."""
        return str(node.extra.get("tags", {}).get(NODE, ""))

    def make(self, driver: Any, who: Who, wanted: Wanted) -> Any:
        """libcloud makes the tags part of the request; that of a job that is repeated makes nothing more."""
        more: dict[str, Any] = {"ex_metadata": who.labels, "ex_clienttoken": who.token}
        if wanted.key_pair:
            more["ex_keyname"] = wanted.key_pair
        if wanted.groups or self.settings.network:
            subnet = self._subnet(driver)
            more["ex_subnet"] = subnet
            if wanted.groups:
                more["ex_security_group_ids"] = self._group_ids(driver, subnet.extra["vpc_id"], wanted.groups)
        if self.settings.zone:
            more["location"] = self.location(driver)
        if wanted.disk:
            mapping = wanted.image.extra.get("block_device_mapping") or [{"device_name": "/dev/sda1"}]
            more["ex_blockdevicemappings"] = [
                {
                    "DeviceName": mapping[0]["device_name"],
                    "Ebs.VolumeSize": wanted.disk,
                    "Ebs.DeleteOnTermination": "true",
                }
            ]
        return driver.create_node(name=who.name, size=wanted.size, image=wanted.image, **more)

    def machine(self, driver: Any, node: Any) -> Machine:
        """With the networks and ports that its interfaces are on, in their order."""
        interfaces = [i for i in self._interfaces(driver, {"attachment.instance-id": node.id}) if _is_on(i, node.id)]
        interfaces.sort(key=lambda i: i.extra["attachment"].get("device_index") or 0)
        ids = list(dict.fromkeys(i.extra["subnet_id"] for i in interfaces))
        names = {s.id: s.name for s in driver.ex_list_subnets(subnet_ids=ids)} if ids else {}
        networks: dict[str, Any] = {}
        ports: dict[str, Any] = {}
        for interface in interfaces:
            id = interface.extra["subnet_id"]
            name, addresses = names.get(id, id), _addresses(interface)
            network = networks.setdefault(name, {"network_name": name, "network_id": id, "addresses": []})
            network["addresses"].extend(addresses)
            ports[interface.name] = {
                "port_name": interface.name,
                "port_id": interface.id,
                "network_id": id,
                "mac_address": interface.extra.get("mac_address") or "",
                "addresses": addresses,
            }
        own = super().machine(driver, node)
        private = tuple(dict.fromkeys(a for p in ports.values() for a in p["addresses"])) or own.private
        return Machine(own.id, own.name, own.state, private, own.public, networks, ports, own.instance)

    def location(self, driver: Any) -> Any:
        """An availability zone."""
        zone = self.settings.zone
        known = [place for place in driver.list_locations() if place.availability_zone is not None]
        found = next((p for p in known if zone in (p.availability_zone.name, p.name)), None)
        if found is None:
            names = ", ".join(sorted(p.availability_zone.name for p in known)[:8])
            raise Unsupported(f'there is no place "{zone}" ({names}): look at `zone`')
        return found

    def sizes(self, driver: Any, architecture: str) -> list[Any]:
        """Those of the present generation, with processors of the architecture; a Compute that says nothing is x86."""
        arm = architecture in ARM
        return [
            s
            for s in driver.list_sizes()
            if (self.settings.sizes or s.extra.get("currentGeneration") != "No")
            and ("graviton" in str(s.extra.get("physicalProcessor")).lower()) == arm
        ]

    def image(self, driver: Any, wanted: str) -> Any | None:
        """By its id, else the newest of that name."""
        if wanted.startswith("ami-"):
            found = driver.list_images(ex_filters={"image-id": wanted})
        else:
            found = driver.list_images(ex_filters={"name": wanted})
        return max(found, key=lambda i: str(i.extra.get("creation_date") or ""), default=None)

    # --------------------------------------------------------------------------------------------------- volumes

    def _volume(self, driver: Any, who: Who, id: str) -> Any | None:
        filters = {"volume-id": id} if id else _own(who)
        return next((v for v in driver.list_volumes(ex_filters=filters) if not id or v.id == id), None)

    def make_volume(self, driver: Any, who: Who, size: int, snapshot: str) -> None:
        """The tags are part of the request; libcloud sets a name after it, which is one of them."""
        driver.ex_create_tags = lambda *_: False
        try:
            with _with_params(driver, "CreateVolume", {**_tags("volume", who), "ClientToken": who.token}):
                super().make_volume(driver, who, size, snapshot)
        finally:
            del driver.ex_create_tags

    def snapshot(self, driver: Any, id: str) -> Any:
        """Whether or not its volume is still there."""
        from libcloud.compute.base import VolumeSnapshot

        return driver.list_snapshots(snapshot=VolumeSnapshot(id, driver))[0]

    def attach(self, driver: Any, node: Any, id: str, device: str) -> None:
        """At the device that is asked for, else at the next one."""
        taken = {mapping["device_name"] for mapping in node.extra.get("block_device_mapping", ())}
        free = device or next((d for d in DEVICES if d not in taken), "")
        if not free:
            raise Unsupported(f"{node.name} has no device for another volume: give the relationship a `device`")
        super().attach(driver, node, id, free)

    def detach(self, driver: Any, id: str) -> None:
        """With the machine, which some servers want to be told."""
        (volume,) = driver.list_volumes(ex_filters={"volume-id": id})
        with _with_params(driver, "DetachVolume", {"InstanceId": str(volume.extra.get("instance_id") or "")}):
            driver.detach_volume(volume)

    def attachment(self, extra: Mapping[str, Any]) -> tuple[str, str]:
        """As it stands."""
        return str(extra.get("instance_id") or ""), str(extra.get("device") or "")

    # -------------------------------------------------------------------------------------------------- networks

    def network(self, driver: Any, name: str, id: str) -> Net | None:
        """A subnet; PRIVATE and PUBLIC are the first one of the settings' network, else of the default one."""
        if id:
            found = [s for s in driver.ex_list_subnets(filters={"subnet-id": id}) if name in ("", s.name, s.id)]
        elif name in ALIASES:
            found = [self._subnet(driver)]
        else:
            found = driver.ex_list_subnets(filters={"tag:Name": name})
        return _net(found[0]) if found else None

    def own_network(self, driver: Any, who: Who) -> Net | None:
        """By its tags."""
        found = driver.ex_list_subnets(filters=_own(who))
        return _net(found[0]) if found else None

    def make_network(self, driver: Any, who: Who, new: NewNet) -> None:
        """A subnet: in the network that the settings name, else in one that is made for it alone."""
        _refuse(new)
        if self.settings.network:
            vpc = self._subnet(driver).extra["vpc_id"]
        else:
            vpc = self._own_vpc(driver, who, new)
        zones = driver.ex_list_availability_zones()
        zone = self.settings.zone or zones[0].name
        with _with_params(driver, "CreateSubnet", _tags("subnet", who, new.name)):
            driver.ex_create_subnet(vpc, new.cidr, zone)

    def _own_vpc(self, driver: Any, who: Who, new: NewNet) -> str:
        found = driver.ex_list_networks(filters=_own(who))
        if found:
            return str(found[0].id)
        with _with_params(driver, "CreateVpc", _tags("vpc", who, new.name)):
            return str(driver.ex_create_network(new.cidr).id)

    def destroy_network(self, driver: Any, who: Who) -> None:
        """The subnet, and the network that was made for it."""
        for subnet in driver.ex_list_subnets(filters=_own(who)):
            driver.ex_delete_subnet(subnet)
        for vpc in driver.ex_list_networks(filters=_own(who)):
            driver.ex_delete_network(vpc)

    def _subnet(self, driver: Any) -> Any:
        """The subnet in which machines are made: that which the settings name, the first of the network that they name,
        or the first of the default network."""
        wanted = self.settings.network
        subnets = sorted(driver.ex_list_subnets(), key=lambda s: (s.extra.get("zone") or "", s.id))
        if self.settings.zone:
            self.location(driver)  # It must exist.
            subnets = [s for s in subnets if s.extra.get("zone") == self.settings.zone]
        found = [s for s in subnets if wanted in (s.id, s.name)] if wanted else []
        if not found:
            vpcs = driver.ex_list_networks()
            vpc = (
                named(vpcs, wanted, "network", "network").id
                if wanted
                else next((v.id for v in vpcs if v.extra.get("is_default") == "true"), "")
            )
            found = [s for s in subnets if s.extra["vpc_id"] == vpc]
        if not found:
            raise Unsupported("there is no subnet to make machines in: name one with `network`")
        return found[0]

    # ----------------------------------------------------------------------------------------------------- ports

    def nic(self, driver: Any, who: Who) -> Nic | None:
        """By its tags."""
        found = self._interfaces(driver, _own(who))
        if not found:
            return None
        one = found[0]
        machine = str(one.extra["attachment"].get("instance_id") or "")
        return Nic(one.id, one.extra["subnet_id"], tuple(_addresses(one)), one.extra.get("mac_address") or "", machine)

    def make_nic(self, driver: Any, who: Who, new: NewNic) -> None:
        """With the address that is asked for, or the first of the range that nobody has."""
        subnet = driver.ex_list_subnets(filters={"subnet-id": new.network})
        if not subnet:
            raise Unsupported(f'there is no network "{new.network}" any more')
        address = new.address
        if not address and (new.start or new.end):
            taken = {a for i in self._interfaces(driver, {"subnet-id": new.network}) for a in _addresses(i)}
            address = first_free(subnet[0].extra["cidr_block"], new.start, new.end, taken, 4, -2)
        with _with_params(driver, "CreateNetworkInterface", _tags("network-interface", who)):
            driver.ex_create_network_interface(subnet[0], private_ip_address=address or None)

    def attach_nic(self, driver: Any, who: Who, machine: str, order: int | None) -> None:
        """After the interface that every machine is made with."""
        one = self._interfaces(driver, _own(who))[0]
        if _is_on(one, machine):
            return
        node = self.node_with(driver, machine)
        others = self._interfaces(driver, {"attachment.instance-id": machine})
        taken = {i.extra["attachment"].get("device_index") or 0 for i in others if _is_on(i, machine)}
        asked = 1 + (order or 0)
        at = asked if asked not in taken else next(n for n in range(1, len(taken) + 2) if n not in taken)
        driver.ex_attach_network_interface_to_node(one, node, at)

    def destroy_nic(self, driver: Any, who: Who) -> None:
        """It is taken from its machine first."""
        for one in self._interfaces(driver, _own(who)):
            attachment = one.extra["attachment"].get("attachment_id")
            if attachment:
                driver.ex_detach_network_interface(attachment, force=True)
            driver.ex_delete_network_interface(one)

    def _interfaces(self, driver: Any, filters: Mapping[str, str]) -> list[Any]:
        with _with_params(driver, "DescribeNetworkInterfaces", _filters(filters)):
            return list(driver.ex_list_network_interfaces())

    # ------------------------------------------------------------------------------------------ groups, addresses

    def open(self, driver: Any, name: str, who: Who, ways: Iterable[Way]) -> None:
        """Ways from a group that is not there yet make that as well."""
        vpc = self._subnet(driver).extra["vpc_id"]
        group = self._group(driver, name, who, vpc)
        known = {_way(rule, pair) for rule in group.ingress_rules for pair in _pairs(rule)}
        for way in ways:
            source = way.source if way.is_range else self._group(driver, way.source, who, vpc).id
            if (source, way.protocol, way.first, way.last) in known:
                continue
            given: dict[str, Any] = {"cidr_ips": [source]} if way.is_range else {"group_pairs": [{"group_id": source}]}
            driver.ex_authorize_security_group_ingress(group.id, way.first, way.last, protocol=way.protocol, **given)

    def _group(self, driver: Any, name: str, who: Who, vpc: str) -> Any:
        filters = {"group-name": name, "vpc-id": vpc}
        found = driver.ex_get_security_groups(filters=filters)
        if not found:
            tags = _tags("security-group", Who(who.ensemble, "", job=who.job))
            with _with_params(driver, "CreateSecurityGroup", tags):
                driver.ex_create_security_group(name, f"{name}, by Ordito", vpc)
            found = driver.ex_get_security_groups(filters=filters)
        return found[0]

    def _group_ids(self, driver: Any, vpc: str, names: Iterable[str]) -> list[str]:
        known = {g.name: g.id for g in driver.ex_get_security_groups(filters={"vpc-id": vpc})}
        ids = {*known.values()}
        missing = [n for n in names if n not in known and n not in ids]
        if missing:
            raise Unsupported(f'there is no security group "{missing[0]}" in the network {vpc}: look at `groups`')
        return [known.get(n, n) for n in names]

    def destroy_group(self, driver: Any, name: str) -> None:
        """And what others let in from it."""
        for group in driver.ex_get_security_groups(filters={"group-name": name}):
            for other in driver.ex_get_security_groups(filters={"ip-permission.group-id": group.id}):
                for rule in other.ingress_rules:
                    if any(pair.get("group_id") == group.id for pair in rule["group_pairs"]):
                        driver.ex_revoke_security_group_ingress(
                            other.id,
                            rule["from_port"],
                            rule["to_port"],
                            group_pairs=[{"group_id": group.id}],
                            protocol=rule["protocol"],
                        )
            driver.ex_delete_security_group_by_id(group.id)

    def float(self, driver: Any, who: Who, node: Any) -> str:
        """An elastic address, which is kept until the machine goes."""
        found = self._elastic(driver, who)
        if not found:
            with _with_params(driver, "AllocateAddress", _tags("elastic-ip", who)):
                driver.ex_allocate_address("vpc")
            found = self._elastic(driver, who)
        if found[0].instance_id != node.id:
            driver.ex_associate_address_with_node(node, found[0], domain="vpc")
        return str(found[0].ip)

    def sink(self, driver: Any, who: Who) -> None:
        """It is taken from its machine first."""
        for one in self._elastic(driver, who):
            if one.extra.get("association_id"):
                driver.ex_disassociate_address(one, domain="vpc")
            driver.ex_release_address(one, domain="vpc")

    def _elastic(self, driver: Any, who: Who) -> list[Any]:
        with _with_params(driver, "DescribeAddresses", _filters(_own(who))):
            return list(driver.ex_describe_all_addresses())


# --------------------------------------------------------------------------------------------------------- requests


@contextmanager
def _with_params(driver: Any, action: str, more: Mapping[str, str]) -> Iterator[None]:
    """Requests for an action carry more than libcloud gives them."""
    connection = driver.connection
    request = connection.request

    def with_more(path: str, params: dict[str, Any] | None = None, **given: Any) -> Any:
        if params is not None and params.get("Action") == action:
            params = {**params, **more}
        return request(path, params=params, **given)

    connection.request = with_more
    try:
        yield
    finally:
        del connection.request


def _tags(kind: str, who: Who, name: str = "") -> dict[str, str]:
    found = {"TagSpecification.1.ResourceType": kind}
    tags = {"Name": name or who.name, **{key: value for key, value in who.labels.items() if value}}
    for number, (key, value) in enumerate(tags.items(), 1):
        found |= {f"TagSpecification.1.Tag.{number}.Key": key, f"TagSpecification.1.Tag.{number}.Value": value}
    return found


def _own(who: Who) -> dict[str, str]:
    return {f"tag:{ENSEMBLE}": who.ensemble, f"tag:{INSTANCE}": who.instance}


def _filters(filters: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, (name, value) in enumerate(filters.items(), 1):
        found |= {f"Filter.{number}.Name": name, f"Filter.{number}.Value.1": value}
    return found


def _net(subnet: Any) -> Net:
    return Net(subnet.id, subnet.name, subnet.extra["vpc_id"], bool(subnet.extra.get("tags", {}).get(INSTANCE)))


def _is_on(interface: Any, machine: str) -> bool:
    return bool(interface.extra["attachment"].get("instance_id") == machine)


def _addresses(interface: Any) -> list[str]:
    return [str(one["private_ip"]) for one in interface.extra["private_ips"]]


def _refuse(new: NewNet) -> None:
    """Refuse what subnets cannot be. Raises ``Unsupported``."""
    if not new.cidr:
        raise Unsupported("a new network needs its `cidr` here")
    gateway = str(next(iter(ipaddress.ip_network(new.cidr, strict=False).hosts()), ""))
    refused = {
        "ip_version 6": new.ip_version != 4,
        "dhcp_enabled false": not new.dhcp,
        f"another gateway_ip than {gateway}": bool(new.gateway) and new.gateway != gateway,
        "start_ip and end_ip (give the ports ip_range_start and ip_range_end)": bool(new.start or new.end),
        "a segmentation_id of your choice": bool(new.segment),
        "network_type": bool(new.kind),
        "physical_network": bool(new.physical),
    }
    for what, asked in refused.items():
        if asked:
            raise Unsupported(f"networks of EC2 do not have {what}")


def _pairs(rule: Mapping[str, Any]) -> list[str]:
    """From where a rule lets in: ids of groups, and ranges of addresses."""
    return [*(p.get("group_id", "") for p in rule["group_pairs"]), *rule["cidr_ips"]]


def _way(rule: Mapping[str, Any], source: str) -> tuple[str, str, int, int]:
    return source, str(rule["protocol"]), int(rule["from_port"] or -1), int(rule["to_port"] or -1)
