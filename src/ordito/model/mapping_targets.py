"""What substitution mappings can lead to: the nodes of a topology, its inputs and outputs, and its workflows."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.span import Span
from ordito.model.schema import PropertyDefinition
from ordito.model.service import NodeTemplate, Output
from ordito.model.templates import Templates
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax import mappings as written
from ordito.syntax.shapes import has_lost


class Inside(msgspec.Struct, frozen=True):
    """What mappings can lead to: the nodes of a topology, its inputs and outputs, and the names of its workflows."""

    templates: Templates
    inputs: MappingType[str, PropertyDefinition]
    outputs: MappingType[str, Output]
    workflows: frozenset[str]
    written_outputs: object = None
    """The outputs as written: those that could not be read are taken without a word."""

    @property
    def nodes(self) -> dict[str, NodeTemplate]:
        """Its nodes by name."""
        return self.templates.nodes

    def node(self, name: Scalar, diagnostics: Diagnostics) -> NodeTemplate | None:
        """The node that a mapping names; None where there is none, which is reported unless it could not be read."""
        node = self.nodes.get(name.text)
        if node is None and not self.templates.is_written(name.text):
            diagnostics.unknown("unknown-target", "node template", name.text, name.span, self.nodes)
        return node


def names_of(
    mapping: written.PropertyMapping | written.AttributeMapping | written.CapabilityMapping,
    sizes: tuple[int, ...],
    what: str,
    diagnostics: Diagnostics,
) -> list[Scalar] | None:
    """The names that a mapping gives; None where they are not as many as they must be, or were not read."""
    if has_lost(mapping.mapping):
        return None
    names = mapping.mapping or []
    if len(names) in sizes:
        return names
    place = mapping.at
    if isinstance(place, Mapping) and "mapping" in place.values:
        place = place.values["mapping"]
    diagnostics.error(
        "bad-mapping", f'mapping "{mapping.name}" must name {what}', place_of(place), hint=f"write [ {what} ]"
    )
    return None


def place_of(node: Node) -> Span:
    """Where what is mapped begins: the first of several names."""
    return node.items[0].span if isinstance(node, Sequence) and node.items else node.span
