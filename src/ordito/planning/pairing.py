"""Which instances of two nodes are pairs of a relationship: an instance and its host; otherwise all of one node with
all of the other, each of the source with one of the target, as Cloudify's ``connection_type`` says, or with those in
its own replica of a scaling group.
"""

from __future__ import annotations

from collections.abc import Iterator

from ordito.base.sensitive import revealed
from ordito.base.text import listed
from ordito.instances.context import Context
from ordito.instances.records import number_of
from ordito.instances.states import CONFIGURED
from ordito.model.service import Relationship
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import PlannedInstance
from ordito.planning.replicas import Replicas

CONNECTION_TYPE = "connection_type"
ALL_TO_ONE = "all_to_one"
CONNECTIONS = frozenset({"cloudify.relationships.connected_to", "cloudify.relationships.depends_on"})
"""The relationship types that say how instances are connected."""


class Pairing:
    """The pairs of a draft whose instances have been chosen."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._numbered: dict[str, list[PlannedInstance]] = {}
        self._to_one: dict[str, bool] = {}
        self._groups: dict[str, str] = {}
        self._replicas = Replicas(draft, self.of_node)

    def of_node(self, name: str) -> list[PlannedInstance]:
        """The instances of a node in the order of their numbers."""
        known = self._numbered.get(name)
        if known is None:
            members = self._draft.of_node.get(name, ())
            known = self._numbered[name] = sorted(members, key=lambda m: number_of(m.id))
        return known

    def selects(self, relationship: Relationship) -> bool:
        """Whether each instance of the source has targets of its own."""
        return self.is_to_one(relationship) or bool(self._group(relationship))

    def _group(self, relationship: Relationship) -> str:
        """The scaling group that both ends belong to, "" for none."""
        known = self._groups.get(relationship.key)
        if known is None:
            known = self._groups[relationship.key] = self._replicas.group_of(relationship)
        return known

    def is_to_one(self, relationship: Relationship) -> bool:
        """Whether each instance of the source is paired with one of the target."""
        known = self._to_one.get(relationship.key)
        if known is None:
            known = not CONNECTIONS.isdisjoint(relationship.kinds) and self._connection(relationship) == ALL_TO_ONE
            self._to_one[relationship.key] = known
        return known

    def _connection(self, relationship: Relationship) -> object:
        written = relationship.properties.get(CONNECTION_TYPE)
        return revealed(self._draft.static.evaluate(written, Context(relationship=relationship)))

    def targets(
        self, source: PlannedInstance, relationship: Relationship, *, falls: bool = False
    ) -> list[PlannedInstance]:
        """The instances that a source has pairs with, or would have, whatever becomes of them; with ``falls`` those
        from before it moves to another host."""
        if relationship.is_hosting:
            host = self._draft.host_of(source, falls=falls)
            return [host] if host is not None else []
        targets = self.of_node(relationship.target)
        if self.is_to_one(relationship):
            return self._linked(source, relationship)[:1] or targets[:1]
        if not (group := self._group(relationship)):
            return targets
        mates = self._replicas.mates(source, relationship.target, group)
        linked = self._linked(source, relationship)
        return [*mates, *(t for t in linked if t not in mates)] if linked != mates else mates

    def wanted(self, source: PlannedInstance, relationship: Relationship) -> list[PlannedInstance]:
        """The instances that a source is to have pairs with: those that are up in the end. A target that was chosen
        before is kept as long as it exists; otherwise the one with the lowest number is chosen."""
        if not relationship.is_hosting and not self.is_to_one(relationship) and (group := self._group(relationship)):
            return [t for t in self._replicas.mates(source, relationship.target, group) if t.is_up]
        if relationship.is_hosting or not self.is_to_one(relationship):
            return [t for t in self.targets(source, relationship) if t.is_up]
        linked = [t for t in self._linked(source, relationship)[:1] if not t.goes]
        if linked:
            return [t for t in linked if t.is_up]
        return [t for t in self.of_node(relationship.target) if t.is_up][:1]

    def loses(self, source: PlannedInstance, relationship: Relationship) -> bool:
        """Whether the one instance that a source has a pair with is removed, so that another takes its place."""
        return self.is_to_one(relationship) and any(t.goes for t in self._linked(source, relationship)[:1])

    def _linked(self, source: PlannedInstance, relationship: Relationship) -> list[PlannedInstance]:
        """The instances that a source has pairs with already."""
        snapshot, members = self._draft.snapshot, self._draft.members
        links = (snapshot.links[name] for name in snapshot.links_of(source.id))
        found = [k.target for k in links if k.relationship == relationship.key and k.source == source.id]
        return [members[i] for i in sorted(found, key=number_of) if i in members]


# Pairs that a plan leaves out because one of their ends, which is not part of it, is not up: they are made when that
# end is healed.

MOST_NAMED = 3


def warn_of_left_out(draft: Draft, relationship: Relationship, pairing: Pairing) -> None:
    """Warn of the pairs of a relationship with one end that comes up and another that is not up. A stopped source is
    not mentioned: it is linked once it is started."""
    if relationship.is_hosting:
        return
    sources, targets = pairing.of_node(relationship.source), pairing.of_node(relationship.target)
    down = [m for m in sources if _is_missed(m) and m.record.state != CONFIGURED]
    if not down and not any(map(_is_missed, targets)):
        return
    pairs: list[str] = []
    missed: dict[str, PlannedInstance] = {}
    for source, target, missing in _left_out(sources, relationship, pairing):
        pairs.append(f"{source.id} with {target.id}")
        missed[missing.id] = missing
    if pairs:
        draft.diagnostics.warning(
            "pair-left-out",
            f"not linked: {listed(pairs, MOST_NAMED)}; not up:"
            f" {listed([f'{m.id} ({m.record.local})' for m in missed.values()], MOST_NAMED)}",
            relationship.span,
            hint=f"they are linked when it is up again: `ordito heal {next(iter(missed))}`",
        )


def _left_out(
    sources: list[PlannedInstance], relationship: Relationship, pairing: Pairing
) -> Iterator[tuple[PlannedInstance, PlannedInstance, PlannedInstance]]:
    """The pairs that are left out, each with the end that is the reason."""
    for source in sources:
        is_down = _is_missed(source) and source.record.state != CONFIGURED
        for target in pairing.targets(source, relationship) if source.rises or is_down else ():
            if source.rises and _is_missed(target):
                yield source, target, target
            elif is_down and target.rises:
                yield source, target, source


def _is_missed(member: PlannedInstance) -> bool:
    return not member.is_up and not member.falls
