"""Transform: which instances there will be after a scaling.

Only the scaled nodes, and everything that they contain, get more or fewer instances; every other instance stays as it
is. A new host instance gets as many of each node that it contains as its siblings have, the smallest number among them.
"""

from __future__ import annotations

from collections import Counter

from ordito.instances.records import Instance, number_of
from ordito.model.service import NodeTemplate
from ordito.planning.choose_instances import Hosts, grow, leaving
from ordito.planning.counts import asked_count, bounds_of, check_bounds, few_enough, kept_count, of_policy
from ordito.planning.draft import Draft
from ordito.planning.options import Goal
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.plan import KeptCount

MOST = 1_000_000
"""The largest number of instances of a node that scaling creates."""


def scale_instances(draft: Draft) -> None:
    """Bring the scaled nodes to their numbers of instances, hosts before what they host."""
    scaler = _Scaler(draft)
    for node in draft.ordered:
        scaler.choose(node)


class _Scaler:
    """The choice of all instances, node by node."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._goals = {goal.node: goal for goal in draft.options.scaling.goals}
        self._removed = draft.options.scaling.removed
        self._kept = draft.kept_counts = {}

    def choose(self, node: NodeTemplate) -> None:
        """The instances of one node."""
        draft = self._draft
        existing = draft.snapshot.of_node(node.name)
        staying = [record for record in existing if not self._goes_with_host(record, node)]
        shares = self._shares(node, staying)
        goal = self._goals.get(node.name)
        number = len(staying) + len(shares)
        if goal is not None:
            number = self._number(goal, node, len(existing))
            shares = shares[: max(0, number - len(staying))]
        why = f": it {goal.why}{f' ({goal.instead})' if goal.instead else ''}" if goal is not None and goal.why else ""
        reason = f"{node.name} is scaled to {number}{why}"
        victims = self._victims(staying, len(staying) + len(shares) - number)
        for record in staying:
            if record.id in victims:
                draft.put(leaving(draft, record, node, f"{reason}, and there are {len(existing)}"))
            else:
                draft.put(PlannedInstance(record, node, InstanceAction.KEEP, ""))
        left = [record for record in staying if record.id not in victims]
        if shares:
            grow(draft, node, shares, left, reason=f"its host is new, so that there are {number} of {node.name}")
        if more := number - len(left) - len(shares):
            self._add(node, more, left, reason)
        draft.sort(node.name)
        self._count(node, number, is_scaled=goal is not None or number != len(existing), before=len(existing))

    def _goes_with_host(self, record: Instance, node: NodeTemplate) -> bool:
        host = self._draft.members.get(record.host)
        if host is None or not host.goes:
            return False
        self._draft.put(leaving(self._draft, record, node, f"its host {host.id} is removed"))
        return True

    def _shares(self, node: NodeTemplate, staying: list[Instance]) -> list[str]:
        """The host of each instance that is added because its host is new."""
        if node.host is None or node.name in self._draft.options.orphans.nodes:
            return []  # Of what the template has lost nothing is made any more.
        hosts = [m for m in self._draft.of_node.get(node.host.target, ()) if not m.goes]
        new = [m.id for m in hosts if m.action is InstanceAction.NEW]
        if not new:
            return []
        siblings = [m.id for m in hosts if m.action is not InstanceAction.NEW]
        if siblings:
            having = Counter(record.host for record in staying)
            share = min(having[name] for name in siblings)
            return [name for name in new for _ in range(share)]
        wanted, _ = asked_count(self._draft, node)
        queue = Hosts(self._draft, node)
        return sorted((queue.take("") for _ in range(wanted)), key=new.index)

    def _number(self, goal: Goal, node: NodeTemplate, existing: int) -> int:
        """How many instances are asked for; an impossible number is reported."""
        count, delta = goal.count, goal.delta
        if count is None:
            if delta is None:
                step = of_policy(self._draft, node, "increment")
                delta = step[0] if step is not None else 1
            count = existing + delta
        if count < 0:
            self._draft.diagnostics.error(
                "bad-count",
                f'node "{node.name}" has {existing} instances, and cannot lose {existing - count}',
                node.span,
                hint=f"give --delta -{existing} at most",
            )
            return existing
        if count > MOST:
            self._draft.diagnostics.error(
                "bad-count",
                f'node "{node.name}" cannot have {count} instances: {MOST} is the most that can be planned',
                node.span,
            )
            return existing
        others = len(self._draft.snapshot.instances) - existing
        if not few_enough(self._draft, node, count, others):
            return existing
        if count != existing:
            check_bounds(self._draft, node, count, f"asked for: it {goal.why}" if goal.why else "asked for")
        return count

    def _victims(self, staying: list[Instance], fewer: int) -> frozenset[str]:
        """The instances to remove: the named ones, else the newest."""
        if fewer <= 0:
            return frozenset()
        named = [record.id for record in staying if record.id in self._removed]
        newest = sorted((r for r in staying if r.id not in self._removed), key=lambda r: number_of(r.id), reverse=True)
        return frozenset([*named, *(record.id for record in newest)][:fewer])

    def _add(self, node: NodeTemplate, more: int, left: list[Instance], reason: str) -> None:
        draft = self._draft
        if node.host is None:
            grow(draft, node, [""] * more, left, reason=reason)
            return
        hosts = Hosts(draft, node)
        if hosts.is_empty:
            draft.diagnostics.error(
                "no-host",
                f'node "{node.name}" wants {more} more instances, and its host "{node.host.target}" has none',
                node.span,
                hint=f'scale "{node.host.target}"',
            )
            return
        grow(draft, node, [hosts.take("") for _ in range(more)], left, reason=reason)

    def _count(self, node: NodeTemplate, number: int, *, is_scaled: bool, before: int) -> None:
        """The wanted number of the node from now on; of one that is not scaled the number that was wanted before."""
        draft = self._draft
        kept = draft.options.kept.get(node.name)
        if node.name in draft.options.orphans.nodes:
            draft.counts[node.name] = number
            if kept is not None:
                self._kept[node.name] = kept
            return
        asked, origin = asked_count(draft, node)
        if not is_scaled:
            kept = kept_count(draft, node, asked, origin)
            if kept is not None:
                self._kept[node.name] = kept
                asked, origin = kept.count, f"kept from scale (job {kept.job})"
            draft.counts[node.name], draft.origins[node.name] = asked, origin
            return
        if number != before and node.name not in self._goals and bounds_of(draft, node).said:
            check_bounds(draft, node, number, f"with those of {node.host.target if node.host else node.name}")
        draft.counts[node.name], draft.origins[node.name] = number, "scaled"
        if number != asked:
            same = kept is not None and (kept.count, kept.over) == (number, asked)
            self._kept[node.name] = kept if kept is not None and same else KeptCount(number, asked)
