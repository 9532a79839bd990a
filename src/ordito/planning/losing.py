"""Whose data a plan loses: of the instances that hold data, those that it removes, and those that it creates although
they were created before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ordito.instances.hosting import chain
from ordito.instances.records import Instance, Snapshot
from ordito.planning.draft import Draft
from ordito.planning.planned_instances import DOWN_UP, GOING, Down, InstanceAction, PlannedInstance


def losing(draft: Draft) -> tuple[str, ...]:
    """The instances whose data a plan loses, including what is missed on hosts that it removes."""
    # Most services have no node that keeps data: then none of very many instances has to be looked at.
    keeping = {node for node, members in draft.of_node.items() if members and members[0].template.keeps_data}
    kept = (member for member in draft.members.values() if member.template.name in keeping) if keeping else ()
    found = [member.id for member in kept if _is_lost(draft, member) and holds_data(draft, member)]
    for host, missed in draft.missed_on.items():
        if _goes(draft, host):
            found += [name for name in missed if name not in draft.members and _keeps(draft, name)]
    return tuple(found)


def holds_data(draft: Draft, member: PlannedInstance) -> bool:
    """Whether an instance holds data that are lost when it is removed, or created again. One that was never begun holds
    none, nor does one that was removed on purpose. One that was found to be absent may come back, as with a volume that
    is mounted again."""
    record = draft.snapshot.instances.get(member.id)
    if record is None or not member.template.keeps_data:
        return False
    begun = record.exists and bool(record.created or record.applied or record.failed)
    return begun or may_come_back(draft.snapshot, record)


def at_stake(draft: Draft, members: Iterable[PlannedInstance]) -> Iterator[PlannedInstance]:
    """Those of some instances whose data are lost when they are removed, or created again, and for which nobody has
    allowed that."""
    may = draft.options.data_loss.permitted
    return (m for m in members if holds_data(draft, m) and may.isdisjoint((m.id, m.template.name)))


def lost_if(draft: Draft, names: Iterable[str]) -> dict[str, str]:
    """The condition under which the data of instances are lost, for people; none for those that are lost in any
    case."""
    found: dict[str, str] = {}
    for name in names:
        member = draft.members.get(name)
        if name in draft.once_more:
            found[name] = IF_ABSENT
        elif draft.repairs_first or (member is not None and member.is_conditional):
            found[name] = IF_NOT_OK
        elif member is not None and member.record.was_lost and member.action in GOING:
            found[name] = IF_AWAY
    return found


IF_ABSENT = "if its check finds it to be absent"
IF_AWAY = "as it was found to be absent: nothing of it is run, and it is not known here any more after that"
IF_NOT_OK = "if it is not found to be ok before"


def _is_lost(draft: Draft, member: PlannedInstance) -> bool:
    """Whether what an instance holds is lost by its action."""
    is_made = member.action is InstanceAction.NEW or (member.action is InstanceAction.CONTINUE and draft.options.force)
    return is_made or member.id in draft.once_more or DOWN_UP[member.action].down is Down.REMOVE


def _keeps(draft: Draft, name: str) -> bool:
    """Whether an instance that is missed may hold data."""
    record = draft.snapshot.instances[name]
    node = draft.service.nodes.get(record.node)
    return node is not None and node.keeps_data and may_come_back(draft.snapshot, record)


def may_come_back(snapshot: Snapshot, record: Instance) -> bool:
    """Whether an instance was found to be absent, and none of its hosts was removed on purpose."""
    return record.was_lost and all(host.exists or host.was_lost for host in chain(snapshot, record.host))


def left_absent(draft: Draft) -> frozenset[str]:
    """The instances that are not created again if nobody can be asked: those that were found to be absent and may hold
    data, and hosts that were found to be absent under such instances."""
    snapshot, found = draft.snapshot, set[str]()
    for record in snapshot.instances.values():
        node = draft.service.nodes.get(record.node)
        if node is None or not node.keeps_data or not (record.exists or may_come_back(snapshot, record)):
            continue
        found.update(above.id for above in chain(snapshot, record.id) if may_come_back(snapshot, above))
    return frozenset(found)


def _goes(draft: Draft, host: str) -> bool:
    """Whether an instance, or one of its hosts, is removed."""
    members = (draft.members.get(above.id) for above in chain(draft.snapshot, host))
    return any(member is not None and DOWN_UP[member.action].down is Down.REMOVE for member in members)
