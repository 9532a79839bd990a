"""Renaming a node: what changes in the records of its instances, and in all records that refer to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from ordito.instances.records import Applied, Delta, Instance, Link, Snapshot, link_id, number_of


class RecordKey(msgspec.Struct, frozen=True):
    """The place of an operation in the record of an instance or link."""

    entity: str
    """The id of the instance or link."""
    key: str
    """The key of the operation in its record."""


Digest = Callable[[RecordKey, RecordKey, str], str]
"""Gives the digest that replaces another, by the old place, the new place and the old digest."""


T = TypeVar("T")


class NodeRename(msgspec.Struct, frozen=True):
    """The new names after a node was renamed."""

    old: str
    """The old name of the node."""
    new: str
    """Its new name."""
    safe: str
    """The beginning of the new ids of its instances."""
    relationships: Mapping[str, str] = {}
    """The new keys of relationships whose keys change, by their old keys."""

    def instance(self, record: Instance) -> str:
        """The new id of an instance."""
        return f"{self.safe}_{number_of(record.id)}" if record.node == self.old else record.id

    def key(self, key: str) -> str:
        """The new key of an operation in a record."""
        relationship, slash, rest = key.rpartition("/")
        return f"{self.relationships.get(relationship, relationship)}{slash}{rest}"


def moved(snapshot: Snapshot, names: NodeRename, digest: Digest) -> Delta:
    """The change that gives a node's instances their new names; ``digest`` gives the new digests of operations."""
    ids = {i.id: names.instance(i) for i in snapshot.instances.values()}
    records = [_instance(i, ids, names, digest) for i in snapshot.instances.values()]
    links = {link.id: _link(snapshot, link, ids, names, digest) for link in snapshot.links.values()}
    entities = {**ids, **{name: link.id for name, link in links.items()}}
    ends = {
        n: e for n in {*snapshot.attributes, *snapshot.outputs} - entities.keys() if (e := _end(n, ids, names)) != n
    }
    entities |= ends
    changed = {before: now for before, now in entities.items() if before != now}
    return Delta(
        instances=tuple(r for r in records if snapshot.instances.get(r.id) != r),
        links=tuple(link for name, link in links.items() if snapshot.links[name] != link),
        unlinked=tuple(name for name in changed if name in links or name in ends),
        attributes=_under_new_names(snapshot.attributes, changed),
        outputs=_under_new_names(snapshot.outputs, changed),
        forgotten=tuple(name for name in changed if name in ids),
    )


def _instance(record: Instance, ids: Mapping[str, str], names: NodeRename, digest: Digest) -> Instance:
    name = ids[record.id]
    return msgspec.structs.replace(
        record,
        id=name,
        node=names.new if record.node == names.old else record.node,
        host=ids.get(record.host, record.host),
        applied={
            (now := names.key(key)): _applied(a, digest(RecordKey(record.id, key), RecordKey(name, now), a.digest))
            for key, a in record.applied.items()
        },
        failed={names.key(k): change for k, change in record.failed.items()},
    )


def _link(snapshot: Snapshot, link: Link, ids: Mapping[str, str], names: NodeRename, digest: Digest) -> Link:
    source, target = ids[link.source], ids[link.target]
    node = snapshot.instances[link.source].node
    relationship = names.relationships.get(link.relationship, link.relationship)
    name = link_id(relationship, names.new if node == names.old else node, source, target)
    applied = {
        k: _applied(a, digest(RecordKey(link.id, k), RecordKey(name, k), a.digest)) for k, a in link.applied.items()
    }
    return msgspec.structs.replace(
        link, id=name, relationship=relationship, source=source, target=target, applied=applied
    )


def _applied(applied: Applied, digest: str) -> Applied:
    return applied if digest == applied.digest else Applied(applied.change, digest)


def _end(name: str, ids: Mapping[str, str], names: NodeRename) -> str:
    """The name of an end of a relationship from now on."""
    relationship, _, rest = name.rpartition("@")
    side, colon, instance = rest.partition(":")
    return f"{names.relationships.get(relationship, relationship)}@{side}{colon}{ids.get(instance, instance)}"


def _under_new_names(values: Mapping[str, dict[str, T]], changed: Mapping[str, str]) -> dict[str, dict[str, T]]:
    return {changed[name]: found for name, found in values.items() if name in changed and found}
