"""Values of the primitive types: from how they are written to data (§3.3).

A reader gets the text of a single value and whether it is written without quotes. It returns the data, or a ``Wrong``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite, isnan

import msgspec

from ordito.base.scalar_units import UNITS, NotAScalarUnit, canonical
from ordito.base.timestamps import parse_timestamp
from ordito.base.versions import Version
from ordito.source.nodes import NULLS
from ordito.source.scalars import BOOLEANS, MOST_DIGITS, decimal, integer, is_number
from ordito.syntax.expressions import Value

PRIMITIVES = (
    "string",
    "integer",
    "float",
    "boolean",
    "timestamp",
    "null",
    "version",
    "range",
    "list",
    "map",
    *UNITS,
)
EXAMPLES = {
    "integer": "give a whole number such as 80",
    "float": "give a number such as 0.5",
    "boolean": "write true or false",
}
MEANT_BOOLEANS = {
    **dict.fromkeys(("yes", "on", "y", "true", "1"), "true"),
    **dict.fromkeys(("no", "off", "n", "false", "0"), "false"),
}
MOST_SHOWN = 40
UNBOUNDED = "UNBOUNDED"
RANGE_USAGE = "give [lower, upper]; the upper bound may be UNBOUNDED"


class Wrong(msgspec.Struct, frozen=True):
    """Why a text is not a value of a type."""

    reason: str = ""
    """The text after the name of the value in a message; "" where the type says enough."""
    hint: str = ""
    code: str = "bad-value"


def scalar_text(data: object) -> tuple[str, bool]:
    """How a single value of plain data would be written: the text, and whether that is without quotes."""
    if isinstance(data, str):
        return data, False
    if isinstance(data, bool):
        return "true" if data else "false", True
    if isinstance(data, float) and not isfinite(data):
        return ".nan" if isnan(data) else ".inf" if data > 0 else "-.inf", True
    return "null" if data is None else str(data), True


def _string(text: str, plain: bool) -> Value | Wrong:
    if plain and text in NULLS:
        return Wrong(" is empty", 'write "" for an empty text', "missing-value")
    return text


def _integer(text: str, plain: bool) -> Value | Wrong:
    number = integer(text) if plain else None
    if number is not None:
        return number
    if plain and len(text) > MOST_DIGITS and is_number(text):
        return Wrong(_too_big(text), "write a smaller one")
    return Wrong(hint=EXAMPLES["integer"])


def _float(text: str, plain: bool) -> Value | Wrong:
    number = decimal(text) if plain else None
    if number is not None:
        return number
    if plain and is_number(text):
        return Wrong(_too_big(text), "write a smaller one")
    return Wrong(hint=EXAMPLES["float"])


def _too_big(text: str) -> str:
    """What is wrong with a number that cannot be kept."""
    return f": {text if len(text) <= MOST_SHOWN else f'{text[:MOST_SHOWN]}...'} is too large a number"


def _boolean(text: str, plain: bool) -> Value | Wrong:
    if plain and text in BOOLEANS:
        return BOOLEANS[text]
    meant = MEANT_BOOLEANS.get(text.casefold()) if plain else None
    return Wrong(
        hint=f"write true or false (here: {meant}); YAML 1.2 knows only these" if meant else EXAMPLES["boolean"]
    )


def _null(text: str, plain: bool) -> Value | Wrong:
    if not plain or text not in NULLS:
        return Wrong()
    return None


def _timestamp(text: str, _plain: bool) -> Value | Wrong:
    try:
        parse_timestamp(text)
    except ValueError as error:
        return Wrong(f": {error}")
    return text


def _version(text: str, _plain: bool) -> Value | Wrong:
    try:
        Version.parse(text)
    except ValueError as error:
        return Wrong(f": {error}")
    return text


def _scalar_unit(kind: str, text: str, _plain: bool) -> Value | Wrong:
    try:
        return canonical(text, kind)
    except NotAScalarUnit as error:
        return Wrong(f": {error}", error.hint)


def has_unit_in_another_case(kind: str, text: str, value: str) -> bool:
    """Whether the unit of a text is written in another case than in the value that it gives; sizes have no case."""
    return kind != "scalar-unit.size" and not text.rstrip().endswith(value.partition(" ")[2])


def range_of(bounds: Sequence[tuple[str, bool] | None]) -> Value | Wrong:
    """A range by how its bounds are written; None for a bound that is not a single value."""
    reason = "a range has two bounds"
    if len(bounds) == 2:
        low, high = (integer(b[0]) if b is not None and b[1] else None for b in bounds)
        first, last = (b[0] if b is not None else "" for b in bounds)
        if first == UNBOUNDED:
            reason = "only the upper bound may be UNBOUNDED"
        elif low is not None and last == UNBOUNDED:
            return [low, UNBOUNDED]
        elif low is None or high is None:
            reason = "the bounds of a range are whole numbers"
        elif low <= high:
            return [low, high]
        else:
            reason = f"the upper bound {high} is below the lower bound {low}"
    return Wrong(f": {reason}", RANGE_USAGE)


Reader = Callable[[str, bool], "Value | Wrong"]
READERS: Mapping[str, Reader] = {
    "string": _string,
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "null": _null,
    "timestamp": _timestamp,
    "version": _version,
    **{kind: partial(_scalar_unit, kind) for kind in UNITS},
}
"""The readers of primitive types, save those of range, list and map, whose values have parts."""
