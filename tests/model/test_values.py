"""Laws of values: what is read stays what it is when it is written and read again, and comparing is an order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordito.base.diagnostics import Diagnostics
from ordito.base.scalar_units import UNITS, amount, canonical
from ordito.base.span import SourceText
from ordito.model.constraints import equal_values, violation
from ordito.model.definitions import primitive_types
from ordito.model.schema import Constraint, Schema
from ordito.model.values import Values
from ordito.source.nodes import Node, Scalar, Sequence
from ordito.syntax.expressions import Value

SOURCE = SourceText("law", "")
TYPES = primitive_types()
NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=4)


def node(value: object) -> Node:
    """A value as it would be written."""
    if isinstance(value, list):
        return Sequence(SOURCE, 1, 1, 1, 2, [node(v) for v in value])
    return Scalar(SOURCE, 1, 1, 1, 2, str(value), True)


def read(value: object, kind: str) -> tuple[Value, bool]:
    """A value read by a primitive type, and whether that went well."""
    diagnostics = Diagnostics()
    found = Values(TYPES, diagnostics).read(node(value), Schema(kind), "it")
    return found, not diagnostics.has_errors


@given(low=st.integers(), high=st.integers() | st.just("UNBOUNDED"))
def test_ranges(low: int, high: int | str) -> None:
    """R-3.3.3-1, R-3.3.3-2: a range is read where its upper bound is not below the lower one, and is itself again."""
    found, good = read([low, high], "range")
    assert good == (high == "UNBOUNDED" or (isinstance(high, int) and high >= low))
    if good:
        assert found == [low, high]
        assert read(found, "range") == (found, True)


@given(low=st.integers(-9, 9), size=st.integers(0, 9), least=st.integers(-9, 9), most=st.integers(-9, 9) | st.none())
def test_ranges_in_ranges(low: int, size: int, least: int, most: int | None) -> None:
    """R-3.6.3-3: a range lies in another one exactly if all its numbers do."""
    constraint = Constraint("in_range", [least, most])
    inside = all(n >= least and (most is None or n <= most) for n in range(low, low + size + 1))
    assert (violation([low, low + size], constraint, "range") == "") == inside


@given(data=st.data(), one=NUMBERS, other=NUMBERS)
def test_scalar_units(data: st.DataObject, one: object, other: object) -> None:
    """R-3.3.6-2: scalar units are read as they are written, and constrained as their amounts are ordered."""
    kind = data.draw(st.sampled_from(sorted(UNITS)))
    first, second = (f"{n:f} {data.draw(st.sampled_from(sorted(UNITS[kind])))}" for n in (one, other))
    assert read(first, kind) == (first, True) == (canonical(first, kind), True)
    a, b = amount(first, kind), amount(second, kind)
    for operator, holds in (
        ("equal", a == b),
        ("less_than", a < b),
        ("less_or_equal", a <= b),
        ("greater_than", a > b),
        ("greater_or_equal", a >= b),
    ):
        assert (violation(first, Constraint(operator, second), kind) == "") == holds


@given(kind=st.sampled_from(["integer", "float"]), number=st.integers(-(2**53), 2**53))
def test_numbers(kind: str, number: int) -> None:
    """R-3.3.1-3: numbers are what they are written as, and equal inside of lists as well."""
    found, good = read(number, kind)
    assert good
    assert found == number
    assert equal_values([found], [found], Schema("list", Schema(kind)), TYPES)
    assert not equal_values([found], [found, found], Schema("list", Schema(kind)), TYPES)


@given(text=st.text(max_size=20))
def test_any_text(text: str) -> None:
    """Any text is a value of a type or none; nothing else happens."""
    for kind in ("integer", "float", "boolean", "timestamp", "version", *UNITS):
        found, good = read(text, kind)
        assert good == (found is not None)
