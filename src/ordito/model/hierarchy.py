"""Derivation: which type derives from which, without cycles, parents before children (§3.7.1)."""

from __future__ import annotations

from collections.abc import Iterable

from ordito.base.diagnostics import Diagnostics
from ordito.model.settings import refuse_settings
from ordito.model.units import Definition, Units
from ordito.syntax.entities import DefinedType
from ordito.syntax.shapes import Entries, EntryList


class Hierarchy:
    """The derivation of all types of one kind. ``order`` has parents before children. Types with a broken derivation,
    or with a whole section that could not be read, are left out with all types derived from them. That was reported;
    uses of such a type are accepted without a message."""

    def __init__(self, kind: str, units: Units, diagnostics: Diagnostics, roots: frozenset[str] = frozenset()) -> None:
        self.parents: dict[str, Definition | None] = {}
        self.order: list[Definition] = []
        self.kinds: dict[str, tuple[str, ...]] = {}
        for definition in units.definitions[kind].values():
            derived = definition.content.derived_from
            parent = None
            if not definition.unit.is_bundled:
                _check_root(definition, diagnostics)
                if kind != "node":
                    content = definition.content
                    refuse_settings(content.at, content.metadata, f"{kind} types", diagnostics)
            if derived is not None and derived.text not in roots and derived.text not in ENTITY_ROOTS:
                parent = units.require(kind, derived, definition.unit, roots)
                if parent is None:
                    continue
            if not _is_torn(definition.content):
                self.parents[definition.name] = parent
        self._sort(units.definitions[kind].values(), kind, diagnostics)

    def _sort(self, definitions: Iterable[Definition], kind: str, diagnostics: Diagnostics) -> None:
        waiting: dict[str, list[Definition]] = {}
        ready: list[Definition] = []
        for definition in definitions:
            if definition.name in self.parents:
                parent = self.parents[definition.name]
                if parent is None:
                    ready.append(definition)
                else:
                    waiting.setdefault(parent.name, []).append(definition)
        ready.reverse()
        while ready:
            definition = ready.pop()
            parent = self.parents[definition.name]
            self.kinds[definition.name] = (definition.name, *(self.kinds[parent.name] if parent else ()))
            self.order.append(definition)
            ready.extend(reversed(waiting.pop(definition.name, ())))
        self._report_cycles({d.name: d for group in waiting.values() for d in group}, kind, diagnostics)

    def _report_cycles(self, stuck: dict[str, Definition], kind: str, diagnostics: Diagnostics) -> None:
        """What is left waits for a broken type, or stands in a cycle, which is reported once."""
        seen: set[str] = set()
        for start in stuck:
            path: list[str] = []
            name = start
            while name in stuck and name not in seen:
                seen.add(name)
                path.append(name)
                parent = self.parents[name]
                assert parent is not None
                name = parent.name
            if name in path:
                cycle = [*path[path.index(name) :], name]
                definition = stuck[name]
                diagnostics.error(
                    "type-cycle",
                    f"{kind} types derive from each other: {' -> '.join(cycle)}",
                    (definition.content.derived_from or definition.content).span,
                    hint="remove one derived_from",
                )

    def parent(self, definition: Definition) -> str | None:
        """The full name of the type that a type derives from."""
        found = self.parents[definition.name]
        return found.name if found else None


ENTITY_ROOTS = {"tosca.entity.Root", "tosca:entity.Root"}
"""The root of all entities, which the specification keeps for itself and defines nowhere (§3.7.1.3)."""
ROOTS = {
    "data": "tosca.datatypes.Root",
    "capability": "tosca.capabilities.Root",
    "policy": "tosca.policies.Root",
}
"""The roots whose names do not follow from their kind."""


def _check_root(definition: Definition, diagnostics: Diagnostics) -> None:
    """Types of users do not derive from the root of all entities (R-3.7.1-4)."""
    derived = definition.content.derived_from
    if derived is not None and derived.text in ENTITY_ROOTS:
        root = ROOTS.get(definition.kind, f"tosca.{definition.kind}s.Root")
        diagnostics.warning(
            "entity-root",
            f"{derived.text} is the specification's own and no type derives from it",
            derived.span,
            hint=f"write derived_from: {root}",
        )


def _is_torn(content: DefinedType) -> bool:
    """Whether some section of a type could not be read at all."""
    sections = (getattr(content, field) for field in content.__struct_fields__)
    return any(isinstance(section, Entries | EntryList) and section.all_lost for section in sections)
