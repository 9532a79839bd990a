"""Types of a blueprint with all that they inherit: properties, and operations, of which the nearest counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from ordito.syntax.cloudify.entities import CloudifyNodeType, CloudifyRelationshipType, PropertySchema, TypeOperation
from ordito.syntax.cloudify.shapes import Table

T = TypeVar("T")

Operations = dict[str, dict[str, TypeOperation]]
"""By interface and by name."""


def ancestry(types: Mapping[str, Any], name: str) -> Iterator[Any]:
    """A type and what it derives from, the nearest first. It ends where a type is missing, or where a circle begins."""
    seen: set[str] = set()
    while name in types and name not in seen:
        seen.add(name)
        found = types[name]
        yield found
        name = found.derived_from.text if found.derived_from is not None else ""


class Ancestry:
    """The types of one kind, by name."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self.types = types
        self._names: dict[str, tuple[str, ...]] = {}
        self._properties: dict[str, dict[str, PropertySchema]] = {}
        self._operations: dict[tuple[str, str], Operations] = {}

    def names(self, name: str) -> tuple[str, ...]:
        """A type and the types that it derives from, the nearest first."""
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = tuple(t.name for t in ancestry(self.types, name))
        return known

    def properties(self, name: str) -> dict[str, PropertySchema]:
        """The schemas of all properties of a type."""
        known = self._properties.get(name)
        if known is None:
            known = {}
            for item in reversed([*ancestry(self.types, name)]):
                known.update(item.properties or {})
            self._properties[name] = known
        return known

    def operations(self, name: str, section: str = "interfaces") -> Operations:
        """All operations of a type; an operation of a nearer type takes the place of the whole one."""
        known = self._operations.get((name, section))
        if known is None:
            known = {}
            for item in reversed([*ancestry(self.types, name)]):
                written: Mapping[str, Table] = getattr(item, section) or {}
                for interface, table in written.items():
                    known.setdefault(interface, {}).update(table.operations)
            self._operations[name, section] = known
        return known


AnyType = CloudifyNodeType | CloudifyRelationshipType
