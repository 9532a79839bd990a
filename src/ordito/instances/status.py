"""Operational status: how events change the local status, and how the effective one follows from dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from ordito.instances.outline import NodeOutline, Outline
from ordito.instances.records import Instance, Snapshot
from ordito.instances.states import STARTED

OK = "ok"
DEGRADED = "degraded"
PENDING = "pending"
UNKNOWN = "unknown"
ERROR = "error"
ABSENT = "absent"

OPERATIONAL = frozenset({OK, DEGRADED})
"""The statuses of instances that work."""


def is_up(record: Instance) -> bool:
    """Whether an instance is started, and known to work."""
    return record.local in OPERATIONAL and record.state == STARTED


WORSE = {OK: 0, DEGRADED: 1, PENDING: 2, UNKNOWN: 3, ERROR: 4, ABSENT: 5}
"""How bad a status is, compared with others."""


class StatusEvent(StrEnum):
    """The events that can change the local status of an instance."""

    CHAIN_BEGAN = "the first operation of a deploy chain starts on an instance that is absent or new"
    CHAIN_ENDED = "the chain of the instance has ended well"
    CHAIN_LACKS = "the chain of the instance has ended, without an optional operation"
    STOPPED = "stop done"
    DELETED = "delete done, or nothing to delete"
    SUCCEEDED = "operation succeeded, chain not ended"
    FAILED_MODIFIED = "failed, modified"
    FAILED_OPTIONAL = "failed, modified, and optional"
    FAILED_UNREPORTED = "failed, not reported"
    FAILED_UNMODIFIED = "failed, reported not modified"
    NEVER_STARTED = "never started"


LOCAL_AFTER: Mapping[StatusEvent, str | None] = {
    StatusEvent.CHAIN_BEGAN: PENDING,
    StatusEvent.CHAIN_ENDED: OK,
    StatusEvent.CHAIN_LACKS: DEGRADED,
    StatusEvent.STOPPED: PENDING,
    StatusEvent.DELETED: ABSENT,
    StatusEvent.SUCCEEDED: None,
    StatusEvent.FAILED_MODIFIED: ERROR,
    StatusEvent.FAILED_OPTIONAL: DEGRADED,
    StatusEvent.FAILED_UNREPORTED: UNKNOWN,
    StatusEvent.FAILED_UNMODIFIED: None,
    StatusEvent.NEVER_STARTED: None,
}
"""The local status after an event; None where it stays as it was."""

REQUIRED: Mapping[str, str] = {
    OK: OK,
    DEGRADED: DEGRADED,
    PENDING: PENDING,
    UNKNOWN: UNKNOWN,
    ERROR: ERROR,
    ABSENT: ERROR,
}
OPTIONAL: Mapping[str, str] = {
    OK: OK,
    DEGRADED: DEGRADED,
    PENDING: DEGRADED,
    UNKNOWN: DEGRADED,
    ERROR: DEGRADED,
    ABSENT: DEGRADED,
}
"""What the status of a dependency contributes to the effective status of a dependent."""


def local_after(before: str, event: StatusEvent) -> str:
    """The local status of an instance after an event."""
    after = LOCAL_AFTER[event]
    return before if after is None else after


def aggregate(statuses: Iterable[str]) -> str:
    """The status of several instances together: the worst of them where all are operational, ``degraded`` where some
    are, the best of them where none is, and ``absent`` without any instance."""
    found = set(statuses)
    if not found:
        return ABSENT
    operational = found & OPERATIONAL
    if operational == found:
        return max(found, key=WORSE.__getitem__)
    return DEGRADED if operational else min(found, key=WORSE.__getitem__)


def effective_statuses(outline: Outline, snapshot: Snapshot) -> dict[str, str]:
    """The effective status of every recorded instance, by id: its local status with those of its dependencies.

    One pass in dependency order: the instances of a target are aggregated once, whatever the number of their
    dependents. Instances of nodes that the service no longer has keep their local status.
    """
    nodes = outline.nodes
    effective = {i.id: i.local for i in snapshot.instances.values() if i.node not in nodes}
    together: dict[str, str | None] = {}
    for node in nodes.values():
        records = snapshot.records_of(node.name)
        shared = [_contribution(nodes[t], together[t]) for t in node.targets]
        contributions = {c for c in shared if c is not None}
        host = OPTIONAL if node.host and nodes[node.host].optional else REQUIRED
        for instance in records:
            effective[instance.id] = _effective(instance, contributions, effective, host)
        together[node.name] = _together(node, records, effective)
    return effective


def topology_status(outline: Outline, snapshot: Snapshot, effective: Mapping[str, str]) -> str:
    """The status of the whole service: the worst that a node contributes, as if every node that has or has lost
    instances were required; ``absent`` where there are none. Instances of nodes that the service does not have count
    individually."""
    found: set[str] = set()
    for node in outline.nodes.values():
        records = [i for i in snapshot.records_of(node.name) if i.exists or i.is_missed]
        said = _contribution(node, _together(node, records, effective)) if records else None
        if said is not None:
            found.add(said)
    found |= {REQUIRED[i.local] for i in snapshot.instances.values() if i.exists and i.node not in outline.nodes}
    if not any(i.exists for i in snapshot.instances.values()):
        return ABSENT
    return max(found, key=WORSE.__getitem__, default=ABSENT)


def contribution(node: NodeOutline, snapshot: Snapshot, effective: Mapping[str, str]) -> str | None:
    """What a node contributes to the status of nodes that require it; None where it has no instances and needs none."""
    return _contribution(node, _together(node, snapshot.records_of(node.name), effective))


def _together(node: NodeOutline, records: list[Instance], effective: Mapping[str, str]) -> str | None:
    """The instances of a node as one, those included that are missed; nothing where there are none because none are
    wanted, as of a node that the template has lost: what required it does so no more when it is gone."""
    counting = [effective[i.id] for i in records if i.exists or (i.is_missed and not node.lost)]
    if counting:
        return aggregate(counting)
    if node.lost:
        return None
    return ABSENT if any(not i.was_scaled_in for i in records) else None


def _effective(
    instance: Instance, contributions: set[str], effective: Mapping[str, str], of_host: Mapping[str, str]
) -> str:
    if instance.local not in OPERATIONAL:
        return instance.local
    found = {instance.local, *contributions}
    if instance.host:
        found.add(of_host[effective.get(instance.host, ABSENT)])
    return max(found, key=WORSE.__getitem__)


def _contribution(node: NodeOutline, status: str | None) -> str | None:
    """What a requirement contributes; nothing where its target has no instances because none are wanted."""
    if status is None:
        return None
    return (OPTIONAL if node.optional else REQUIRED)[status]
