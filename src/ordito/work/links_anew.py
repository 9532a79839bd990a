"""What an instance that was started again leaves to be undone: its pairs, whatever undid them before."""

from __future__ import annotations

import msgspec

from ordito.instances.records import Delta, Snapshot

UNDOES = frozenset({"remove_target", "remove_source"})


def to_be_undone_again(snapshot: Snapshot, instance: str, delta: Delta) -> Delta:
    """A change by which an instance was started, without that its pairs were undone when it, or its other end, was
    stopped before: whether or not an operation links them anew, the next stop undoes them."""
    changed = {link.id: link for link in delta.links}
    for name in snapshot.links_of(instance):
        link = changed.get(name) or snapshot.links[name]
        left = {key: one for key, one in link.applied.items() if key.rpartition(".")[2] not in UNDOES}
        if len(left) < len(link.applied):
            changed[name] = msgspec.structs.replace(link, applied=left)
    return msgspec.structs.replace(delta, links=tuple(changed.values())) if changed else delta
