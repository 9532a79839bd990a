"""Transform: how many instances of each node are wanted, and whether that is within its bounds (§2.20, §5.5.13).

A number that was set by `scale` is kept until the template, or an input of it, asks for another one than it did then.
"""

from __future__ import annotations

from ordito.model.service import NodeTemplate
from ordito.planning.bounds import ASSIGNED, check_bounds, containers, few_enough, number, of_policy, scalable_of
from ordito.planning.draft import Draft
from ordito.planning.options import ServicePart
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
        if node.name in draft.options.left_behind:
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
    """Make nothing new of the first node with which there would be too many instances, and of those after it, so that
    what else is found has few to look at."""
    total, is_refused = 0, False
    for node in draft.ordered:
        if not is_refused and few_enough(draft, node, draft.counts[node.name], total):
            total += draft.counts[node.name]
            continue
        is_refused = True
        draft.counts[node.name] = len(draft.snapshot.ids_of(node.name))


def _existing(draft: Draft, node: NodeTemplate, part: ServicePart) -> int:
    """How many instances there are of a node of which no other is made: those that exist, and those that are named and
    made again."""
    named = (r for r in draft.snapshot.records_of(node.name) if not r.exists and r.id in part.instances)
    return len(draft.snapshot.ids_of(node.name)) + sum(1 for _ in named)


def _is_bounded_by_policy(draft: Draft, node: NodeTemplate) -> bool:
    """Whether a scaling policy says how few or how many instances there may be; TOSCA's own type says neither."""
    return any(name in policy.properties for policy in draft.scaling.get(node.name, ()) for name in ASSIGNED)


GONE = "the template has lost it"
ONE_ON_EACH = "one on each "


def kept_count(draft: Draft, node: NodeTemplate, asked: int, origin: str) -> KeptCount | None:
    """The number of instances of a node that scaling has set and that still holds, if the template asks for so many
    now. Where it asks for one on each host, and there are more or fewer hosts than there were, each of them counts for
    as many instances as one did then."""
    kept = draft.options.kept.get(node.name)
    if kept is None or kept.over == asked:
        return kept
    if not kept.over or not origin.startswith(ONE_ON_EACH):
        return None
    count = max(0, kept.count + (asked - kept.over) * (kept.count // kept.over))
    return KeptCount(count, asked, kept.job) if count != asked else None


def asked_count(draft: Draft, node: NodeTemplate) -> tuple[int, str]:
    """How many instances of a node the template asks for, and by what; of its host there are as many as were counted
    already. A value that is no number is reported, and counts as 0."""
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
