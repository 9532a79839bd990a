"""Definitions of properties, attributes and parameters: their schemas, and how a derived type refines what it
inherits (§3.6.9, §3.6.10.6)."""

from __future__ import annotations

from collections.abc import Mapping as MappingType

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.base.span import Span
from ordito.base.suggest import nearest
from ordito.base.versions import NO_VERSION
from ordito.model.primitive_values import PRIMITIVES
from ordito.model.schema import ANY, DataType, PropertyDefinition, Schema
from ordito.model.schemas import Schemas
from ordito.model.settings import metadata_of_property
from ordito.model.units import Unit, Units
from ordito.model.values import UNREADABLE, Values
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.scalars import core_value
from ordito.syntax import entities
from ordito.syntax.expressions import calls
from ordito.syntax.functions import call_in
from ordito.syntax.shapes import Entries

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


Defined = entities.PropertyDefinition | entities.AttributeDefinition
Written = entities.SchemaDefinition | Defined


class Definitions:
    """Makes definitions from what is written. Defaults are read at once, save those of data types, whose defaults may
    be values of types that come later: these wait for ``settle_defaults``."""

    def __init__(self, units: Units, values: Values, diagnostics: Diagnostics) -> None:
        self._values = values
        self._diagnostics = diagnostics
        self._schemas = Schemas(units, values, diagnostics)
        self._unsettled: dict[int, list[tuple[str, Node | None]]] = {}

    @property
    def schemas(self) -> Schemas:
        """What makes schemas."""
        return self._schemas

    def schema(self, written: Written, unit: Unit) -> Schema:
        """The schema that a definition with a type gives; ``UNREADABLE`` where the type does not exist."""
        return self._schemas.schema(written, unit)

    def constrained(self, schema: Schema, clauses: list[Node]) -> Schema:
        """A schema with the constraints of a filter or an assertion, which may ask for anything."""
        return self._schemas.constrained(schema, clauses, narrow=False)

    def merge(
        self,
        inherited: MappingType[str, PropertyDefinition],
        written: MappingType[str, entities.PropertyDefinition] | MappingType[str, entities.AttributeDefinition] | None,
        unit: Unit,
        *,
        what: str = "property",
        into: dict[str, PropertyDefinition] | None = None,
    ) -> dict[str, PropertyDefinition]:
        """The definitions of a type: inherited ones, refined and extended by its own; added to the dictionary ``into``
        where one is given."""
        found = dict(inherited) if into is None else into
        for name, item in (written or {}).items():
            alone = isinstance(item, entities.PropertyDefinition) and item.replaces
            alone = alone or (unit.dialect.is_free and item.type is not None)
            known = None if alone else inherited.get(name)
            found[name] = self._definition(name, item, known, unit, what)
            if known is not None and known.fixed:
                self._refuse_value(known, item, what)
            else:
                self.remember_default(found, name, item)
            self._remember_inherited(found, name, known)
        for name in written.lost if isinstance(written, Entries) else ():
            found.setdefault(name, unreadable(name))
        if into is None:
            self.settle_defaults(found)
        return found

    def parameter(self, name: str, item: entities.PropertyDefinition, unit: Unit) -> PropertyDefinition:
        """The definition of an input (§3.6.14). Its type may be left out: then it is that of its value, or a string."""
        if item.type is not None or self.is_misspelt(item):
            return self._definition(name, item, None, unit, "input")
        schema = STRING
        if item.value is not None:
            inferred = inferred_schema(item.value)
            if inferred is None:
                self._diagnostics.error(
                    "missing-keyname",
                    f'input "{name}" lacks "type"',
                    item.span,
                    hint="name the type of its value, which does not tell it",
                )
                return unreadable(name, item.span)
            schema = inferred
        else:
            self._diagnostics.warning(
                "untyped-input",
                f'input "{name}" has no type and is read as a string',
                item.span,
                hint="add type: string",
            )
        if item.value is not item.at:
            schema = self._schemas.refined(schema, item, unit, f'input "{name}"', None)
        return self._new(name, item, schema, "input", required=item.required is not False)

    def settle_defaults(self, owner: dict[str, PropertyDefinition]) -> None:
        """Read the defaults of the definitions that were merged into ``owner``, and check inherited ones again where
        their definitions have been refined."""
        for name, node in self._unsettled.pop(id(owner), ()):
            definition = owner[name]
            if node is not None:
                before = self._diagnostics.errors
                value = self._values.read_as(definition, node, f'the default of "{name}"')
                if self._diagnostics.errors > before:
                    value = None  # what is wrong with it is not said again where it is inherited
                owner[name] = msgspec.structs.replace(definition, has_default=True, default=value)
            elif definition.has_default and definition.default is not None and definition.span is not None:
                what = f'the inherited value of "{name}"'
                self._values.check_as(definition, definition.default, _Place(definition.span), what)
        self._values.forget(owner)

    def unsettled(self, owner: dict[str, PropertyDefinition]) -> dict[str, bool]:
        """The names in ``owner`` whose defaults wait to be read, and whether they are maps."""
        waiting = self._unsettled.get(id(owner), ())
        return {n: isinstance(d, Mapping) and not call_in(d) for n, d in waiting if d is not None}

    def forget_defaults(self, owner: dict[str, PropertyDefinition]) -> None:
        """Do not read the defaults that wait in ``owner``."""
        self._unsettled.pop(id(owner), None)

    def forget(self, owner: dict[str, PropertyDefinition]) -> None:
        """Look at definitions again: their defaults have changed."""
        self._values.forget(owner)

    def _refuse_value(self, inherited: PropertyDefinition, item: Defined, what: str) -> None:
        """Report a value or default for what has a fixed value, which is final."""
        if item.default is not None or getattr(item, "value", None) is not None:
            self._diagnostics.error(
                "fixed-value",
                f'{what} "{inherited.name}" has a fixed value already',
                item.span,
                hint="remove it",
                related=(Related("inherited from here", inherited.span),) if inherited.span else (),
            )

    def _remember_inherited(
        self, owner: dict[str, PropertyDefinition], name: str, inherited: PropertyDefinition | None
    ) -> None:
        """Note an inherited default that must fit a refined schema, unless there is another one."""
        if inherited is None or inherited.schema == owner[name].schema:
            return
        noted = self._unsettled.setdefault(id(owner), [])
        if all(n != name for n, _ in noted[-1:]):
            noted.append((name, None))

    def remember_default(
        self,
        owner: dict[str, PropertyDefinition],
        name: str,
        item: Defined,
    ) -> None:
        """Note the default of a definition that is in ``owner``, to be read when all types are known."""
        value = getattr(item, "value", None)
        node = item.default if value is None else value
        if value is not None and item.default is not None:
            self._diagnostics.warning(
                "unused-default",
                f'the default of "{name}" is never used, since it has a value',
                item.default.span,
                hint="remove default",
            )
        if node is not None and not is_null(node) and not self._is_no_version(node, owner[name]):
            self._unsettled.setdefault(id(owner), []).append((name, node))

    def is_misspelt(self, item: Defined) -> bool:
        """Whether an apparent value is a definition whose keynames are all misspelt; that is reported."""
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
        item: Defined,
        inherited: PropertyDefinition | None,
        unit: Unit,
        what: str,
    ) -> PropertyDefinition:
        known = inherited if inherited is not None and inherited.schema is not UNREADABLE else None
        if item.type is None and known is None:
            if inherited is None and not self.is_misspelt(item):
                kind = self._schemas.named_type(item.at, unit)
                hint = f"write {name}: {{ type: {kind} }}" if kind else "name the type of its values"
                self._diagnostics.error("missing-keyname", f'{what} "{name}" lacks "type"', item.span, hint=hint)
            return unreadable(name, item.span)
        required: bool | None = getattr(item, "required", None)
        if required is None and isinstance(item.at, Mapping) and "required" in item.at.values:
            required = inherited.required if inherited is not None else False  # what is written there was refused
        if known is None:
            schema = self.schema(item, unit)
            if schema is UNREADABLE:
                return unreadable(name, item.span)
            return self._new(name, item, schema, what, required=what != "attribute" and required is not False)
        return self._refined(known, item, required, unit, what)

    def _new(self, name: str, item: Defined, schema: Schema, what: str, *, required: bool) -> PropertyDefinition:
        return PropertyDefinition(
            name,
            schema,
            required=required,
            fixed=getattr(item, "value", None) is not None,
            description=item.description.text if item.description else "",
            status=self._status(item.status) or "supported",
            metadata=metadata_of_property(item.metadata, what, self._diagnostics),
            span=item.span,
        )

    def _refined(
        self,
        inherited: PropertyDefinition,
        item: Defined,
        required: bool | None,
        unit: Unit,
        what: str,
    ) -> PropertyDefinition:
        name = inherited.name
        schema = inherited.schema
        if isinstance(item, entities.AttributeDefinition) or item.value is not item.at:
            schema = self._schemas.refined(schema, item, unit, f'{what} "{name}"', inherited.span)
        if schema is UNREADABLE:
            return unreadable(name, item.span)
        if required is False and inherited.required:
            self._diagnostics.error(
                "bad-refinement",
                f'{what} "{name}" is required and cannot become optional',
                item.span,
                hint="leave required: out, or give a default",
                related=(Related("inherited from here", inherited.span),) if inherited.span else (),
            )
        return msgspec.structs.replace(
            inherited,
            schema=schema,
            required=inherited.required or required is True,
            fixed=inherited.fixed or getattr(item, "value", None) is not None,
            description=item.description.text if item.description else inherited.description,
            metadata={**inherited.metadata, **metadata_of_property(item.metadata, what, self._diagnostics)},
            status=self._status(item.status) or inherited.status,
            span=item.span,
        )

    def _is_no_version(self, node: Node, definition: PropertyDefinition) -> bool:
        """Whether a value is version zero, which means that there is none (§3.3.2.4)."""
        return (
            isinstance(node, Scalar) and node.text in NO_VERSION and self._values.base(definition.schema) == "version"
        )

    def _status(self, written: Scalar | None) -> str:
        if written is not None and written.text not in STATUSES:
            self._diagnostics.unknown("bad-value", "status", written.text, written.span, STATUSES)
            return ""
        return written.text if written else ""


class _Place(msgspec.Struct, frozen=True):
    """Where something stands that has no node of its own."""

    span: Span


def unreadable(name: str, span: Span | None = None) -> PropertyDefinition:
    """A definition in the place of one that could not be read: it accepts any value without a message."""
    return PropertyDefinition(name, UNREADABLE, required=False, span=span)


def literal_default(definition: PropertyDefinition) -> Span | None:
    """The place of an attribute definition whose default is a constant: it should be computed from other attributes or
    from outputs of operations (§3.6.12)."""
    if not definition.has_default or definition.default is None:
        return None
    computed = any(call.function in ACTUAL for call in calls(definition.default))
    return None if computed else definition.span


ACTUAL = frozenset({"get_attribute", "get_operation_output"})
"""The functions whose results come from the running system, not from the document."""


def inferred_schema(node: Node) -> Schema | None:
    """The schema that a value without a declared type shows by itself; None where it shows none."""
    if isinstance(node, Scalar):
        kind = INFERRED.get(type(core_value(node)))
        return Schema(kind) if kind is not None else None
    entries = node.items if isinstance(node, Sequence) else [*node.values.values()]
    schemas = [inferred_schema(e) for e in entries]
    if any(s != schemas[0] or s is None for s in schemas):
        return None
    return Schema("list" if isinstance(node, Sequence) else "map", schemas[0] if schemas else STRING)


STRING = Schema("string")
INFERRED: dict[type, str] = {str: "string", int: "integer", float: "float", bool: "boolean"}


def primitive_types() -> dict[str, DataType]:
    """The data types that the language itself has (§3.3)."""
    return {name: DataType(name, (name,), name) for name in (*PRIMITIVES, ANY)}
