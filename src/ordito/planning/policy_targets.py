"""Which policies of a family apply to each node: those of a derived type that name the node, a group of which it is a
member, or nothing at all (§3.8.6, R-12-2).
"""

from __future__ import annotations

from collections.abc import Mapping

from ordito.model.hosting import outermost
from ordito.model.imperative import Policy
from ordito.model.service import Service

SCALING = "tosca.policies.Scaling"
PLACEMENT = "tosca.policies.Placement"

Targeted = Mapping[str, tuple[Policy, ...]]
"""Policies by the node that they apply to, in declared order."""


def policies_by_node(service: Service, family: str) -> Targeted:
    """The policies of a family, by node. A scaling policy that names both a node and what contains it applies to the
    latter: what a node contains is scaled with it (R-12-13)."""
    found: dict[str, list[Policy]] = {}
    for policy in service.policies.values():
        if family in policy.kinds:
            for node in outermost(service.nodes, policy.nodes) if family == SCALING else policy.nodes:
                found.setdefault(node, []).append(policy)
    return {node: tuple(policies) for node, policies in found.items()}
