"""Rules for networks and ports (§8.5)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from ordito.model.rules.topology import Owner, Topology
from ordito.model.service import NodeTemplate, Relationship
from ordito.syntax.expressions import Value

IDENTIFYING = frozenset({"network_id", "network_name"})
ON_PHYSICAL = ("flat", "vlan")
PORT = "tosca.nodes.network.Port"
BINDS_TO = "tosca.relationships.network.BindsTo"
LINKS_TO = "tosca.relationships.network.LinksTo"
NETWORK = "tosca.nodes.network.Network"
Address = IPv4Address | IPv6Address
Block = IPv4Network | IPv6Network


def existing_network_is_not_described(topology: Topology, node: NodeTemplate) -> None:
    """A network_id names an existing network; only its name may be given with it (R-8.5.1-1, R-8.5.1-2)."""
    owner = topology.node(node)
    if not owner.is_assigned("network_id"):
        return
    for name in owner.values:
        if name not in IDENTIFYING and name in OF_NEW_NETWORKS and owner.is_assigned(name):
            owner.error(
                "conflicting-values",
                f"{name} describes a new network, and network_id names one that exists",
                owner.at(name),
                f"remove {name} or network_id",
            )


OF_NEW_NETWORKS = frozenset(
    {
        "ip_version",
        "cidr",
        "start_ip",
        "end_ip",
        "gateway_ip",
        "segmentation_id",
        "network_type",
        "physical_network",
        "dhcp_enabled",
    }
)


def segment_says_of_what(topology: Topology, node: NodeTemplate) -> None:
    """A segmentation_id means something for a network type or a physical network only (R-8.5.1-4)."""
    owner = topology.node(node)
    if owner.is_assigned("segmentation_id") and not owner.has("network_type") and not owner.has("physical_network"):
        problem = "segmentation_id is given without network_type and without physical_network"
        owner.error("missing-value", problem, owner.at("segmentation_id"), "add network_type, for example vlan")


def flat_network_lies_on_a_physical_one(topology: Topology, node: NodeTemplate) -> None:
    """Networks of type flat and vlan name their physical network (R-8.5.1-5)."""
    owner = topology.node(node)
    kind = owner.known("network_type")
    if kind in ON_PHYSICAL and not owner.has("physical_network"):
        problem = f"a network of type {kind} needs physical_network"
        owner.error("missing-value", problem, owner.at("network_type"), "add physical_network, for example physnet1")


def addresses_fit_their_network(topology: Topology, node: NodeTemplate) -> None:
    """The addresses of a network have its IP version and are inside its block (R-8.5.1-7)."""
    owner = topology.node(node)
    version = owner.known("ip_version")
    block = _block(owner)
    if block is not None and isinstance(version, int) and block.version != version:
        problem = f"cidr is of IPv{block.version}, and ip_version is {version}"
        owner.error("conflicting-values", problem, owner.at("cidr"), f"write ip_version: {block.version}")
        return
    start, end, _ = (_fitting(owner, name, block, version) for name in ("start_ip", "end_ip", "gateway_ip"))
    _check_order(owner, ("start_ip", start), ("end_ip", end))


def addresses_of_a_port_fit(topology: Topology, node: NodeTemplate) -> None:
    """The addresses of a port are inside the block of its network (R-8.5.1-7, R-8.5.2-4)."""
    owner = topology.node(node)
    block, version = _network_of(topology, node)
    names = ("ip_address", "ip_range_start", "ip_range_end")
    _, start, end = (_fitting(owner, name, block, version) for name in names)
    _check_order(owner, ("ip_range_start", start), ("ip_range_end", end))


def ports_are_in_order(topology: Topology, relationship: Relationship) -> None:
    """If one of several ports of a Compute has an order, all have, from 0 without gaps (R-8.5.2-1)."""
    if not topology.first_time(BINDS_TO, f"order {relationship.target}"):
        return
    ports = _ports(topology, relationship.target)
    ordered = [p for p in ports if p.is_assigned("order")]
    if len(ports) < 2 or not ordered or not all(p.is_sound for p in ports):
        return
    for port in ports:
        if not port.is_assigned("order"):
            problem = f'this port of "{relationship.target}" has no order, and other ports of it have'
            port.error("missing-value", problem, port.span, "give all of them an order, from 0 on, or none")
    numbers = [p.known("order") for p in ports]
    if len(ordered) < len(ports) or not all(isinstance(n, int) for n in numbers):
        return
    for place, port in enumerate(sorted(ports, key=lambda p: int(str(p.known("order"))))):
        number = port.known("order")
        if number != place:
            what = "is given twice" if isinstance(number, int) and number < place else f"comes where {place} is missing"
            problem = f'order {number} {what} among the ports of "{relationship.target}"'
            port.error("conflicting-values", problem, port.at("order"), f"number them 0 to {len(ports) - 1}")
            return


def one_port_is_the_default(topology: Topology, relationship: Relationship) -> None:
    """One port of a Compute at most is its default (R-8.5.2-2)."""
    if not topology.first_time(BINDS_TO, f"default {relationship.target}"):
        return
    defaults = [p for p in _ports(topology, relationship.target) if p.known("is_default") is True]
    for port in defaults[1:]:
        problem = f'"{relationship.target}" has another port with is_default already'
        port.error("conflicting-values", problem, port.at("is_default"), "leave is_default to one port of each Compute")


def _ports(topology: Topology, compute: str) -> list[Owner]:
    """The ports that are bound to a node, in the order of their templates."""
    bound = (r.source for r in topology.incoming.get(compute, ()) if BINDS_TO in r.kinds)
    nodes = (topology.nodes[name] for name in dict.fromkeys(bound))
    return [topology.node(node) for node in nodes if PORT in node.kinds]


def _network_of(topology: Topology, port: NodeTemplate) -> tuple[Block | None, Value]:
    """The block of addresses and the version of the network that a port is linked to, as far as they are sound."""
    for relationship in port.requirements:
        target = topology.nodes.get(relationship.target)
        if LINKS_TO in relationship.kinds and target is not None and NETWORK in target.kinds:
            owner = topology.node(target)
            version, block = owner.known("ip_version"), _block(owner, quietly=True)
            return (block, version) if block is None or block.version == version else (None, None)
    return None, None


def _block(owner: Owner, *, quietly: bool = False) -> Block | None:
    """The address block of a network; None where it has none or it is none, which is reported."""
    cidr = owner.known("cidr")
    if not isinstance(cidr, str):
        return None
    try:
        return ip_network(cidr, strict=False)
    except ValueError:
        if not quietly:
            hint = "write an address and the length of its prefix, for example 192.168.0.0/24"
            owner.error("bad-value", f'"{cidr}" is not a block of addresses', owner.at("cidr"), hint)
        return None


def _fitting(owner: Owner, name: str, block: Block | None, version: Value) -> Address | None:
    """An address among the properties that fits its network; None where there is none or it does not, which is
    reported."""
    text = owner.known(name)
    if not isinstance(text, str):
        return None
    try:
        address = ip_address(text)
    except ValueError:
        problem = f'{name}: "{text}" is not an IP address'
        owner.error("bad-value", problem, owner.at(name), "write one such as 192.168.0.7")
        return None
    if isinstance(version, int) and address.version != version:
        problem = f"{name} is of IPv{address.version}, and the network is of IPv{version}"
        owner.error("conflicting-values", problem, owner.at(name), "change the address or ip_version of the network")
        return None
    if block is not None and address not in block:
        problem = f"{name} {address} is not in the network {block}"
        owner.error("conflicting-values", problem, owner.at(name), f"give an address of {block}")
        return None
    return address


def _check_order(owner: Owner, first: tuple[str, Address | None], last: tuple[str, Address | None]) -> None:
    (start_name, start), (end_name, end) = first, last
    if start is not None and end is not None and start.version == end.version and int(end) < int(start):
        problem = f"{end_name} {end} comes before {start_name} {start}"
        owner.error("conflicting-values", problem, owner.at(end_name), f"swap {start_name} and {end_name}")
