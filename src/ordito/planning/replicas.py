"""Which replica of a scaling group the instances of its members belong to: what a group of Cloudify has several of are
its members together, each of which is linked with those of its own replica alone.

What a member hosts is in the replica of its host; of the others, the instances are dealt out in the order of their
numbers, so that the first of each member are the first replica.
"""

from __future__ import annotations

from collections.abc import Callable

from ordito.model.imperative import Group
from ordito.model.service import Relationship, Service
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.planning.policy_targets import SCALING

REPLICATED = "cloudify.groups.Scaling"
"""The type of groups whose members are replicated together."""


def replicated_groups(service: Service) -> dict[str, list[Group]]:
    """The groups that scaling policies replicate, by member, the smallest first."""
    scaled = {t for p in service.policies.values() if SCALING in p.kinds for t in p.targets}
    found: dict[str, list[Group]] = {}
    for group in sorted(service.groups.values(), key=lambda g: len(g.members)):
        if REPLICATED in group.kinds and group.name in scaled:
            for member in group.members:
                found.setdefault(member, []).append(group)
    return found


class Replicas:
    """The replicas of a draft whose instances have been chosen. ``of_node`` gives the instances of a node by their
    numbers."""

    def __init__(self, draft: Draft, of_node: Callable[[str], list[PlannedInstance]]) -> None:
        self._draft = draft
        self._of_node = of_node
        self._groups = replicated_groups(draft.service)
        self._members: dict[str, frozenset[str]] = {
            g.name: frozenset(g.members) for gs in self._groups.values() for g in gs
        }
        self._ranks: dict[tuple[str, bool], dict[str, int]] = {}
        self._dealt: dict[tuple[str, str, bool], dict[int, list[PlannedInstance]]] = {}
        self._counts: dict[tuple[str, bool], int] = {}

    def group_of(self, relationship: Relationship) -> str:
        """The smallest group that both ends of a relationship belong to, "" for none."""
        if not self._groups or relationship.is_hosting:
            return ""
        ends = self._groups.get(relationship.source, ())
        return next((g.name for g in ends if relationship.target in self._members[g.name]), "")

    def mates(self, source: PlannedInstance, target: str, group: str) -> list[PlannedInstance]:
        """The instances of a node in the replica of an instance. What goes is among those that there were."""
        before = source.goes
        return self._by_replica(target, group, before).get(self._replica(source, group, before), [])

    def _by_replica(self, node: str, group: str, before: bool) -> dict[int, list[PlannedInstance]]:
        known = self._dealt.get((node, group, before))
        if known is None:
            known = self._dealt[node, group, before] = {}
            for member in self._ranked(node, before):
                known.setdefault(self._replica(member, group, before), []).append(member)
        return known

    def _ranked(self, node: str, before: bool) -> list[PlannedInstance]:
        """The instances that there were, or those that there are to be."""
        if before:
            return [m for m in self._of_node(node) if m.action is not InstanceAction.NEW]
        return [m for m in self._of_node(node) if not m.goes]

    def _replica(self, member: PlannedInstance, group: str, before: bool) -> int:
        members = self._members[group]
        outermost = member
        while (host := self._draft.host_of(outermost, falls=before)) is not None and host.template.name in members:
            outermost = host
        node = outermost.template.name
        ranks = self._ranks.get((node, before))
        if ranks is None:
            ranks = self._ranks[node, before] = {m.id: n for n, m in enumerate(self._ranked(node, before))}
        replicas, number = self._number(group, before), len(ranks)
        rank = ranks.get(outermost.id, 0)
        return rank * replicas // number if number > replicas else rank

    def _number(self, group: str, before: bool) -> int:
        """How many replicas there are: as many as there are instances of the rarest member that no other one hosts."""
        known = self._counts.get((group, before))
        if known is None:
            members, nodes = self._members[group], self._draft.service.nodes
            hosts = {name: node.host for name in members if (node := nodes.get(name)) is not None}
            outer = [name for name, host in hosts.items() if host is None or host.target not in members]
            known = min((len(self._ranked(name, before)) for name in outer), default=1) or 1
            self._counts[group, before] = known
        return known
