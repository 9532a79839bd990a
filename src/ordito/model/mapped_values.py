"""Mapped properties and attributes: which inputs of a topology the properties of a node give their values to, and which
of its outputs give the node's attributes theirs (§3.8.8, §3.8.9)."""

from __future__ import annotations

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.model.mapping_targets import Inside, names_of
from ordito.model.results import shown
from ordito.model.schema import Constraint, PropertyDefinition, Schema
from ordito.model.substitution import Substitution, Way
from ordito.model.types import NodeShape, Types
from ordito.source.nodes import Scalar
from ordito.syntax import mappings as written
from ordito.syntax.expressions import is_static
from ordito.syntax.shapes import is_lost


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
