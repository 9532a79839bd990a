"""Definitions of properties, attributes and parameters: their schemas, and how a derived type refines what it
inherits (§3.6.9, §3.6.10.6)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.model.constraints import read_constraint
from ordito.model.schema import Constraint, DataType, PropertyDefinition, Schema
from ordito.model.units import Unit, Units
from ordito.model.values import PRIMITIVES, UNREADABLE, Values
from ordito.source.nodes import Mapping, Node, Scalar, is_null
from ordito.syntax import entities
from ordito.syntax.entries import Entries
from ordito.syntax.expressions import Call, Value, is_static

DEFINING = (
    "type",
    "default",
    "value",
    "required",
    "description",
    "constraints",
    "entry_schema",
    "key_schema",
    "status",
)
STATUSES = ("supported", "unsupported", "experimental", "deprecated")


class Definitions:
    """Makes definitions from what is written. Defaults are read at once, save those of data types, whose defaults may
    be values of types that come later: these wait for ``settle_defaults``."""

    def __init__(self, units: Units, values: Values, diagnostics: Diagnostics) -> None:
        self._units = units
        self._values = values
        self._diagnostics = diagnostics
        self._unsettled: dict[int, list[tuple[str, Node]]] = {}

    def schema(
        self,
        written: entities.SchemaDefinition | entities.PropertyDefinition | entities.AttributeDefinition,
        unit: Unit,
    ) -> Schema:
        """The schema that a definition with a type gives; ``UNREADABLE`` where the type does not exist."""
        assert written.type is not None
        name = self._type_name(written.type, unit)
        entry = self.schema(written.entry_schema, unit) if written.entry_schema else None
        key = self.schema(written.key_schema, unit) if written.key_schema else None
        if name is None:
            return UNREADABLE
        base = self._values.data_types[name].base
        for which, part, fitting in (
            ("entry_schema", written.entry_schema, {"list", "map"}),
            ("key_schema", written.key_schema, {"map"}),
        ):
            if part is not None and base not in fitting:
                message = f"{which} has no meaning for the type {written.type.text}"
                self._diagnostics.error(
                    "bad-schema",
                    message,
                    part.span,
                    hint=f"only types derived from {' or '.join(sorted(fitting))} have one",
                )
        schema = Schema(name, entry, key)
        constraints = getattr(written, "constraints", None)
        return self.constrained(schema, constraints) if constraints else schema

    def constrained(self, schema: Schema, clauses: list[Node]) -> Schema:
        """A schema with more constraints."""
        if schema.type not in self._values.data_types:
            return schema
        base = self._values.base(schema)
        plain = msgspec.structs.replace(schema, constraints=())

        def convert(node: Node) -> Value:
            value = self._values.read(node, plain, "the operand")
            if is_static(value):
                return value
            self._diagnostics.error(
                "bad-constraint",
                "the operand of a constraint is a value, not a function",
                node.span,
                hint="write the value",
            )
            return None

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
            found[name] = self._definition(name, item, inherited.get(name), unit, what)
            self.remember_default(found, name, item)
        for name in written.lost if isinstance(written, Entries) else ():
            found.setdefault(name, _unreadable(name))
        if into is None:
            self.settle_defaults(found)
        return found

    def parameter(self, name: str, item: entities.PropertyDefinition, unit: Unit) -> PropertyDefinition:
        """The definition of an input (§3.6.14), whose type may be left out: then it is a string."""
        if item.type is not None or self.is_misspelt(item):
            return self._definition(name, item, None, unit, "input")
        self._diagnostics.warning(
            "untyped-input", f'input "{name}" has no type and is read as a string', item.span, hint="add type: string"
        )
        metadata = self._metadata(item.metadata)
        return PropertyDefinition(
            name,
            Schema("string"),
            item.required is not False,
            fixed=item.value is not None,
            description=item.description.text if item.description else "",
            status=self._status(item.status) or "supported",
            metadata=metadata,
            span=item.span,
        )

    def settle_defaults(self, owner: dict[str, PropertyDefinition]) -> None:
        """Read the defaults of the definitions that were merged into ``owner``."""
        for name, node in self._unsettled.pop(id(owner), ()):
            definition = owner[name]
            value = self._values.read(node, definition.schema, f'the default of "{name}"', definition.span)
            owner[name] = msgspec.structs.replace(definition, has_default=True, default=value)
        self._values.forget(owner)

    def remember_default(
        self,
        owner: dict[str, PropertyDefinition],
        name: str,
        item: entities.PropertyDefinition | entities.AttributeDefinition,
    ) -> None:
        """Note the default of a definition that is in ``owner``, to be read when all types are known."""
        value = getattr(item, "value", None)
        node = item.default if value is None else value
        if node is not None and not is_null(node):
            self._unsettled.setdefault(id(owner), []).append((name, node))

    def _type_name(self, written: Scalar, unit: Unit) -> str | None:
        if written.text in PRIMITIVES:
            return written.text
        found = self._units.require("data", written, unit, PRIMITIVES)
        return found.name if found is not None and found.name in self._values.data_types else None

    def is_misspelt(self, item: entities.PropertyDefinition | entities.AttributeDefinition) -> bool:
        """Whether what looks like a value is a definition of which every keyname is misspelt; that is reported."""
        value = getattr(item, "value", None)
        if value is not item.at or not isinstance(value, Mapping) or not value.keys:
            return False
        if not all(nearest(k.text, DEFINING) for k in value.keys):
            return False
        for key in value.keys:
            hint = self._diagnostics.suggestion(key.text, DEFINING)
            message = f'{item.WHAT} has no keyname "{key.text}"'
            self._diagnostics.error("unknown-keyname", message, key.span, hint=hint)
        return True

    def _definition(
        self,
        name: str,
        item: entities.PropertyDefinition | entities.AttributeDefinition,
        inherited: PropertyDefinition | None,
        unit: Unit,
        what: str,
    ) -> PropertyDefinition:
        known = inherited if inherited is not None and inherited.schema is not UNREADABLE else None
        if item.type is None and known is None:
            if inherited is None and not self.is_misspelt(item):
                self._diagnostics.error(
                    "missing-keyname", f'{what} "{name}" lacks "type"', item.span, hint="name the type of its values"
                )
            return _unreadable(name, item.span)
        schema = self.schema(item, unit) if item.type is not None else None
        if schema is UNREADABLE:
            return _unreadable(name, item.span)
        required: bool | None = getattr(item, "required", None)
        if required is None and isinstance(item.at, Mapping) and "required" in item.at.values:
            required = inherited.required if inherited is not None else False  # what is written there was refused
        metadata = self._metadata(item.metadata)
        description = item.description.text if item.description else ""
        status = self._status(item.status)
        fixed = getattr(item, "value", None) is not None
        if known is None:
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
        return self._refined(known, item, schema, required, fixed, what)

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
                "fixed-value",
                f'{what} "{name}" has a fixed value already',
                item.span,
                hint="remove it",
                related=related,
            )
        merged = inherited.schema
        if schema is not None:
            kinds = self._values.data_types[schema.type].kinds
            if inherited.schema.type not in kinds:
                self._diagnostics.error(
                    "bad-refinement",
                    f'{what} "{name}" is of type {inherited.schema.type} and cannot become {schema.type}',
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
                hint="leave required: out, or give a default",
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

    def _metadata(self, written: MappingType[str, Scalar] | None) -> dict[str, str]:
        """Metadata as texts; what it asks for and does not get is said."""
        sensitive = (written or {}).get("sensitive")
        if sensitive is not None and sensitive.text.lower() == "true":
            self._diagnostics.warning(
                "not-acted-on",
                '"sensitive" is read but not acted on: the value is kept and shown in clear',
                sensitive.span,
                hint="give no real secret to this version",
            )
        return {k: v.text for k, v in (written or {}).items()}

    def _status(self, written: Scalar | None) -> str:
        if written is not None and written.text not in STATUSES:
            self._diagnostics.unknown("bad-value", "status", written.text, written.span, STATUSES)
            return ""
        return written.text if written else ""


def _unreadable(name: str, span: Span | None = None) -> PropertyDefinition:
    """Stands for a definition that is written but could not be read: any value is taken without a word."""
    return PropertyDefinition(name, UNREADABLE, required=False, span=span)


def literal_default(definition: PropertyDefinition) -> Span | None:
    """The place of an attribute definition whose default is literal data (§3.6.12: it should be computed)."""
    return definition.span if definition.has_default and not isinstance(definition.default, Call) else None


def primitive_types() -> dict[str, DataType]:
    """The data types that the language itself has (§3.3)."""
    return {name: DataType(name, (name,), name) for name in PRIMITIVES}
