"""Durations as Go writes them (``5m``, ``1h30m``, ``1.5s``): how long a lifecycle step may take."""

from __future__ import annotations

import re
from fractions import Fraction

NANOSECONDS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3_600 * 10**9}
"""The units of Go that are of use for a step, in nanoseconds."""
MOST_NANOSECONDS = 2**63 - 1
"""The longest duration of Go, about 292 years."""
MOST_CHARACTERS = 100
UNITS = "ms, s, m, h"

_MEANT = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), (1, "s")),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), (1, "m")),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), (1, "h")),
    **dict.fromkeys(("d", "day", "days"), (24, "h")),
    **dict.fromkeys(("w", "week", "weeks"), (168, "h")),
    **dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), (1, "ms")),
    **{unit: (1, unit) for unit in NANOSECONDS},
}
"""What people write instead of a unit, in lower case, and what they mean: how many of which unit."""

_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_LOOSE_PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([^0-9.\s]*)\s*")


class NotADuration(ValueError):
    """A text is not a duration; the message says why, ``hint`` what to write."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def seconds(text: str) -> float:
    """The seconds of a duration, more than 0. Raises ``NotADuration`` where the text is not one."""
    if len(text) > MOST_CHARACTERS:
        raise NotADuration("a duration is a short text", _usual())
    amount = _nanoseconds(text)
    if amount is None:
        raise NotADuration(f'"{text}" is not a duration', _hint(text))
    if amount < 1:
        raise NotADuration(f'"{text}" is not longer than 0', "write more than 0, such as 30s")
    if amount > MOST_NANOSECONDS:
        raise NotADuration(f'"{text}" is longer than 292 years, the longest duration')
    return float(amount / 10**9)


def _nanoseconds(text: str) -> Fraction | None:
    """The nanoseconds of a duration; None where the text is none."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum((_number(number) * NANOSECONDS[unit] for number, unit in parts), Fraction(0))


def _number(text: str) -> Fraction:
    whole, _, fraction = text.partition(".")
    return Fraction(int(whole)) + Fraction(int(fraction or "0"), 10 ** len(fraction))


def _hint(text: str) -> str:
    """What was probably meant."""
    if text.strip().startswith("-"):
        return "a duration must be longer than 0"
    parts = _LOOSE_PART.findall(text)
    if not parts or "".join(_LOOSE_PART.sub("", text).split()):
        return _usual()
    meant = ""
    for number, written in parts:
        unit = written or "s"
        factor, known = _MEANT.get(unit, _MEANT.get(unit.casefold(), (0, "")))
        if not factor:
            return f'"{written}" is not a unit: {UNITS}'
        meant += f"{_times(number, factor)}{known}"
    return f"write {meant}" if _nanoseconds(meant) else _usual()


def _times(number: str, factor: int) -> str:
    if factor == 1:
        return number
    product = _number(number) * factor
    return str(product.numerator) if product.denominator == 1 else f"{float(product):.10g}"


def _usual() -> str:
    return f"write numbers with units, such as 30s, 5m or 1h30m; units: {UNITS}"
