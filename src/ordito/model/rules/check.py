"""Checking a resolved topology against the rules of its types. The tables say which rules there are; a rule for a type
holds for all that derive from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from ordito.base.diagnostics import Diagnostics, Severity
from ordito.model.imperative import Policy
from ordito.model.rules import blocks, capabilities, networks, policies, storage, weaving
from ordito.model.rules.topology import Topology
from ordito.model.service import Capability, NodeTemplate, Relationship, Service
from ordito.syntax.expressions import Value

NodeRule = Callable[[Topology, NodeTemplate], None]
CapabilityRule = Callable[[Topology, NodeTemplate, Capability], None]
RelationshipRule = Callable[[Topology, Relationship], None]
PolicyRule = Callable[[Topology, Policy], None]
TopologyRule = Callable[[Topology], None]
Rule = TypeVar("Rule")

NODE_RULES: dict[str, tuple[NodeRule, ...]] = {
    "tosca.nodes.Root": (blocks.node_is_no_block,),
    "tosca.nodes.Storage.BlockStorage": (storage.new_volume_has_a_size,),
    "tosca.nodes.network.Network": (
        networks.existing_network_is_not_described,
        networks.segment_says_of_what,
        networks.flat_network_lies_on_a_physical_one,
        networks.addresses_fit_their_network,
    ),
    "tosca.nodes.network.Port": (networks.addresses_of_a_port_fit,),
}
CAPABILITY_RULES: dict[str, tuple[CapabilityRule, ...]] = {
    "tosca.capabilities.Scalable": (capabilities.bounds_enclose_the_default,),
}
RELATIONSHIP_RULES: dict[str, tuple[RelationshipRule, ...]] = {
    "tosca.relationships.Root": (weaving.target_is_not_configured_by_its_source, weaving.sides_have_their_names),
    "tosca.relationships.DependsOn": (weaving.dependency_does_nothing,),
    "tosca.relationships.ConnectsTo": (capabilities.endpoint_has_a_port, capabilities.both_ends_agree_who_begins),
    "tosca.relationships.AttachesTo": (storage.location_is_not_the_root,),
    "tosca.relationships.network.BindsTo": (networks.ports_are_in_order, networks.one_port_is_the_default),
}
POLICY_RULES: dict[str, tuple[PolicyRule, ...]] = {
    "tosca.policies.Placement": (policies.enough_containers_are_allowed,),
    "tosca.policies.Scaling": (policies.scaling_has_bounds,),
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
