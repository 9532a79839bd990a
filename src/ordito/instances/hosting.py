"""Which instances host which by their records, directly or indirectly, and with which others one is paired.
``model.hosting`` does the same for templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ordito.instances.records import Instance, Snapshot

if TYPE_CHECKING:
    # Who only shows records does not load the model.
    from ordito.model.service import Relationship, Service

NONE: Mapping[str, Sequence[str]] = {}


def chain(snapshot: Snapshot, instance: str) -> Iterator[Instance]:
    """The record of an instance and of those that host it, the nearest first, whether they exist or not. It ends where
    there is no record, or where a cycle begins; it is empty for ""."""
    seen: set[str] = set()
    record = snapshot.instances.get(instance)
    while record is not None and record.id not in seen:
        yield record
        seen.add(record.id)
        record = snapshot.instances.get(record.host)


def is_compute(service: Service, record: Instance) -> bool:
    """Whether an instance belongs to a Compute node of the service."""
    node = service.nodes.get(record.node)
    return node is not None and node.is_compute


def compute_of(service: Service, snapshot: Snapshot, instance: str) -> str:
    """The nearest Compute that hosts an instance, the instance itself included; "" where there is none."""
    return next((record.id for record in chain(snapshot, instance) if is_compute(service, record)), "")


def replaceable_host(service: Service, snapshot: Snapshot, instance: Instance) -> str:
    """The nearest Compute among an instance and its hosts, else the instance itself. Beyond a host that was removed
    nothing counts: what it was hosted on has nothing to do with the instance any more."""
    for record in chain(snapshot, instance.id):
        if record.id != instance.id and not (record.exists or record.is_missed):
            break
        if is_compute(service, record):
            return record.id
    return instance.id


def contained(snapshot: Snapshot, instance: str, missed: Mapping[str, Sequence[str]] = NONE) -> list[str]:
    """An instance and all existing instances that it hosts directly or indirectly, level by level. ``missed`` are
    further instances to count, by the instance that hosted them."""
    found = [instance]
    for current in found:  # grows while it is read
        found += snapshot.hosted_on(current)
        found += missed.get(current, ())
    return found


def far_ends(snapshot: Snapshot, relationship: Relationship, side: str, instance: Instance) -> Sequence[str]:
    """The existing instances with which an instance at one side of a relationship, "source" or "target", is paired: for
    a hosting relationship those that are recorded as host or hosted, for others all."""
    far = relationship.target if side == "source" else relationship.source
    if not relationship.is_hosting:
        return snapshot.ids_of(far)
    if side == "source":
        return (instance.host,) if instance.host else ()
    return [i for i in snapshot.hosted_on(instance.id) if snapshot.instances[i].node == far]
