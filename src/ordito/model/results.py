"""Whether the result of a function can be what its place needs, as far as the declared types say it (R-4.4.1-3)."""

from __future__ import annotations

from collections.abc import Mapping

from ordito.base.scalar_units import UNITS
from ordito.model.schema import DataType, Schema
from ordito.syntax.expressions import Needs

TEXTUAL = frozenset({"string", "version", "timestamp", *UNITS})
"""The types whose values are texts of a certain form. One may stand for another where the text has that form, which
is seen when it is known."""
PLAIN = TEXTUAL | {"integer", "float", "boolean"}
FITTING = {
    Needs.TEXT: PLAIN,
    Needs.LIST: frozenset({"list", "range"}),
    Needs.INDEX: frozenset({"integer"}),
    Needs.NAME: frozenset({"string", "integer"}),
    Needs.FLAG: frozenset({"boolean"}),
}


def fits(given: Schema, needed: object, data_types: Mapping[str, DataType]) -> bool:
    """Whether a value of one schema may be one that a place needs. Constraints are left to when the value is known,
    and so are types that cannot be told."""
    while True:
        declared = data_types.get(given.type)
        if declared is None:
            return True
        if isinstance(needed, Needs):
            return declared.base in FITTING[needed]
        if not isinstance(needed, Schema) or needed.type not in data_types:
            return True
        wanted = data_types[needed.type]
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
