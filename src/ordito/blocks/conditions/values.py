"""Values of conditions: their kinds, whether they are the same, and arithmetic as in CUE.

Integers are exact, floats are decimal with 24 digits, as in CUE 0.4. A value is ``None``, a ``bool``, an ``int``, a
``Decimal`` (a float), a ``str``, a list or a mapping. Elements of lists are still as they are in the context:
``ContextReading.leaf`` converts them.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Mapping
from decimal import Decimal

from ordito.base.sensitive import opened
from ordito.blocks.conditions.trees import ConditionFailed, NoAnswer, TextRange

DIGITS = 24
"""How many digits CUE 0.4 computes with. It rounds larger integers; here they are refused."""
MOST_CHARACTERS = 1_000_000
"""How long a text may be that a condition joins."""

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "bool",
    int: "int",
    Decimal: "float",
    str: "string",
    list: "list",
    tuple: "list",
    dict: "struct",
}
_ARTICLES = {"null": "null", "int": "an int"}
_NUMBERS = frozenset({"int", "float"})
_DECIMALS = decimal.Context(
    prec=DIGITS,
    rounding=decimal.ROUND_HALF_UP,
    Emin=-100_000,
    Emax=100_000,
    traps=[decimal.InvalidOperation, decimal.DivisionByZero, decimal.Overflow],
)


class ContextReading:
    """Reads values of a context, and remembers whether one of them was sensitive."""

    def __init__(self) -> None:
        self.was_sensitive = False

    def opened(self, value: object) -> object:
        """A value without its wrapper."""
        plain, wrapped = opened(value)
        self.was_sensitive = self.was_sensitive or wrapped
        return plain

    def leaf(self, value: object, place: TextRange) -> object:
        """A value of a context as conditions compute with it. Raises ``ConditionFailed`` where they cannot."""
        plain = self.opened(value)
        if isinstance(plain, float):
            if not math.isfinite(plain):
                raise ConditionFailed(NoAnswer.NUMBER, "a number is not finite", place)
            return Decimal(repr(plain))
        if type(plain) in _KINDS or isinstance(plain, Mapping):
            return plain
        raise ConditionFailed(
            NoAnswer.NOT_SUPPORTED, f"conditions have no values of type {type(plain).__name__}", place
        )

    def equal(self, one: object, other: object, place: TextRange) -> bool:
        """Whether two values are equal as ``==`` compares elements of lists: numbers by amount, and values of different
        kinds never."""
        return self._same(one, other, place, _loosely)

    def identical(self, one: object, other: object, place: TextRange) -> bool:
        """Whether two values are the same, an ``int`` never a ``float``."""
        return self._same(one, other, place, _strictly)

    def _same(self, one: object, other: object, place: TextRange, alike: Callable[[object, object], bool]) -> bool:
        waiting = [(one, other)]
        while waiting:
            left, right = (self.leaf(value, place) for value in waiting.pop())
            if isinstance(left, list | tuple) and isinstance(right, list | tuple):
                if len(left) != len(right):
                    return False
                waiting.extend(zip(reversed(left), reversed(right), strict=True))
            elif kind(left) == kind(right) == "struct":
                raise ConditionFailed(
                    NoAnswer.NOT_SUPPORTED, "structs are not compared", place, "compare their fields, one by one"
                )
            elif not alike(left, right):
                return False
        return True


def kind(value: object) -> str:
    """The kind of a value: null, bool, int, float, string, list or struct."""
    return _KINDS.get(type(value), "struct")


def is_number(value: object) -> bool:
    """Whether a value is an int or a float."""
    return kind(value) in _NUMBERS


def a_kind(value: object) -> str:
    """The kind of a value, with its article."""
    name = kind(value)
    return _ARTICLES.get(name, f"a {name}")


def arithmetic(sign: str, left: object, right: object, place: TextRange) -> object:
    """The result of ``+``, ``-``, ``*`` or ``/`` for two values; a ``ConditionFailed`` where it has no value."""
    if isinstance(left, str) and isinstance(right, str) and sign == "+":
        if len(left) + len(right) > MOST_CHARACTERS:
            raise ConditionFailed(NoAnswer.TOO_MUCH, f"the text is longer than {MOST_CHARACTERS:,} characters", place)
        return left + right
    if is_number(left) and is_number(right):
        return _computed(sign, left, right, place)
    if _lengthens(sign, kind(left), kind(right)):
        raise ConditionFailed(
            NoAnswer.NOT_SUPPORTED, f"{sign} of {a_kind(left)} and {a_kind(right)} is not supported", place
        )
    return ConditionFailed(NoAnswer.OPERANDS, f"{sign} does not go with {a_kind(left)} and {a_kind(right)}", place)


def _lengthens(sign: str, left: str, right: str) -> bool:
    """Whether CUE makes a list or a text longer by ``+`` or ``*``, which newer versions of it do not."""
    if sign == "+":
        return left == right == "list"
    return sign == "*" and "int" in {left, right} and bool({left, right} & {"list", "string"})


def _computed(sign: str, left: object, right: object, place: TextRange) -> object:
    assert isinstance(left, int | Decimal)
    assert isinstance(right, int | Decimal)
    for value in (left, right):
        _check_digits(value, place)
    if isinstance(left, int) and isinstance(right, int) and sign != "/":
        whole = left + right if sign == "+" else left - right if sign == "-" else left * right
        _check_digits(whole, place)
        return whole
    steps = {"+": _DECIMALS.add, "-": _DECIMALS.subtract, "*": _DECIMALS.multiply, "/": _DECIMALS.divide}
    try:
        return steps[sign](Decimal(left), Decimal(right))
    except decimal.Overflow:
        raise ConditionFailed(NoAnswer.NUMBER, "the number is too large", place) from None
    except (decimal.DivisionByZero, decimal.InvalidOperation):
        return ConditionFailed(NoAnswer.NUMBER, "division by zero", place)


def _check_digits(value: int | Decimal, place: TextRange) -> None:
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        raise ConditionFailed(NoAnswer.NUMBER, f"numbers of more than {DIGITS} digits are not supported", place)


def _loosely(left: object, right: object) -> bool:
    return left == right and (kind(left) == kind(right) or (is_number(left) and is_number(right)))


def _strictly(left: object, right: object) -> bool:
    return kind(left) == kind(right) and left == right
