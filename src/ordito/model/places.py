"""The place of a function call, and what it can name there (§4.1)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.model.schema import PropertyDefinition, Schema
from ordito.model.service import Capability, NodeTemplate, Relationship
from ordito.syntax.expressions import Call, Value


class Place(msgspec.Struct, frozen=True):
    """Where a call is written: in a node template, in a relationship, or in neither (outputs)."""

    node: NodeTemplate | None = None
    relationship: Relationship | None = None
    inputs: Mapping[str, PropertyDefinition] = {}
    """Further inputs that ``get_input`` finds there, before those of the topology: those of an imperative workflow
    (§7.3.6)."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that mean something here."""
        if self.node is not None:
            return ("SELF", "HOST")
        return ("SELF", "SOURCE", "TARGET") if self.relationship is not None else ()

    def hint(self, besides: str = "") -> str:
        """The hint for a keyword that has no meaning here; ``besides`` is one that is allowed elsewhere."""
        listed = ", ".join(k for k in self.keywords if k != besides)
        return f"keywords that mean something here: {listed or 'none; name a node template'}"


class Slot(msgspec.Struct, frozen=True, eq=False):
    """The property or attribute to which a path of names leads."""

    owner: NodeTemplate | Relationship
    """The node or relationship that has it."""
    name: str
    definition: PropertyDefinition
    rest: int
    """The position of the argument that leads further into the value."""
    capability: Capability | None = None
    """The capability that has it, None where the owner itself does."""

    def value(self, what: str) -> tuple[bool, Value]:
        """Whether the documents give it a value, and which: as a property or, ``what`` being ``attribute``, as an
        attribute, whose first value is the property's where it has none of its own."""
        holder = self.capability if self.capability is not None else self.owner
        if what == "attribute" and self.name in holder.attributes:
            return True, holder.attributes[self.name]
        return self.name in holder.properties, holder.properties.get(self.name)

    @property
    def schema(self) -> Schema:
        """Its declared type."""
        return self.definition.schema

    @property
    def path(self) -> str:
        """Its name in messages."""
        owner = self.owner.name if isinstance(self.owner, NodeTemplate) else self.owner.key
        inner = f"{self.capability.name}." if self.capability is not None else ""
        return f"{owner}.{inner}{self.name}"


class ReadValue(msgspec.Struct, frozen=True, eq=False):
    """A call and what it reads."""

    call: Call
    slot: Slot


def values_of(holder: NodeTemplate | Relationship | Capability, what: str) -> Mapping[str, PropertyDefinition]:
    """What get_property or get_attribute may read: each property is an attribute as well (§3.6.12.4)."""
    if what == "property":
        return holder.definitions
    return {**holder.definitions, **holder.attribute_definitions}
