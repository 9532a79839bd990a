"""What exists: frozen records of node instances and links, and the snapshot that holds them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

Data = object
"""JSON-like data: evaluated values, no calls."""


class Applied(msgspec.Struct, frozen=True, omit_defaults=True):
    """That an operation was carried out: the change that did it and the digest of what was carried out."""

    change: str
    digest: str


class Instance(msgspec.Struct, frozen=True, omit_defaults=True):
    """One instance of a node template.

    ``index`` is the slot (``INDEX``, from 0), ``host`` the id of the instance that hosts this one. ``state`` is the
    TOSCA node state, ``local`` the operational status of this instance alone. ``applied`` and ``failed`` are keyed
    by ``Interface.operation``; ``failed`` holds the change that failed last and was not yet followed by a success.
    """

    id: str
    node: str
    index: int
    host: str = ""
    state: str = "initial"
    local: str = "unknown"
    created: str = ""
    applied: Mapping[str, Applied] = {}
    failed: Mapping[str, str] = {}
    last_config_change: str = ""
    last_state_change: str = ""
    note: str = ""

    @property
    def exists(self) -> bool:
        """Whether this counts as an instance: a deleted one keeps its record but does not exist."""
        return self.local != "absent"


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """One relationship instance: a pair of instances joined by a relationship of the service.

    ``id`` is ``<source id>.<requirement key tail>.<target id>``; ``relationship`` the key of the model's relationship.
    Kept only where an operation ran on the pair or it has attributes.
    """

    id: str
    relationship: str
    source: str
    target: str
    state: str = "initial"
    applied: Mapping[str, Applied] = {}
    failed: Mapping[str, str] = {}


class Snapshot:
    """Everything that is known to exist. The driver is its only writer; everybody else reads.

    ``attributes`` maps an instance's or link's id to its attribute values by name (``capability::name`` for those of
    a capability); ``outputs`` maps (id, ``Interface.operation``) to the outputs of the last successful run;
    ``highest`` the highest instance number ever used for a node.
    """

    def __init__(self) -> None:
        self.instances: dict[str, Instance] = {}
        self.links: dict[str, Link] = {}
        self.attributes: dict[str, dict[str, Data]] = {}
        self.outputs: dict[tuple[str, str], Mapping[str, Data]] = {}
        self.highest: dict[str, int] = {}
        self._by_node: dict[str, list[str]] = {}

    def of_node(self, node: str) -> list[Instance]:
        """The existing instances of a node template, by slot."""
        ids = self._by_node.get(node, ())
        return [i for i in (self.instances[n] for n in ids) if i.exists]

    def apply(self, delta: Delta) -> None:
        """Take over a change."""
        for instance in delta.instances:
            if instance.id not in self.instances:
                self._by_node.setdefault(instance.node, []).append(instance.id)
                number = int(instance.id.rpartition("_")[2])
                self.highest[instance.node] = max(number, self.highest.get(instance.node, 0))
            self.instances[instance.id] = instance
            if not instance.exists:
                self.attributes.pop(instance.id, None)
        for link in delta.links:
            self.links[link.id] = link
        for name in delta.unlinked:
            self.links.pop(name, None)
            self.attributes.pop(name, None)
        for entity, values in delta.attributes.items():
            self.attributes.setdefault(entity, {}).update(values)
        self.outputs.update(delta.outputs)


class Delta(msgspec.Struct, frozen=True):
    """A change of the snapshot: records in their new form, links that are gone, attribute values, operation outputs."""

    instances: tuple[Instance, ...] = ()
    links: tuple[Link, ...] = ()
    unlinked: tuple[str, ...] = ()
    attributes: Mapping[str, Mapping[str, Data]] = {}
    outputs: Mapping[tuple[str, str], Mapping[str, Data]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing changes."""
        return not (self.instances or self.links or self.unlinked or self.attributes or self.outputs)
