"""Substitution mappings, which say how a topology implements a node type, checked against both (§3.8.8 to §3.8.13):
first properties and attributes, then capabilities and requirements."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.filters import Filters
from ordito.model.schema import Constraint, PropertyDefinition, Schema, shown
from ordito.model.service import STANDARD, NodeTemplate, Output, Substitution, Way
from ordito.model.templates import Templates
from ordito.model.types import NodeShape, RequirementShape, Types
from ordito.model.unit import Unit
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.syntax import mappings as written
from ordito.syntax.expressions import is_static
from ordito.syntax.shapes import Entries, has_lost, is_lost

ROOT = "tosca.nodes.Root"


class MappingsReader:
    """Reads the substitution mappings of a topology. ``alone`` says that the topology is checked by itself."""

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
        """The mappings; None where there are none, or the node type could not be read."""
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


# What substitution mappings can lead to: the nodes of a topology, its inputs and outputs, and its workflows.


class Inside(msgspec.Struct, frozen=True):
    """What mappings can lead to: the nodes of a topology, its inputs and outputs, and the names of its workflows."""

    templates: Templates
    inputs: MappingType[str, PropertyDefinition]
    outputs: MappingType[str, Output]
    workflows: frozenset[str]
    written_outputs: object = None
    """The outputs as written: mappings to those that could not be read are accepted without a message."""

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


# Mapped properties and attributes: which inputs of a topology the properties of a node give their values to, and
# which of its outputs give the node's attributes theirs (§3.8.8, §3.8.9).


class MappedValues:
    """Reads the mappings of properties and attributes."""

    def __init__(self, types: Types, inside: Inside, diagnostics: Diagnostics) -> None:
        self._types = types
        self._inside = inside
        self._diagnostics = diagnostics

    def properties(self, item: written.SubstitutionMappings, shape: NodeShape, found: Substitution) -> Substitution:
        inputs: dict[str, str] = {}
        constants: dict[str, tuple[Constraint, str]] = {}
        overridden: dict[str, Way] = {}
        for name, mapping in (item.properties or {}).items():
            definition = shape.properties.get(name)
            if definition is None:
                what = f"property of {shape.kinds[0]}"
                self._diagnostics.unknown("unknown-property", what, name, mapping.span, shape.properties)
            elif mapping.value is not None:
                constant = self._constant(mapping, definition)
                if constant is not None:
                    constants[name] = constant
            else:
                names = names_of(mapping, (1, 2), "an input", self._diagnostics) or []
                if len(names) == 1:
                    self._check_input(names[0], definition)
                    inputs[name] = names[0].text
                elif names and self._is_property(names, definition):
                    overridden[name] = names[0].text, names[1].text
        for name in shape.properties:
            lost = is_lost(item.properties, name)
            free = name not in inputs and name not in constants and name not in overridden
            if free and (name in self._inside.inputs or lost):
                inputs[name] = name
        return msgspec.structs.replace(found, inputs=inputs, constants=constants, overridden=overridden)

    def _constant(
        self, mapping: written.PropertyMapping, definition: PropertyDefinition
    ) -> tuple[Constraint, str] | None:
        """What a property must equal (R-3.8.8-2)."""
        place = mapping.value
        assert place is not None
        if mapping.mapping is not None:
            self._diagnostics.error(
                "bad-mapping", "a property mapping has either mapping or value", mapping.span, hint="remove one"
            )
            return None
        self._diagnostics.warning(
            "deprecated",
            f'"{definition.name}" is mapped to a value',
            place.span,
            hint=f"write below substitution_filter: properties: - {definition.name}: {{ equal: ... }}",
        )
        before = self._diagnostics.errors
        value = self._types.values.read(place, definition.schema, f'property "{definition.name}"', definition.span)
        if self._diagnostics.errors > before or not is_static(value):
            return None
        return Constraint("equal", value, place.span), self._types.values.base(definition.schema)

    def _check_input(self, name: Scalar, definition: PropertyDefinition) -> None:
        given = self._inside.inputs.get(name.text)
        if given is None:
            is_list = self._types.values.base(definition.schema) == "list"
            note = "a list as a value is written below value:" if is_list else ""
            hint = self._diagnostics.suggestion(name.text, self._inside.inputs, note=note)
            self._diagnostics.error("unknown-input", f'no input is named "{name.text}"', name.span, hint=hint)
        elif not self._accepts(given.schema, definition.schema):
            related = (Related("the input is declared here", given.span),) if given.span else ()
            self._diagnostics.error(
                "mapped-type",
                f'property "{definition.name}" is {shown(definition.schema)}, and input "{name.text}" takes '
                f"{shown(given.schema)}",
                name.span,
                hint="give the input the type of the property",
                related=related,
            )

    def _accepts(self, wanted: Schema, given: Schema) -> bool:
        """Whether a value of one schema can be one of another."""
        data = self._types.data
        if wanted.type not in data or given.type not in data:
            return True  # it could not be read
        if wanted.type != given.type and wanted.type not in data[given.type].kinds:
            return False
        pairs = [(wanted.entry, given.entry), (wanted.key, given.key)]
        return all(self._accepts(w, g) for w, g in pairs if w is not None and g is not None)

    def _is_property(self, names: list[Scalar], definition: PropertyDefinition) -> bool:
        """Whether a mapping leads to a property of a node template inside, the deprecated form (R-3.8.8-4)."""
        node = self._inside.node(names[0], self._diagnostics)
        if node is None:
            return False
        name = names[1]
        if name.text not in node.definitions:
            what = f'property of "{node.name}"'
            self._diagnostics.unknown("unknown-property", what, name.text, name.span, node.definitions)
            return False
        self._diagnostics.warning(
            "deprecated",
            f'"{definition.name}" is mapped to a property of "{node.name}"',
            names[0].span,
            hint="map it to an input, and give that to the property with get_input",
        )
        return True

    def attributes(self, item: written.SubstitutionMappings, shape: NodeShape) -> dict[str, str]:
        found: dict[str, str] = {}
        known = {**shape.properties, **shape.attributes}
        for name, mapping in (item.attributes or {}).items():
            if name not in known:
                what = f"attribute of {shape.kinds[0]}"
                self._diagnostics.unknown("unknown-attribute", what, name, mapping.span, known)
                continue
            for output in names_of(mapping, (1,), "an output", self._diagnostics) or ():
                if output.text in self._inside.outputs:
                    found[name] = output.text
                elif not is_lost(self._inside.written_outputs, output.text):
                    outputs = self._inside.outputs
                    self._diagnostics.unknown("unknown-output", "output", output.text, output.span, outputs)
        for name in shape.attributes:
            if name in self._inside.outputs:
                found.setdefault(name, name)
        return found


# Mapped capabilities and requirements: the nodes inside of a topology that stand behind those of the node that it
# stands for (§3.8.10, §3.8.11).

ENDPOINT = "tosca.capabilities.Endpoint"
OF_ROOT = frozenset({"feature", "dependency"})
"""The capability and requirement that every node has: they need no mapping."""


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
