"""Group types with their values and allowed members (§3.7.11), and policy types (§3.7.12)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.capabilities import Capabilities, CapabilityShape
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.interfaces import InterfaceParts, Interfaces
from ordito.model.schema import PropertyDefinition
from ordito.model.units import Definition, Unit, Units, find_type
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax import policies as written

MEMBER_KINDS = ("node", "capability", "group")


class GroupShape(msgspec.Struct, frozen=True):
    """A group type, flattened. Keynames that only former versions of TOSCA had are checked, but have no effect."""

    kinds: tuple[str, ...]
    properties: Mapping[str, PropertyDefinition]
    attributes: Mapping[str, PropertyDefinition]
    members: tuple[str, ...] = ()
    """The full names of the node types whose templates may be members."""
    interfaces: Mapping[str, InterfaceParts] = {}
    capabilities: Mapping[str, CapabilityShape] = {}


def flatten_groups(
    hierarchy: Hierarchy,
    definitions: Definitions,
    interfaces: Interfaces,
    capabilities: Capabilities,
    units: Units,
    diagnostics: Diagnostics,
) -> dict[str, GroupShape]:
    """All group types by their full names."""
    shapes: dict[str, GroupShape] = {}
    for definition in hierarchy.order:
        written = definition.content
        assert isinstance(written, entities.GroupType)
        parent = shapes.get(hierarchy.parent(definition) or "", NO_GROUP)
        shapes[definition.name] = GroupShape(
            hierarchy.kinds[definition.name],
            definitions.merge(parent.properties, written.properties, definition.unit),
            definitions.merge(parent.attributes, written.attributes, definition.unit, what="attribute"),
            _members(written.members or (), definition.unit, units, diagnostics) or parent.members,
            interfaces.merge(
                parent.interfaces,
                written.interfaces,
                definition.unit,
                owner=f'group type "{definition.name}"',
                relationship=False,
                defining=True,
            ),
            capabilities.merge(parent.capabilities, written.capabilities, definition.unit),
        )
    return shapes


def _members(written: Iterable[Scalar], unit: Unit, units: Units, diagnostics: Diagnostics) -> tuple[str, ...]:
    """The types of members, which must all be of one kind (§3.7.11.3); only node types restrict anything."""
    found: dict[str, list[Definition]] = {}
    for name in written:
        kind = next((k for k in MEMBER_KINDS if find_type(k, name, unit, units) is not None), "node")
        definition = units.require(kind, name, unit)
        if definition is None:
            continue
        if found and kind not in found:
            first = next(iter(found))
            diagnostics.error(
                "mixed-members",
                f'"{name.text}" is a {kind} type among {first} types; the members of a group are of one kind',
                name.span,
                hint=f"name {first} types only, or make a second group type",
            )
            continue
        found.setdefault(kind, []).append(definition)
    return tuple(d.name for d in found.get("node", ()))


NO_GROUP = GroupShape((), {}, {})


# Policy types: what policies of a type hold, what they are about, and their triggers (§3.7.12).

TARGET_KINDS = ("node", "group")


class PolicyShape(msgspec.Struct, frozen=True):
    """A policy type, flattened; ``targets`` are the full names of the node and group types it may be about; triggers
    with the file that writes them."""

    kinds: tuple[str, ...]
    properties: Mapping[str, PropertyDefinition]
    targets: tuple[tuple[str, str], ...] = ()
    triggers: Mapping[str, tuple[written.Trigger, Unit]] = {}


def flatten_policies(hierarchy: Hierarchy, definitions: Definitions, units: Units) -> dict[str, PolicyShape]:
    """All policy types by their full names."""
    shapes: dict[str, PolicyShape] = {}
    for definition in hierarchy.order:
        item = definition.content
        assert isinstance(item, entities.PolicyType)
        parent = shapes.get(hierarchy.parent(definition) or "", NO_POLICY)
        shapes[definition.name] = PolicyShape(
            hierarchy.kinds[definition.name],
            definitions.merge(parent.properties, item.properties, definition.unit),
            tuple(_targets(item, definition, units)) or parent.targets,
            {**parent.triggers, **{n: (t, definition.unit) for n, t in (item.triggers or {}).items()}},
        )
    return shapes


def _targets(item: entities.PolicyType, definition: Definition, units: Units) -> list[tuple[str, str]]:
    found = []
    for name in item.targets or ():
        kind = next((k for k in TARGET_KINDS if find_type(k, name, definition.unit, units) is not None), "node")
        target = units.require(kind, name, definition.unit)
        if target is not None:
            found.append((kind, target.name))
    return found


NO_POLICY = PolicyShape((), {})
