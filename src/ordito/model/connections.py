"""The connections of a service: who must be able to reach whom, at which ports (§8.1 to §8.3).

A service need not describe networks: its connections follow from its endpoints and the ConnectsTo relationships between
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.model.hosting import compute_of
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.syntax.expressions import Value

CONNECTS_TO = "tosca.relationships.ConnectsTo"
ENDPOINT = "tosca.capabilities.Endpoint"
PEER = "peer"


class Ports(msgspec.Struct, frozen=True):
    """Ports that must be open. Each is a number, a range of two numbers, a call, or None for any."""

    protocol: Value
    source: Value = None
    """Those at the source of a connection."""
    target: Value = None
    """Those at its target."""


class Exposed(msgspec.Struct, frozen=True):
    """An endpoint of a node."""

    node: str
    """The node that has it."""
    host: str
    """The Compute that hosts the node."""
    endpoint: Capability
    """The capability."""


def exposed(nodes: Mapping[str, NodeTemplate]) -> tuple[Exposed, ...]:
    """The endpoints of the nodes that are a Compute, or are hosted on one, in the order of their templates."""
    hosts: dict[str, str] = {}
    return tuple(
        Exposed(node.name, host, capability)
        for node in nodes.values()
        for capability in node.capabilities.values()
        if ENDPOINT in capability.kinds and (host := compute_of(nodes, node.name, hosts))
    )


def ports_of(endpoint: Capability) -> tuple[Ports, ...]:
    """The ports of an endpoint, as those of the target of a connection."""
    return tuple(_ports(endpoint, at_target=True))


class End(msgspec.Struct, frozen=True):
    """One end of a connection."""

    node: str
    """The node."""
    host: str
    """The Compute that hosts it, whose address it has, "" where there is none."""
    endpoint: str = ""
    """The capability that is the endpoint, "" for a source without one."""
    network: Value = None
    """The network of the endpoint."""


class NodeConnection(msgspec.Struct, frozen=True):
    """Two nodes that must be able to reach each other."""

    source: End
    target: End
    ports: tuple[Ports, ...]
    """The ports, empty where they are not known."""
    initiator: Value
    """The side that opens the connection: source, target, or peer for both."""
    secure: Value
    relationship: str = ""
    """The key of the relationship, "" for the instances of one node that are peers of each other."""


def connections(nodes: Mapping[str, NodeTemplate]) -> tuple[NodeConnection, ...]:
    """The connections between the nodes of a topology, in the order of their templates."""
    return tuple(_connections(nodes))


def _connections(nodes: Mapping[str, NodeTemplate]) -> Iterator[NodeConnection]:
    hosts: dict[str, str] = {}
    for node in nodes.values():
        for relationship in node.requirements:
            target = nodes.get(relationship.target)
            capability = target.capabilities.get(relationship.capability) if target is not None else None
            if target is None or capability is None or CONNECTS_TO not in relationship.kinds:
                continue
            if ENDPOINT in capability.kinds:
                yield _between(node, target, capability, relationship, nodes, hosts)
        for capability in node.capabilities.values():
            if ENDPOINT in capability.kinds and capability.properties.get("initiator") == PEER:
                yield _among_peers(node, capability, nodes, hosts)


def _between(
    node: NodeTemplate,
    target: NodeTemplate,
    capability: Capability,
    relationship: Relationship,
    nodes: Mapping[str, NodeTemplate],
    hosts: dict[str, str],
) -> NodeConnection:
    own = source_endpoint(node, relationship)
    ports = _ports(capability, at_target=True)
    if own is not None:
        ports = [*ports, *(p for p in _ports(own, at_target=False) if p not in ports)]
    return NodeConnection(
        _end(node, own, nodes, hosts),
        _end(target, capability, nodes, hosts),
        tuple(ports),
        capability.properties.get("initiator"),
        capability.properties.get("secure"),
        relationship.key,
    )


def _among_peers(
    node: NodeTemplate, capability: Capability, nodes: Mapping[str, NodeTemplate], hosts: dict[str, str]
) -> NodeConnection:
    end = _end(node, capability, nodes, hosts)
    ports = tuple(_ports(capability, at_target=True))
    return NodeConnection(end, end, ports, PEER, capability.properties.get("secure"))


def source_endpoint(node: NodeTemplate, relationship: Relationship) -> Capability | None:
    """The endpoint at the source of a connection: the capability with the name of the requirement, if it is one."""
    found = node.capabilities.get(relationship.requirement)
    return found if found is not None and ENDPOINT in found.kinds else None


def _ports(endpoint: Capability, *, at_target: bool) -> list[Ports]:
    """The ports of an endpoint. Its single port belongs to its own side; port specifications name both sides, in the
    direction of the relationship."""
    values = endpoint.properties
    found: list[Ports] = []
    port = values.get("port")
    if port is not None:
        protocol = values.get("protocol")
        found.append(Ports(protocol, target=port) if at_target else Ports(protocol, source=port))
    specifications = values.get("ports")
    written = specifications.values() if isinstance(specifications, dict) else ()
    found.extend(
        Ports(one.get("protocol"), _first(one, "source"), _first(one, "target"))
        for one in written
        if isinstance(one, dict)
    )
    return found


def _first(specification: dict[str, Value], side: str) -> Value:
    single = specification.get(side)
    return single if single is not None else specification.get(f"{side}_range")


def _end(
    node: NodeTemplate, endpoint: Capability | None, nodes: Mapping[str, NodeTemplate], hosts: dict[str, str]
) -> End:
    host = compute_of(nodes, node.name, hosts)
    if endpoint is None:
        return End(node.name, host)
    return End(node.name, host, endpoint.name, endpoint.properties.get("network_name"))
