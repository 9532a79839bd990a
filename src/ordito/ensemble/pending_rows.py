"""The rows of what exists that one turn changes, the last state of each only."""

from __future__ import annotations

from collections.abc import Iterator

from ordito.ensemble.codec import encode
from ordito.instances.records import Data, Delta, Instance, Link

Statement = tuple[str, list[tuple[object, ...]]]
"""An SQL statement, and the parameters of each of its executions."""


PUT_ENTITY = """
INSERT INTO {} (id, changed, body) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET changed = excluded.changed, body = excluded.body
"""


class PendingRows:
    """Collects deltas; ``statements`` then does to the rows what ``Snapshot.apply`` does to the mappings."""

    def __init__(self) -> None:
        self._instances: dict[str, Instance] = {}
        self._links: dict[str, Link | None] = {}
        self._cleared: dict[str, None] = {}
        self._attributes: dict[str, dict[str, Data]] = {}
        self._outputs: dict[str, dict[str, bytes]] = {}

    def add(self, delta: Delta) -> None:
        """Take over a change, in the order in which ``Snapshot.apply`` does it."""
        for instance in delta.instances:
            self._instances[instance.id] = instance
            if not instance.exists:
                self._clear(instance.id)
        for link in delta.links:
            self._links[link.id] = link
        for name in delta.unlinked:
            self._links[name] = None
            self._clear(name)
        for entity, values in delta.attributes.items():
            self._attributes.setdefault(entity, {}).update(values)
        for entity, operations in delta.outputs.items():
            kept = self._outputs.setdefault(entity, {})
            kept.update((operation, encode(outputs)) for operation, outputs in operations.items())

    def statements(self) -> Iterator[Statement]:
        """What to execute, in this order."""
        yield (
            PUT_ENTITY.format("instance"),
            [(i.id, last_change_of_instance(i), encode(i)) for i in self._instances.values()],
        )
        links = [(name, link) for name, link in self._links.items() if link is not None]
        yield "DELETE FROM link WHERE id = ?", [(name,) for name, link in self._links.items() if link is None]
        yield PUT_ENTITY.format("link"), [(name, last_change_of_link(link), encode(link)) for name, link in links]
        yield "DELETE FROM attribute WHERE entity = ?", [(name,) for name in self._cleared]
        yield "DELETE FROM output WHERE entity = ?", [(name,) for name in self._cleared]
        yield (
            "INSERT OR REPLACE INTO attribute (entity, name, value) VALUES (?, ?, ?)",
            [
                (entity, name, encode(value))
                for entity, values in self._attributes.items()
                for name, value in values.items()
            ],
        )
        yield (
            "INSERT OR REPLACE INTO output (entity, operation, body) VALUES (?, ?, ?)",
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


def last_change_of_instance(instance: Instance) -> str:
    """The last change that an instance's record names."""
    named = [instance.last_config_change, instance.last_state_change, instance.created]
    return max([*named, *instance.failed.values(), *(applied.change for applied in instance.applied.values())])


def last_change_of_link(link: Link) -> str:
    """The last change that a link's record names."""
    return max([*link.failed.values(), *(applied.change for applied in link.applied.values())], default="")
