"""Finds the node templates of a topology that can fulfil a requirement without one: by their types, capabilities and
values (§3.8.2, R-3.8.2-10).

Candidates are checked in the order of declaration, each once for all equal requirements.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingType

import msgspec

from ordito.model.facts import Facts, Unknown
from ordito.model.filters import Filters
from ordito.model.service import Capability, NodeTemplate
from ordito.model.types import RequirementShape, Types, WrittenFilter

MOST_LISTED = 8


class Target(msgspec.Struct, frozen=True):
    """A node's capability that a requirement is bound to."""

    node: NodeTemplate
    capability: Capability


class Demand(msgspec.Struct, frozen=True):
    """What a requirement of a node asks for."""

    source: NodeTemplate
    shape: RequirementShape
    node_type: str
    """The type of the node, "" for any."""
    capability: str
    """The type of the capability."""
    named: str = ""
    """The name of the capability, "" for any."""
    filters: tuple[WrittenFilter, ...] = ()
    """Conditions for the node."""

    @property
    def asked(self) -> tuple[object, ...]:
        """The demand as a key: nodes that fit one of two demands with equal keys fit the other, if their sources allow
        it."""
        return (self.node_type, self.capability, self.named, *(id(f.filter) for f in self.filters))

    @property
    def shown(self) -> str:
        """The demand in words."""
        what = self.node_type or f"node with a capability of type {self.capability}"
        return f"{what} that satisfies the filter" if self.filters else what


class Found(msgspec.Struct, frozen=True):
    """The nodes that fit, at most as many as a message lists."""

    targets: tuple[Target, ...]
    near: tuple[str, ...] = ()
    """Why other nodes do not fit."""
    open: tuple[Unknown, ...] = ()
    """Why it is not known of further nodes whether they fit."""


class _Pool:
    """The candidates for one kind of demand, as far as they have been looked at."""

    def __init__(self, rest: Iterator[Target]) -> None:
        self.rest = rest
        self.fitting: list[Target] = []
        self.near: list[str] = []
        self.open: list[Unknown] = []


class Candidates:
    """Finds the node templates that fit, and counts how many more relationships their capabilities accept. ``filters``
    reads and checks filters."""

    def __init__(self, types: Types, nodes: MappingType[str, NodeTemplate], filters: Filters, facts: Facts) -> None:
        self._types = types
        self._nodes = nodes
        self.filters = filters
        self._facts = facts
        self._by_capability: dict[str, list[NodeTemplate]] | None = None
        self._pools: dict[tuple[object, ...], _Pool] = {}
        self._users: dict[tuple[str, str], int] = {}

    def use(self, node: str, capability: str) -> int:
        """Note one more relationship with a capability; gives how many there are now."""
        users = self._users[node, capability] = self._users.get((node, capability), 0) + 1
        return users

    def find(self, demand: Demand, most: int = MOST_LISTED) -> Found:
        """The node templates that fit a demand, at most ``most`` of them."""
        pool = self._pool(demand)
        pool.fitting = [t for t in pool.fitting if not self._is_spent(t, pool)]
        found = [t for t in pool.fitting if t.node.name != demand.source.name]
        while len(found) <= most:
            target = next(pool.rest, None)
            if target is None:
                break
            if self._is_spent(target, pool):
                continue
            pool.fitting.append(target)
            if target.node.name != demand.source.name:
                found.append(target)
        return Found(tuple(found), tuple(pool.near), tuple(pool.open))

    def fits(self, node: NodeTemplate, filters: tuple[WrittenFilter, ...]) -> list[str]:
        """Whether a node fits filters, as far as it is known."""
        findings = (self.filters.match(f.filter, f.unit, node, self._facts) for f in filters)
        return [reason for finding in findings for reason in finding.against]

    def _is_spent(self, target: Target, pool: _Pool) -> bool:
        """Whether a capability serves no more relationships, which is noted as a reason."""
        most = target.capability.occurrences[1]
        if most is None or self._users.get((target.node.name, target.capability.name), 0) < most:
            return False
        if len(pool.near) < MOST_LISTED:
            pool.near.append(f"{target.node.name}: {target.capability.name} serves no more")
        return True

    def _pool(self, demand: Demand) -> _Pool:
        key = (demand.source.type, *demand.asked)
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = _Pool(iter(()))
            pool.rest = self._look(demand, pool)
        return pool

    def _look(self, demand: Demand, pool: _Pool) -> Iterator[Target]:
        for node in self._offering(demand.capability):
            if demand.node_type and demand.node_type not in node.kinds:
                continue
            capability = self._suitable(node, demand)
            if capability is None:
                self._note_unserved(node, demand, pool)
                continue
            against: list[str] = []
            unknown: list[Unknown] = []
            for item in demand.filters:
                finding = self.filters.match(item.filter, item.unit, node, self._facts)
                against += finding.against
                unknown += finding.open
            if against:
                if len(pool.near) < MOST_LISTED:
                    pool.near.append(f"{node.name}: {', '.join(against)}")
            elif unknown:
                _note_unknown(node, unknown[0], pool)
            else:
                yield Target(node, capability)

    def _suitable(self, node: NodeTemplate, demand: Demand) -> Capability | None:
        """The capability of a node that serves a demand: one of exactly the type before derived ones."""
        offered = [
            c
            for c in node.capabilities.values()
            if demand.capability in c.kinds
            and (not demand.named or c.name == demand.named)
            and self.serves(node, c, demand.source)
        ]
        return next((c for c in offered if c.kinds[0] == demand.capability), offered[0] if offered else None)

    def _note_unserved(self, node: NodeTemplate, demand: Demand, pool: _Pool) -> None:
        for capability in node.capabilities.values():
            fits = demand.capability in capability.kinds and demand.named in {"", capability.name}
            if fits and len(pool.near) < MOST_LISTED:
                sources = self._types.nodes[node.type].capabilities[capability.name].valid_source_types
                pool.near.append(f"{node.name}: {capability.name} serves {' or '.join(sources)} only")

    def serves(self, node: NodeTemplate, capability: Capability, source: NodeTemplate) -> bool:
        """Whether a capability accepts relationships from nodes of a type."""
        sources = self._types.nodes[node.type].capabilities[capability.name].valid_source_types
        return not sources or any(s in source.kinds for s in sources)

    def _offering(self, capability: str) -> list[NodeTemplate]:
        if self._by_capability is None:
            self._by_capability = {}
            for node in self._nodes.values():
                for kind in dict.fromkeys(k for offered in node.capabilities.values() for k in offered.kinds):
                    self._by_capability.setdefault(kind, []).append(node)
        return self._by_capability.get(capability, [])


def _note_unknown(node: NodeTemplate, why: Unknown, pool: _Pool) -> None:
    """Note why it cannot be told of a node whether it fits: as much as a message lists, and whether a fault is among
    it."""
    if len(pool.open) < MOST_LISTED or (why.at_fault and not any(u.at_fault for u in pool.open)):
        pool.open.append(msgspec.structs.replace(why, reason=f"{node.name}: {why.reason}"))
