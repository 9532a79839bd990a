"""Policy types: what policies of a type hold, what they are about, and their triggers (§3.7.12)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.schema import PropertyDefinition
from ordito.model.units import Definition, Unit, Units, find_type
from ordito.syntax import entities
from ordito.syntax import policies as written

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
