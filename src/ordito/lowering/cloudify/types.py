"""Types of a blueprint as types of TOSCA, under the same names (sections 5, 6)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.diagnostics import Diagnostics
from ordito.lowering.cloudify.ancestry import Ancestry
from ordito.lowering.cloudify.operations import OperationsOf, Settings
from ordito.lowering.cloudify.schemas import PRIMITIVES, Schemas
from ordito.lowering.making import text
from ordito.source.nodes import Scalar
from ordito.syntax import entities
from ordito.syntax.cloudify.entities import CloudifyDataType, CloudifyNodeType, CloudifyRelationshipType
from ordito.syntax.shapes import Entries

COMPUTE = "cloudify.nodes.Compute"
CONTAINED_IN = "cloudify.relationships.contained_in"
CONNECTED_TO = "cloudify.relationships.connected_to"
DEPENDS_ON = "cloudify.relationships.depends_on"

NODE, RELATIONSHIP = "cloudify.base.Node", "cloudify.base.Relationship"
ANCHORS = {
    COMPUTE: "cloudify.base.Compute",
    DEPENDS_ON: "cloudify.base.DependsOn",
    CONNECTED_TO: "cloudify.base.ConnectsTo",
    CONTAINED_IN: "cloudify.base.HostedOn",
}
"""The types that mean something to the orchestrator, and what they derive from in the model: they hold what they
inherit in the blueprint themselves."""


class TypesOf:
    """Lowers types."""

    def __init__(self, schemas: Schemas, operations: OperationsOf, diagnostics: Diagnostics) -> None:
        self._schemas = schemas
        self._operations = operations
        self._diagnostics = diagnostics

    def data(self, written: Mapping[str, CloudifyDataType]) -> dict[str, entities.DataType]:
        """The data types."""
        found = same_lost(written)
        for name, item in written.items():
            if name in PRIMITIVES:
                self._diagnostics.error(
                    "reserved-name",
                    f'"{name}" is a type of the language and cannot be defined anew',
                    item.span,
                    hint="choose another name",
                )
                continue
            found[name] = entities.DataType(
                at=item.at,
                key=item.key,
                derived_from=item.derived_from,
                description=item.description,
                properties=self._schemas.properties(item.properties),
            )
        return found

    def nodes(self, known: Ancestry, written: Mapping[str, CloudifyNodeType]) -> dict[str, entities.NodeType]:
        """The node types."""
        found = same_lost(written)
        for name, item in written.items():
            anchor = ANCHORS.get(name)
            properties = known.properties(name) if anchor else item.properties
            interfaces = (
                self._operations.of_operations(known.operations(name))
                if anchor
                else self._operations.of_type(item.interfaces)
            )
            settings = Settings({})
            for interface, operations in (known.operations(name) if anchor else _written(item)).items():
                for operation in operations.values():
                    settings.add(interface, operation.name, operation)
            found[name] = entities.NodeType(
                at=item.at,
                key=item.key,
                derived_from=self._parent(item, anchor, NODE),
                properties=self._schemas.properties(properties),
                interfaces=interfaces,
                metadata=settings.entries or None,
            )
        return found

    def relationships(
        self, known: Ancestry, written: Mapping[str, CloudifyRelationshipType]
    ) -> dict[str, entities.RelationshipType]:
        """The relationship types."""
        found = same_lost(written)
        for name, item in written.items():
            anchor = ANCHORS.get(name)
            if anchor:
                ends = {
                    **self._operations.of_operations(known.operations(name, "source_interfaces"), "source"),
                    **self._operations.of_operations(known.operations(name, "target_interfaces"), "target"),
                }
            else:
                ends = {
                    **(self._operations.of_type(item.source_interfaces, "source") or {}),
                    **(self._operations.of_type(item.target_interfaces, "target") or {}),
                }
            found[name] = entities.RelationshipType(
                at=item.at,
                key=item.key,
                derived_from=self._parent(item, anchor, RELATIONSHIP),
                properties=self._schemas.properties(known.properties(name) if anchor else item.properties),
                interfaces=ends or None,
            )
        return found

    def _parent(self, item: CloudifyNodeType | CloudifyRelationshipType, anchor: str | None, root: str) -> Scalar:
        if anchor is not None:
            return text(anchor, item.key or item.at)
        return item.derived_from if item.derived_from is not None else text(root, item.key or item.at)


def _written(item: CloudifyNodeType) -> dict[str, Entries]:
    return {name: table.operations for name, table in (item.interfaces or {}).items()}


def same_lost(written: Mapping[str, object]) -> Entries:
    """A map for what becomes of another one, which remembers as well what could not be read."""
    found = Entries()
    if isinstance(written, Entries):
        found.all_lost = written.all_lost
        if written.lost:
            found.lose(written.lost)
    return found
