"""What is removed only if that is asked for: what is protected, what this ensemble has not created, and everything that
either of these depends on. Undeploying leaves it alone, and so does an upgrade to a template that no longer has it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ordito.instances.records import Snapshot
from ordito.model.service import Service
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import Chain, InstanceAction, PlannedInstance
from ordito.work.plan import ChangeCause

REASONS = {ChangeCause.PROTECTED: "protected", ChangeCause.UNMANAGED: "not created by this ensemble"}
"""Why an instance itself is kept, in words."""


def keep(draft: Draft) -> None:
    """Transform: keep instances, and have the wanted numbers be those of the kept ones."""
    waiting = deque(_kept_for_itself(draft))
    while waiting:
        member, cause, reason = waiting.popleft()
        if member.action is InstanceAction.KEEP:
            continue
        member.action, member.cause, member.reason = InstanceAction.KEEP, cause, reason
        member.up = Chain([draft.join(member.id, draft.why(reason))])
        member.up.steps = []
        draft.kept.append(member)
        draft.counts[member.template.name] += 1
        reason = f"{member.id} needs it and is kept"
        waiting.extend((other, ChangeCause.NONE, reason) for other in _needed(draft, member))


def _kept_for_itself(draft: Draft) -> Iterator[tuple[PlannedInstance, ChangeCause, str]]:
    for member in draft.members.values():
        if cause := why_kept(draft, member):
            yield member, cause, REASONS[cause]


def why_kept(draft: Draft, member: PlannedInstance) -> ChangeCause:
    """Why an instance is not removed, ``NONE`` if it may be."""
    if member.template.settings.protected and not draft.options.removal.protected:
        return ChangeCause.PROTECTED
    is_other = member.record.is_unmanaged and not draft.options.removal.unmanaged
    return ChangeCause.UNMANAGED if is_other else ChangeCause.NONE


def _needed(draft: Draft, member: PlannedInstance) -> Iterator[PlannedInstance]:
    """The instances that an instance depends on: its host, and those of its other requirements."""
    host = draft.host_of(member)
    if host is not None:
        yield host
    for relationship in member.template.requirements:
        if not relationship.is_hosting:
            yield from draft.of_node.get(relationship.target, ())


def kept_behind(service: Service, snapshot: Snapshot, left_behind: frozenset[str]) -> frozenset[str]:
    """The nodes that are no longer in the template and are kept nevertheless; ``service`` still has them."""
    waiting = [name for name in left_behind if _is_kept(service, snapshot, name)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(r.target for r in service.nodes[name].requirements if r.target in left_behind)
    return frozenset(found)


def _is_kept(service: Service, snapshot: Snapshot, name: str) -> bool:
    return service.nodes[name].settings.protected or any(r.is_unmanaged for r in snapshot.of_node(name))


def refuse_replaced(draft: Draft) -> None:
    """Transform: what is removed only on request is replaced only on request, too: if its node is named."""
    if not draft.workflow.describes:
        return
    for member in draft.members.values():
        named = member.template.name in draft.options.changes.replaced
        if member.action is not InstanceAction.REPLACE or named or not member.record.exists:
            continue
        if cause := why_kept(draft, member):
            draft.refusals.error(
                "kept-anew",
                f"{member.id} would be replaced, and is {REASONS[cause]}: {member.reason}",
                member.template.span,
                hint=f"`--replace {member.template.name}` replaces it anyway",
            )
