"""Schemas of values, and the definitions with them (§3.6.3, §3.6.9, §3.6.10, §3.7.6); also whether a value of one
schema may be a value of another."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.scalar_units import UNITS
from ordito.base.span import Span
from ordito.syntax.expressions import Needs, Value

ANY = "any"
"""The type of all values, which only files have that were written in another language."""


class Schema(msgspec.Struct, frozen=True):
    """The type of a value: a data type's full name, the schemas of entries and keys, and constraints (§3.6.9)."""

    type: str
    entry: Schema | None = None
    key: Schema | None = None
    constraints: tuple[Constraint, ...] = ()


class Constraint(msgspec.Struct, frozen=True):
    """One constraint clause (§3.6.3); the operand is already of the type it is compared with."""

    operator: str
    operand: Value
    span: Span | None = None
    message: str = ""
    """What is said of a value for which it does not hold, "" for what the operator says itself."""


class PropertyDefinition(msgspec.Struct, frozen=True):
    """The definition of a property, an attribute or a parameter (§3.6.10, §3.6.12, §3.6.14)."""

    name: str
    schema: Schema
    required: bool = True
    has_default: bool = False
    default: Value = None
    """Only meaningful where ``has_default``."""
    fixed: bool = False
    """Whether a refinement gives the final value."""
    description: str = ""
    status: str = "supported"
    metadata: Mapping[str, str] = {}
    span: Span | None = None


class DataType(msgspec.Struct, frozen=True):
    """A data type, flattened (§3.7.6). ``base`` is the primitive at its root, or "" for a complex type, whose fields
    are ``properties``. ``sensitive`` says that all of its values are."""

    name: str
    kinds: tuple[str, ...]
    base: str
    properties: Mapping[str, PropertyDefinition] = {}
    constraints: tuple[Constraint, ...] = ()
    entry: Schema | None = None
    key: Schema | None = None
    sensitive: bool = False


class PropertyFilter(msgspec.Struct, frozen=True):
    """Constraints that the value of a property must meet (§3.6.4)."""

    name: str
    base: str
    """The primitive type of the property."""
    constraints: tuple[Constraint, ...]
    any_case: bool = False
    """Whether case does not count: then the constraints are in lower case."""


class CapabilityFilter(msgspec.Struct, frozen=True):
    """Conditions for a capability (§3.6.5.2): for the one of this name, or where ``type`` is given, for any of that
    type."""

    name: str
    type: str = ""
    properties: tuple[PropertyFilter, ...] = ()


class NodeFilter(msgspec.Struct, frozen=True):
    """Conditions for a node, which must all hold (§3.6.5)."""

    properties: tuple[PropertyFilter, ...] = ()
    capabilities: tuple[CapabilityFilter, ...] = ()
    span: Span | None = None


# Whether the result of a function can be what its place needs, as far as the declared types say it (R-4.4.1-3).

TEXTUAL = frozenset({"string", "version", "timestamp", *UNITS})
"""The types whose values are texts of a certain form. A value of one may be used for another where its text has that
form, which is checked when the text is known."""
PLAIN = TEXTUAL | {"integer", "float", "boolean"}
FITTING = {
    Needs.TEXT: PLAIN,
    Needs.LIST: frozenset({"list", "range"}),
    Needs.INDEX: frozenset({"integer"}),
    Needs.NAME: frozenset({"string", "integer"}),
    Needs.FLAG: frozenset({"boolean"}),
}


def fits(given: Schema, needed: object, data_types: Mapping[str, DataType]) -> bool:
    """Whether a value of one schema may be used where another is needed. Constraints, and types that are not known yet,
    are checked when the value is known."""
    while True:
        declared = data_types.get(given.type)
        if declared is None:
            return True
        if isinstance(needed, Needs):
            return declared.base == ANY or declared.base in FITTING[needed]
        if not isinstance(needed, Schema) or needed.type not in data_types:
            return True
        wanted = data_types[needed.type]
        if ANY in (declared.base, wanted.base):
            return True
        if wanted.base != declared.base or not wanted.base:
            return _convertible(declared, wanted)
        entry = given.entry or declared.entry
        if entry is None:
            return True
        given, needed = entry, needed.entry or wanted.entry


def _convertible(declared: DataType, wanted: DataType) -> bool:
    """Whether values of one type may be those of another with another base, or of a complex type."""
    if not wanted.base and not declared.base:
        return wanted.name in declared.kinds
    bases = {declared.base, wanted.base}
    return (declared.base, wanted.base) == ("integer", "float") or ("string" in bases and bases <= TEXTUAL)


def shown(needed: object) -> str:
    """What a place needs, or a function gives, for messages."""
    if isinstance(needed, Schema):
        article = "an" if needed.type[:1] in "aeiou" else "a"
        return f"{article} {needed.type}"
    return str(needed)
