"""Capability types and the capabilities of node types, flattened (§3.7.2, §3.7.7)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType
from typing import Protocol

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.schema import PropertyDefinition
from ordito.model.service import UNBOUNDED
from ordito.model.units import Unit, Units
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.shapes import Entries


class CapabilityShape(msgspec.Struct, frozen=True):
    """A capability type, or a capability of a node type, flattened. Without ``kinds``, it is written but could not be
    read."""

    kinds: tuple[str, ...]
    properties: MappingType[str, PropertyDefinition]
    attributes: MappingType[str, PropertyDefinition]
    valid_source_types: tuple[str, ...] = ()
    occurrences: tuple[int, int | None] = (1, UNBOUNDED)
    assigned: frozenset[str] = frozenset()
    """The properties to which a type below the normative ones gives a default."""
    span: Span | None = None
    bounded: bool = False
    """Whether the occurrences are written somewhere."""


NO_CAPABILITY = CapabilityShape((), {}, {})


class Capabilities:
    """All capability types, by full name in ``shapes``, and the capabilities of node types."""

    def __init__(self, units: Units, definitions: Definitions, lists: TypeLists, diagnostics: Diagnostics) -> None:
        self._units = units
        self._definitions = definitions
        self._lists = lists
        self._diagnostics = diagnostics
        self.shapes: dict[str, CapabilityShape] = {}

    def add_types(self, hierarchy: Hierarchy) -> None:
        """Flatten all capability types."""
        for definition in hierarchy.order:
            written = definition.content
            assert isinstance(written, entities.CapabilityType)
            parent = self.shapes.get(hierarchy.parent(definition) or "", NO_CAPABILITY)
            self.shapes[definition.name] = self._shape(
                hierarchy.kinds[definition.name], written, parent, definition.unit, parent.occurrences
            )

    def merge(
        self,
        inherited: MappingType[str, CapabilityShape],
        written: MappingType[str, entities.CapabilityDefinition] | None,
        unit: Unit,
    ) -> dict[str, CapabilityShape]:
        """The capabilities of a node type: those it inherits, refined and extended by what it writes."""
        found = dict(inherited)
        for name, item in (written or {}).items():
            before = None if unit.dialect.is_free and item.type is not None else inherited.get(name)
            base = self._base(name, item, before, unit)
            if not base.kinds:
                found[name] = NO_CAPABILITY
                continue
            free = before is None or not before.bounded
            occurrences = narrowed("capability", item, before, (1, UNBOUNDED), self._diagnostics, any_least=free)
            found[name] = self._shape(base.kinds, item, base, unit, occurrences)
        for name in written.lost if isinstance(written, Entries) else ():
            found[name] = NO_CAPABILITY
        return found

    def _shape(
        self,
        kinds: tuple[str, ...],
        written: entities.CapabilityType | entities.CapabilityDefinition,
        base: CapabilityShape,
        unit: Unit,
        occurrences: tuple[int, int | None],
    ) -> CapabilityShape:
        bounded = isinstance(written, entities.CapabilityDefinition) and written.occurrences is not None
        sources = self._lists.read(
            "node", "valid_source_types", written.valid_source_types, base.valid_source_types, unit
        )
        return CapabilityShape(
            kinds,
            self._definitions.merge(base.properties, written.properties, unit),
            self._definitions.merge(base.attributes, written.attributes, unit, what="attribute"),
            sources,
            occurrences,
            base.assigned | _with_defaults(written.properties, unit),
            written.span,
            base.bounded or bounded,
        )

    def _base(
        self, name: str, item: entities.CapabilityDefinition, inherited: CapabilityShape | None, unit: Unit
    ) -> CapabilityShape:
        """What a capability definition builds on: its type, or the inherited capability that it refines."""
        if item.type is None:
            if inherited is None:
                self._diagnostics.error(
                    "missing-keyname", f'capability "{name}" lacks "type"', item.span, hint="name its capability type"
                )
            return inherited or NO_CAPABILITY
        definition = self._units.require("capability", item.type, unit)
        base = self.shapes.get(definition.name, NO_CAPABILITY) if definition else NO_CAPABILITY
        if inherited is None or not base.kinds or not inherited.kinds:
            return base
        if inherited.kinds[0] not in base.kinds:
            self._diagnostics.error(
                "bad-refinement",
                f'capability "{name}" is a {inherited.kinds[0]} and cannot become a {base.kinds[0]}',
                item.type.span,
                hint="use the same type or one derived from it",
                related=inherited_here(inherited.span),
            )
            return inherited
        return inherited if base.kinds == inherited.kinds else self._specialised(base, inherited)

    def _specialised(self, derived: CapabilityShape, inherited: CapabilityShape) -> CapabilityShape:
        """A capability that gets a type derived from its own: it keeps what its definitions have refined."""
        plain = self.shapes[inherited.kinds[0]]
        return CapabilityShape(
            derived.kinds,
            _carried(derived.properties, inherited.properties, plain.properties),
            _carried(derived.attributes, inherited.attributes, plain.attributes),
            inherited.valid_source_types or derived.valid_source_types,
            inherited.occurrences,
            derived.assigned | inherited.assigned,
            inherited.span,
            inherited.bounded,
        )


def _carried(
    derived: MappingType[str, PropertyDefinition],
    refined: MappingType[str, PropertyDefinition],
    plain: MappingType[str, PropertyDefinition],
) -> dict[str, PropertyDefinition]:
    """The definitions of a derived type with what was refined of those of its ancestor, ``plain``, elsewhere."""
    found = dict(derived)
    for name, definition in refined.items():
        before, own = plain.get(name), derived.get(name)
        if definition is before:
            continue
        if own is None or own is before or before is None:
            found[name] = definition
            continue
        added = definition.schema.constraints[len(before.schema.constraints) :]
        schema = msgspec.structs.replace(own.schema, constraints=(*own.schema.constraints, *added))
        found[name] = msgspec.structs.replace(
            definition, schema=schema, required=definition.required or own.required, fixed=definition.fixed or own.fixed
        )
    return found


def _with_defaults(written: MappingType[str, entities.PropertyDefinition] | None, unit: Unit) -> frozenset[str]:
    if unit.is_normative:
        return frozenset()
    return frozenset(n for n, d in (written or {}).items() if d.default is not None or d.value is not None)


# How a derived type may change what it inherits: closer types, narrower occurrences (§3.7.1).

Occurrences = tuple[int, int | None]


class Inherited(Protocol):
    """A definition that another refines."""

    @property
    def span(self) -> Span | None:
        """Where it is written."""

    @property
    def occurrences(self) -> Occurrences:
        """How often it may occur."""


def narrowed(
    what: str,
    item: entities.CapabilityDefinition | entities.RequirementDefinition,
    inherited: Inherited | None,
    default: Occurrences,
    diagnostics: Diagnostics,
    *,
    any_least: bool = False,
) -> Occurrences:
    """The occurrences of a capability or requirement, which may only be narrower than inherited ones; with
    ``any_least`` the lower bound is free, since none is written."""
    if inherited is None or item.occurrences is None:
        return item.occurrences or (inherited.occurrences if inherited else default)
    low, high = item.occurrences
    least, most = inherited.occurrences
    if (low < least and not any_least) or (most is not None and (high is None or high > most)):
        diagnostics.error(
            "bad-refinement",
            f'{what} "{item.name}" may only narrow the occurrences that it inherits',
            item.span,
            hint=f"stay within [{least}, {'UNBOUNDED' if most is None else most}]",
            related=inherited_here(inherited.span),
        )
    return low, high


class TypeLists:
    """Lists of types that a definition allows, such as valid_source_types. ``kinds`` gives, per kind of type, each type
    with those it derives from."""

    def __init__(
        self, units: Units, kinds: MappingType[str, MappingType[str, tuple[str, ...]]], diagnostics: Diagnostics
    ) -> None:
        self._units = units
        self._kinds = kinds
        self._diagnostics = diagnostics

    def read(
        self, kind: str, keyname: str, written: Iterable[Scalar] | None, inherited: tuple[str, ...], unit: Unit
    ) -> tuple[str, ...]:
        """The full names of a list, or the inherited ones where it is empty; each must be one of these or derived
        from one, where there are any."""
        found = []
        for name in written or ():
            definition = self._units.require(kind, name, unit)
            if definition is None:
                continue
            found.append(definition.name)
            kinds = self._kinds[kind].get(definition.name, ())
            checked = not unit.is_bundled and not unit.dialect.is_free
            if inherited and kinds and checked and not any(i in kinds for i in inherited):
                self._diagnostics.error(
                    "bad-refinement",
                    f'"{name.text}" is not allowed by the inherited {keyname}: {", ".join(inherited)}',
                    name.span,
                    hint="name one of these or a type derived from one",
                )
        return tuple(found) or inherited


def inherited_here(span: Span | None) -> tuple[Related, ...]:
    """The second place of a finding about something inherited."""
    return (Related("inherited from here", span),) if span else ()
