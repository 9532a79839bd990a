"""How a derived type may change what it inherits: closer types, narrower occurrences (§3.7.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.unit import Unit
from ordito.model.units import Units
from ordito.source.nodes import Scalar
from ordito.syntax import entities

Occurrences = tuple[int, int | None]


class Inherited(Protocol):
    """What is refined: where it is written and how often it may occur."""

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
    ``any_least`` the lower bound is free, since nobody has written one."""
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
        self, units: Units, kinds: Mapping[str, Mapping[str, tuple[str, ...]]], diagnostics: Diagnostics
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
            if inherited and kinds and not unit.is_bundled and not any(i in kinds for i in inherited):
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
