"""Definitions of properties, attributes and parameters: their schemas, and how a derived type refines what it
inherits (§3.6.9, §3.6.10.6)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.model.constraints import read_constraint
from ordito.model.service import Constraint, DataType, PropertyDefinition, Schema
from ordito.model.units import Unit, Units, find_type, visible_types
from ordito.model.values import PRIMITIVES, Values
from ordito.source.nodes import Node, Scalar
from ordito.syntax import entities
from ordito.syntax.expressions import Call, Value

STATUSES = ("supported", "unsupported", "experimental", "deprecated")


class Definitions:
    """Makes definitions from what is written. Defaults are read at once, save those of data types, whose defaults may
    be values of types that come later: they wait for ``settle_defaults``."""

    def __init__(self, units: Units, values: Values, diagnostics: Diagnostics) -> None:
        self._units = units
        self._values = values
        self._diagnostics = diagnostics
        self._unsettled: list[tuple[dict[str, PropertyDefinition], str, Node]] = []

    def schema(
        self,
        written: entities.SchemaDefinition | entities.PropertyDefinition | entities.AttributeDefinition,
        unit: Unit,
    ) -> Schema | None:
        """The schema that a definition with a type gives; None where the type does not exist."""
        assert written.type is not None
        name = self._type_name(written.type, unit)
        if name is None:
            return None
        entry = self.schema(written.entry_schema, unit) if written.entry_schema else None
        key = self.schema(written.key_schema, unit) if written.key_schema else None
        base = self._values.data_types[name].base
        if (written.entry_schema and base not in {"list", "map"}) or (written.key_schema and base != "map"):
            which = "entry_schema" if written.entry_schema and base not in {"list", "map"} else "key_schema"
            part = written.entry_schema if which == "entry_schema" else written.key_schema
            assert part is not None
            self._diagnostics.error("bad-schema", f"{which} has no meaning for the type {written.type.text}", part.span)
        schema = Schema(name, entry, key)
        constraints = getattr(written, "constraints", None)
        return self.constrained(schema, constraints) if constraints else schema

    def constrained(self, schema: Schema, clauses: list[Node]) -> Schema:
        """A schema with more constraints."""
        base = self._values.base(schema)
        plain = msgspec.structs.replace(schema, constraints=())

        def convert(node: Node) -> Value:
            return self._values.read(node, plain, "the operand")

        read = (read_constraint(c, base, convert, self._diagnostics) for c in clauses)
        added: tuple[Constraint, ...] = tuple(c for c in read if c is not None)
        return msgspec.structs.replace(schema, constraints=(*schema.constraints, *added))

    def merge(
        self,
        inherited: MappingType[str, PropertyDefinition],
        written: MappingType[str, entities.PropertyDefinition] | MappingType[str, entities.AttributeDefinition] | None,
        unit: Unit,
        *,
        what: str = "property",
        into: dict[str, PropertyDefinition] | None = None,
    ) -> dict[str, PropertyDefinition]:
        """What a type has: inherited definitions, refined and extended by those it writes; put ``into`` a given
        dictionary where others hold that already."""
        found = dict(inherited) if into is None else into
        for name, item in (written or {}).items():
            made = self._definition(name, item, inherited.get(name), unit, what)
            if made is not None:
                found[name] = made
                self.remember_default(found, name, item)
        if into is None:
            self.settle_defaults()
        return found

    def parameter(self, name: str, item: entities.PropertyDefinition, unit: Unit) -> PropertyDefinition | None:
        """A parameter definition (§3.6.14), whose type may be left out: then it is a string for inputs."""
        if item.type is None:
            return PropertyDefinition(name, Schema("string"), span=item.span, required=item.required is not False)
        return self._definition(name, item, None, unit, "input")

    def settle_defaults(self) -> None:
        """Read the defaults of all definitions made so far."""
        unsettled, self._unsettled = self._unsettled, []
        for owner, name, node in unsettled:
            definition = owner[name]
            value = self._values.read(node, definition.schema, f'the default of "{name}"', definition.span)
            owner[name] = msgspec.structs.replace(definition, has_default=True, default=value)

    def remember_default(
        self,
        owner: dict[str, PropertyDefinition],
        name: str,
        item: entities.PropertyDefinition | entities.AttributeDefinition,
    ) -> None:
        """Note the default of a definition that is in ``owner``, to be read when all types are known."""
        value = getattr(item, "value", None)
        node = item.default if value is None else value
        if node is not None:
            self._unsettled.append((owner, name, node))

    def _type_name(self, written: Scalar, unit: Unit) -> str | None:
        if written.text in PRIMITIVES:
            return written.text
        found = find_type("data", written, unit, self._units)
        if found is not None and found.name in self._values.data_types:
            return found.name
        if found is None:
            known = [*PRIMITIVES, *visible_types("data", unit, self._units)]
            self._diagnostics.unknown("unknown-type", "data type", written.text, written.span, known)
        return None

    def _definition(
        self,
        name: str,
        item: entities.PropertyDefinition | entities.AttributeDefinition,
        inherited: PropertyDefinition | None,
        unit: Unit,
        what: str,
    ) -> PropertyDefinition | None:
        if item.type is None and inherited is None:
            self._diagnostics.error(
                "missing-keyname", f'{what} "{name}" lacks "type"', item.span, hint="name the type of its values"
            )
            return None
        schema = self.schema(item, unit) if item.type is not None else None
        if item.type is not None and schema is None:
            return None
        required = getattr(item, "required", None)
        metadata = {k: v.text for k, v in (item.metadata or {}).items()}
        description = item.description.text if item.description else ""
        status = self._status(item.status)
        fixed = getattr(item, "value", None) is not None
        if inherited is None:
            assert schema is not None
            return PropertyDefinition(
                name,
                schema,
                required=what != "attribute" and required is not False,
                fixed=fixed,
                description=description,
                status=status or "supported",
                metadata=metadata,
                span=item.span,
            )
        return self._refined(inherited, item, schema, required, fixed, what)

    def _refined(
        self,
        inherited: PropertyDefinition,
        item: entities.PropertyDefinition | entities.AttributeDefinition,
        schema: Schema | None,
        required: bool | None,
        fixed: bool,
        what: str,
    ) -> PropertyDefinition:
        related = (Related("inherited from here", inherited.span),) if inherited.span else ()
        name = inherited.name
        if inherited.fixed and fixed:
            self._diagnostics.error(
                "fixed-value", f'{what} "{name}" has a fixed value already', item.span, related=related
            )
        merged = inherited.schema
        if schema is not None:
            kinds = self._values.data_types[schema.type].kinds
            if inherited.schema.type not in kinds:
                self._diagnostics.error(
                    "bad-refinement",
                    f'{what} "{name}" is a {inherited.schema.type} and cannot become a {schema.type}',
                    item.type.span if item.type else item.span,
                    hint=f"use {inherited.schema.type} or a type derived from it",
                    related=related,
                )
            else:
                merged = Schema(
                    schema.type,
                    schema.entry or merged.entry,
                    schema.key or merged.key,
                    (*merged.constraints, *schema.constraints),
                )
        elif getattr(item, "constraints", None):
            merged = self.constrained(merged, item.constraints)  # type: ignore[union-attr,arg-type]
        if required is False and inherited.required:
            self._diagnostics.error(
                "bad-refinement",
                f'{what} "{name}" is required and cannot become optional',
                item.span,
                related=related,
            )
        return msgspec.structs.replace(
            inherited,
            schema=merged,
            required=inherited.required or required is True,
            fixed=inherited.fixed or fixed,
            description=item.description.text if item.description else inherited.description,
            metadata={**inherited.metadata, **{k: v.text for k, v in (item.metadata or {}).items()}},
            status=self._status(item.status) or inherited.status,
            span=item.span,
        )

    def _status(self, written: Scalar | None) -> str:
        if written is not None and written.text not in STATUSES:
            self._diagnostics.unknown("bad-value", "status", written.text, written.span, STATUSES)
        return written.text if written else ""


def literal_default(definition: PropertyDefinition) -> Span | None:
    """The place of an attribute definition whose default is literal data (§3.6.12: it should be computed)."""
    return definition.span if definition.has_default and not isinstance(definition.default, Call) else None


def primitive_types() -> dict[str, DataType]:
    """The data types that the language itself has (§3.3)."""
    return {name: DataType(name, (name,), name) for name in PRIMITIVES}
