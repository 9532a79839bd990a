"""Schemas: what a value must be, and the definitions that say so (§3.6.3, §3.6.9, §3.6.10, §3.7.6)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ordito.base.span import Span
from ordito.syntax.expressions import Value


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


class PropertyDefinition(msgspec.Struct, frozen=True):
    """A property or attribute of a type, or a parameter's definition (§3.6.10, §3.6.12, §3.6.14).

    ``default`` is only meaningful where ``has_default``; ``fixed`` says a refinement gave the final value.
    """

    name: str
    schema: Schema
    required: bool = True
    has_default: bool = False
    default: Value = None
    fixed: bool = False
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
    """Constraints that the value of a property must meet (§3.6.4); ``base`` is the property's primitive type.
    Where ``any_case``, the constraints are in lower case, and the value is to be compared so."""

    name: str
    base: str
    constraints: tuple[Constraint, ...]
    any_case: bool = False


class CapabilityFilter(msgspec.Struct, frozen=True):
    """What a capability must be like (§3.6.5.2): the one of this name, or where ``type`` is given any of that type."""

    name: str
    type: str = ""
    properties: tuple[PropertyFilter, ...] = ()


class NodeFilter(msgspec.Struct, frozen=True):
    """What a node must be like (§3.6.5); all of it must hold."""

    properties: tuple[PropertyFilter, ...] = ()
    capabilities: tuple[CapabilityFilter, ...] = ()
    span: Span | None = None
