"""What conditions and activities are about: nodes, relationships, groups, capabilities (§3.6.21, §3.6.26, §3.6.27)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.model.operation import Interface
from ordito.model.schema import PropertyDefinition
from ordito.model.service import Capability, NodeTemplate, Relationship

Definitions = Mapping[str, PropertyDefinition]


class Holder(msgspec.Struct, frozen=True):
    """One thing that has values and perhaps operations; ``name`` is what messages call it."""

    name: str
    definitions: Definitions
    attribute_definitions: Definitions
    interfaces: Mapping[str, Interface] = {}
    node: NodeTemplate | None = None
    relationship: Relationship | None = None

    def value(self, name: str) -> PropertyDefinition | None:
        """The definition of an attribute; each property is an attribute too (§3.6.10.5)."""
        return self.attribute_definitions.get(name) or self.definitions.get(name)

    @property
    def values(self) -> Iterator[str]:
        """The names of all attributes."""
        yield from self.attribute_definitions
        yield from self.definitions


class Subject(msgspec.Struct, frozen=True):
    """All that a condition or an activity is about. ``certain`` is False where not all of it could be read: then what
    it lacks is not reported. ``every`` says that what is asked for must be had by all of it, not by any."""

    what: str
    holders: tuple[Holder, ...]
    certain: bool = True
    every: bool = True

    @property
    def open_ended(self) -> bool:
        """Whether nothing can be said about what it has."""
        return not self.certain or not self.holders


NOTHING = Subject("nothing", ())
"""What a workflow step without a target is about."""
UNREADABLE = Subject("", (), certain=False)
"""What a target is that could not be read, as was reported."""


def of_node(node: NodeTemplate) -> Holder:
    """A node template."""
    return Holder(
        f'"{node.name}" ({node.type})', node.definitions, node.attribute_definitions, node.interfaces, node=node
    )


def of_relationship(relationship: Relationship) -> Holder:
    """A relationship."""
    return Holder(
        f'relationship "{relationship.key}"',
        relationship.definitions,
        relationship.attribute_definitions,
        relationship.interfaces,
        relationship=relationship,
    )


def of_capability(node: NodeTemplate, capability: Capability) -> Holder:
    """A capability of a node template."""
    return Holder(
        f'capability "{capability.name}" of "{node.name}"', capability.definitions, capability.attribute_definitions
    )
