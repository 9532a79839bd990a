"""Data types, flattened: fields, constraints and entry schemas with what they inherit (§3.7.6)."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.model.definitions import Definitions
from ordito.model.hierarchy import Hierarchy
from ordito.model.schema import DataType, PropertyDefinition, Schema
from ordito.model.units import Definition
from ordito.model.values import PRIMITIVES
from ordito.syntax import entities


class DataTypes:
    """Fills ``known`` with all data types, in which the primitive ones are already.

    Data types may contain each other in any order, so all are made known first, then their fields are read, and then
    the defaults of fields, those of a type before those that are values of it.
    """

    def __init__(self, known: dict[str, DataType], definitions: Definitions, diagnostics: Diagnostics) -> None:
        self._known = known
        self._definitions = definitions
        self._diagnostics = diagnostics
        self._fields: dict[str, dict[str, PropertyDefinition]] = {}
        self._parents: dict[str, str] = {}

    def flatten(self, hierarchy: Hierarchy) -> None:
        """Flatten the data types of a hierarchy."""
        order = [d for d in hierarchy.order if not self._is_primitive(d)]
        for definition in order:
            self._announce(definition, hierarchy)
        for definition in order:
            self._complete(definition)
        for name in self._contained_first():
            self._inherit_defaults(name)
            self._definitions.settle_defaults(self._fields[name])

    def _is_primitive(self, definition: Definition) -> bool:
        if definition.name not in PRIMITIVES:
            return False
        self._diagnostics.error(
            "reserved-name",
            f'"{definition.name}" is a type of the language itself and cannot be defined',
            definition.content.span,
            hint="choose another name",
        )
        return True

    def _announce(self, definition: Definition, hierarchy: Hierarchy) -> None:
        written = definition.content
        assert isinstance(written, entities.DataType)
        name = hierarchy.parent(definition) or (written.derived_from.text if written.derived_from else "")
        parent = self._known.get(name)
        self._check(written, definition, parent)
        self._parents[definition.name] = name
        self._fields[definition.name] = {}
        kinds = (definition.name, *(parent.kinds if parent is not None else ()))
        self._known[definition.name] = DataType(
            definition.name, kinds, parent.base if parent else "", self._fields[definition.name]
        )

    def _complete(self, definition: Definition) -> None:
        written = definition.content
        assert isinstance(written, entities.DataType)
        parent = self._known.get(self._parents[definition.name])
        made = self._known[definition.name]
        fields = self._fields[definition.name]
        inherited = parent.properties if parent else {}
        fields.update(inherited)
        self._definitions.merge(inherited, written.properties, definition.unit, into=fields, what="field")
        entry, key = (
            self._definitions.schema(s, definition.unit) if s is not None else None
            for s in (written.entry_schema, written.key_schema)
        )
        constraints = parent.constraints if parent else ()
        if written.constraints and made.base:
            own = self._definitions.constrained(Schema(made.base), written.constraints)
            constraints = (*constraints, *own.constraints)
        self._known[definition.name] = msgspec.structs.replace(
            made,
            constraints=constraints,
            entry=entry or (parent.entry if parent else None),
            key=key or (parent.key if parent else None),
        )

    def _check(self, written: entities.DataType, definition: Definition, parent: DataType | None) -> None:
        if written.derived_from is None and not written.properties and not definition.unit.is_bundled:
            self._diagnostics.error(
                "empty-data-type",
                f'data type "{written.name}" has neither derived_from nor properties',
                written.span,
                hint="derive it from another type or give it properties",
            )
        if written.constraints and (parent is None or not parent.base):
            self._diagnostics.error(
                "bad-constraint",
                f'data type "{written.name}" is not derived from a primitive type, so it cannot be constrained',
                written.span,
                hint="put the constraints on its properties",
            )
        for keyname, schema, bases in (
            ("entry_schema", written.entry_schema, {"list", "map"}),
            ("key_schema", written.key_schema, {"map"}),
        ):
            if schema is not None and (parent is None or parent.base not in bases):
                self._diagnostics.error(
                    "bad-schema",
                    f'{keyname} has no meaning for data type "{written.name}"',
                    schema.span,
                    hint=f"only types derived from {' or '.join(sorted(bases))} have one",
                )

    def _inherit_defaults(self, name: str) -> None:
        parent = self._fields.get(self._parents[name], {})
        fields = self._fields[name]
        for field, inherited in parent.items():
            if inherited.has_default and not fields[field].has_default:
                fields[field] = msgspec.structs.replace(fields[field], has_default=True, default=inherited.default)

    def _contained_first(self) -> list[str]:
        """The data types, each after those that it derives from and that its fields hold, as far as these do not
        contain each other."""
        order: list[str] = []
        entered: set[str] = set()
        for start in self._fields:
            path = [(start, self._needed(start))] if start not in entered else []
            entered.add(start)
            while path:
                name, needed = path[-1]
                following = next((n for n in needed if n not in entered), None)
                if following is None:
                    order.append(name)
                    path.pop()
                else:
                    entered.add(following)
                    path.append((following, self._needed(following)))
        return order

    def _needed(self, name: str) -> Iterator[str]:
        if self._parents[name] in self._fields:
            yield self._parents[name]
        for field in self._fields[name].values():
            schema: Schema | None = field.schema
            while schema is not None:
                if schema.type in self._fields:
                    yield schema.type
                schema = schema.entry or self._known[schema.type].entry if schema.type in self._known else None
