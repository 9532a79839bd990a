"""The values of nodes and relationships that may hold calls: found quickly among very many that do not."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.model.imperative import Group, Policy
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.syntax.expressions import Call, Value

HOLDING = frozenset({Call, list, dict})


class Held(msgspec.Struct, frozen=True):
    """A value that is a call, or a list or map that may hold calls."""

    what: str
    """Its kind: property, attribute or input."""
    name: str
    value: Value
    definitions: Mapping[str, PropertyDefinition]
    capability: Capability | None = None
    """The capability that has it, None for the entity itself."""
    of: str = ""
    """The name of what has it in messages, where that is something else."""


class Holders:
    """Finds such values in entities. Parts that many of them share are searched once."""

    def __init__(self) -> None:
        self._plain: dict[int, object] = {}
        """What is known to hold single values only, by id."""

    def held(self, owner: NodeTemplate | Relationship | Group | Policy) -> list[Held]:
        """The values of an entity and of its capabilities that may hold calls."""
        found: list[Held] = []
        if owner.properties:
            self._look("property", owner.properties, owner.definitions, None, found)
        if not isinstance(owner, Policy) and owner.attributes:
            self._look("attribute", owner.attributes, owner.attribute_definitions, None, found)
        if isinstance(owner, NodeTemplate):
            for capability in owner.capabilities.values():
                if id(capability) not in self._plain:
                    before = len(found)
                    if capability.properties:
                        self._look("property", capability.properties, capability.definitions, capability, found)
                    if capability.attributes:
                        definitions = capability.attribute_definitions
                        self._look("attribute", capability.attributes, definitions, capability, found)
                    if len(found) == before:
                        self._plain[id(capability)] = capability
        return found

    def _look(
        self,
        what: str,
        values: Mapping[str, Value],
        definitions: Mapping[str, PropertyDefinition],
        capability: Capability | None,
        found: list[Held],
    ) -> None:
        if id(values) in self._plain:
            return
        if not HOLDING.isdisjoint(map(type, values.values())):
            found += [Held(what, n, v, definitions, capability) for n, v in values.items() if type(v) in HOLDING]
        elif what == "attribute":
            self._plain[id(values)] = values  # assigned rarely, so it is the type's
