"""Mapped capabilities and requirements: the nodes inside of a topology that stand behind those of the node that it
stands for (§3.8.10, §3.8.11)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.mapping_targets import Inside, names_of
from ordito.model.service import NodeTemplate
from ordito.model.substitution import Way
from ordito.model.types import NodeShape, RequirementShape, Types
from ordito.source.nodes import Scalar
from ordito.syntax import mappings as written

ENDPOINT = "tosca.capabilities.Endpoint"
OF_ROOT = frozenset({"feature", "dependency"})
"""What every node has: it stands for the whole topology and needs no mapping."""


class MappedEnds:
    """Reads the mappings of capabilities and requirements."""

    def __init__(self, types: Types, inside: Inside, diagnostics: Diagnostics) -> None:
        self._types = types
        self._inside = inside
        self._diagnostics = diagnostics

    def capabilities(
        self, item: written.SubstitutionMappings, shape: NodeShape
    ) -> tuple[dict[str, Way], dict[str, MappingType[str, object]]]:
        found: dict[str, Way] = {}
        values: dict[str, MappingType[str, object]] = {}
        for name, mapping in (item.capabilities or {}).items():
            definition = shape.capabilities.get(name)
            if definition is None:
                what = f"capability of {shape.kinds[0]}"
                self._diagnostics.unknown("unknown-capability", what, name, mapping.span, shape.capabilities)
            elif not self._is_either(mapping):
                continue
            elif mapping.mapping is None:
                self._check_values(mapping, definition.kinds)
                what = f'capability "{name}"'
                values[name] = self._types.values.fields(
                    mapping.properties, definition.properties, what, "property", mapping
                )
                self._types.values.attributes(mapping.attributes, definition.attributes, what)
            else:
                names = names_of(mapping, (2,), "a node template and a capability of it", self._diagnostics)
                way = self._capability(names, definition.kinds) if names else None
                if way is not None:
                    found[name] = way
        for name, definition in shape.capabilities.items():
            if name not in OF_ROOT and name not in (item.capabilities or {}) and definition.kinds:
                only = self._only(n for n in self._inside.nodes.values() if self._offers(n, name, definition.kinds[0]))
                if only is not None:
                    found[name] = only, name
        return found, values

    def _capability(self, names: list[Scalar], kinds: tuple[str, ...]) -> Way | None:
        node = self._inside.node(names[0], self._diagnostics)
        if node is None:
            return None
        offered = node.capabilities.get(names[1].text)
        if offered is None:
            what = f'capability of "{node.name}"'
            self._diagnostics.unknown("unknown-capability", what, names[1].text, names[1].span, node.capabilities)
            return None
        if kinds and offered.kinds and kinds[0] not in offered.kinds:
            self._diagnostics.error(
                "wrong-capability",
                f'capability "{offered.name}" of "{node.name}" is a {offered.kinds[0]}, and a {kinds[0]} is needed',
                names[1].span,
                hint=f"map it to a capability of type {kinds[0]} or one derived from it",
            )
            return None
        return node.name, offered.name

    def _offers(self, node: NodeTemplate, name: str, kind: str) -> bool:
        offered = node.capabilities.get(name)
        return offered is not None and kind in offered.kinds

    def requirements(self, item: written.SubstitutionMappings, shape: NodeShape) -> dict[str, Way]:
        found: dict[str, Way] = {}
        for name, mapping in (item.requirements or {}).items():
            definition = shape.requirements.get(name)
            if definition is None:
                what = f"requirement of {shape.kinds[0]}"
                self._diagnostics.unknown("unknown-requirement", what, name, mapping.span, shape.requirements)
            elif not self._is_either(mapping):
                continue
            elif mapping.mapping is None:
                self._check_values(mapping, (definition.capability,))
            else:
                names = names_of(mapping, (2,), "a node template and a requirement of it", self._diagnostics)
                way = self._requirement(names, definition) if names else None
                if way is not None:
                    found[name] = way
        for name, definition in shape.requirements.items():
            if name not in OF_ROOT and name not in (item.requirements or {}):
                only = self._only(n for n in self._inside.nodes.values() if self._is_free(n, name, definition))
                if only is not None:
                    found[name] = only, name
        return found

    def _requirement(self, names: list[Scalar], definition: RequirementShape) -> Way | None:
        node = self._inside.node(names[0], self._diagnostics)
        if node is None:
            return None
        name = names[1]
        inner = self._types.nodes[node.type].requirements.get(name.text)
        if inner is None:
            known = self._types.nodes[node.type].requirements
            what = f'requirement of "{node.name}"'
            self._diagnostics.unknown("unknown-requirement", what, name.text, name.span, known)
            return None
        bound = [r for r in node.requirements if r.requirement == name.text]
        most = inner.occurrences[1]
        if most is not None and len(bound) >= most:
            self._diagnostics.error(
                "bound-requirement",
                f'requirement "{name.text}" of "{node.name}" is bound inside of the topology already',
                name.span,
                hint="remove its assignment, or the mapping",
                related=[Related("bound here", r.span) for r in bound if r.span],
            )
            return None
        if not self._serves(inner, definition):
            self._diagnostics.error(
                "wrong-requirement",
                f'requirement "{name.text}" of "{node.name}" needs a {inner.capability}, which {definition.capability} '
                "is not derived from",
                name.span,
                hint="map it to a requirement for the same type of capability",
            )
            return None
        return node.name, name.text

    def _serves(self, inner: RequirementShape, outer: RequirementShape) -> bool:
        """Whether what fulfils a requirement of the node type fulfils one inside."""
        offered = self._types.capabilities.get(outer.capability)
        return offered is None or not inner.capability or inner.capability in offered.kinds

    def _is_free(self, node: NodeTemplate, name: str, outer: RequirementShape) -> bool:
        inner = self._types.nodes[node.type].requirements.get(name)
        return (
            inner is not None and self._serves(inner, outer) and all(r.requirement != name for r in node.requirements)
        )

    def _only(self, nodes: Iterable[NodeTemplate]) -> str | None:
        """The name of the one node that there is, None where there are none or several."""
        found = [n.name for n in nodes]
        return found[0] if len(found) == 1 else None

    def _is_either(self, mapping: written.CapabilityMapping) -> bool:
        if mapping.mapping is not None and (mapping.properties is not None or mapping.attributes is not None):
            what = "a capability or requirement mapping has either mapping or values"
            self._diagnostics.error(
                "bad-mapping", what, mapping.span, hint="remove mapping, or properties and attributes"
            )
            return False
        return True

    def _check_values(self, mapping: written.CapabilityMapping, kinds: tuple[str, ...]) -> None:
        """An endpoint without anything behind it connects nobody (R-3.8.10-2)."""
        known = self._types.capabilities.get(kinds[0]) if kinds else None
        if known is not None and ENDPOINT in known.kinds:
            self._diagnostics.warning(
                "endpoint-values",
                f'"{mapping.name}" is an endpoint, and nothing inside of the topology is behind it',
                mapping.span,
                hint="map it to a node template: [ node template, name ]",
            )
