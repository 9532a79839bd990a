"""Placement policies: which host is chosen for a new instance where several can be, and whether the policies are met
(chapter 12, R-12-10, R-12-11).

A policy is about containers of a type: the instances of nodes of that type that its targets are, or that carry them,
directly or in turn. With `affinity` its targets are together: where one of them is, an instance of each of the others
is too. With `anti_affinity` no two instances of them share a container; with `container_number` they are spread over so
many containers at least, and over those that `containers` names only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from ordito.base.listing import listed
from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError
from ordito.model.imperative import Policy
from ordito.model.service import NodeTemplate, Service
from ordito.planning.draft import Draft, Fate, Member
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
    """The node type that a placement policy calls its containers, as it is written; "" where the policy says nothing
    that is understood here, or where no node is of that type."""
    if PLACEMENT not in policy.kinds:
        return ""
    written = policy.properties
    name = written.get(TOGETHER) or written.get(APART) or (written.get(TYPE, "Compute") if NUMBER in written else "")
    if not isinstance(name, str) or not name:
        return ""
    return name if any(_is_of(node, name) for node in service.nodes.values()) else ""


def check_placement(draft: Draft) -> None:
    """Transform: every placement policy is met where instances come or go; what it cannot be is refused."""
    for policy in draft.service.policies.values():
        rule = rule_of(draft, policy)
        if rule is not None:
            _check(draft, rule)


def rule_of(draft: Draft, policy: Policy) -> Rule | None:
    """What a policy asks for, None for nothing that is understood here."""
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


class Placement:
    """The placement policies that are about one node, for the choice of hosts for new instances of it.

    ``hosts`` are those that can be chosen at all. Only what was placed before counts: nodes are placed one after the
    other, hosts first.
    """

    def __init__(self, draft: Draft, node: NodeTemplate, hosts: Iterable[str]) -> None:
        self._draft = draft
        self._node = node
        found = (rule_of(draft, policy) for policy in draft.placement.get(node.name, ()))
        self._rules = [rule for rule in found if rule is not None]
        self._used = [_used(draft, rule) for rule in self._rules]
        self._hosts = list(hosts)

    def allowed(self) -> list[str]:
        """The hosts that no policy forbids; reported where there is none."""
        left = self._hosts
        for rule in self._rules:
            left, before = [h for h in left if self._fits(rule, h)], left
            if not left and before:
                self._report(rule, before)
        return left

    def crowd(self, host: str) -> int:
        """How many instances that are to be apart are there already, where a host is."""
        return sum(
            used[container_of(self._draft, rule, host)]
            for rule, used in zip(self._rules, self._used, strict=True)
            if not rule.together
        )

    def is_open(self, host: str) -> bool:
        """Whether a further instance may go to a host, as far as that depends on those placed last."""
        for rule, used in zip(self._rules, self._used, strict=True):
            container = container_of(self._draft, rule, host)
            if rule.together and container not in used and len(used) >= self._most(rule):
                return False
        return True

    def take(self, host: str) -> None:
        """Count an instance on a host."""
        for rule, used in zip(self._rules, self._used, strict=True):
            used[container_of(self._draft, rule, host)] += 1

    def _fits(self, rule: Rule, host: str) -> bool:
        container = container_of(self._draft, rule, host)
        if rule.named is not None and container and not _is_named(self._draft, rule.named, container):
            return False
        if not rule.together:
            return True
        return all(container in places for places in self._others(rule))

    def _others(self, rule: Rule) -> list[Counter[str]]:
        """Where the instances of each of the other targets are that have been placed."""
        others = (name for name in rule.policy.nodes if name != self._node.name)
        return [places for name in others if (places := _places(self._draft, rule, name))]

    def _most(self, rule: Rule) -> int:
        """On how many containers the targets can be together."""
        numbers = [self._draft.counts.get(name, 0) for name in rule.policy.nodes]
        return min((n for n in numbers if n), default=1)

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


def container_of(draft: Draft, rule: Rule, instance: str) -> str:
    """The container that an instance is, or is carried by; "" for none."""
    member = draft.members.get(instance)
    while member is not None and not _is_of(member.template, rule.container):
        member = draft.members.get(member.record.host)
    return member.id if member is not None else ""


def _check(draft: Draft, rule: Rule) -> None:
    members = [m for name in rule.policy.nodes for m in draft.of_node.get(name, ())]
    if all(m.fate not in (Fate.NEW, Fate.LEAVE, Fate.DROP) for m in members):
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
    for name, found in there.items():
        for other, others in there.items():
            alone = sorted(found.keys() - others.keys())
            if alone:
                return f'"{name}" is on {listed(alone, MOST_NAMED)}, and "{other}" is not'
    return ""


def _problem_apart(draft: Draft, rule: Rule, places: dict[str, Counter[str]]) -> str:
    used: Counter[str] = Counter()
    for found in places.values():
        used += found
    named = listed(sorted(used), MOST_NAMED) if used else "none"
    foreign = [c for c in used if rule.named is not None and not _is_named(draft, rule.named, c)]
    if foreign:
        return f"its targets are on {listed(sorted(foreign), MOST_NAMED)}, which it does not name"
    if rule.number:
        wanted = f"it wants {rule.number} containers of type {rule.container}"
        return f"its targets are on {named}, and {wanted}" if len(used) < rule.number else ""
    shared = sorted(c for c, count in used.items() if count > 1)
    return f"{listed(shared, MOST_NAMED)} has several instances that are to be apart" if shared else ""


def _used(draft: Draft, rule: Rule) -> Counter[str]:
    """How many instances of the targets there are in each container."""
    used: Counter[str] = Counter()
    for name in rule.policy.nodes:
        used += _places(draft, rule, name)
    return used


def _places(draft: Draft, rule: Rule, node: str) -> Counter[str]:
    """How many instances of a node there are in each container, those that leave left out."""
    staying: Iterable[Member] = (m for m in draft.of_node.get(node, ()) if not m.goes)
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
