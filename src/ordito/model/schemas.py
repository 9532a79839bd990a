"""Schemas from what is written: types of values, their entries, keys and constraints, and how a refinement narrows
them (§3.6.3, §3.6.9, §3.6.10.6)."""

from __future__ import annotations

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.scalar_units import UNITS
from ordito.base.span import Span
from ordito.model.constraints import FUNCTION_OPERAND, check_schema, has_language, read_constraint, widens
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import ANY, Constraint, Schema
from ordito.model.units import Unit, Units, find_type
from ordito.model.values import UNREADABLE, Values
from ordito.source.nodes import Node, Scalar
from ordito.syntax import entities
from ordito.syntax.expressions import Value, is_static

SINGLE = frozenset({"string", "integer", "float", "boolean", "timestamp", "version", *UNITS})
"""The primitive types whose values are single ones, as the keys of maps are."""
PARTS = (("entry_schema", frozenset({"list", "map"})), ("key_schema", frozenset({"map"})))

Written = entities.SchemaDefinition | entities.PropertyDefinition | entities.AttributeDefinition


class Schemas:
    """Makes schemas from what is written."""

    def __init__(self, units: Units, values: Values, diagnostics: Diagnostics) -> None:
        self._units = units
        self._values = values
        self._diagnostics = diagnostics

    def schema(self, written: Written, unit: Unit) -> Schema:
        """The schema that a definition with a type gives; ``UNREADABLE`` where the type does not exist."""
        assert written.type is not None
        name = self._type_name(written.type, unit)
        return self._made(name, written, unit)

    def named_type(self, node: Node, unit: Unit) -> str:
        """The type that a definition names where it is nothing but a name, "" if it names none."""
        if not isinstance(node, Scalar) or not node.plain:
            return ""
        is_type = node.text in PRIMITIVES or find_type("data", node, unit, self._units) is not None
        return node.text if is_type else ""

    def refined(self, inherited: Schema, written: Written, unit: Unit, name: str, where: Span | None) -> Schema:
        """A schema that narrows an inherited one, which is declared at ``where``; mistakes are reported for
        ``name``."""
        if written.type is not None:
            made = self.schema(written, unit)
        else:
            made = self._made(inherited.type, written, unit)
        place = written.type.span if written.type is not None else written.span
        return self.narrowed(inherited, made, name, place, where)

    def narrowed(self, inherited: Schema, made: Schema, name: str, place: Span, where: Span | None) -> Schema:
        """A schema with what it inherits; types of entries and keys may only become closer as well, and constraints
        accumulate. What does not fit is reported at ``place``, and ``UNREADABLE``."""
        if inherited is UNREADABLE or made is UNREADABLE:
            return made
        data_type = self._values.data_types.get(made.type)
        if data_type is None or inherited.type not in data_type.kinds:
            self._diagnostics.error(
                "bad-refinement",
                f"{name}: the type {inherited.type} cannot become {made.type}",
                place,
                hint=f"use {inherited.type} or a type derived from it",
                related=(Related("inherited from here", where),) if where else (),
            )
            return UNREADABLE
        self._check_ranges(made.constraints, inherited.constraints, data_type.base)
        entry, key = (
            self.narrowed(old, new, f"{part} of {name}", place, where)
            if old is not None and new is not None
            else new or old
            for part, old, new in (("the entries", inherited.entry, made.entry), ("the keys", inherited.key, made.key))
        )
        return Schema(made.type, entry, key, (*inherited.constraints, *made.constraints))

    def constrained(
        self, schema: Schema, clauses: list[Node], inherited: tuple[Constraint, ...] = (), *, narrow: bool = True
    ) -> Schema:
        """A schema with more constraints, which may only narrow those of its type and ``inherited`` ones where
        ``narrow``: filters may ask for anything."""
        data_type = self._values.data_types.get(schema.type)
        if data_type is None:
            return schema
        # Operands are values of the bare type: a bound of a range may well lie outside of what the type allows.
        plain = Schema(data_type.base or schema.type, schema.entry or data_type.entry, schema.key or data_type.key)

        def convert(node: Node) -> Value:
            value = self._values.read(node, plain, "the operand")
            if is_static(value):
                return value
            self._diagnostics.error(
                "bad-constraint",
                FUNCTION_OPERAND,
                node.span,
                hint="write the value itself",
            )
            return None

        read = (read_constraint(c, data_type.base, convert, self._diagnostics) for c in clauses)
        added: tuple[Constraint, ...] = tuple(c for c in read if c is not None)
        for constraint in added:
            if constraint.operator == "schema" and constraint.span is not None:
                check_schema(str(constraint.operand), data_type, constraint.span, self._diagnostics)
        if narrow:
            self._check_ranges(added, (*inherited, *data_type.constraints), data_type.base)
        return msgspec.structs.replace(schema, constraints=(*schema.constraints, *added))

    def _made(self, name: str | None, written: Written, unit: Unit) -> Schema:
        entry = self.schema(written.entry_schema, unit) if written.entry_schema else None
        key = self.schema(written.key_schema, unit) if written.key_schema else None
        if name is None:
            return UNREADABLE
        self._check_parts(name, written, key)
        schema = Schema(name, entry, key)
        constraints = getattr(written, "constraints", None)
        if constraints:
            schema = self.constrained(schema, constraints)
        if isinstance(written, entities.PropertyDefinition):
            external = written.external_schema or written.external_schema_old
            schema = self._with_external(schema, external) if external is not None else schema
        return schema

    def _with_external(self, schema: Schema, external: Scalar) -> Schema:
        """A schema whose values are texts that must follow an external schema as well (R-3.6.10-7)."""
        data_type = self._values.data_types[schema.type]
        if not has_language(data_type):
            self._diagnostics.error(
                "bad-schema",
                f"external-schema has no meaning for the type {schema.type}",
                external.span,
                hint="only values of the types json and xml, and of those derived from them, have external schemas",
            )
            return schema
        check_schema(external.text, data_type, external.span, self._diagnostics)
        constraint = Constraint("schema", external.text, external.span)
        return msgspec.structs.replace(schema, constraints=(*schema.constraints, constraint))

    def _check_parts(self, name: str, written: Written, key: Schema | None) -> None:
        base = self._values.data_types[name].base
        for which, fitting in PARTS:
            part: entities.SchemaDefinition | None = getattr(written, which)
            if part is not None and base not in fitting:
                self._diagnostics.error(
                    "bad-schema",
                    f"{which} has no meaning for the type {written.type.text if written.type else name}",
                    part.span,
                    hint=f"only types derived from {' or '.join(sorted(fitting))} have one",
                )
        if key is not None:
            self.check_key(key, written.key_schema)

    def check_key(self, key: Schema, written: entities.SchemaDefinition | None) -> None:
        """Report a type of keys whose values cannot be keys."""
        data_type = self._values.data_types.get(key.type)
        if data_type is not None and written is not None and data_type.base not in SINGLE:
            self._diagnostics.error(
                "bad-schema",
                f"the keys of a map cannot be of type {key.type}",
                written.type.span,
                hint="keys are single values, such as those of the types string and integer",
            )

    def _check_ranges(self, added: tuple[Constraint, ...], inherited: tuple[Constraint, ...], base: str) -> None:
        """Report an ``in_range`` that goes beyond an inherited one (R-3.6.3-4)."""
        for constraint in added:
            wide = next((i for i in inherited if widens(constraint, i, base)), None)
            if wide is not None:
                self._diagnostics.error(
                    "bad-refinement",
                    f"in_range goes beyond the inherited {shown_range(wide)}",
                    constraint.span,
                    hint="a range may only become narrower",
                    related=(Related("the inherited range", wide.span),) if wide.span else (),
                )

    def _type_name(self, written: Scalar, unit: Unit) -> str | None:
        if written.text in PRIMITIVES:
            return written.text
        if written.text == ANY and unit.dialect.is_open:
            return ANY
        found = self._units.require("data", written, unit, PRIMITIVES)
        return found.name if found is not None and found.name in self._values.data_types else None


def shown_range(constraint: Constraint) -> str:
    """The bounds of an ``in_range`` as they are written."""
    assert isinstance(constraint.operand, list)
    low, high = constraint.operand
    return f"[{low}, {'UNBOUNDED' if high is None else high}]"
