"""A type, or some of its parts, with where each part comes from; the result of ``ordito explain`` for a type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType

from ordito.model.catalogue import PLURALS
from ordito.results.answer import ResultData
from ordito.results.explained import TAG

if TYPE_CHECKING:
    from ordito.authoring.explain import Explained
    from ordito.base.span import Span
    from ordito.model.catalogue import Member


class OriginData(msgspec.Struct, frozen=True):
    """A type that declares or refines a part, and where."""

    type: str | None
    """The type; null where only the place is known."""

    place: str | None


class PartData(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a type: what it has depends on its section."""

    section: str | UnsetType = UNSET
    """Its kind (property, capability, operation ...), where it does not stand in a section."""

    name: str
    description: str
    type: str | UnsetType = UNSET
    """The type of its values, or its own."""

    required: bool | UnsetType = UNSET
    default: object = UNSET
    value: object = UNSET
    """A value that templates cannot change, or that of an input."""

    constraints: Sequence[Mapping[str, object]] | UnsetType = UNSET
    """Each as it is written."""

    status: str | UnsetType = UNSET
    """`experimental`, `unsupported` or `deprecated`."""

    metadata: Mapping[str, str] | UnsetType = UNSET
    capability: str | UnsetType = UNSET
    """What a requirement asks for; ``node`` and ``relationship`` likewise."""

    node: str | UnsetType = UNSET
    relationship: str | UnsetType = UNSET
    occurrences: Sequence[object] | UnsetType = UNSET
    """The least and the greatest number, which may be `UNBOUNDED`."""

    valid_source_types: Sequence[str] | UnsetType = UNSET
    implementation: str | UnsetType = UNSET
    """The file that an operation runs."""

    outputs: Mapping[str, Sequence[object]] | UnsetType = UNSET
    """For each output of an operation where it is written."""

    file: str | UnsetType = UNSET
    origins: tuple[OriginData, ...]
    """The types that declare and refine it, the declaring one first."""

    properties: Mapping[str, PartData] | UnsetType = UNSET
    attributes: Mapping[str, PartData] | UnsetType = UNSET
    inputs: Mapping[str, PartData] | UnsetType = UNSET
    operations: Mapping[str, PartData] | UnsetType = UNSET
    notifications: Mapping[str, PartData] | UnsetType = UNSET


class TypeData(ResultData, frozen=True, kw_only=True, tag=TAG):
    """A type with everything that it has, inherited parts included."""

    kind: str
    name: str
    derived_from: tuple[str, ...]
    """Its ancestors, the closest first."""

    description: str
    declared: str | None
    """Its place, null where it belongs to the language itself."""

    valid_target_types: Sequence[str] | UnsetType = UNSET
    valid_source_types: Sequence[str] | UnsetType = UNSET
    holds: str | UnsetType = UNSET
    """What values of a data type are that has no fields, as in ``map of integer``."""

    constraints: Sequence[Mapping[str, object]] | UnsetType = UNSET
    """Each as it is written."""

    mime_type: str | UnsetType = UNSET
    file_ext: Sequence[str] | UnsetType = UNSET
    members: Sequence[str] | UnsetType = UNSET
    """The types of nodes that a group may have."""

    targets: Sequence[str] | UnsetType = UNSET
    """What a policy may be about."""

    version: str | UnsetType = UNSET
    metadata: Mapping[str, str] | UnsetType = UNSET
    properties: Mapping[str, PartData] | UnsetType = UNSET
    attributes: Mapping[str, PartData] | UnsetType = UNSET
    capabilities: Mapping[str, PartData] | UnsetType = UNSET
    requirements: Mapping[str, PartData] | UnsetType = UNSET
    interfaces: Mapping[str, PartData] | UnsetType = UNSET
    inputs: Mapping[str, PartData] | UnsetType = UNSET
    operations: Mapping[str, PartData] | UnsetType = UNSET
    notifications: Mapping[str, PartData] | UnsetType = UNSET
    artifacts: Mapping[str, PartData] | UnsetType = UNSET
    triggers: Mapping[str, PartData] | UnsetType = UNSET
    others: tuple[str, ...] | UnsetType = UNSET
    """Types of other kinds with that name."""


class TypePartsData(ResultData, frozen=True, kw_only=True, tag=TAG):
    """Parts of a type that have the same path."""

    kind: str
    type: str
    path: tuple[str, ...]
    parts: tuple[PartData, ...]
    others: tuple[str, ...] | UnsetType = UNSET
    """Types of other kinds with that name and such a part."""


COMMON = frozenset(
    {"section", "kind", "name", "derived_from", "description", "declared", "origins", "others", *PLURALS.values()}
)
"""Names that all types or parts have, or that hold parts; the others are facts."""


def facts_of(found: TypeData | PartData) -> dict[str, object]:
    """What else is known of a type or a part besides what all have, and its own parts."""
    given = {name: getattr(found, name) for name in found.__struct_fields__ if name not in COMMON}
    return {name: value for name, value in given.items() if value is not UNSET}


def sections_of(found: TypeData | PartData) -> dict[str, Mapping[str, PartData]]:
    """Its parts by section."""
    names = (name for name in found.__struct_fields__ if name in PLURALS.values())
    return {name: parts for name in names if (parts := getattr(found, name)) is not UNSET}


def type_data(found: Explained) -> TypeData:
    """The whole type."""
    view = found.type
    return TypeData(
        kind=view.kind,
        name=view.name,
        derived_from=view.kinds[1:],
        description=view.description,
        declared=_place(view.span),
        others=found.others or UNSET,
        **_of_its_kind(view.facts, view.members),
    )


def type_parts_data(found: Explained) -> TypePartsData:
    """The wanted parts."""
    parts = tuple(_part(member, section=member.section) for member in found.members)
    return TypePartsData(
        kind=found.type.kind, type=found.type.name, path=found.path, parts=parts, others=found.others or UNSET
    )


def _part(member: Member, section: str | UnsetType = UNSET) -> PartData:
    return PartData(
        section=section,
        name=member.name,
        description=member.description,
        origins=tuple(OriginData(origin.type or None, _place(origin.span)) for origin in member.origins),
        **_of_its_kind(member.facts, member.members),
    )


def _of_its_kind(facts: Mapping[str, object], members: Iterable[Member]) -> dict[str, Any]:
    """What only some kinds of types or parts have, by name."""
    sections: dict[str, dict[str, PartData]] = {}
    for member in members:
        sections.setdefault(PLURALS[member.section], {})[member.name] = _part(member)
    return {**facts, **sections}


def _place(span: Span | None) -> str | None:
    return str(span) if span is not None else None
