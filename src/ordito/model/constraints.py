"""Constraint clauses (§3.6.3): reading them for a type, and checking values against them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ordito.base.diagnostics import Diagnostics, suggestion
from ordito.base.scalar_units import UNITS, amount
from ordito.base.timestamps import parse_timestamp
from ordito.base.versions import Incomparable, Version
from ordito.model.service import Constraint
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.scalars import integer
from ordito.syntax.expressions import Value

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
OPERATORS = ("equal", *ORDERINGS, "in_range", "valid_values", *LENGTHS, "pattern", "schema")

Convert = Callable[[Node], Value]


def read_constraint(node: Node, base: str, convert: Convert, diagnostics: Diagnostics) -> Constraint | None:
    """Read one clause for values whose primitive type is ``base`` ("" for complex ones); ``convert`` reads an
    operand as such a value. None where it does not hold together, with a diagnostic."""
    if isinstance(node, Scalar):
        return Constraint("equal", convert(node), node.span)
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
    if operator not in OPERATORS:
        diagnostics.error(
            "unknown-operator", f'no constraint operator "{operator}"', key.span, hint=suggestion(operator, OPERATORS)
        )
        return None
    if not _fits(operator, base):
        diagnostics.error(
            "bad-constraint",
            f"{operator} cannot be applied to {base or 'complex'} values",
            key.span,
            hint=HINTS.get(operator, ""),
        )
        return None
    before = len(diagnostics)
    value = _operand(operator, operand, base, convert, diagnostics)
    return Constraint(operator, value, key.span) if len(diagnostics) == before else None


HINTS = {"max_length": "for numbers write in_range", "min_length": "for numbers write in_range"}


def _fits(operator: str, base: str) -> bool:
    if operator in ORDERINGS:
        return base in ORDERED
    if operator == "in_range":
        return base in ORDERED or base == "range"
    if operator in LENGTHS:
        return base in SIZED
    if operator in {"pattern", "schema"}:
        return base == "string"
    return True


def _operand(operator: str, node: Node, base: str, convert: Convert, diagnostics: Diagnostics) -> Value:
    def wrong(message: str, hint: str = "") -> None:
        diagnostics.error("bad-constraint", message, node.span, hint=hint)

    if operator in LENGTHS:
        number = integer(node.text) if isinstance(node, Scalar) else None
        if number is None or number < 0:
            wrong(f"{operator} needs a whole number")
        return number
    if operator == "in_range":
        if not isinstance(node, Sequence) or len(node.items) != 2:
            wrong("in_range needs a list of two values", "for example [ 1, 10 ] or [ 1, UNBOUNDED ]")
            return None
        low, high = node.items
        bound = (lambda n: integer(n.text)) if base == "range" else convert
        unbounded = isinstance(high, Scalar) and high.text == "UNBOUNDED"
        pair: list[Value] = [bound(low), None if unbounded else bound(high)]
        if pair[0] is not None and pair[1] is not None and _compare(pair[0], pair[1], base) > 0:
            wrong("the lower bound is above the upper one")
        return pair
    if operator == "valid_values":
        if not isinstance(node, Sequence):
            wrong("valid_values needs a list", f"write [ {node.text} ]" if isinstance(node, Scalar) else "")
            return None
        return [convert(i) for i in node.items]
    if operator == "pattern":
        if not isinstance(node, Scalar):
            wrong("pattern needs a regular expression")
            return None
        try:
            re.compile(node.text)
        except (re.error, OverflowError, RecursionError) as error:
            wrong(f"not a regular expression: {error}")
        return node.text
    if operator == "schema":
        if not isinstance(node, Scalar):
            wrong("schema needs a text")
            return None
        return node.text
    return convert(node)


def violation(value: Any, constraint: Constraint, base: str) -> str:
    """What is wrong with an evaluated value by a constraint, "" if it holds."""
    operator, operand = constraint.operator, constraint.operand
    try:
        if operator == "equal":
            return "" if _equal(value, operand, base) else f"must equal {_shown(operand)}"
        if operator in ORDERINGS:
            holds = ORDERINGS[operator](_compare(value, operand, base))
            return "" if holds else f"must be {operator.replace('_', ' ')} {_shown(operand)}"
        if operator == "in_range":
            return _outside(value, operand, base)
    except Incomparable as error:
        return str(error)
    if operator == "valid_values":
        assert isinstance(operand, list)
        listed = ", ".join(_shown(o) for o in operand)
        return "" if any(_equal(value, o, base) for o in operand) else f"must be one of {listed}"
    if operator in LENGTHS:
        assert isinstance(operand, int)
        unit = "characters" if base == "string" else "entries"
        wanted = {"length": "exactly", "min_length": "at least", "max_length": "at most"}[operator]
        return (
            "" if LENGTHS[operator](len(value), operand) else f"must have {wanted} {operand} {unit}, not {len(value)}"
        )
    if operator == "pattern":
        assert isinstance(operand, str)
        return "" if re.fullmatch(operand, value) else f"must match the pattern {operand}"
    return ""


def _outside(value: Any, operand: Value, base: str) -> str:
    assert isinstance(operand, list)
    low, high = operand
    shown = f"must lie in {_shown(low)} to {_shown(high) if high is not None else 'UNBOUNDED'}"
    if base == "range":
        top = float("inf") if value[1] == "UNBOUNDED" else value[1]
        inside = value[0] >= low and (high is None or top <= high)  # type: ignore[operator]
        return "" if inside else shown
    if low is not None and _compare(value, low, base) < 0:
        return shown
    return shown if high is not None and _compare(value, high, base) > 0 else ""


def _key(value: Any, base: str) -> Any:
    if base in UNITS:
        return amount(value, base)
    return parse_timestamp(value) if base == "timestamp" else value


def _compare(a: Any, b: Any, base: str) -> int:
    if base == "version":
        return Version.parse(a).order(Version.parse(b))
    left, right = _key(a, base), _key(b, base)
    return int(left > right) - int(left < right)


def _equal(a: Any, b: Any, base: str) -> bool:
    if base == "version":
        try:
            return Version.parse(a).order(Version.parse(b)) == 0
        except Incomparable:
            return False
    if base in UNITS or base == "timestamp":
        return bool(_key(a, base) == _key(b, base))
    return type(a) is type(b) and bool(a == b)


def _shown(value: Value) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
