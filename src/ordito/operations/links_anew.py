"""What an instance that was started again, or a pair that was linked again, leaves to be undone, whatever undid it
before."""

from __future__ import annotations

from collections.abc import Container, Mapping

import msgspec

from ordito.instances.lifecycle import LINKS, UNDONE_BY_START, UNLINKS
from ordito.instances.records import Applied, Delta, Snapshot
from ordito.instances.states import STARTED


def linked_again(operation: str, applied: Mapping[str, Applied]) -> Mapping[str, Applied]:
    """What counts as carried out of a pair after an operation was at work on it: with one that links it nothing undoes
    it any more. Its ends need not have been started for that, and what undoes it may stand at its other side."""
    return _without(applied, UNLINKS) if operation in LINKS and _is_of(applied, UNLINKS) else applied


def to_be_undone_again(snapshot: Snapshot, instance: str, delta: Delta, relationships: Container[str]) -> Delta:
    """A change by which an instance was started, without that it was stopped, and that its pairs were undone when it,
    or its other end, was: whether or not an operation does all that anew, the next stop undoes it. A pair whose other
    end is not started stays undone until that is, and one of none of the ``relationships`` there are for good."""
    records = delta.instances
    if any(_is_of(record.applied, UNDONE_BY_START) for record in records if record.id == instance):
        records = tuple(
            msgspec.structs.replace(record, applied=_without(record.applied, UNDONE_BY_START))
            if record.id == instance
            else record
            for record in records
        )
    changed = {link.id: link for link in delta.links}
    for name in snapshot.links_of(instance):
        link = changed.get(name) or snapshot.links[name]
        other = snapshot.instances[link.target if link.source == instance else link.source]
        if other.state == STARTED and link.relationship in relationships and _is_of(link.applied, UNLINKS):
            changed[name] = msgspec.structs.replace(link, applied=_without(link.applied, UNLINKS))
    if records is delta.instances and not changed:
        return delta
    return msgspec.structs.replace(delta, instances=records, links=tuple(changed.values()))


def _is_of(applied: Mapping[str, Applied], operations: frozenset[str]) -> bool:
    return not operations.isdisjoint([key.rpartition(".")[2] for key in applied])


def _without(applied: Mapping[str, Applied], operations: frozenset[str]) -> Mapping[str, Applied]:
    return {key: one for key, one in applied.items() if key.rpartition(".")[2] not in operations}
