"""Rules for capabilities and what connects to them: numbers of instances, endpoints (§5.5, §8.3)."""

from __future__ import annotations

from ordito.model.connections import ENDPOINT, source_endpoint
from ordito.model.rules.instance_bounds import check_bounds
from ordito.model.rules.topology import Topology
from ordito.model.service import Capability, NodeTemplate, Relationship


def bounds_enclose_the_default(topology: Topology, node: NodeTemplate, capability: Capability) -> None:
    """The number of instances to begin with lies between the least and the most (R-5.5.13-1)."""
    check_bounds(topology.capability(node, capability))


def endpoint_has_a_port(topology: Topology, relationship: Relationship) -> None:
    """What something connects to says at which port: an error where its template describes the endpoint and leaves that
    out, a note where nobody describes it (R-5.5.7-1)."""
    node = topology.nodes[relationship.target]
    capability = node.capabilities[relationship.capability]
    if ENDPOINT not in capability.kinds or not node.is_concrete:
        return
    if not topology.first_time(node.name, capability.name):
        return
    owner = topology.capability(node, capability)
    if owner.has("port") or owner.has("ports"):
        return
    hint = f"give it port or ports below capabilities: {capability.name}: properties:"
    problem = f'endpoint "{capability.name}" of "{node.name}" has neither port nor ports'
    if owner.written is not None and owner.written.values:
        owner.error("missing-value", problem, owner.written.keys[0].span, hint)
    else:
        topology.diagnostics.note("no-port", f"{problem}, and something connects to it", node.span, hint=hint)


def both_ends_agree_who_begins(topology: Topology, relationship: Relationship) -> None:
    """The endpoints at both ends of a connection name the same initiator. The source has one where a capability of it
    is called like the requirement (R-8.3.1-1)."""
    source, target = topology.nodes[relationship.source], topology.nodes[relationship.target]
    own = source_endpoint(source, relationship)
    other = target.capabilities[relationship.capability]
    if own is None or ENDPOINT not in other.kinds:
        return
    at_source, at_target = topology.capability(source, own), topology.capability(target, other)
    here, there = at_source.known("initiator"), at_target.known("initiator")
    if here is not None and there is not None and here != there:
        owner = at_source if at_source.is_assigned("initiator") or not at_target.is_assigned("initiator") else at_target
        owner.error(
            "conflicting-values",
            f'"{source.name}" says that its {here} begins the connection, and "{target.name}" says its {there}',
            owner.at("initiator") if owner.is_assigned("initiator") else relationship.span,
            f'give "initiator" of both endpoints ("{own.name}" and "{other.name}") one value',
        )
