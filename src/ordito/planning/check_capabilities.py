"""Transform: no instance of a node serves more others than the occurrences of its capabilities allow (§3.7.2).

The model has counted the templates; how many instances there are of each is known only here.
"""

from __future__ import annotations

from collections import Counter

from ordito.model.service import Capability
from ordito.planning.draft import Draft


def check_capabilities(draft: Draft) -> None:
    """Refuse counts by which a capability of one instance would serve too many (R-3.7.2-8)."""
    limited: dict[int, list[Capability]] = {}
    for node in draft.ordered:
        found = limited.get(id(node.capabilities))
        if found is None:
            found = [c for c in node.capabilities.values() if c.occurrences[1] is not None]
            limited[id(node.capabilities)] = found
        if found and draft.counts[node.name]:
            users = _users(draft, node.name)
            for capability in found:
                _check(draft, node.name, capability, users[capability.name])


def _users(draft: Draft, target: str) -> Counter[str]:
    """How many source instances each capability of one instance of a node serves: those of a hosted node are spread
    over its hosts, others have a relationship with every target."""
    found: Counter[str] = Counter()
    for relationship in draft.service.incoming.get(target, ()):
        count = draft.counts.get(relationship.source, 0)
        if relationship.is_hosting:
            count = -(-count // draft.counts[target])
        found[relationship.capability] += count
    return found


def _check(draft: Draft, target: str, capability: Capability, users: int) -> None:
    most = capability.occurrences[1]
    if most is None or users <= most:
        return
    node = draft.service.nodes[target]
    draft.diagnostics.error(
        "too-many-sources",
        f'capability "{capability.name}" of "{target}" serves at most {most}, and {users} instances would use it',
        node.span,
        hint="lower the number of instances that use it, or raise the occurrences of the capability",
    )
