"""Constraint clauses (§3.6.3): reads them for a type, checks values against them, and compares values of a schema;
also external schemas (§3.6.10.5)."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as MappingType
from functools import lru_cache
from typing import Any

from ordito.base.diagnostics import Diagnostics
from ordito.base.json_schema import JsonSchema, SchemaNotSupported, xml_problem
from ordito.base.patterns import TooMuchWork, compile_pattern, matches
from ordito.base.scalar_units import UNITS, amount
from ordito.base.span import Span
from ordito.base.timestamps import moment
from ordito.base.versions import Incomparable, Version
from ordito.model.schema import Constraint, DataType, Schema
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.scalars import integer
from ordito.syntax.expressions import Value
from ordito.syntax.functions import call_in

ORDERED = frozenset({"integer", "float", "timestamp", "string", "version", *UNITS})
SIZED = frozenset({"string", "list", "map"})
ORDERINGS: dict[str, Callable[[int], bool]] = {
    "greater_than": lambda order: order > 0,
    "greater_or_equal": lambda order: order >= 0,
    "less_than": lambda order: order < 0,
    "less_or_equal": lambda order: order <= 0,
}
LENGTHS: dict[str, Callable[[int, int], bool]] = {
    "length": lambda size, wanted: size == wanted,
    "min_length": lambda size, wanted: size >= wanted,
    "max_length": lambda size, wanted: size <= wanted,
}
TEXTUAL = {"pattern": "write a regular expression", "schema": "write the schema as one text"}
OPERATORS = ("equal", *ORDERINGS, "in_range", "valid_values", *LENGTHS, *TEXTUAL)

MOST_LISTED = 12
FUNCTION_OPERAND = "the operand of a constraint is a value, not a function"

Convert = Callable[[Node], Value]
Wrong = Callable[..., None]
Same = Callable[[Any, Any], bool]


def read_constraint(node: Node, base: str, convert: Convert, diagnostics: Diagnostics) -> Constraint | None:
    """Read one clause for values whose primitive type is ``base`` ("" for complex ones); ``convert`` reads an
    operand as such a value. None where it does not hold together, with a diagnostic."""
    before = diagnostics.errors
    if isinstance(node, Scalar):
        value = convert(node)
        return Constraint("equal", value, node.span) if diagnostics.errors == before else None
    message = ""
    if isinstance(node, Mapping) and MESSAGE in node.values and len(node.keys) == 2:
        said = node.values[MESSAGE]
        message = said.text if isinstance(said, Scalar) else ""
        keys = [k for k in node.keys if k.text != MESSAGE]
        place = (node.source, node.line, node.column, node.end_line, node.end_column)
        node = Mapping(*place, keys, {keys[0].text: node.values[keys[0].text]})
    if not isinstance(node, Mapping) or len(node.keys) != 1:
        diagnostics.error(
            "bad-constraint",
            "a constraint is a map with exactly one operator",
            node.span,
            hint="for example: - in_range: [ 1, 4 ]",
        )
        return None
    (key,) = node.keys
    operand = node.values[key.text]
    operator = key.text
    if call_in(node):
        diagnostics.error("bad-constraint", FUNCTION_OPERAND, node.span, hint="write the value itself")
        return None
    if operator not in OPERATORS:
        diagnostics.unknown("unknown-operator", "constraint operator", operator, key.span, OPERATORS)
        return None
    if not _fits(operator, base):
        diagnostics.error(
            "bad-constraint",
            f"{operator} cannot be applied to {base or 'complex'} values",
            key.span,
            hint=HINTS.get(operator, ""),
        )
        return None
    value = _operand(operator, operand, base, convert, diagnostics)
    return Constraint(operator, value, key.span, message) if diagnostics.errors == before else None


MESSAGE = "ordito.message"
"""What may stand beside the operator: what is said of a value for which it does not hold."""
HINTS = {"max_length": "for numbers write in_range", "min_length": "for numbers write in_range"}


def _fits(operator: str, base: str) -> bool:
    if operator in ORDERINGS:
        return base in ORDERED
    if operator == "in_range":
        return base in ORDERED or base == "range"
    if operator in LENGTHS:
        return base in SIZED
    if operator in TEXTUAL:
        return base == "string"
    return True


def _operand(operator: str, node: Node, base: str, convert: Convert, diagnostics: Diagnostics) -> Value:
    def wrong(message: str, hint: str = "") -> None:
        diagnostics.error("bad-constraint", message, node.span, hint=hint)

    if operator != "equal" and call_in(node):
        wrong(FUNCTION_OPERAND, "write the value itself")
        return None
    if operator in LENGTHS:
        return _length(operator, node, wrong)
    if operator == "in_range":
        return _bounds(node, base, convert, wrong)
    if operator == "valid_values":
        if isinstance(node, Sequence):
            return [convert(i) for i in node.items]
        wrong("valid_values needs a list", f"write [ {node.text} ]" if isinstance(node, Scalar) else "")
        return None
    if operator in TEXTUAL:
        return _text(operator, node, wrong)
    return convert(node)


def _length(operator: str, node: Node, wrong: Wrong) -> Value:
    number = integer(node.text) if isinstance(node, Scalar) and node.plain else None
    if number is None or number < 0:
        wrong(f"{operator} needs a whole number", "for example 1, without quotes")
    return number


def _bounds(node: Node, base: str, convert: Convert, wrong: Wrong) -> Value:
    if not isinstance(node, Sequence) or len(node.items) != 2:
        wrong("in_range needs a list of two values", "for example [ 1, 10 ] or [ 1, UNBOUNDED ]")
        return None
    low, high = (None if _is_unbounded(i) else _bound(i, base, convert, wrong) for i in node.items)
    if _is_unbounded(node.items[0]):
        wrong("only the upper bound may be UNBOUNDED", "write the lowest value that is allowed")
    if low is not None and high is not None:
        try:
            if _compare(low, high, base) > 0:
                wrong("the lower bound is above the upper one", "swap them")
        except Incomparable as error:
            wrong(str(error))
    return [low, high]


def _bound(node: Node, base: str, convert: Convert, wrong: Wrong) -> Value:
    if base != "range":
        return convert(node)
    number = integer(node.text) if isinstance(node, Scalar) else None
    if number is None:
        wrong("the bounds of a range are whole numbers", "for example [ 1, 10 ]")
    return number


def _is_unbounded(node: Node) -> bool:
    return isinstance(node, Scalar) and node.text == "UNBOUNDED"


def _text(operator: str, node: Node, wrong: Wrong) -> Value:
    if not isinstance(node, Scalar):
        wrong(f"{operator} needs a text", TEXTUAL[operator])
        return None
    if operator == "pattern":
        try:
            compile_pattern(node.text)
        except ValueError as error:
            wrong(str(error), "the syntax is that of Python's re module")
    return node.text


def violation(value: Any, constraint: Constraint, base: str, same: Same | None = None) -> str:
    """What is wrong with an evaluated value by a constraint, "" if it holds.

    ``same`` says whether two values are equal, where that depends on more than their primitive type: for lists, maps
    and complex values. External schemas are not checked here.
    """
    found = _violation(value, constraint, base, same)
    return f"is refused: {constraint.message}" if found and constraint.message else found


def _violation(value: Any, constraint: Constraint, base: str, same: Same | None) -> str:
    operator, operand = constraint.operator, constraint.operand
    try:
        if operator in ORDERINGS:
            holds = ORDERINGS[operator](_compare(value, operand, base))
            return "" if holds else f"must be {operator.replace('_', ' ')} {_shown(operand)}"
        if operator == "in_range":
            return _outside(value, operand, base)
        if operator == "pattern":
            assert isinstance(operand, str)
            return "" if matches(operand, value) else f"must match the pattern {operand}"
    except Incomparable as error:
        return f"cannot be compared: {error}"
    except TooMuchWork as error:
        return str(error)
    if operator in LENGTHS:
        return _wrong_length(value, operator, operand, base)
    return _unequal(operator, value, operand, same or (lambda a, b: equal(a, b, base)))


def _unequal(operator: str, value: Any, operand: Value, same: Same) -> str:
    if operator == "equal":
        return "" if same(value, operand) else f"must equal {_shown(operand)}"
    if operator != "valid_values" or not isinstance(operand, list) or any(same(value, o) for o in operand):
        return ""
    if not operand:
        return "can have no value at all: valid_values is empty"
    listed = ", ".join(_shown(o) for o in operand[:MOST_LISTED])
    more = f" and {len(operand) - MOST_LISTED} more" if len(operand) > MOST_LISTED else ""
    return f"must be one of {listed}{more}"


def _wrong_length(value: Any, operator: str, operand: Value, base: str) -> str:
    assert isinstance(operand, int)
    if LENGTHS[operator](len(value), operand):
        return ""
    unit = "characters" if base == "string" else "entries"
    wanted = {"length": "exactly", "min_length": "at least", "max_length": "at most"}[operator]
    return f"must have {wanted} {operand} {unit}, not {len(value)}"


def _outside(value: Any, operand: Value, base: str) -> str:
    assert isinstance(operand, list)
    low, high = operand
    if base == "range":
        top = float("inf") if value[1] == "UNBOUNDED" else value[1]
        inside = value[0] >= low and (high is None or top <= high)  # type: ignore[operator]
    else:
        inside = low is None or _compare(value, low, base) >= 0
        inside = inside and (high is None or _compare(value, high, base) <= 0)
    return "" if inside else f"must lie in {_shown(low)} to {_shown(high) if high is not None else 'UNBOUNDED'}"


def widens(narrow: Constraint, wide: Constraint, base: str) -> bool:
    """Whether an ``in_range`` allows what one that is inherited does not: it may only narrow that (R-3.6.3-4)."""
    if narrow.operator != "in_range" or wide.operator != "in_range":
        return False
    assert isinstance(narrow.operand, list)
    assert isinstance(wide.operand, list)
    (low, high), (least, most) = narrow.operand, wide.operand
    try:
        if low is not None and least is not None and _compare(low, least, base) < 0:
            return True
        return most is not None and (high is None or _compare(high, most, base) > 0)
    except Incomparable:
        return True


def _key(value: Any, base: str) -> Any:
    if base in UNITS:
        return amount(value, base)
    return moment(value) if base == "timestamp" else value


def _compare(a: Any, b: Any, base: str) -> int:
    if base in COSTLY:
        return _compare_texts(a, b, base)
    if a != a or b != b:  # noqa: PLR0124  (only what is not a number differs from itself)
        raise Incomparable("it is not a number")
    return int(a > b) - int(a < b)


@lru_cache(maxsize=10_000)
def _compare_texts(a: str, b: str, base: str) -> int:
    if base == "version":
        return Version.parse(a).order(Version.parse(b))
    left, right = _key(a, base), _key(b, base)
    return int(left > right) - int(left < right)


COSTLY = frozenset({"version", "timestamp", *UNITS})
"""The types whose values are texts that must be parsed before they can be compared."""


def equal(a: Any, b: Any, base: str) -> bool:
    """Whether two values of a primitive type are equal: 1024 B is 1 KiB, 1.0 is 1.0.0."""
    if base == "version":
        try:
            return Version.parse(a).order(Version.parse(b)) == 0
        except Incomparable:
            return False
    if base == "float":
        return bool(a == b)
    if base in UNITS or base == "timestamp":
        return bool(_key(a, base) == _key(b, base))
    return type(a) is type(b) and bool(a == b)


def _shown(value: Value, depth: int = 0) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | dict):
        brackets = "[]" if isinstance(value, list) else "{}"
        if depth > 1:
            return f"{brackets[0]}...{brackets[1]}"
        parts = (
            [_shown(v, depth + 1) for v in value[:MOST_LISTED]]
            if isinstance(value, list)
            else [f"{k}: {_shown(v, depth + 1)}" for k, v in [*value.items()][:MOST_LISTED]]
        )
        rest = ", ..." if len(value) > MOST_LISTED else ""
        return f"{brackets[0]}{', '.join(parts)}{rest}{brackets[1]}"
    return "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# When two values of a schema are equal: parts by their declared types, so that 1 KiB is 1024 B inside a list as well
# (TOSCA 1.3 §3.6.3, ``equal`` and ``valid_values`` for lists, maps and complex values).


def equal_values(one: Value, other: Value, schema: Schema, data_types: MappingType[str, DataType]) -> bool:
    """Whether two evaluated values of a schema are equal. Iterative, since users choose the depth."""
    waiting: list[tuple[Any, Any, Schema | None]] = [(one, other, schema)]
    while waiting:
        a, b, by = waiting.pop()
        if a is b:
            continue
        if type(a) is not type(b):
            data_type = data_types.get(by.type) if by is not None else None
            if data_type is None or data_type.base != "float" or a is None or b is None or a != b:
                return False
            continue
        if isinstance(a, list):
            if len(a) != len(b):
                return False
            entry = _entry(by, data_types)
            waiting.extend((x, y, entry) for x, y in zip(a, b, strict=True))
        elif isinstance(a, dict):
            if a.keys() != b.keys():
                return False
            waiting.extend((a[k], b[k], _field(k, by, data_types)) for k in a)
        elif not _equal_single(a, b, by, data_types):
            return False
    return True


def _equal_single(a: Any, b: Any, schema: Schema | None, data_types: MappingType[str, DataType]) -> bool:
    data_type = data_types.get(schema.type) if schema is not None else None
    return equal(a, b, data_type.base if data_type is not None else "")


def _entry(schema: Schema | None, data_types: MappingType[str, DataType]) -> Schema | None:
    """The schema of the entries of a list or map."""
    if schema is None:
        return None
    data_type = data_types.get(schema.type)
    return schema.entry or (data_type.entry if data_type is not None else None)


def _field(name: str, schema: Schema | None, data_types: MappingType[str, DataType]) -> Schema | None:
    """The schema of what a map or a complex value holds under a name."""
    data_type = data_types.get(schema.type) if schema is not None else None
    if data_type is not None and data_type.base == "":
        definition = data_type.properties.get(name)
        return definition.schema if definition is not None else None
    return _entry(schema, data_types)


# External schemas: what a text in another language must be, by a schema of that language (§3.6.3.2, §3.6.10.5).
#
# A JSON Schema is applied to values of the json type. Of values of the xml type it is only looked at that they are
# well formed, since nothing here applies an XML Schema; that is said where such a schema is declared.

JSON = "tosca.datatypes.json"
XML = "tosca.datatypes.xml"


def has_language(data_type: DataType) -> bool:
    """Whether the values of a data type are texts in a language that has schemas."""
    return JSON in data_type.kinds or XML in data_type.kinds


def check_schema(text: str, data_type: DataType, place: Span, diagnostics: Diagnostics) -> None:
    """Report a schema at ``place`` that is not valid in the language of a data type, and warn of one that cannot be
    applied."""
    problem = reason = ""
    if JSON in data_type.kinds:
        try:
            json_schema(text)
        except SchemaNotSupported as error:
            reason = f"{error}, so values are not checked by this schema"
        except ValueError as error:
            problem = f"this is not a JSON Schema: {error}"
    elif XML in data_type.kinds:
        problem = xml_problem(text)
        problem = f"this is not an XML Schema: {problem}" if problem else ""
        reason = "XML Schemas are not applied: values are only checked to be well-formed XML"
    else:
        reason = f"a schema says nothing about values of type {data_type.name}"
    if problem:
        diagnostics.error("bad-schema", problem, place, hint="write the schema as one block of text, below a |")
    elif reason:
        diagnostics.warning("schema-not-applied", reason, place, hint="schemas are applied to values of the type json")


def schema_violation(text: str, value: str, data_type: DataType) -> str:
    """What is wrong with a value of a data type by a schema, "" where it holds or cannot be applied."""
    if JSON not in data_type.kinds:
        return ""
    try:
        problem = json_schema(text).violation(value)
    except ValueError:
        return ""  # said where the schema stands, or of the value by the rules of its type
    return f"does not follow its schema: {problem}" if problem else ""


@lru_cache(maxsize=100)
def json_schema(text: str) -> JsonSchema:
    """A JSON Schema, parsed once. Raises ``ValueError`` where the text is not one."""
    return JsonSchema(text)
