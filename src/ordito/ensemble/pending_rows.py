"""The rows of instances, links and their values that records of a job change, each with its last state only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ordito.ensemble.codec import encode
from ordito.ensemble.journal_database import (
    CLEAR_VALUES,
    FORGET_ENTITY,
    PUT_ATTRIBUTE,
    PUT_ENTITY,
    PUT_OUTPUT,
    Statement,
)
from ordito.instances.records import Data, Delta, Instance, Link


class PendingRows:
    """Collects deltas; ``statements`` then changes the rows as ``Snapshot.apply`` changes the mappings.

    ``forgets`` says whether rows of instances are removed.
    """

    def __init__(self) -> None:
        self._instances: dict[str, Instance | None] = {}
        self._links: dict[str, Link | None] = {}
        self._cleared: dict[str, None] = {}
        self._attributes: dict[str, dict[str, Data]] = {}
        self._outputs: dict[str, dict[str, bytes]] = {}
        self.forgets = False

    def add(self, delta: Delta) -> None:
        """Add a change, in the same order as ``Snapshot.apply``."""
        for instance in delta.instances:
            self._instances[instance.id] = instance
            if not instance.exists:
                self._clear(instance.id)
        for link in delta.links:
            self._links[link.id] = link
        for name in delta.unlinked:
            self._links[name] = None
            self._clear(name)
        for name in delta.forgotten:
            self._instances[name] = None
            self.forgets = True
            self._clear(name)
        if delta.attributes or delta.outputs:
            self._add_values(delta)

    def _add_values(self, delta: Delta) -> None:
        for entity, values in delta.attributes.items():
            self._attributes.setdefault(entity, {}).update(values)
        for entity, operations in delta.outputs.items():
            kept = self._outputs.setdefault(entity, {})
            kept.update((operation, encode(outputs)) for operation, outputs in operations.items())

    @property
    def touched(self) -> Iterator[tuple[str, str]]:
        """The table and the id of each instance and link that is changed."""
        yield from (("instance", name) for name in self._instances)
        yield from (("link", name) for name in self._links)

    @property
    def forgotten(self) -> list[str]:
        """The instances whose rows are removed."""
        return [name for name, record in self._instances.items() if record is None]

    def statements(self) -> Iterator[Statement]:
        """The statements to execute, in this order."""
        yield from _put("instance", self._instances)
        yield from _put("link", self._links)
        for statement in CLEAR_VALUES.values():
            yield statement, [(name,) for name in self._cleared]
        yield (
            PUT_ATTRIBUTE,
            [
                (entity, name, encode(value))
                for entity, values in self._attributes.items()
                for name, value in values.items()
            ],
        )
        yield (
            PUT_OUTPUT,
            [
                (entity, operation, body)
                for entity, operations in self._outputs.items()
                for operation, body in operations.items()
            ],
        )

    def _clear(self, entity: str) -> None:
        self._cleared[entity] = None
        self._attributes.pop(entity, None)
        self._outputs.pop(entity, None)


def _put(table: str, found: Mapping[str, Instance | Link | None]) -> Iterator[Statement]:
    yield FORGET_ENTITY[table], [(name,) for name, record in found.items() if record is None]
    yield PUT_ENTITY[table], [(name, encode(record)) for name, record in found.items() if record is not None]


def last_change_of(record: Instance | Link) -> str:
    """The last change that a record names, "" for none."""
    return last_change_of_instance(record) if isinstance(record, Instance) else last_change_of_link(record)


def last_change_of_instance(instance: Instance) -> str:
    """The last change that an instance's record names."""
    named = [instance.last_config_change, instance.last_state_change, instance.created]
    return max([*named, *instance.failed.values(), *(applied.change for applied in instance.applied.values())])


def last_change_of_link(link: Link) -> str:
    """The last change that a link's record names."""
    return max([*link.failed.values(), *(applied.change for applied in link.applied.values())], default="")
