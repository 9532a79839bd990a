"""Where activities are carried out: at each instance of a node or of the members of a group, at each pair of a
relationship (§3.6.23, §3.6.27).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ordito.instances.lifecycle import Side
from ordito.instances.records import link_id
from ordito.model.service import NodeTemplate, Relationship
from ordito.planning.draft import Draft
from ordito.planning.options import MOST_PAIRS
from ordito.planning.pairing import Pairing
from ordito.planning.planned_instances import PlannedInstance


class ActivitySpot(msgspec.Struct, frozen=True):
    """One place where activities are carried out: the instance ``near``, or a pair of which it is the end at ``side``;
    ``far`` is the other end then, and ``link`` the link's id."""

    owner: NodeTemplate | Relationship
    near: PlannedInstance
    far: PlannedInstance | None = None
    link: str = ""
    side: Side = Side.NODE

    @property
    def id(self) -> str:
        """The id of the instance or the link."""
        return self.link or self.near.id


def spots_of(draft: Draft, target: str, requirement: str = "", operation_host: str = "") -> tuple[ActivitySpot, ...]:
    """Every place of a target, in order: a node template, a group (of which ``operation_host`` may choose members), or
    the relationships of a node's requirement, whose operations run at SOURCE or TARGET."""
    service = draft.service
    if requirement:
        return _pairs(draft, service.nodes[target], requirement, operation_host)
    if target in service.nodes:
        return tuple(_instances(draft, [target]))
    group = service.groups.get(target)
    members = group.members if group is not None else ()
    if operation_host:
        members = _chosen([service.nodes[name] for name in members if name in service.nodes], operation_host)
    return tuple(_instances(draft, members))


def spots_named(draft: Draft, template: str) -> tuple[ActivitySpot, ...]:
    """Every instance of a node template, or every pair of the relationships that a relationship template makes."""
    if template in draft.service.nodes:
        return tuple(_instances(draft, [template]))
    found: list[ActivitySpot] = []
    for node in draft.service.nodes.values():
        for relationship in node.requirements:
            if relationship.template == template:
                pairs = _pairs(draft, node, relationship.requirement, "SOURCE")
                found += [spot for spot in pairs if spot.owner is relationship]
    return tuple(found)


def _instances(draft: Draft, nodes: Iterable[str]) -> Iterator[ActivitySpot]:
    kept = {member.id for member in draft.kept}
    for name in nodes:
        for member in draft.of_node.get(name, ()):
            if member.id not in kept:
                yield ActivitySpot(member.template, member)


def _chosen(members: list[NodeTemplate], wanted: str) -> tuple[str, ...]:
    """The members of a group that the name of a node template or node type selects (R-3.6.27-2)."""
    name = wanted.rpartition(":")[2]
    for fits in (
        lambda n: n.name == wanted,
        lambda n: wanted in n.kinds,
        lambda n: any(kind.rpartition(".")[2] == name or kind == name for kind in n.kinds),
    ):
        found = tuple(n.name for n in members if fits(n))
        if found:
            return found
    return ()


def _pairs(draft: Draft, node: NodeTemplate, requirement: str, operation_host: str) -> tuple[ActivitySpot, ...]:
    side = Side.TARGET if operation_host.upper() == "TARGET" else Side.SOURCE
    found: list[ActivitySpot] = []
    pairing = Pairing(draft)
    for relationship in node.requirements:
        if relationship.requirement != requirement:
            continue
        for source in draft.of_node.get(node.name, ()):
            for target in pairing.targets(source, relationship):
                near, far = (source, target) if side is Side.SOURCE else (target, source)
                link = link_id(relationship.key, relationship.source, source.id, target.id)
                found.append(ActivitySpot(relationship, near, far, link, side))
    if len(found) > MOST_PAIRS and not draft.options.allow_large:
        draft.diagnostics.error(
            "too-many-pairs",
            f'requirement "{requirement}" of node "{node.name}" has {len(found)} pairs, and more than {MOST_PAIRS} have'
            " to be asked for",
            node.span,
            hint="plan fewer instances, or give --allow-large",
        )
        return ()
    return tuple(found)
