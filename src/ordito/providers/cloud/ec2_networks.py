"""Networks of EC2, which are subnets; ports, which are network interfaces; security groups; elastic addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ordito.providers.cloud.dialect import (
    ENSEMBLE,
    INSTANCE,
    CloudDialect,
    Net,
    NewNet,
    NewNic,
    Nic,
    Unsupported,
    Way,
    Who,
    named,
)
from ordito.providers.cloud.networks import first_free

ALIASES = ("PRIVATE", "PUBLIC")


class Ec2Networks(CloudDialect):
    """The networks of EC2."""

    # -------------------------------------------------------------------------------------------------- networks

    def network(self, driver: Any, name: str, id: str) -> Net | None:
        """A subnet; PRIVATE and PUBLIC mean the first one of the network of the settings, else of the default
        network."""
        if id:
            found = [s for s in driver.ex_list_subnets(filters={"subnet-id": id}) if name in ("", s.name, s.id)]
        elif name in ALIASES:
            found = [self._subnet(driver)]
        else:
            found = driver.ex_list_subnets(filters={"tag:Name": name})
        return _net(found[0]) if found else None

    def own_network(self, driver: Any, who: Who) -> Net | None:
        """Found by its tags."""
        found = driver.ex_list_subnets(filters=own_of(who))
        return _net(found[0]) if found else None

    def make_network(self, driver: Any, who: Who, new: NewNet) -> None:
        """Make a subnet: in the network of the settings, else in one that is made for it alone."""
        _refuse(new)
        if self.settings.network:
            vpc = self._subnet(driver).extra["vpc_id"]
        else:
            vpc = self._own_vpc(driver, who, new)
        zones = driver.ex_list_availability_zones()
        zone = self.settings.zone or zones[0].name
        with with_params(driver, "CreateSubnet", tags_of("subnet", who, new.name)):
            driver.ex_create_subnet(vpc, new.cidr, zone)

    def _own_vpc(self, driver: Any, who: Who, new: NewNet) -> str:
        found = driver.ex_list_networks(filters=own_of(who))
        if found:
            return str(found[0].id)
        with with_params(driver, "CreateVpc", tags_of("vpc", who, new.name)):
            return str(driver.ex_create_network(new.cidr).id)

    def destroy_network(self, driver: Any, who: Who) -> None:
        """Remove the subnet, and the network that was made for it."""
        for subnet in driver.ex_list_subnets(filters=own_of(who)):
            driver.ex_delete_subnet(subnet)
        for vpc in driver.ex_list_networks(filters=own_of(who)):
            driver.ex_delete_network(vpc)

    def _subnet(self, driver: Any) -> Any:
        """The subnet in which machines are made: the one that the settings name, or the first one of the network that
        they name, or of the default network."""
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
        """Found by its tags."""
        found = self._interfaces(driver, own_of(who))
        if not found:
            return None
        one = found[0]
        machine = str(one.extra["attachment"].get("instance_id") or "")
        return Nic(
            one.id, one.extra["subnet_id"], tuple(addresses_of(one)), one.extra.get("mac_address") or "", machine
        )

    def make_nic(self, driver: Any, who: Who, new: NewNic) -> None:
        """With the wanted address, or the first free one of the range."""
        subnet = driver.ex_list_subnets(filters={"subnet-id": new.network})
        if not subnet:
            raise Unsupported(f'there is no network "{new.network}" any more')
        address = new.address
        if not address and (new.start or new.end):
            taken = {a for i in self._interfaces(driver, {"subnet-id": new.network}) for a in addresses_of(i)}
            address = first_free(subnet[0].extra["cidr_block"], new.start, new.end, taken, 4, -2)
        with with_params(driver, "CreateNetworkInterface", tags_of("network-interface", who)):
            driver.ex_create_network_interface(subnet[0], private_ip_address=address or None)

    def attach_nic(self, driver: Any, who: Who, machine: str, order: int | None) -> None:
        """Attach it after the interface that every machine has from the beginning."""
        one = self._interfaces(driver, own_of(who))[0]
        if is_on(one, machine):
            return
        node = self.node_with(driver, machine)
        others = self._interfaces(driver, {"attachment.instance-id": machine})
        taken = {i.extra["attachment"].get("device_index") or 0 for i in others if is_on(i, machine)}
        asked = 1 + (order or 0)
        at = asked if asked not in taken else next(n for n in range(1, len(taken) + 2) if n not in taken)
        driver.ex_attach_network_interface_to_node(one, node, at)

    def destroy_nic(self, driver: Any, who: Who) -> None:
        """Detach it from its machine first."""
        for one in self._interfaces(driver, own_of(who)):
            attachment = one.extra["attachment"].get("attachment_id")
            if attachment:
                driver.ex_detach_network_interface(attachment, force=True)
            driver.ex_delete_network_interface(one)

    def _interfaces(self, driver: Any, filters: Mapping[str, str]) -> list[Any]:
        with with_params(driver, "DescribeNetworkInterfaces", filters_of(filters)):
            return list(driver.ex_list_network_interfaces())

    # ------------------------------------------------------------------------------------------ groups, addresses

    def open(self, driver: Any, name: str, who: Who, ways: Iterable[Way]) -> None:
        """A group that is a source of a way is made if it does not exist."""
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
            tags = tags_of("security-group", Who(who.ensemble, "", job=who.job))
            with with_params(driver, "CreateSecurityGroup", tags):
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
        """Also removes the rules of other groups that let traffic in from it."""
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
        """An elastic address, which is kept until the machine is removed."""
        found = self._elastic(driver, who)
        if not found:
            with with_params(driver, "AllocateAddress", tags_of("elastic-ip", who)):
                driver.ex_allocate_address("vpc")
            found = self._elastic(driver, who)
        if found[0].instance_id != node.id:
            driver.ex_associate_address_with_node(node, found[0], domain="vpc")
        return str(found[0].ip)

    def sink(self, driver: Any, who: Who) -> None:
        """Detach it from its machine first."""
        for one in self._elastic(driver, who):
            if one.extra.get("association_id"):
                driver.ex_disassociate_address(one, domain="vpc")
            driver.ex_release_address(one, domain="vpc")

    def _elastic(self, driver: Any, who: Who) -> list[Any]:
        with with_params(driver, "DescribeAddresses", filters_of(own_of(who))):
            return list(driver.ex_describe_all_addresses())


def _net(subnet: Any) -> Net:
    return Net(subnet.id, subnet.name, subnet.extra["vpc_id"])


def is_on(interface: Any, machine: str) -> bool:
    """Whether a network interface is attached to a machine."""
    return bool(interface.extra["attachment"].get("instance_id") == machine)


def addresses_of(interface: Any) -> list[str]:
    """The private addresses of a network interface."""
    return [str(one["private_ip"]) for one in interface.extra["private_ips"]]


def _refuse(new: NewNet) -> None:
    """Raise ``Unsupported`` for properties that subnets cannot have."""
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
    """The sources of a rule: ids of groups, and ranges of addresses."""
    return [*(p.get("group_id", "") for p in rule["group_pairs"]), *rule["cidr_ips"]]


def _way(rule: Mapping[str, Any], source: str) -> tuple[str, str, int, int]:
    return source, str(rule["protocol"]), int(rule["from_port"] or -1), int(rule["to_port"] or -1)


# Requests to EC2 as they are: tags that are part of what makes something, and filters, where libcloud has none.


@contextmanager
def with_params(driver: Any, action: str, more: Mapping[str, str]) -> Iterator[None]:
    """Add parameters to the requests for an action, inside of the ``with`` statement."""
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


def tags_of(kind: str, who: Who, name: str = "") -> dict[str, str]:
    """The parameters that give a new thing its tags from the beginning; ``kind`` is its resource type in EC2."""
    found = {"TagSpecification.1.ResourceType": kind}
    tags = {"Name": name or who.name, **{key: value for key, value in who.labels.items() if value}}
    for number, (key, value) in enumerate(tags.items(), 1):
        found |= {f"TagSpecification.1.Tag.{number}.Key": key, f"TagSpecification.1.Tag.{number}.Value": value}
    return found


def own_of(who: Who) -> dict[str, str]:
    """The filters that find the things of an instance."""
    return {f"tag:{ENSEMBLE}": who.ensemble, f"tag:{INSTANCE}": who.instance}


def filters_of(filters: Mapping[str, str]) -> dict[str, str]:
    """Filters as parameters, for requests to which libcloud cannot add filters."""
    found: dict[str, str] = {}
    for number, (name, value) in enumerate(filters.items(), 1):
        found |= {f"Filter.{number}.Name": name, f"Filter.{number}.Value.1": value}
    return found
