"""Rules for the known families of policies, as far as a type derived from one has the properties of chapter 12."""

from __future__ import annotations

from ordito.model.imperative import Policy
from ordito.model.rules.instance_bounds import check_bounds
from ordito.model.rules.topology import Topology
from ordito.syntax.expressions import Call


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
    """A scaling policy's default lies between its bounds, and it scales by one instance at least (R-12-12)."""
    owner = topology.policy(policy)
    check_bounds(owner)
    step = owner.known("increment")
    if isinstance(step, int) and step < 1:
        problem = f"increment is {step}, so scaling would change nothing"
        owner.error("bad-value", problem, owner.at("increment"), "give a number from 1 on")
