"""Frozen records of node instances and links, and the snapshot that holds them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from enum import StrEnum

import msgspec

Data = object
"""JSON-like data: evaluated values without calls."""


class Applied(msgspec.Struct, frozen=True, omit_defaults=True):
    """A record that an operation was carried out."""

    change: str
    """The changeId of the task that did it."""
    digest: str
    """The digest of the operation with its inputs."""


class StatusReason(StrEnum):
    """Why an instance has its status, where the status alone does not say enough."""

    NONE = ""
    """There is nothing to add."""

    FOUND_ABSENT = "found absent"
    """It no longer exists, though nobody has removed it: it may come back."""

    REPLACED = "replaced"
    """A job removed it to replace it, and has not made it again yet."""

    SCALED_IN = "scaled in"
    """It was removed because fewer instances are wanted: its id is not used again."""

    ROLLED_BACK = "rolled back"
    """The job that had made it has removed it."""

    UNREACHABLE = "unreachable"
    """It is a host, in error because it cannot be reached."""

    UNANSWERED = "unanswered"
    """Its status could not be checked: its host exists and refuses connections, or is missing and cannot be replaced,
    or the provider did not answer."""

    ADOPTED = "adopted"
    """It existed before, and a user has recorded it as made and started."""


class Instance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One instance of a node template."""

    id: str
    node: str

    index: int
    """Its index among the instances of its node (``INDEX``), from 0."""

    host: str = ""
    """The id of the instance that hosts this one."""

    state: str = "initial"
    """The TOSCA node state."""

    local: str = "unknown"
    """The operational status of this instance alone."""

    created: str = ""

    applied: Mapping[str, Applied] = {}
    """The operations that were carried out, by ``Interface.operation``, with ``<relationship key>/`` before it for
    operations that run once per relationship on this instance."""

    failed: Mapping[str, str] = {}
    """By the same keys, the change that failed last, until the operation succeeds."""

    last_config_change: str = ""
    last_state_change: str = ""

    status_reason: StatusReason = StatusReason.NONE
    with_host: bool = False
    """Whether it was removed together with its host."""

    form: str = ""
    """The earlier version of the service (``work.records.Form``) that it still has, "" for the one that was deployed
    last."""

    drift: Mapping[str, str] = {}
    """What has changed without Ordito, each with its former value: ``STATUS`` with the status and the state, attributes
    (``drift_of``) with digests of their values."""

    before_failure: Mapping[str, str] = {}
    """The operations whose failure has made its status unknown or an error, each with the local status that it had
    before the first of them."""

    @property
    def exists(self) -> bool:
        """Whether it exists: a deleted instance keeps its record."""
        return self.local != "absent"

    @property
    def is_missed(self) -> bool:
        """Whether it is absent, but not removed for good: it may come back, or is being replaced."""
        return self.status_reason in MISSED

    @property
    def was_lost(self) -> bool:
        """Whether it was made, and was then found absent though nobody has removed it."""
        return self.status_reason is StatusReason.FOUND_ABSENT and not self.exists and bool(self.applied)

    @property
    def was_found_changed(self) -> bool:
        """Whether its last change was drift that a job has found, and not the effect of an operation."""
        return self.last_state_change > self.last_config_change

    @property
    def is_unmanaged(self) -> bool:
        """Whether it is recorded, but Ordito has never run an operation to make it."""
        return not self.created and bool(self.applied or self.state != "initial")

    @property
    def was_scaled_in(self) -> bool:
        """Whether it was removed because fewer instances are wanted."""
        return self.status_reason is StatusReason.SCALED_IN


STATUS = "status"
"""The key in ``Instance.drift`` for an instance whose status or state has changed."""


def drift_of(attribute: str) -> str:
    """The key in ``Instance.drift`` for an attribute whose value has changed."""
    return f"attribute {attribute}"


MISSED = frozenset({StatusReason.FOUND_ABSENT, StatusReason.REPLACED})

IN_WORDS: Mapping[StatusReason, str] = {
    StatusReason.FOUND_ABSENT: "found to be absent",
    StatusReason.REPLACED: "removed, to be created again",
    StatusReason.SCALED_IN: "scaled in",
    StatusReason.ROLLED_BACK: "rolled back",
    StatusReason.UNREACHABLE: "cannot be reached",
    StatusReason.UNANSWERED: "it could not be found out how it is",
    StatusReason.ADOPTED: "adopted",
}
"""The words for each reason in the note of an instance."""


def note_of(instance: Instance) -> str:
    """The note that is shown with the status of an instance, "" for none."""
    why = IN_WORDS.get(instance.status_reason, "")
    if not instance.with_host:
        return why
    return f"{why}, {REMOVED_WITH_HOST}" if why else REMOVED_WITH_HOST


REMOVED_WITH_HOST = "removed with its host"


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """One relationship instance: a pair of instances joined by a relationship of the service. It is recorded only where
    an operation ran on the pair, it has attributes, or one end is notified of changes of the other."""

    id: str
    """``<source id>.<requirement key tail>.<target id>``."""
    relationship: str
    """The key of the relationship in the model."""
    source: str
    """The id of the instance at its source."""
    target: str
    """The id of the instance at its target."""
    state: str = "initial"
    applied: Mapping[str, Applied] = {}
    """The operations that were carried out on the pair, by ``Interface.operation``."""
    failed: Mapping[str, str] = {}
    """By the same keys, the change that failed last, until the operation succeeds."""
    told: Mapping[str, str] = {}
    """By the operation that notifies one end, what that end knows of the other (see ``work.peer_knowledge``); empty for
    a pair that is not linked."""


class Snapshot:
    """All records of instances and links, with their values. The driver is its only writer; all others only read it.

    ``attributes`` maps the id of an instance or link to its attribute values by name (``capability::name`` for those of
    a capability); ``outputs`` maps it to the outputs of the last successful run of each operation, by
    ``Interface.operation``. The outputs of an operation that runs once per relationship and instance belong to that end
    of the relationship, see ``end_id``. ``highest`` is the highest instance number ever used for a node. ``changes``
    is a growing list of what has changed: the id of an entity whose attributes or outputs did, ``id@`` for the node
    state of an instance; where a node has gained or lost an instance, ``#node`` and ``!id``. Code that keeps computed
    values remembers up to where it has read the list.
    """

    def __init__(self) -> None:
        self.instances: dict[str, Instance] = {}
        self.links: dict[str, Link] = {}
        self.attributes: dict[str, dict[str, Data]] = {}
        self.outputs: dict[str, dict[str, Mapping[str, Data]]] = {}
        self.highest: dict[str, int] = {}
        self.changes: list[str] = []
        self._marks: dict[str, str] = {}
        self._by_node: dict[str, list[str]] = {}
        self._existing: dict[str, tuple[str, ...]] = {}
        self._moved: dict[str, dict[str, bool]] = {}
        self._hosted: dict[str, dict[str, None]] = {}
        self._links_of: dict[str, dict[str, None]] = {}

    def of_node(self, node: str) -> list[Instance]:
        """The existing instances of a node template, by index."""
        return [self.instances[i] for i in self.ids_of(node)]

    def ids_of(self, node: str) -> tuple[str, ...]:
        """The ids of the existing instances of a node template, by index; kept until one comes or goes."""
        known = self._existing.get(node)
        if known is None:
            existing = [i for n in self._by_node.get(node, ()) if (i := self.instances[n]).exists]
            existing.sort(key=lambda i: i.index)
            known = self._existing[node] = tuple(i.id for i in existing)
        moved = self._moved.pop(node, None)
        if moved:
            known = self._existing[node] = self.with_moved(known, moved)
        return known

    def with_moved(self, known: tuple[str, ...], moved: Mapping[str, bool]) -> tuple[str, ...]:
        """The ``known`` ids by index, after some have come or gone: ``moved`` says for each whether it was known.
        Usually that is one, while there may be 100,000 others."""

        def slot(name: str) -> int:
            return self.instances[name].index

        # What was forgotten has no record any more.
        there = [name for name in moved if _exists(self, name)]
        if len(moved) > 1:
            return tuple(sorted([*(i for i in known if i not in moved), *there], key=slot))
        ((name, was_known),) = moved.items()
        if was_known:
            place = known.index(name)
            known = known[:place] + known[place + 1 :]
        if there:
            place = bisect_left(known, slot(name), key=slot)
            known = (*known[:place], name, *known[place:])
        return known

    def records_of(self, node: str) -> list[Instance]:
        """The records of a node template's instances in the order in which they were made, with deleted ones."""
        return [self.instances[i] for i in self._by_node.get(node, ())]

    def hosted_on(self, instance: str) -> list[str]:
        """The ids of the existing instances that an instance hosts directly."""
        return list(self._hosted.get(instance, ()))

    def links_of(self, instance: str) -> list[str]:
        """The ids of the recorded links of an instance, at either end."""
        return list(self._links_of.get(instance, ()))

    def apply(self, delta: Delta) -> None:
        """Apply a change."""
        for instance in delta.instances:
            self._put(instance)
        for link in delta.links:
            if link.id not in self.links:
                for end in (link.source, link.target):
                    self._links_of.setdefault(end, {})[link.id] = None
            self.links[link.id] = link
        for name in delta.unlinked:
            self._unlink(name)
        for name in delta.forgotten:
            self._forget(name)
        if delta.attributes or delta.outputs:
            self._put_values(delta)

    def copy(self) -> Snapshot:
        """An independent copy."""
        found = Snapshot()
        instances, links = tuple(self.instances.values()), tuple(self.links.values())
        found.apply(Delta(instances, links, attributes=self.attributes, outputs=self.outputs))
        return found

    def with_gone(self, before: Snapshot) -> Snapshot:
        """A copy that also holds what existed ``before`` and no longer exists."""
        found = self.copy()
        gone = tuple(i for i in before.instances.values() if i.exists and not _exists(found, i.id))
        attributes = {name: values for name, values in before.attributes.items() if name not in found.attributes}
        outputs = {name: values for name, values in before.outputs.items() if name not in found.outputs}
        links = tuple(link for name, link in before.links.items() if name not in found.links)
        found.apply(Delta(gone, links, attributes=attributes, outputs=outputs))
        return found

    def _put_values(self, delta: Delta) -> None:
        for entity, values in delta.attributes.items():
            self.attributes.setdefault(entity, {}).update(values)
            self.changes.append(entity)
        for entity, operations in delta.outputs.items():
            self.outputs.setdefault(entity, {}).update(operations)
            self.changes.append(entity)

    def _put(self, instance: Instance) -> None:
        name = instance.id
        before = self.instances.get(name)
        self.instances[name] = instance
        if before is None or before.state != instance.state:
            self.changes.append(self._marks.get(name) or self._marks.setdefault(name, f"{name}@"))
        if before is not None and before.local != "absent" != instance.local and before.host == instance.host:
            return  # It goes on to exist where it is.
        if before is None:
            self._by_node.setdefault(instance.node, []).append(instance.id)
            number = number_of(instance.id)
            self.highest[instance.node] = max(number, self.highest.get(instance.node, 0))
        existed, hosted_by = (before.exists, before.host) if before else (False, "")
        if existed and hosted_by and (not instance.exists or hosted_by != instance.host):
            self._hosted[hosted_by].pop(instance.id, None)
        if instance.host and instance.exists:
            self._hosted.setdefault(instance.host, {})[instance.id] = None
        if existed != instance.exists:
            self._note_existence(instance)
            self.changes += (f"#{instance.node}", f"!{instance.id}")
        if not instance.exists:
            self.attributes.pop(instance.id, None)
            self.outputs.pop(instance.id, None)

    def _note_existence(self, instance: Instance) -> None:
        """What is known of a node's instances is put right when somebody asks."""
        if instance.node in self._existing:
            self._moved.setdefault(instance.node, {}).setdefault(instance.id, not instance.exists)

    def _forget(self, name: str) -> None:
        for link in self.links_of(name):
            self._unlink(link)
        record = self.instances.get(name)
        if record is None:
            return
        if record.exists:
            # Who keeps something that was computed must hear that there is one instance less.
            self._put(msgspec.structs.replace(record, local="absent"))
        self.attributes.pop(name, None)
        self.outputs.pop(name, None)
        self._by_node[record.node].remove(name)
        del self.instances[name]
        self._links_of.pop(name, None)

    def _unlink(self, name: str) -> None:
        link = self.links.pop(name, None)
        if link is not None:
            for end in (link.source, link.target):
                self._links_of.get(end, {}).pop(name, None)
        self.attributes.pop(name, None)
        self.outputs.pop(name, None)
        self.changes.append(name)


def _exists(snapshot: Snapshot, instance: str) -> bool:
    record = snapshot.instances.get(instance)
    return record is not None and record.exists


class Delta(msgspec.Struct, frozen=True):
    """A change of the snapshot."""

    instances: tuple[Instance, ...] = ()
    """New or changed records of instances."""
    links: tuple[Link, ...] = ()
    """New or changed records of links."""
    unlinked: tuple[str, ...] = ()
    """The ids of links that are removed, and of instances of which only the record in ``instances`` stays."""
    attributes: Mapping[str, Mapping[str, Data]] = {}
    """Attribute values by entity and name."""
    outputs: Mapping[str, Mapping[str, Mapping[str, Data]]] = {}
    """Outputs of operations by entity and ``Interface.operation``."""
    forgotten: tuple[str, ...] = ()
    """Instances that are removed from the records with their links and values; their numbers are not used again."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        named = self.instances or self.links or self.unlinked or self.forgotten
        return not (named or self.attributes or self.outputs)


def number_of(instance: str) -> int:
    """The number at the end of an instance's id."""
    return int(instance.rpartition("_")[2])


def link_id(relationship: str, source_node: str, source: str, target: str) -> str:
    """The id of a pair: ``<source id>.<requirement key tail>.<target id>``."""
    return f"{source}{relationship[len(source_node) :]}.{target}"


def end_id(relationship: str, instance: str, side: str) -> str:
    """The id for attributes and outputs that belong to one end of a relationship and not to a pair:
    ``<relationship key>@<side>:<instance id>``. They count for every pair with that end."""
    return f"{relationship}@{side}:{instance}"
