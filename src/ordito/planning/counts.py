"""Transform: how many instances of each node are wanted, and whether that is within bounds (§2.20, §5.5.13).

A number that `scale` has set is kept until the template, or one of its inputs, asks for another number than it did
then.
"""

from __future__ import annotations

from typing import NamedTuple

from ordito.base.sensitive import revealed
from ordito.instances.context import Context, EvaluationError, Nothing
from ordito.instances.slots import SCALABLE
from ordito.model.imperative import Policy
from ordito.model.service import Capability, NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.options import ServicePart
from ordito.syntax.expressions import Value
from ordito.work.plan import KeptCount

RESET = "scale it, or deploy with --reset-counts to have what the template asks for"


def counts(draft: Draft) -> None:
    """Find the wanted number of instances of every node, hosts first."""
    kept: dict[str, KeptCount] = {}
    pruned, part = draft.options.pruned, draft.options.part
    for node in draft.ordered:
        if node.name in pruned:
            draft.counts[node.name], draft.origins[node.name] = 0, GONE
            continue
        if node.name in draft.options.orphans.nodes:
            draft.counts[node.name] = len(draft.snapshot.ids_of(node.name))
            draft.origins[node.name] = "what exists"
            if node.name in draft.options.kept:
                kept[node.name] = draft.options.kept[node.name]
            continue
        if part is not None and node.name not in part.nodes:
            draft.counts[node.name] = _existing(draft, node, part)
            draft.origins[node.name] = "what exists"
            if node.name in draft.options.kept:
                kept[node.name] = draft.options.kept[node.name]
            continue
        count, origin = asked_count(draft, node)
        before = kept_count(draft, node, count, origin)
        if before is not None:
            kept[node.name] = before
            count, origin = before.count, f"kept from scale (job {before.job})"
            check_bounds(draft, node, count, origin, RESET)
        elif not origin.startswith(ONE_ON_EACH) or _is_bounded_by_policy(draft, node):
            check_bounds(draft, node, count, origin)
        if part is not None and part.skip_new and count > (there_are := _existing(draft, node, part)):
            count, origin = there_are, "what exists: nothing new is made"
        draft.counts[node.name] = count
        draft.origins[node.name] = origin
    draft.kept_counts = kept
    _refuse_very_many(draft)


def _refuse_very_many(draft: Draft) -> None:
    """Plan no new instances of the first node with which there would be too many, nor of the nodes after it, so that
    the other checks have few to look at."""
    total, is_refused = 0, False
    for node in draft.ordered:
        if not is_refused and few_enough(draft, node, draft.counts[node.name], total):
            total += draft.counts[node.name]
            continue
        is_refused = True
        draft.counts[node.name] = len(draft.snapshot.ids_of(node.name))


def _existing(draft: Draft, node: NodeTemplate, part: ServicePart) -> int:
    """The number of instances of a node of which no others are created: those that exist, and those that are named and
    created again."""
    named = (r for r in draft.snapshot.records_of(node.name) if not r.exists and r.id in part.instances)
    return len(draft.snapshot.ids_of(node.name)) + sum(1 for _ in named)


def _is_bounded_by_policy(draft: Draft, node: NodeTemplate) -> bool:
    """Whether a scaling policy limits the number of instances; policies of TOSCA's own type do not."""
    return any(name in policy.properties for policy in draft.scaling.get(node.name, ()) for name in ASSIGNED)


GONE = "the template has lost it"
ONE_ON_EACH = "one on each "


def kept_count(draft: Draft, node: NodeTemplate, asked: int, origin: str) -> KeptCount | None:
    """The number of instances of a node that scaling has set and that is still valid, if the template asks for this
    number now. If the template asks for one on each host, and the number of hosts has changed, each host counts for as
    many instances as one did then."""
    kept = draft.options.kept.get(node.name)
    if kept is None or kept.over == asked:
        return kept
    if not kept.over or not origin.startswith(ONE_ON_EACH):
        return None
    count = max(0, kept.count + (asked - kept.over) * (kept.count // kept.over))
    return KeptCount(count, asked, kept.job) if count != asked else None


def asked_count(draft: Draft, node: NodeTemplate) -> tuple[int, str]:
    """How many instances of a node the template asks for, and where it says so; its host's instances were counted
    before. A value that is not a number is reported, and counts as 0."""
    scalable = scalable_of(node)
    if node.instance_count is not None:
        return number(draft, node, node.instance_count, "instance_count") or 0, "instance_count"
    if scalable is not None and "default_instances" in scalable.assigned:
        times, asked = containers(draft, node), scalable.properties.get("default_instances")
        return (number(draft, node, asked, "default_instances") or 0) * times, "default_instances"
    said = of_policy(draft, node, "default_instances")
    if said is not None:
        return said[0], f'default_instances of policy "{said[1].name}"'
    lower = node.occurrences[0] if node.occurrences else 0
    least, origin = 0, "min_instances"
    if scalable is not None and "min_instances" in scalable.assigned:
        asked = scalable.properties.get("min_instances")
        least = (number(draft, node, asked, "min_instances") or 0) * containers(draft, node)
    said = of_policy(draft, node, "min_instances")
    if said is not None and said[0] > least:
        least, origin = said[0], f'min_instances of policy "{said[1].name}"'
    if node.host is not None and not lower and not least:
        return draft.counts.get(node.host.target, 0), f"{ONE_ON_EACH}{node.host.target}"
    count = max(1, lower, least)
    return count, "" if count == 1 else origin if count == least else "occurrences"


# How few and how many instances a node may have: what its template says, narrowed by scaling policies (§2.20,
# §5.5.13, R-12-12).

IN_EACH = "cloudify.capabilities.Scalable"
"""The capability whose numbers count the instances in each instance of the node's container."""

ASSIGNED = ("min_instances", "max_instances", "default_instances")
UNBOUNDED = frozenset({-1, "UNBOUNDED"})
"""What means no bound where a whole number is expected."""


class InstanceBounds(NamedTuple):
    """The fewest and the most instances that a node may have (None: any number). ``said`` is whether anything says so,
    ``hint`` what to change if more or fewer are wanted."""

    least: int
    most: int | None
    said: bool
    hint: str

    @property
    def shown(self) -> str:
        """The bounds for people."""
        return f"{self.least} to {'any number' if self.most is None else self.most}"

    def allow(self, count: int) -> bool:
        """Whether a number is within them."""
        return self.least <= count and (self.most is None or count <= self.most)


def bounds_of(draft: Draft, node: NodeTemplate) -> InstanceBounds:
    """The bounds of all instances of a node together. A policy that contradicts the template is reported."""
    found = _of_template(draft, node)
    for policy in draft.scaling.get(node.name, ()):
        found = _narrowed(draft, node, found, policy)
    return found


def check_bounds(draft: Draft, node: NodeTemplate, count: int, why: str, hint: str = "") -> None:
    """Refuse a number of instances that a node cannot have; ``why`` says where the number comes from, ``hint`` what can
    be done besides changing the bounds."""
    bounds = bounds_of(draft, node)
    if not bounds.allow(count):
        draft.diagnostics.error(
            "count-out-of-bounds",
            f'node "{node.name}" wants {count} instances ({why or "default"}), and its bounds are {bounds.shown}',
            node.span,
            hint=f"{bounds.hint}; {hint}" if hint else bounds.hint,
        )


def scalable_of(node: NodeTemplate) -> Capability | None:
    """The capability that says how many instances of a node there may be, if it has one."""
    return next((c for c in node.capabilities.values() if SCALABLE in c.kinds), None)


def containers(draft: Draft, node: NodeTemplate) -> int:
    """The factor for the numbers of a node's capability: the number of its container's instances if they count in each
    of them, else one."""
    host, scalable = node.host, scalable_of(node)
    if host is None or scalable is None or IN_EACH not in scalable.kinds:
        return 1
    return draft.counts.get(host.target, 0)


def number(draft: Draft, node: NodeTemplate, value: Value, what: str) -> int | None:
    """A whole number of at least 0; None, with a diagnostic, for any other value."""
    try:
        data = draft.static.evaluate(value, Context(node=node.name))
    except EvaluationError as error:
        draft.diagnostics.error("bad-count", f'{what} of node "{node.name}": {error.message}', error.span or node.span)
        return None
    found = revealed(data)
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        return found
    shown = "nothing" if isinstance(found, Nothing) else repr(data)
    draft.diagnostics.error(
        "bad-count", f'{what} of node "{node.name}" is a whole number from 0 on, and this is {shown}', node.span
    )
    return None


def most(draft: Draft, node: NodeTemplate, value: Value, what: str) -> int | None:
    """An upper bound: a whole number, None for no bound."""
    if isinstance(value, int | str) and value in UNBOUNDED:
        return None
    return number(draft, node, value, what)


def of_policy(draft: Draft, node: NodeTemplate, name: str) -> tuple[int, Policy] | None:
    """What the first scaling policy with a value for a node says: ``default_instances``, ``min_instances`` or
    ``increment``; and that policy."""
    for policy in draft.scaling.get(node.name, ()):
        if name in policy.properties:
            found = number(draft, node, policy.properties[name], f'{name} of policy "{policy.name}"')
            return (found, policy) if found is not None else None
    return None


def _of_template(draft: Draft, node: NodeTemplate) -> InstanceBounds:
    scalable = scalable_of(node)
    if scalable is not None and not scalable.assigned.isdisjoint(ASSIGNED):
        times = containers(draft, node)
        least = number(draft, node, scalable.properties.get("min_instances", 1), "min_instances") or 0
        highest = most(draft, node, scalable.properties.get("max_instances", 1), "max_instances")
        hint = f'change min_instances or max_instances of capability "{scalable.name}"'
        return InstanceBounds(least * times, None if highest is None else highest * times, said=True, hint=hint)
    if node.occurrences is not None:
        return InstanceBounds(*node.occurrences, said=True, hint="change the occurrences of the node template")
    hint = "give the node template occurrences, or assign max_instances of its Scalable capability"
    return InstanceBounds(1, 1, said=False, hint=hint)


def _narrowed(draft: Draft, node: NodeTemplate, found: InstanceBounds, policy: Policy) -> InstanceBounds:
    written = policy.properties
    least = number(draft, node, written["min_instances"], "min_instances") if "min_instances" in written else None
    highest = most(draft, node, written["max_instances"], "max_instances") if "max_instances" in written else None
    if least is None and highest is None:
        return found
    hint = f'change min_instances or max_instances of policy "{policy.name}"'
    if not found.said:
        # Nothing else says anything: that there is one instance is no more than what is usual.
        return InstanceBounds(1 if least is None else least, highest, said=True, hint=hint)
    lower = max(found.least, least or 0)
    upper = min((n for n in (found.most, highest) if n is not None), default=None)
    if upper is not None and lower > upper:
        own = f"{found.least} to {'any number' if found.most is None else found.most}"
        wanted = f"{least or 0} to {'any number' if highest is None else highest}"
        draft.diagnostics.error(
            "count-out-of-bounds",
            f'policy "{policy.name}" allows {wanted} instances of node "{node.name}", whose other bounds are {own}: no'
            " number is within both",
            policy.span or node.span,
            hint=f"{hint}, or {found.hint}",
        )
        return found
    narrower = lower > found.least or upper != found.most
    return InstanceBounds(lower, upper, said=True, hint=hint if narrower else found.hint)


LARGEST = 200_000
"""The number of instances of all nodes together above which a plan needs permission: each costs several kilobytes."""


def few_enough(draft: Draft, node: NodeTemplate, count: int, others: int) -> bool:
    """Whether so many instances of a node may be planned beside those of other nodes; if not, that is reported."""
    # What exists is there, however much it is.
    if count + others <= LARGEST or draft.options.allow_large or count <= len(draft.snapshot.ids_of(node.name)):
        return True
    beside = f" beside {others:,} of other nodes" if others else ""
    draft.diagnostics.error(
        "too-many-instances",
        f'node "{node.name}" is to have {count:,} instances{beside}, and more than {LARGEST:,} in all have to be asked'
        " for",
        node.span,
        hint="plan fewer instances, or give --allow-large",
    )
    return False
