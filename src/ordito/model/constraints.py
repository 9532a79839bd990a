"""Constraint clauses (§3.6.3): reading them for a type, and checking values against them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ordito.base.diagnostics import Diagnostics
from ordito.base.patterns import TooMuchWork, compile_pattern, matches
from ordito.base.scalar_units import UNITS, amount
from ordito.base.timestamps import moment
from ordito.base.versions import Incomparable, Version
from ordito.model.schema import Constraint
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
    return Constraint(operator, value, key.span) if diagnostics.errors == before else None


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
    and complex values. External schemas are not looked at here.
    """
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
"""The types whose values are texts that must be taken apart before they can be compared."""


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
