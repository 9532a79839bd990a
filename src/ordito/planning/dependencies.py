"""Transform: what comes up in a plan must have what it requires: up already, or coming up in the same plan.

Of a node with several instances one that is up is enough; what is optional need not be up at all.
"""

from __future__ import annotations

from ordito.instances.states import CONFIGURED
from ordito.model.service import NodeTemplate
from ordito.planning.draft import Draft
from ordito.planning.fates import Fate
from ordito.planning.members import PlannedInstance


def check_dependencies(draft: Draft) -> None:
    """Refuse the plan for everything that is required and not up, once each; says which command repairs it."""
    refused: dict[str, tuple[PlannedInstance, PlannedInstance, str]] = {}
    missing: dict[str, PlannedInstance | None] = {}
    for node in draft.ordered:
        for member in draft.of_node.get(node.name, ()):
            if not member.rises:
                continue
            host = draft.host_of(member)
            if host is not None and not host.is_up:
                refused.setdefault(host.id, (member, host, "is hosted on"))
            for relationship in node.requirements:
                if relationship.is_hosting:
                    continue
                if relationship.target not in missing:
                    missing[relationship.target] = not_up(draft, relationship.target)
                if (target := missing[relationship.target]) is not None:
                    refused.setdefault(target.id, (member, target, "requires"))
    for member, target, how in refused.values():
        _refuse(draft, member, target, how)


def lacks(draft: Draft, member: PlannedInstance) -> bool:
    """Whether something that an instance requires is not up, so that it cannot come up in this plan."""
    host = draft.host_of(member)
    if host is not None and not host.is_up:
        return True
    return requires_what_is_not_up(draft, member.template)


def requires_what_is_not_up(draft: Draft, node: NodeTemplate) -> bool:
    """Whether something that the instances of a node require, save their hosts, is not up."""
    return any(not r.is_hosting and not_up(draft, r.target) is not None for r in node.requirements)


def not_up(draft: Draft, node: str) -> PlannedInstance | None:
    """An instance of a node of which none is up, though one has to be."""
    members = draft.of_node.get(node, [])
    if draft.service.nodes[node].settings.is_optional or any(m.is_up for m in members):
        return None
    if members:
        return members[0]
    lost = (r for r in draft.snapshot.records_of(node) if not r.exists and not r.was_scaled_in)
    return next((PlannedInstance(r, draft.service.nodes[node], Fate.KEEP, "") for r in lost), None)


def _refuse(draft: Draft, member: PlannedInstance, target: PlannedInstance, how: str) -> None:
    record = target.record
    is_stopped = record.state == CONFIGURED
    state = "stopped" if is_stopped else record.local
    if is_stopped:
        hint = f"`ordito start {target.id}` first, or name both in one command"
    else:
        hint = f"`ordito heal {target.id}` first" if record.created else "`ordito deploy` first, which makes it"
    draft.refusals.error(
        "dependency-not-up",
        f"{member.id} {how} {target.id}, which is {state} and not part of this plan",
        member.template.span,
        hint=hint,
    )
