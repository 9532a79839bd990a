"""Checking a resolved topology against the rules of its types. The tables say which rules there are; a rule for a type
holds for all that derive from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.base.scalar_units import NotAScalarUnit, amount, canonical
from ordito.model.block_types import LIFECYCLE_BLOCK
from ordito.model.connections import ENDPOINT, source_endpoint
from ordito.model.imperative import Policy
from ordito.model.rules import networks, weaving
from ordito.model.rules.topology import Owner, Topology
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Call, Value

# Rules about blocks of lifecycle steps: they are carried out by steps, and are no part of a topology.

BLOCK_INTERFACE = "ordito.interfaces.LifecycleBlock"


def node_is_no_block(topology: Topology, node: NodeTemplate) -> None:
    """A node template describes no block, neither by its type nor by an interface that says what a step would do."""
    if LIFECYCLE_BLOCK in node.kinds:
        is_block = "is of the type of a block"
    elif any(BLOCK_INTERFACE in interface.kinds for interface in node.interfaces.values()):
        is_block = "has the interface of a block"
    else:
        return
    topology.diagnostics.error(
        "inline-step",
        f'node template "{node.name}" {is_block}: custom or inline implementations are not allowed (FR-11-003); '
        "reference a catalog block by fqn",
        node.span,
        hint="a step is a policy whose type is the block's name; blocks are defined in catalogues",
    )


# Rules for the known families of policies, as far as a type derived from one has the properties of chapter 12.


def enough_containers_are_allowed(topology: Topology, policy: Policy) -> None:
    """Targets cannot be spread over more containers than are allowed (R-12-10)."""
    owner = topology.policy(policy)
    number, allowed = owner.known("container_number"), owner.known("containers")
    if not isinstance(number, int) or not isinstance(allowed, list) or any(isinstance(c, Call) for c in allowed):
        return
    different = len({str(c) for c in allowed})
    if different < number:
        problem = f"container_number is {number}, and containers allows {different}"
        owner.error("conflicting-values", problem, owner.at("containers"), "allow more containers, or ask for fewer")


def scaling_has_bounds(topology: Topology, policy: Policy) -> None:
    """A scaling policy's default is between its bounds, and its increment is at least one instance (R-12-12)."""
    owner = topology.policy(policy)
    check_bounds(owner)
    step = owner.known("increment")
    if isinstance(step, int) and step < 1:
        problem = f"increment is {step}, so scaling would change nothing"
        owner.error("bad-value", problem, owner.at("increment"), "give a number from 1 on")


# Rules for capabilities and what connects to them: numbers of instances, endpoints (§5.5, §8.3).


def bounds_enclose_the_default(topology: Topology, node: NodeTemplate, capability: Capability) -> None:
    """The initial number of instances is between the least and the most (R-5.5.13-1)."""
    check_bounds(topology.capability(node, capability))


ANY_NUMBER = "integer"
"""The type of ports in normative types of other languages, none of which asks for a port."""


def endpoint_has_a_port(topology: Topology, relationship: Relationship) -> None:
    """The target of a connection names its port: an error where its template describes the endpoint without one, a note
    where the endpoint is not described (R-5.5.7-1)."""
    node = topology.nodes[relationship.target]
    capability = node.capabilities[relationship.capability]
    if ENDPOINT not in capability.kinds or not node.is_concrete:
        return
    if not topology.first_time(node.name, capability.name):
        return
    owner = topology.capability(node, capability)
    port = owner.definitions.get("port")
    if owner.has("port") or owner.has("ports") or (port is not None and port.schema.type == ANY_NUMBER):
        return
    hint = f"give it port or ports below capabilities: {capability.name}: properties:"
    problem = f'endpoint "{capability.name}" of "{node.name}" has neither port nor ports'
    if owner.written is not None and owner.written.values:
        owner.error("missing-value", problem, owner.written.keys[0].span, hint)
    else:
        topology.diagnostics.note("no-port", f"{problem}, and something connects to it", node.span, hint=hint)


def both_ends_agree_who_begins(topology: Topology, relationship: Relationship) -> None:
    """The endpoints at both ends of a connection name the same initiator. The source has an endpoint where one of its
    capabilities has the name of the requirement (R-8.3.1-1)."""
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


# Rules for storage (§5.7.5, §5.9.11).

LEAST = "1 MB"
SIZE = "scalar-unit.size"
ROOT = re.compile(r"\s*/[/.]*\s*")


def new_volume_has_a_size(topology: Topology, node: NodeTemplate) -> None:
    """New block storage has a size, unless it comes from a snapshot; for an existing volume the size does not count
    (R-5.9.11-1)."""
    owner = topology.node(node)
    if owner.has("volume_id"):
        return
    if not owner.is_assigned("size"):
        if not owner.has("snapshot_id"):
            hint = f"give it a size of at least {LEAST}, or the volume_id of one that exists"
            owner.error("missing-value", f'block storage "{node.name}" has no size', owner.span, hint)
        return
    size = owner.known("size")
    if isinstance(size, str) and _is_too_small(size):
        owner.error(
            "constraint",
            f'the size of block storage "{node.name}" must be greater or equal "{LEAST}"',
            owner.at("size"),
            "give the size that the volume is to have",
        )


def _is_too_small(size: str) -> bool:
    """Whether a size is below the least one. What is no size, as a text that an input gives, is reported elsewhere."""
    try:
        return amount(canonical(size, SIZE), SIZE) < amount(LEAST, SIZE)
    except NotAScalarUnit:
        return False


def location_is_not_the_root(topology: Topology, relationship: Relationship) -> None:
    """Nothing is attached at the root directory (R-5.7.5-1)."""
    owner = topology.relationship(relationship)
    location = owner.known("location")
    if isinstance(location, str) and ROOT.fullmatch(location):
        problem = "nothing can be attached at the root directory"
        owner.error("bad-value", problem, owner.at("location"), "name a directory such as /data")


# How many instances there may be: what Scalable capabilities and scaling policies share (§5.5.13, §12.5.2).


def check_bounds(owner: Owner) -> None:
    """Report bounds that leave nothing between them, or a default outside of them."""
    least, most = owner.known("min_instances"), owner.known("max_instances")
    default = owner.known("default_instances")
    if isinstance(least, int) and least < 0:
        owner.error("bad-value", "min_instances is below 0", owner.at("min_instances"), "give a number from 0 on")
    elif isinstance(least, int) and isinstance(most, int) and most < least:
        blamed = "min_instances" if owner.is_assigned("min_instances") else "max_instances"
        problem = f"min_instances is {least}, which is above max_instances ({most})"
        owner.error("conflicting-values", problem, owner.at(blamed), "change min_instances or max_instances")
    elif isinstance(default, int):
        low = isinstance(least, int) and default < least
        high = isinstance(most, int) and default > most
        if low or high:
            bound = f"below min_instances ({least})" if low else f"above max_instances ({most})"
            problem = f"default_instances is {default}, which is {bound}"
            owner.error("conflicting-values", problem, owner.at("default_instances"), "change one of them")


NodeRule = Callable[[Topology, NodeTemplate], None]
CapabilityRule = Callable[[Topology, NodeTemplate, Capability], None]
RelationshipRule = Callable[[Topology, Relationship], None]
PolicyRule = Callable[[Topology, Policy], None]
TopologyRule = Callable[[Topology], None]
Rule = TypeVar("Rule")

NODE_RULES: dict[str, tuple[NodeRule, ...]] = {
    "tosca.nodes.Root": (node_is_no_block,),
    "tosca.nodes.Storage.BlockStorage": (new_volume_has_a_size,),
    "tosca.nodes.network.Network": (
        networks.existing_network_is_not_described,
        networks.segment_says_of_what,
        networks.flat_network_lies_on_a_physical_one,
        networks.addresses_fit_their_network,
    ),
    "tosca.nodes.network.Port": (networks.addresses_of_a_port_fit,),
}
CAPABILITY_RULES: dict[str, tuple[CapabilityRule, ...]] = {
    "tosca.capabilities.Scalable": (bounds_enclose_the_default,),
}
RELATIONSHIP_RULES: dict[str, tuple[RelationshipRule, ...]] = {
    "tosca.relationships.Root": (weaving.target_is_not_configured_by_its_source, weaving.sides_have_their_names),
    "tosca.relationships.DependsOn": (weaving.dependency_does_nothing,),
    "tosca.relationships.ConnectsTo": (endpoint_has_a_port, both_ends_agree_who_begins),
    "tosca.relationships.AttachesTo": (location_is_not_the_root,),
    "tosca.relationships.network.BindsTo": (networks.ports_are_in_order, networks.one_port_is_the_default),
}
POLICY_RULES: dict[str, tuple[PolicyRule, ...]] = {
    "tosca.policies.Placement": (enough_containers_are_allowed,),
    "tosca.policies.Scaling": (scaling_has_bounds,),
}
TOPOLOGY_RULES: tuple[TopologyRule, ...] = (weaving.requirements_have_an_order,)


class _Known:
    """The rules for each type that occurs, found once."""

    def __init__(self) -> None:
        self._nodes: dict[str, tuple[tuple[NodeRule, ...], tuple[tuple[str, tuple[CapabilityRule, ...]], ...]]] = {}
        self._relationships: dict[str, tuple[RelationshipRule, ...]] = {}

    def of_node(
        self, node: NodeTemplate
    ) -> tuple[tuple[NodeRule, ...], tuple[tuple[str, tuple[CapabilityRule, ...]], ...]]:
        """The rules for a node, and for those of its capabilities that have any."""
        found = self._nodes.get(node.kinds[0])
        if found is None:
            of_capabilities = ((n, _rules(CAPABILITY_RULES, c.kinds)) for n, c in node.capabilities.items())
            found = _rules(NODE_RULES, node.kinds), tuple((n, rules) for n, rules in of_capabilities if rules)
            self._nodes[node.kinds[0]] = found
        return found

    def of_relationship(self, relationship: Relationship) -> tuple[RelationshipRule, ...]:
        """The rules for a relationship."""
        found = self._relationships.get(relationship.kinds[0])
        if found is None:
            found = self._relationships[relationship.kinds[0]] = _rules(RELATIONSHIP_RULES, relationship.kinds)
        return found


def check_rules(topology: Topology) -> None:
    """Report every rule that a topology breaks."""
    known = _Known()
    # Templates that assign nothing to a capability share it with their type, where it is looked at once.
    seen: set[int] = set()
    for node in topology.nodes.values():
        # The values of a node that is selected or substituted say what is looked for, not what it is.
        if node.is_concrete:
            _check_node(topology, node, known, seen)
        for relationship in node.requirements:
            if relationship.target in topology.nodes:
                for rule in known.of_relationship(relationship):
                    rule(topology, relationship)
    for policy in topology.policies.values():
        for of_policy in _rules(POLICY_RULES, policy.kinds):
            of_policy(topology, policy)
    for whole in TOPOLOGY_RULES:
        whole(topology)


def _check_node(topology: Topology, node: NodeTemplate, known: _Known, seen: set[int]) -> None:
    rules, of_capabilities = known.of_node(node)
    for rule in rules:
        rule(topology, node)
    for name, capability_rules in of_capabilities:
        capability = node.capabilities[name]
        if id(capability) not in seen:
            seen.add(id(capability))
            for capability_rule in capability_rules:
                capability_rule(topology, node, capability)


def check_rules_with_inputs(service: Service, inputs: Mapping[str, Value], diagnostics: Diagnostics) -> None:
    """Report what the values of the inputs make wrong in a service that was right without them."""
    found = Diagnostics()
    check_rules(Topology(service.nodes, service.incoming, found, service.policies, inputs=inputs))
    diagnostics.extend(d for d in found if d.severity is Severity.ERROR)


def _rules(table: dict[str, tuple[Rule, ...]], kinds: tuple[str, ...]) -> tuple[Rule, ...]:
    return tuple(rule for kind in reversed(kinds) for rule in table.get(kind, ()))
