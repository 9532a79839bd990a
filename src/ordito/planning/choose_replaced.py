"""Which instances are replaced to heal one: itself, or its host, with everything that they contain."""

from __future__ import annotations

from ordito.planning.draft import Draft
from ordito.planning.keep import REASONS, why_kept
from ordito.planning.losing import holds_data
from ordito.planning.planned_instances import InstanceAction, PlannedInstance
from ordito.work.plan import ChangeCause

KEEP = InstanceAction.KEEP

TO_HEAL = "it is to be healed"
"""Why what is asked for is replaced; more may follow."""

SHARES = "it shares a host with"
HOSTED_ON = "it is hosted on"
"""How the reasons begin why something else is replaced."""


def put_existing(draft: Draft, nodes: frozenset[str] | None = None) -> dict[str, PlannedInstance]:
    """Put all existing instances, or those of some nodes, as they are; returns those that are missed, or asked for, and
    do not exist."""
    chosen = draft.options.instances or frozenset()
    absent: dict[str, PlannedInstance] = {}
    for node in draft.ordered:
        if nodes is not None and node.name not in nodes:
            continue
        for record in draft.snapshot.records_of(node.name):
            if record.exists:
                draft.put(PlannedInstance(record, node, KEEP, ""))
            elif record.is_missed or record.id in chosen:
                absent[record.id] = PlannedInstance(record, node, KEEP, "")
        draft.sort(node.name)
    _put_hosts(draft, absent)
    return absent


def _put_hosts(draft: Draft, absent: dict[str, PlannedInstance]) -> None:
    """Put the hosts of the instances: their steps run there."""
    waiting = [*draft.members.values(), *absent.values()]
    for member in waiting:  # grows while it is read
        host = draft.snapshot.instances.get(member.record.host)
        if host is not None and host.exists and host.id not in draft.members and host.node in draft.service.nodes:
            waiting.append(PlannedInstance(host, draft.service.nodes[host.node], KEEP, ""))
            draft.put(waiting[-1])


def replace_instance(draft: Draft, absent: dict[str, PlannedInstance], top: str, asked: str, how: str) -> None:
    """Have an instance replaced with all that it contains, for the sake of one that is ``asked`` for, which may be
    deeper; ``how`` is how the reason of the others begins."""
    for name in draft.contained(top):
        member = draft.members.get(name)
        if member is None:
            member = absent.get(name)
            if member is None:
                continue  # Nothing is known of its node any more.
            draft.put(member)
            draft.sort(member.template.name)
        if member.action is InstanceAction.REPLACE:
            continue
        # What is protected goes with what it is hosted on, so that whoever is asked about its data is asked about it.
        if (cause := why_kept(draft, member)) and not holds_data(draft, member):
            member.cause, member.reason = cause, REASONS[cause]
            draft.kept.append(member)
            continue
        member.action = InstanceAction.REPLACE
        is_asked = member.id == asked
        member.cause = ChangeCause.TO_HEAL if is_asked else ChangeCause.NONE
        member.reason = TO_HEAL if is_asked else f"{how} {asked}"
        host = draft.host_of(member)
        member.is_lost = not member.record.exists or (bool(member.record.host) and (host is None or host.is_lost))
