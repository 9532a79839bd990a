"""Placement policies: which host is chosen for a new instance if several are possible, and whether the policies are met
(chapter 12, R-12-10, R-12-11).

A policy is about containers of a type: the instances of nodes of that type that its targets are, or that carry them,
directly or indirectly. With `affinity` its targets are together: where one of them is, an instance of each of the
others is too. With `anti_affinity` no two instances of them share a container; with `container_number` they are spread
over at least so many containers, and only over those that `containers` names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from ordito.base.sensitive import revealed
from ordito.base.text import listed
from ordito.instances.context import Context, EvaluationError
from ordito.model.imperative import Policy
from ordito.model.service import NodeTemplate, Service
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.planning.policy_targets import PLACEMENT

TOGETHER = "affinity"
APART = "anti_affinity"
NUMBER = "container_number"
TYPE = "container_type"
NAMED = "containers"

MOST_NAMED = 5


class Rule(msgspec.Struct, frozen=True):
    """What a policy asks for. ``number`` is the least number of containers, 0 for one for each instance; ``named`` are
    the nodes or instances that may be containers, None for all."""

    policy: Policy
    container: str
    together: bool
    number: int = 0
    named: frozenset[str] | None = None


def container_type(service: Service, policy: Policy) -> str:
    """The node type that a placement policy calls its containers, as written; "" if the policy says nothing that is
    supported here, or if no node is of that type."""
    if PLACEMENT not in policy.kinds:
        return ""
    written = policy.properties
    name = written.get(TOGETHER) or written.get(APART) or (written.get(TYPE, "Compute") if NUMBER in written else "")
    if not isinstance(name, str) or not name:
        return ""
    return name if any(_is_of(node, name) for node in service.nodes.values()) else ""


def check_placement(draft: Draft) -> None:
    """Transform: every placement policy is met when instances come or go; one that cannot be met is refused."""
    for policy in draft.service.policies.values():
        rule = rule_of(draft, policy)
        if rule is not None:
            _check(draft, rule)


def rule_of(draft: Draft, policy: Policy) -> Rule | None:
    """What a policy asks for, None for nothing that is supported here."""
    container = container_type(draft.service, policy)
    if not container:
        return None
    number = _value(draft, policy, NUMBER)
    named = _value(draft, policy, NAMED)
    return Rule(
        policy,
        container,
        together=bool(policy.properties.get(TOGETHER)),
        number=number if isinstance(number, int) else 0,
        named=frozenset(map(str, named)) if isinstance(named, list) else None,
    )


class PlacedTargets:
    """Where the targets of one policy are, for the nodes that were placed so far: nodes are placed in the order in
    which they are planned, hosts first. ``used`` is how many instances there are in each container, ``holding`` of how
    many nodes each container has some, ``nodes`` how many nodes have any."""

    def __init__(self, draft: Draft, rule: Rule) -> None:
        self._draft = draft
        self._targets = frozenset(rule.policy.nodes)
        self._looked_at = 0
        self.rule = rule
        self.used: Counter[str] = Counter()
        self.holding: Counter[str] = Counter()
        self.nodes = 0
        numbers = (_number(draft, name) for name in rule.policy.nodes)
        self.most = min((n for n in numbers if n), default=1)

    def before(self, node: str) -> None:
        """Look at everything that was placed before a node."""
        ordered = self._draft.ordered
        while self._looked_at < len(ordered) and (name := ordered[self._looked_at].name) != node:
            self._looked_at += 1
            if name in self._targets and (found := _places(self._draft, self.rule, name)):
                self.used.update(found)
                self.holding.update(found.keys())
                self.nodes += 1


class NodePlacement:
    """The placement policies that are about one node, for the choice of hosts for new instances of it. ``hosts`` are
    the possible ones."""

    def __init__(self, draft: Draft, node: NodeTemplate, hosts: Iterable[str]) -> None:
        self._draft = draft
        self._node = node
        self._hosts = list(hosts)
        self._placed = [
            placed for policy in draft.placement.get(node.name, ()) if (placed := _placed(draft, policy)) is not None
        ]
        self._own: list[Counter[str]] = []
        for placed in self._placed:
            placed.before(node.name)
            self._own.append(_places(draft, placed.rule, node.name))

    def allowed(self) -> list[str]:
        """The hosts that no policy forbids; it is reported if there is none."""
        left = self._hosts
        for placed in self._placed:
            left, before = [h for h in left if self._fits(placed, h)], left
            if not left and before:
                self._report(placed.rule, before)
        return left

    def crowd(self, host: str) -> int:
        """How many instances that are to be kept apart are in a host's container already."""
        if not self._placed:
            return 0
        found = 0
        for placed, own in zip(self._placed, self._own, strict=True):
            if not placed.rule.together:
                container = container_of(self._draft, placed.rule, host)
                found += placed.used[container] + own[container]
        return found

    def is_open(self, host: str) -> bool:
        """Whether a further instance may go to a host: whether all targets that are to be together can be together
        there."""
        for placed, own in zip(self._placed, self._own, strict=True):
            container = container_of(self._draft, placed.rule, host)
            if placed.rule.together and container not in own and len(own) >= placed.most:
                return False
        return True

    def take(self, host: str) -> None:
        """Count an instance on a host."""
        for placed, own in zip(self._placed, self._own, strict=True):
            own[container_of(self._draft, placed.rule, host)] += 1

    def _fits(self, placed: PlacedTargets, host: str) -> bool:
        rule = placed.rule
        container = container_of(self._draft, rule, host)
        if rule.named is not None and container and not _is_named(self._draft, rule.named, container):
            return False
        return not rule.together or placed.holding[container] == placed.nodes

    def _report(self, rule: Rule, hosts: Sequence[str]) -> None:
        draft, node, others = self._draft, self._node, [n for n in rule.policy.nodes if n != self._node.name]
        allowed = listed(sorted(rule.named or ()), MOST_NAMED)
        why = f"together with {listed(others, MOST_NAMED)}" if rule.together else f"on {allowed}"
        draft.diagnostics.error(
            "no-host",
            f'policy "{rule.policy.name}" wants "{node.name}" {why}, and of its possible hosts'
            f" {listed(hosts, MOST_NAMED)} none is there",
            rule.policy.span or node.span,
            hint=f"host them on the same {rule.container}, or change the policy or its targets",
        )


def _placed(draft: Draft, policy: Policy) -> PlacedTargets | None:
    """Where the targets of a policy are, found once for a draft; None if nothing of it is supported."""
    known = draft.placed.get(policy.name)
    if known is None and policy.name not in draft.placed:
        rule = rule_of(draft, policy)
        known = draft.placed[policy.name] = PlacedTargets(draft, rule) if rule is not None else None
    return known if isinstance(known, PlacedTargets) else None


def _number(draft: Draft, node: str) -> int:
    """How many instances of a node there will be or, if that is not known yet, are."""
    known = draft.counts.get(node)
    return len(draft.snapshot.ids_of(node)) if known is None else known


def container_of(draft: Draft, rule: Rule, instance: str) -> str:
    """The container that an instance is, or is carried by; "" for none."""
    hosts = draft.chain(draft.members.get(instance))
    return next((member.id for member in hosts if _is_of(member.template, rule.container)), "")


def _check(draft: Draft, rule: Rule) -> None:
    members = [m for name in rule.policy.nodes for m in draft.of_node.get(name, ())]
    if all(m.action not in (InstanceAction.NEW, InstanceAction.LEAVE, InstanceAction.DROP) for m in members):
        return
    places = {name: _places(draft, rule, name) for name in rule.policy.nodes}
    problem = _problem_together(places) if rule.together else _problem_apart(draft, rule, places)
    if problem:
        draft.diagnostics.error(
            "no-host",
            f'policy "{rule.policy.name}" is not met: {problem}',
            rule.policy.span,
            hint=f"change the number of instances of its targets, or of what is to be their {rule.container}, or the"
            " policy",
        )


def _problem_together(places: dict[str, Counter[str]]) -> str:
    there = {name: found for name, found in places.items() if found}
    holding = Counter(container for found in there.values() for container in found)
    alone = sorted(container for container, nodes in holding.items() if nodes < len(there))
    if not alone:
        return ""
    here = [name for name, found in there.items() if alone[0] in found]
    missing = [name for name, found in there.items() if alone[0] not in found]
    return f"{listed(here, MOST_NAMED)} is on {alone[0]}, and {listed(missing, MOST_NAMED)} is not"


def _problem_apart(draft: Draft, rule: Rule, places: dict[str, Counter[str]]) -> str:
    used: Counter[str] = Counter()
    for found in places.values():
        used.update(found)
    named = listed(sorted(used), MOST_NAMED) if used else "none"
    foreign = [c for c in used if rule.named is not None and not _is_named(draft, rule.named, c)]
    if foreign:
        return f"its targets are on {listed(sorted(foreign), MOST_NAMED)}, which it does not name"
    if rule.number:
        wanted = f"it wants {rule.number} containers of type {rule.container}"
        return f"its targets are on {named}, and {wanted}" if len(used) < rule.number else ""
    shared = sorted(c for c, count in used.items() if count > 1)
    return f"{listed(shared, MOST_NAMED)} has several instances that are to be apart" if shared else ""


def _places(draft: Draft, rule: Rule, node: str) -> Counter[str]:
    """How many instances of a node there are in each container, without those that are removed."""
    staying: Iterable[PlannedInstance] = (m for m in draft.of_node.get(node, ()) if not m.goes)
    found = Counter(container_of(draft, rule, m.id) for m in staying)
    del found[""]
    return found


def _is_of(node: NodeTemplate, type_name: str) -> bool:
    return any(kind == type_name or kind.endswith(f".{type_name}") for kind in node.kinds)


def _is_named(draft: Draft, named: frozenset[str], container: str) -> bool:
    return container in named or draft.members[container].template.name in named


def _value(draft: Draft, policy: Policy, name: str) -> object:
    if name not in policy.properties:
        return None
    try:
        return revealed(draft.static.evaluate(policy.properties[name], Context()))
    except EvaluationError as error:
        draft.diagnostics.error(
            "bad-value", f'{name} of policy "{policy.name}": {error.message}', error.span or policy.span
        )
        return None
