"""Says what the deltas of a job change: of each entity only the values that are others than before, and all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ordito.ensemble.entity_change import Entity, EntityChange, difference
from ordito.instances.records import Delta


class Changes:
    """Follows deltas, and says of entities what has become of them since it was said last.

    What is said is how an entity is now. So it does not matter that steps which run at the same time touch the same
    entity: who speaks of it last says all.
    """

    def __init__(self, before: Callable[[str], Entity], final: Callable[[str], Entity]) -> None:
        """``before`` gives an entity as it was when the job began, ``final`` as it is when all is over; None for one
        that is not recorded."""
        self._before = before
        self._final = final
        self._now: dict[str, Entity] = {}
        self._said: dict[str, Entity] = {}

    def follow(self, delta: Delta) -> list[str]:
        """Take over what a delta does to instances and links; gives those that it changes."""
        named: list[str] = []
        for link in delta.links:
            self._now[link.id] = link
            named.append(link.id)
        self._now.update(dict.fromkeys(delta.unlinked))
        for instance in delta.instances:
            self._now[instance.id] = instance
            named.append(instance.id)
        self._now.update(dict.fromkeys(delta.forgotten))
        return named

    def say(self, names: Iterable[str], delta: Delta | None) -> dict[str, EntityChange]:
        """What has become of entities, and what this delta, the last one that was followed, does besides."""
        changes: dict[str, dict[str, object]] = {}
        if delta is not None and (delta.unlinked or delta.forgotten):
            for mark, gone in (("unlinked", delta.unlinked), ("forgotten", delta.forgotten)):
                changes.update((name, {mark: True}) for name in gone)
                self._said.update(dict.fromkeys(gone))
        for name in names:
            now = self._now.get(name)
            if now is None:
                continue
            said = self._said[name] if name in self._said else self._before(name)
            final = self._final(name)
            if final is not None and now == final:
                # One copy of a record is enough: the one that is kept anyway.
                now = self._now[name] = final
            self._said[name] = now
            if news := difference(said, now):
                changes[name] = changes[name] | news if name in changes else news
        if delta is not None and (delta.attributes or delta.outputs):
            for name, attributes in delta.attributes.items():
                changes.setdefault(name, {})["attributes"] = attributes
            for name, outputs in delta.outputs.items():
                changes.setdefault(name, {})["outputs"] = outputs
        return {name: EntityChange(**fields) for name, fields in changes.items()}  # type: ignore[arg-type]

    def unsaid(self) -> list[str]:
        """The entities that have become something else since it was said last."""
        return [name for name, now in self._now.items() if now is not None and self._said.get(name) != now]
