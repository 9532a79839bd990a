"""OpenStack: machines are marked by metadata, everything else by names; both are part of the requests that make them.
Networks, ports and rules use OpenStack's own API, of which libcloud supports less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ordito.base.sensitive import revealed
from ordito.providers.cloud.dialect import (
    ENSEMBLE,
    INSTANCE,
    NODE,
    CloudDialect,
    CloudMachine,
    Net,
    NewNet,
    NewNic,
    Nic,
    Unsupported,
    WantedMachine,
    Way,
    Who,
    named,
)
from ordito.providers.cloud.networks import first_free
from ordito.work.providing import Material

NETWORKS, SUBNETS, PORTS = "/v2.0/networks", "/v2.0/subnets", "/v2.0/ports"
ADDRESSES, GROUPS, RULES = "/v2.0/floatingips", "/v2.0/security-groups", "/v2.0/security-group-rules"
EXTERNAL = "router:external"


class OpenStack(CloudDialect):
    """OpenStack: by libcloud as far as it goes, else by its network and image APIs."""

    arguments: Mapping[str, object] = {"api_version": "2.2", "ex_force_auth_version": "3.x_password"}
    has_groups = True

    # ------------------------------------------------------------------------------------------------- machines

    def nodes(self, driver: Any, ensemble: str) -> list[Any]:
        """The machines with the metadata of the deployment."""
        return [node for node in driver.list_nodes() if _metadata(node).get(ENSEMBLE) == ensemble]

    def is_of(self, node: Any, who: Who) -> bool:
        """Decided by the metadata of a machine, and by the name of everything else."""
        metadata = _metadata(node)
        if ENSEMBLE in metadata:
            return metadata.get(ENSEMBLE) == who.ensemble and metadata.get(INSTANCE) == who.instance
        return super().is_of(node, who)

    def instance(self, node: Any) -> str:
        """The value in its metadata."""
        return str(_metadata(node).get(INSTANCE, ""))

    def node_of(self, node: Any) -> str:
        """The value in its metadata."""
        return str(_metadata(node).get(NODE, ""))

    def make(self, driver: Any, who: Who, wanted: WantedMachine) -> Any:
        """The metadata are part of the request."""
        more: dict[str, Any] = {"ex_metadata": who.labels}
        if wanted.key_pair:
            more["ex_keyname"] = wanted.key_pair
        if self.settings.zone:
            more["ex_availability_zone"] = self.settings.zone
        if wanted.groups:
            known = {g["name"]: g for g in self._all(driver, GROUPS)} | {g["id"]: g for g in self._all(driver, GROUPS)}
            missing = [g for g in wanted.groups if g not in known]
            if missing:
                raise Unsupported(f'there is no security group "{missing[0]}": look at `groups`')
            more["ex_security_groups"] = [_NamedThing(known[g]["name"]) for g in wanted.groups]
        if self.settings.network:
            more["networks"] = [named(driver.ex_list_networks(), self.settings.network, "network", "network")]
        return driver.create_node(name=who.name, size=wanted.size, image=wanted.image, **more)

    def machine(self, driver: Any, node: Any) -> CloudMachine:
        """Includes its networks and ports."""
        own = super().machine(driver, node)
        ports = self._all(driver, PORTS, device_id=node.id)
        known = {n["id"]: n["name"] for n in self._all(driver, NETWORKS)} if ports else {}
        networks: dict[str, Any] = {}
        found: dict[str, Any] = {}
        for port in ports:
            id = port["network_id"]
            name, addresses = known.get(id, id), _addresses(port)
            networks.setdefault(name, {"network_name": name, "network_id": id, "addresses": []})["addresses"] += (
                addresses
            )
            found[port["name"] or port["id"]] = {
                "port_name": port["name"] or port["id"],
                "port_id": port["id"],
                "network_id": id,
                "mac_address": port.get("mac_address") or "",
                "addresses": addresses,
            }
        return CloudMachine(own.id, own.name, own.state, own.private, own.public, networks, found, own.instance)

    def make_image(self, driver: Any, artifact: Material) -> Any:
        """An image from the file of an artifact, with its properties unchanged (§5.4.4.3)."""
        file = Path(artifact.file)
        if not file.is_file():
            raise Unsupported(f'there is neither an image "{artifact.file}" in the cloud nor a file of that name')
        images = driver.image_connection
        given = {"name": file.name, **{name: revealed(value) for name, value in artifact.properties.items()}}
        made = images.request("/v2/images", method="POST", data=given).object
        images.encode_data = lambda data: data  # It takes everything for JSON.
        try:
            with file.open("rb") as content:
                images.request(
                    f"/v2/images/{made['id']}/file",
                    method="PUT",
                    data=content,
                    headers={"Content-Type": "application/octet-stream"},
                    raw=True,
                )
        finally:
            del images.encode_data
        return driver.get_image(made["id"])

    def snapshot(self, driver: Any, id: str) -> Any:
        """The snapshot with an id, even if its volume no longer exists."""
        return driver.ex_get_snapshot(id)

    # -------------------------------------------------------------------------------------------------- networks

    def network(self, driver: Any, name: str, id: str) -> Net | None:
        """PUBLIC is the first one that leads outside, PRIVATE the first one that does not."""
        every = self._all(driver, NETWORKS)
        if id:
            found = [n for n in every if n["id"] == id and name in ("", n["name"])]
        elif name in ("PUBLIC", "PRIVATE"):
            found = [n for n in every if bool(n.get(EXTERNAL)) == (name == "PUBLIC")]
        else:
            found = [n for n in every if n["name"] == name]
        return _net(found[0]) if found else None

    def own_network(self, driver: Any, who: Who) -> Net | None:
        """Found by its description, since the user may choose its name. It counts as existing when its subnet
        exists."""
        found = self._own(driver, NETWORKS, who)
        return _net(found[0]) if found and found[0].get("subnets") else None

    def make_network(self, driver: Any, who: Who, new: NewNet) -> None:
        """Make a network, and its subnet if it has addresses."""
        known = self._own(driver, NETWORKS, who)
        given = {
            "name": new.name,
            "description": who.name,
            "provider:network_type": new.kind,
            "provider:physical_network": new.physical,
            "provider:segmentation_id": new.segment,
        }
        network = known[0] if known else self._post(driver, NETWORKS, {n: v for n, v in given.items() if v})
        if not new.cidr:
            raise Unsupported("a new network needs its `cidr` here")
        subnet: dict[str, Any] = {
            "name": new.name,
            "network_id": network["id"],
            "ip_version": new.ip_version,
            "cidr": new.cidr,
            "enable_dhcp": new.dhcp,
        }
        if new.gateway:
            subnet["gateway_ip"] = new.gateway
        if new.start and new.end:
            subnet["allocation_pools"] = [{"start": new.start, "end": new.end}]
        self._post(driver, SUBNETS, subnet)

    def destroy_network(self, driver: Any, who: Who) -> None:
        """Remove it with its subnets."""
        for network in self._own(driver, NETWORKS, who):
            self._delete(driver, NETWORKS, network["id"])

    # ----------------------------------------------------------------------------------------------------- ports

    def nic(self, driver: Any, who: Who) -> Nic | None:
        """Found by its name."""
        found = self._all(driver, PORTS, name=who.name)
        if not found:
            return None
        one = found[0]
        return Nic(
            one["id"],
            one["network_id"],
            tuple(_addresses(one)),
            one.get("mac_address") or "",
            one.get("device_id") or "",
        )

    def make_nic(self, driver: Any, who: Who, new: NewNic) -> None:
        """With the wanted address, or the first free one of the range."""
        port: dict[str, Any] = {"name": who.name, "network_id": new.network}
        address = new.address or (self._free(driver, new) if new.start or new.end else "")
        if address:
            port["fixed_ips"] = [{"ip_address": address}]
        self._post(driver, PORTS, port)

    def _free(self, driver: Any, new: NewNic) -> str:
        subnet = next(iter(self._all(driver, SUBNETS, network_id=new.network)), None)
        if subnet is None:
            raise Unsupported(f'network "{new.network}" has no addresses')
        taken = {a for port in self._all(driver, PORTS, network_id=new.network) for a in _addresses(port)}
        return first_free(subnet["cidr"], new.start, new.end, taken | {str(subnet.get("gateway_ip"))}, 1, -2)

    def attach_nic(self, driver: Any, who: Who, machine: str, order: int | None) -> None:
        """Ports have the order in which they are attached."""
        nic = self.nic(driver, who)
        if nic is not None and nic.machine != machine:
            driver.ex_attach_port_interface(_WithId(machine), _WithId(nic.id))

    def destroy_nic(self, driver: Any, who: Who) -> None:
        """Removing it also detaches it from its machine."""
        for port in self._all(driver, PORTS, name=who.name):
            self._delete(driver, PORTS, port["id"])

    # ------------------------------------------------------------------------------------------ groups, addresses

    def open(self, driver: Any, name: str, who: Who, ways: Iterable[Way]) -> None:
        """A group that is a source of a way is made if it does not exist."""
        group = self._group(driver, name)
        known = {_way(rule) for rule in self._all(driver, RULES, security_group_id=group)}
        for way in ways:
            source = way.source if way.is_range else self._group(driver, way.source)
            if (source, way.protocol, way.first, way.last) in known:
                continue
            rule: dict[str, Any] = {
                "security_group_id": group,
                "direction": "ingress",
                "ethertype": "IPv4",
                "protocol": way.protocol,
                "port_range_min": way.first,
                "port_range_max": way.last,
            }
            rule["remote_ip_prefix" if way.is_range else "remote_group_id"] = source
            self._post(driver, RULES, rule)

    def _group(self, driver: Any, name: str) -> str:
        found = self._all(driver, GROUPS, name=name)
        return str((found[0] if found else self._post(driver, GROUPS, {"name": name}))["id"])

    def destroy_group(self, driver: Any, name: str) -> None:
        """Also removes the rules of other groups that let traffic in from it."""
        for group in self._all(driver, GROUPS, name=name):
            for rule in self._all(driver, RULES, remote_group_id=group["id"]):
                self._delete(driver, RULES, rule["id"])
            self._delete(driver, GROUPS, group["id"])

    def float(self, driver: Any, who: Who, node: Any) -> str:
        """An address of the pool, which is kept until the machine is removed."""
        found = self._own(driver, ADDRESSES, who)
        if not found:
            pool = self.network(driver, self.settings.pool or "PUBLIC", "")
            if pool is None:
                raise Unsupported("there is no pool of floating addresses: name its network with `pool`")
            found = [self._post(driver, ADDRESSES, {"floating_network_id": pool.id, "description": who.name})]
        if not found[0].get("port_id"):
            port = self._all(driver, PORTS, device_id=node.id)[0]["id"]
            self._put(driver, ADDRESSES, found[0]["id"], {"port_id": port})
        return str(found[0]["floating_ip_address"])

    def sink(self, driver: Any, who: Who) -> None:
        """Removing it also detaches it from its machine."""
        for one in self._own(driver, ADDRESSES, who):
            self._delete(driver, ADDRESSES, one["id"])

    # -------------------------------------------------------------------------------------------------- requests

    def _all(self, driver: Any, path: str, **filters: str) -> list[dict[str, Any]]:
        answer = driver.network_connection.request(path, params=filters).object
        return list(answer[_plural(path)])

    def _own(self, driver: Any, path: str, who: Who) -> list[dict[str, Any]]:
        return self._all(driver, path, description=who.name)

    def _post(self, driver: Any, path: str, given: Mapping[str, Any]) -> dict[str, Any]:
        name = _plural(path).removesuffix("s")
        answer = driver.network_connection.request(path, method="POST", data={name: dict(given)}).object
        return dict(answer[name])

    def _put(self, driver: Any, path: str, id: str, given: Mapping[str, Any]) -> None:
        name = _plural(path).removesuffix("s")
        driver.network_connection.request(f"{path}/{id}", method="PUT", data={name: dict(given)})

    def _delete(self, driver: Any, path: str, id: str) -> None:
        driver.network_connection.request(f"{path}/{id}", method="DELETE")


class _NamedThing:
    def __init__(self, name: str) -> None:
        self.name = name


class _WithId:
    def __init__(self, id: str) -> None:
        self.id = id


def _plural(path: str) -> str:
    return path.rpartition("/")[2].replace("-", "_")


def _metadata(node: Any) -> Mapping[str, Any]:
    found = node.extra.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _addresses(port: Mapping[str, Any]) -> list[str]:
    return [str(one["ip_address"]) for one in port.get("fixed_ips") or ()]


def _net(network: Mapping[str, Any]) -> Net:
    return Net(network["id"], network["name"], str(network.get("provider:segmentation_id") or ""))


def _way(rule: Mapping[str, Any]) -> tuple[str, str, int, int]:
    first, last = rule.get("port_range_min"), rule.get("port_range_max")
    source = rule.get("remote_group_id") or rule.get("remote_ip_prefix") or ""
    return source, str(rule.get("protocol")), int(first or 0), int(last or 0)
