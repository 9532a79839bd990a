"""Substitution mappings: what a topology says of the node type that it implements, checked against both (§3.8.8 to
§3.8.13)."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.filters import Filters
from ordito.model.mapped_ends import OF_ROOT, MappedEnds
from ordito.model.mapped_values import MappedValues
from ordito.model.mapping_targets import Inside, place_of
from ordito.model.schema import PropertyDefinition
from ordito.model.service import STANDARD
from ordito.model.substitution import Substitution, Way
from ordito.model.types import NodeShape, Types
from ordito.model.unit import Unit
from ordito.source.nodes import Mapping, Node, Scalar
from ordito.syntax import mappings as written
from ordito.syntax.shapes import Entries, has_lost

ROOT = "tosca.nodes.Root"


class Mappings:
    """Reads the substitution mappings of a topology. ``alone`` says that the topology is looked at by itself."""

    def __init__(
        self, types: Types, filters: Filters, inside: Inside, unit: Unit, diagnostics: Diagnostics, *, alone: bool
    ) -> None:
        self._types = types
        self._filters = filters
        self._inside = inside
        self._values = MappedValues(types, inside, diagnostics)
        self._ends = MappedEnds(types, inside, diagnostics)
        self._unit = unit
        self._diagnostics = diagnostics
        self._alone = alone

    def read(self, item: written.SubstitutionMappings | None) -> Substitution | None:
        """Read them; None where there are none, or the node type could not be read."""
        if item is None:
            return None
        definition = self._types.find("node", item.node_type, self._unit)
        shape = self._types.nodes.get(definition.name) if definition is not None else None
        if shape is None:
            return None
        if self._alone:
            self._check_abstract(item.node_type, shape)
        name = shape.kinds[0]
        before = self._diagnostics.errors
        found = Substitution(name, span=item.span)
        if item.substitution_filter is not None:
            wanted = self._filters.read(item.substitution_filter, self._unit, name)
            found = msgspec.structs.replace(found, filter=wanted)
        found = self._values.properties(item, shape, found)
        capabilities, values = self._ends.capabilities(item, shape)
        found = msgspec.structs.replace(
            found,
            outputs=self._values.attributes(item, shape),
            capabilities=capabilities,
            capability_values=values,
            requirements=self._ends.requirements(item, shape),
            operations=self._operations(item, shape),
        )
        sections = (item.properties, item.attributes, item.capabilities, item.requirements)
        is_whole = self._diagnostics.errors == before and not any(has_lost(s) for s in sections)
        return self._unmapped(item, shape, found, report=is_whole)

    def _check_abstract(self, place: Scalar, shape: NodeShape) -> None:
        """A node type that is implemented itself needs no topology (R-3.8.13-4)."""
        for name, parts in shape.interfaces.items():
            implemented = [o for o, p in parts.operations.items() if p.implementation is not None]
            if STANDARD in parts.kinds and implemented:
                self._diagnostics.warning(
                    "concrete-node-type",
                    f"{shape.kinds[0]} implements {name}.{implemented[0]} itself",
                    place.span,
                    hint="name a node type without implementations, which this topology then implements",
                )
                return

    # -------------------------------------------------------------------------------------------------- interfaces

    def _operations(
        self, item: written.SubstitutionMappings, shape: NodeShape
    ) -> dict[str, str | tuple[str, str, str]]:
        found: dict[str, str | tuple[str, str, str]] = {}
        for name, mapping in (item.interfaces or {}).items():
            parts = shape.interfaces.get(name)
            for key in mapping.keys:
                if key.text not in mapping.operations:
                    continue
                if parts is not None and key.text not in parts.operations and parts.kinds:
                    what = f'operation of interface "{name}"'
                    self._diagnostics.unknown("unknown-operation", what, key.text, key.span, parts.operations)
                    continue
                assert isinstance(mapping.at, Mapping)
                target = self._operation(mapping.operations[key.text], mapping.at.values[key.text])
                if target is not None:
                    found[f"{name}.{key.text}"] = target
        return found

    def _operation(self, target: Scalar | list[Scalar], place: Node) -> str | tuple[str, str, str] | None:
        """What an operation is mapped to: a workflow, or an operation inside."""
        if has_lost(target):
            return None
        if isinstance(target, Scalar):
            if target.text in self._inside.workflows:
                return target.text
            known = self._inside.workflows
            self._diagnostics.unknown("unknown-workflow", "workflow", target.text, target.span, known)
            return None
        if len(target) != 3:
            what = "an operation is mapped to a workflow, or to a node template, an interface and an operation"
            self._diagnostics.error(
                "bad-mapping", what, place_of(place), hint="write [ node template, interface, operation ]"
            )
            return None
        node = self._inside.node(target[0], self._diagnostics)
        if node is None:
            return None
        interface = node.interfaces.get(target[1].text)
        if interface is None:
            what = f'interface of "{node.name}"'
            self._diagnostics.unknown("unknown-interface", what, target[1].text, target[1].span, node.interfaces)
            return None
        if target[2].text not in interface.operations:
            what = f'operation of interface "{interface.name}"'
            written_name = target[2]
            known_operations = interface.operations
            self._diagnostics.unknown("unknown-operation", what, written_name.text, written_name.span, known_operations)
            return None
        return node.name, interface.name, target[2].text

    # ---------------------------------------------------------------------------------------------- what is missing

    def _unmapped(
        self, item: written.SubstitutionMappings, shape: NodeShape, found: Substitution, *, report: bool
    ) -> Substitution:
        """Note what nothing stands behind, and ``report`` it where all mappings could be read (R-3.8.13-2). What only
        counts when a node is substituted is a warning where the topology is looked at by itself."""
        if report:
            self._report_needed(item, shape, found)
        root = self._types.nodes.get(ROOT)
        of_root = {*OF_ROOT, *(root.attributes if root is not None else ())}
        written_names = {*(item.capabilities or {}), *(item.requirements or {}), *(item.attributes or {}), *of_root}
        capabilities = [n for n in shape.capabilities if n not in {*found.capabilities, *written_names}]
        requirements = [n for n in shape.requirements if n not in {*found.requirements, *written_names}]
        attributes = [n for n in shape.attributes if n not in {*found.outputs, *written_names}]
        fed = {*found.inputs.values(), *shape.properties}
        unfed = [d for n, d in self._inside.inputs.items() if d.required and not d.has_default and n not in fed]
        if report and self._alone:
            kinds = {"capability": capabilities, "requirement": requirements, "attribute": attributes}
            self._warn_of_nothing_behind(item.node_type, shape, kinds, unfed)
        values = {*found.capability_values, *(n for n, m in (item.requirements or {}).items() if m.mapping is None)}
        known = {*found.capabilities, *found.requirements, *found.outputs, *values}
        sections = (item.capabilities, item.requirements, item.attributes)
        return msgspec.structs.replace(
            found,
            unfed=tuple(d.name for d in unfed),
            unmapped=(*capabilities, *requirements),
            lost=frozenset(n for s in sections for n in written_in(s) if n not in known),
        )

    def _report_needed(self, item: written.SubstitutionMappings, shape: NodeShape, found: Substitution) -> None:
        filtered = item.substitution_filter.properties if item.substitution_filter is not None else None
        mapped = {*found.inputs, *found.constants, *found.overridden, *(item.properties or {})}
        mapped.update(f.name for f in filtered or ())  # what a filter asks for needs no input that takes it
        for name, definition in shape.properties.items():
            if definition.required and not definition.has_default and name not in mapped:
                self._diagnostics.error(
                    "unmapped-property",
                    f'no input takes the required property "{name}" of {shape.kinds[0]}',
                    item.node_type.span,
                    hint=f"add an input of that name, or below properties: {name}: [ input ]",
                )

    def _warn_of_nothing_behind(
        self,
        place: Scalar,
        shape: NodeShape,
        kinds: MappingType[str, list[str]],
        unfed: Iterable[PropertyDefinition],
    ) -> None:
        for what, names in kinds.items():
            if names:
                self._diagnostics.warning(
                    "unmapped",
                    f"nothing stands behind {what} {', '.join(names)} of {shape.kinds[0]}",
                    place.span,
                    hint="add a mapping, so that a node which this topology substitutes can have it used",
                )
        for definition in unfed:
            self._diagnostics.warning(
                "unfed-input",
                f'input "{definition.name}" has no default, and no property of {shape.kinds[0]} gives it a value',
                definition.span,
                hint="give it a default, or map a property to it",
            )


def written_in(entries: MappingType[str, object] | None) -> frozenset[str]:
    """The names that are written in a section, be they readable or not."""
    return frozenset(entries or ()) | (frozenset(entries.lost) if isinstance(entries, Entries) else frozenset())


def mapped_requirements(item: written.SubstitutionMappings | None) -> frozenset[Way]:
    """The requirements inside of a topology that are fulfilled from outside."""
    if item is None:
        return frozenset()
    lists = [m.mapping for m in (item.requirements or {}).values() if m.mapping is not None]
    return frozenset((names[0].text, names[1].text) for names in lists if len(names) == 2)
