"""Data types whose values would have no end, and defaults that hold each other until they are beyond all measure
(§3.7.6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.model.schema import DataType, PropertyDefinition
from ordito.syntax.expressions import Call, Value

MOST_PARTS = 10_000
"""How many parts the default of one field may have, counted as often as they would be written."""
MOST_LEVELS = 50
"""How deep the default of one field may be nested."""


class Endless:
    """Finds the data types of which every value would hold another value of the same type.

    ``fields`` are the fields of all data types; ``defaulted`` says of which of them a default is written, and whether
    that is a map, which is completed with the defaults of its own type.
    """

    def __init__(
        self,
        fields: Mapping[str, Mapping[str, PropertyDefinition]],
        known: Mapping[str, DataType],
        defaulted: Mapping[str, Mapping[str, bool]],
    ) -> None:
        self._fields = fields
        self._known = known
        self._defaulted = defaulted

    def report(self, diagnostics: Diagnostics) -> set[str]:
        """Report each cycle once; gives the names of the types in them."""
        found: set[str] = set()
        entered: set[str] = set()
        for start in self._fields:
            path = [(start, self._held(start))] if start not in entered else []
            places = {start: 0}
            entered.add(start)
            while path:
                name, needed = path[-1]
                field, following = next(needed, ("", ""))
                if not following:
                    path.pop()
                    del places[name]
                elif following not in entered:
                    entered.add(following)
                    places[following] = len(path)
                    path.append((following, self._held(following)))
                elif following in places:
                    cycle = [n for n, _ in path[places[following] :]]
                    found.update(cycle)
                    _report([*cycle, following], self._fields[name][field], diagnostics)
        return found

    def _held(self, name: str) -> Iterator[tuple[str, str]]:
        """The fields of a data type that hold a complex value in every value of it, each with the type of that."""
        defaulted = self._defaulted.get(name, {})
        for field, definition in self._fields[name].items():
            kind = definition.schema.type
            if kind in self._fields and not self._known[kind].base and defaulted.get(field, definition.required):
                yield field, kind


def _report(cycle: list[str], field: PropertyDefinition, diagnostics: Diagnostics) -> None:
    diagnostics.error(
        "endless-type",
        f"every value of data type {cycle[0]} would hold another one, without end: {' -> '.join(cycle)}",
        field.span,
        hint=f'write required: false for "{field.name}", without a default, or make it a list',
    )


class Sizes:
    """How large values are, counted as they would be written; parts that several values share are measured once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Value, int, int]] = {}

    def is_too_large(self, value: Value) -> bool:
        """Whether a value has too many parts, or is nested too deeply."""
        parts, levels = self._measure(value)
        return parts > MOST_PARTS or levels > MOST_LEVELS

    def _measure(self, value: Value) -> tuple[int, int]:
        """The number of parts of a value, and how deep it is nested. Its parts have been measured, save those that are
        new in it: these were read from a document, whose nesting is bounded."""
        if not isinstance(value, list | dict | Call):
            return 1, 0
        found = self._known.get(id(value))
        if found is None:
            inner: Iterable[Value] = (
                value.values() if isinstance(value, dict) else value if isinstance(value, list) else value.arguments
            )
            measured = [self._measure(v) for v in inner]
            parts = min(1 + sum(p for p, _ in measured), 10 * MOST_PARTS)
            found = self._known[id(value)] = value, parts, 1 + max((d for _, d in measured), default=0)
        return found[1], found[2]
