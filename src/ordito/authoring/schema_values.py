"""Values of data types in JSON Schema. In place of every value, a function call is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ordito.base.scalar_units import UNITS
from ordito.model.schema import Constraint, DataType, PropertyDefinition, Schema
from ordito.syntax.expressions import as_written, is_static
from ordito.syntax.functions import FUNCTIONS

Json: TypeAlias = dict[str, Any]

SCALAR: Json = {"type": ["string", "number", "boolean"]}
"""A single value: texts need no quotes in TOSCA, so YAML may read one as a number."""
CALL: Json = {"$ref": "#/$defs/function"}
OPEN_RANGE: Json = {"anyOf": [{"type": "integer"}, {"const": "UNBOUNDED"}]}


def _unit_pattern(units: Iterable[str]) -> str:
    """A pattern for a number with one of some units, in any case."""
    cased = ("".join(f"[{c.lower()}{c.upper()}]" for c in unit) for unit in sorted(units, key=len, reverse=True))
    return rf"^\s*[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\s*({'|'.join(cased)})\s*$"


PRIMITIVES: Mapping[str, Json] = {
    "any": {},
    "string": SCALAR,
    "integer": {"type": "integer"},
    "float": {"type": "number"},
    "boolean": {"type": "boolean"},
    "timestamp": {"type": "string"},
    "version": {"type": ["string", "number"]},
    "null": {"type": "null"},
    "range": {"type": "array", "items": OPEN_RANGE, "minItems": 2, "maxItems": 2},
    "list": {"type": "array"},
    "map": {"type": "object"},
    **{name: {"type": "string", "pattern": _unit_pattern(units)} for name, units in UNITS.items()},
}


def function_definition() -> Json:
    """The schema of a call of any function."""
    return {
        "title": "function",
        "type": "object",
        "properties": {name: {"description": function.usage} for name, function in FUNCTIONS.items()},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def data_type_definition(data: DataType, known: Mapping[str, DataType]) -> Json:
    """The schema of a data type, without calls."""
    if data.base:
        made = _of_base(data.base, data.entry, known)
        return _constrained(made, data.constraints, data.base)
    return {"type": "object", **values(data.properties, known)}


def values(definitions: Mapping[str, PropertyDefinition], known: Mapping[str, DataType]) -> Json:
    """The keywords for a map that assigns values to definitions, without other keys."""
    return {
        "properties": {name: definition_schema(d, known) for name, d in definitions.items()},
        "additionalProperties": False,
    }


def required_names(definitions: Mapping[str, PropertyDefinition]) -> list[str]:
    """The names that must be assigned."""
    return [name for name, d in definitions.items() if d.required and not d.has_default and d.schema.type]


def definition_schema(definition: PropertyDefinition, known: Mapping[str, DataType]) -> Json:
    """The schema of a property's or attribute's value."""
    made = schema_of(definition.schema, known)
    if not definition.required or definition.has_default:
        made["anyOf"].append({"type": "null"})
    if definition.description:
        made["description"] = " ".join(definition.description.split())
    if definition.has_default and is_static(definition.default):
        made["default"] = definition.default
    if definition.status == "deprecated":
        made["deprecated"] = True
    return made


def schema_of(schema: Schema, known: Mapping[str, DataType]) -> Json:
    """The schema of values by their TOSCA schema, or of a function call."""
    data = known.get(schema.type)
    if data is None:
        return {"anyOf": [{}]}  # its type could not be read, so anything is taken
    if schema.type in PRIMITIVES:
        made = _of_base(data.base, schema.entry, known)
    elif schema.entry is not None:
        made = _of_base(data.base, schema.entry, known)
        made = _constrained(made, data.constraints, data.base)
    else:
        made = {"$ref": reference("data", schema.type)}
    constrained = _constrained(made, schema.constraints, data.base)
    return {"anyOf": [constrained, CALL]}


def reference(kind: str, name: str) -> str:
    """A reference to a type's definition in the schema."""
    return f"#/$defs/{pointer(f'{kind} {name}')}"


def pointer(name: str) -> str:
    """A name as a part of a JSON pointer in a URI."""
    escaped = name.replace("~", "~0").replace("/", "~1")
    return re.sub(r"[^A-Za-z0-9._~:-]", lambda match: "".join(f"%{b:02X}" for b in match[0].encode()), escaped)


def _of_base(base: str, entry: Schema | None, known: Mapping[str, DataType]) -> Json:
    made = dict(PRIMITIVES[base])
    if base == "list":
        made["items"] = schema_of(entry, known) if entry is not None else {"anyOf": [SCALAR, CALL]}
    if base == "map":
        made["additionalProperties"] = schema_of(entry, known) if entry is not None else {"anyOf": [SCALAR, CALL]}
    return made


def _constrained(made: Json, constraints: Iterable[Constraint], base: str) -> Json:
    """A schema with constraints, as far as JSON Schema can express them."""
    clauses = [c for constraint in constraints if (c := _clause(constraint, base))]
    return {"allOf": [made, *clauses]} if clauses else made


LENGTHS = {
    "string": ("minLength", "maxLength"),
    "list": ("minItems", "maxItems"),
    "map": ("minProperties", "maxProperties"),
}
LIMITS = {
    "greater_or_equal": "minimum",
    "greater_than": "exclusiveMinimum",
    "less_or_equal": "maximum",
    "less_than": "exclusiveMaximum",
}
NUMBERS = frozenset({"integer", "float"})


def _clause(constraint: Constraint, base: str) -> Json:
    operator, operand = constraint.operator, constraint.operand
    if operator in LIMITS and base in NUMBERS:
        return {LIMITS[operator]: operand}
    if operator == "in_range" and base in NUMBERS and isinstance(operand, list):
        low, high = operand
        return {
            name: value
            for name, value in (("minimum", low), ("maximum", high))
            if isinstance(value, int | float) and not isinstance(value, bool)
        }
    if operator in {"length", "min_length", "max_length"} and base in LENGTHS:
        least, most = LENGTHS[base]
        return {n: operand for n, o in ((least, "max_length"), (most, "min_length")) if o != operator}
    if operator == "valid_values" and isinstance(operand, list):
        return {"enum": [v for value in operand for v in _spellings(as_written(value), base)]}
    if operator == "equal" and base in {"string", "integer", "boolean"}:
        return {"enum": _spellings(as_written(operand), base)}
    return {}


def _spellings(value: object, base: str) -> list[object]:
    """A value, and what YAML reads if it is written without quotes."""
    if isinstance(value, str) and base in {"string", "version"}:
        return [value, *(number for number in _numbers(value))]
    return [value]


def _numbers(text: str) -> list[object]:
    if text in {"true", "false"}:
        return [text == "true"]
    try:
        number = float(text)
    except ValueError:
        return []
    return [int(text)] if re.fullmatch(r"[-+]?[0-9]+", text) else [number]
