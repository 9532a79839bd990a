"""Substitution mappings, as they are written (§3.8.8 to §3.8.13)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.syntax.filters import NodeFilter
from ordito.syntax.grammar import Entity, Key, Reading, read_entity
from ordito.syntax.shapes import Assignments, Either, Entries, Many, One, Raw, Text


class PropertyMapping(Entity, frozen=True, eq=False, kw_only=True):
    """Property mapping (§3.8.8): the input that takes the property, or a constant that it must equal (deprecated)."""

    WHAT: ClassVar[str] = "property mapping"

    mapping: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    value: Annotated[Node | None, Key(Raw())] = None


class AttributeMapping(Entity, frozen=True, eq=False, kw_only=True):
    """Attribute mapping (§3.8.9): the output that gives the attribute."""

    WHAT: ClassVar[str] = "attribute mapping"

    mapping: Annotated[list[Scalar], Key(Many(Text()), required=True)]


class CapabilityMapping(Entity, frozen=True, eq=False, kw_only=True):
    """Capability mapping (§3.8.10): a node template's capability, or values for a capability without one."""

    WHAT: ClassVar[str] = "capability mapping"

    mapping: Annotated[list[Scalar] | None, Key(Many(Text()))] = None
    properties: Annotated[Mapping | None, Key(Assignments())] = None
    attributes: Annotated[Mapping | None, Key(Assignments())] = None


class RequirementMapping(CapabilityMapping, frozen=True, eq=False, kw_only=True):
    """Requirement mapping (§3.8.11): a node template's requirement, or values for a requirement without one."""

    WHAT: ClassVar[str] = "requirement mapping"


class _Mapped(msgspec.Struct, frozen=True, eq=False):
    """One mapping: a list of names, or the form with keynames."""

    entity: Any
    usage: str

    def read(self, node: Node, reading: Reading, key: Scalar) -> Entity | None:
        """Read it."""
        if isinstance(node, Sequence):
            names = Many(Text()).read(node, f'"{key.text}"', reading)
            whole = names is not None and len(names) == len(node.items)
            return self.entity(at=node, key=key, mapping=names) if whole else None
        if self.entity is PropertyMapping and not is_null(node):
            if isinstance(node, Mapping) and node.values.keys() & {"mapping", "value"}:
                return read_entity(PropertyMapping, node, reading, key)
            return PropertyMapping(at=node, key=key, value=node)
        if isinstance(node, Mapping) and node.keys:
            return read_entity(self.entity, node, reading, key)
        reading.wrong_kind(node, f'{self.entity.WHAT} "{key.text}"', "a list of names", f"write {self.usage}")
        return None


class Mappings(msgspec.Struct, frozen=True, eq=False):
    """The mappings of one kind, by name. A list of maps with one name each is accepted, too, with a warning."""

    entity: Any
    """The class of the mappings."""
    usage: str
    """How to write one, for messages."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Any] | None:
        """The mappings that can be read; None where none are written."""
        if is_null(node):
            return None
        found = Entries()
        one = _Mapped(self.entity, self.usage)
        for key, value in self._entries(node, what, reading, found):
            read = one.read(value, reading, key)
            if read is not None:
                found[key.text] = read
            else:
                found.lose((key.text,))
        return found

    def _entries(self, node: Node, what: str, reading: Reading, found: Entries) -> list[tuple[Scalar, Node]]:
        if isinstance(node, Mapping):
            return [*node.entries()]
        if isinstance(node, Sequence) and all(isinstance(i, Mapping) and len(i.keys) == 1 for i in node.items):
            reading.diagnostics.warning(
                "map-expected", f"{what} are a map", node.span, hint="write name: ... lines, without dashes"
            )
            return [e for item in node.items if isinstance(item, Mapping) for e in item.entries()]
        reading.wrong_kind(node, what, "a map of names", f"write {self.usage}")
        found.all_lost = True
        return []


class Operations(msgspec.Struct, frozen=True):
    """What the operations of one interface are mapped to: a workflow, or a node template's operation."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, Any] | None:
        """By operation, the name or the list of names; None, with a diagnostic, where there is no map."""
        if not isinstance(node, Mapping):
            hint = "write operation: workflow"
            reading.wrong_kind(node, what, "a map of operations", hint)
            return None
        found: dict[str, Any] = {}
        for key, value in node.entries():
            read = Either(Many(Text())).read(value, f'"{key.text}"', reading)
            if read is not None:
                found[key.text] = read
        return found


class InterfaceMapping(Entity, frozen=True, eq=False, kw_only=True):
    """Interface mapping (§3.8.12): by operation, the name of a workflow, or the names of a node template, its interface
    and operation."""

    WHAT: ClassVar[str] = "interface mapping"

    operations: dict[str, Scalar | list[Scalar]] = msgspec.field(default_factory=dict)

    @property
    def keys(self) -> list[Scalar]:
        """The names of the operations, with their places."""
        return self.at.keys if isinstance(self.at, Mapping) else []


class InterfaceMappings(msgspec.Struct, frozen=True):
    """Interface mappings by the interface's name."""

    def read(self, node: Node, what: str, reading: Reading) -> dict[str, InterfaceMapping] | None:
        """The mappings that can be read; None where none are written, or there is no map."""
        if is_null(node):
            return None
        if not isinstance(node, Mapping):
            reading.wrong_kind(node, what, "a map of interfaces", "write interface: { operation: workflow }")
            return None
        found = Entries()
        for key, value in node.entries():
            operations = Operations().read(value, f'interface mapping "{key.text}"', reading)
            if operations is not None:
                found[key.text] = InterfaceMapping(at=value, key=key, operations=operations)
        return found


CAPABILITY_USAGE = "name: [ node template, capability ]"
REQUIREMENT_USAGE = "name: [ node template, requirement ]"


class SubstitutionMappings(Entity, frozen=True, eq=False, kw_only=True):
    """Substitution mappings (§3.8.13)."""

    WHAT: ClassVar[str] = "substitution mapping"
    SECTIONS: ClassVar[bool] = True

    node_type: Annotated[Scalar, Key(Text(), required=True)]
    substitution_filter: Annotated[NodeFilter | None, Key(One(NodeFilter))] = None
    properties: Annotated[dict[str, PropertyMapping] | None, Key(Mappings(PropertyMapping, "property: [ input ]"))] = (
        None
    )
    attributes: Annotated[
        dict[str, AttributeMapping] | None, Key(Mappings(AttributeMapping, "attribute: [ output ]"))
    ] = None
    capabilities: Annotated[dict[str, CapabilityMapping] | None, Key(Mappings(CapabilityMapping, CAPABILITY_USAGE))] = (
        None
    )
    requirements: Annotated[
        dict[str, RequirementMapping] | None, Key(Mappings(RequirementMapping, REQUIREMENT_USAGE))
    ] = None
    interfaces: Annotated[dict[str, InterfaceMapping] | None, Key(InterfaceMappings())] = None
