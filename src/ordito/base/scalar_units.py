"""Scalar units: a number with a unit of size, time, frequency or bit rate (TOSCA 1.3 §3.3.6), compared exactly."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

SCALAR = re.compile(r"\s*([-+]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][-+]?[0-9]{1,3})?)\s*([A-Za-z]+)\s*")

_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}

SIZE = {"B": 1, **{f"{p}B": f for p, f in _DECIMAL.items() if p}, **{f"{p}B": f for p, f in _BINARY.items()}}
TIME = {
    "d": Fraction(86_400),
    "h": Fraction(3_600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}
FREQUENCY = {"Hz": 1, "kHz": 10**3, "MHz": 10**6, "GHz": 10**9}
_RATE = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, **_BINARY}
BITRATE = {
    **{f"{p}bps": Fraction(f) for p, f in _RATE.items()},
    **{f"{p}Bps": Fraction(f * 8) for p, f in _RATE.items()},
}

UNITS = {
    "scalar-unit.size": {k: Fraction(v) for k, v in SIZE.items()},
    "scalar-unit.time": TIME,
    "scalar-unit.frequency": {k: Fraction(v) for k, v in FREQUENCY.items()},
    "scalar-unit.bitrate": BITRATE,
}
"""The units of each scalar unit type, as factors of its base unit (B, s, Hz, bit/s)."""


MEANT = {
    "scalar-unit.size": {"k": "kB", "m": "MB", "g": "GB", "t": "TB", "ki": "KiB", "mi": "MiB", "gi": "GiB", "ti": "TiB"}
    | dict.fromkeys(("byte", "bytes"), "B"),
    "scalar-unit.time": dict.fromkeys(("sec", "secs", "second", "seconds"), "s")
    | dict.fromkeys(("min", "mins", "minute", "minutes"), "m")
    | dict.fromkeys(("hr", "hrs", "hour", "hours"), "h")
    | dict.fromkeys(("day", "days"), "d")
    | dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms")
    | dict.fromkeys(("usec", "usecs", "microsecond", "microseconds"), "us")
    | dict.fromkeys(("nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    "scalar-unit.frequency": {"k": "kHz", "m": "MHz", "g": "GHz", "hertz": "Hz"},
    "scalar-unit.bitrate": {},
}
"""What people write in place of a unit, without case, and what they mean by it."""


class NotAScalarUnit(ValueError):
    """The text is not a value of the scalar unit type; ``hint`` says how to write one."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


@lru_cache(maxsize=10_000)
def canonical(text: str, kind: str) -> str:
    """The value as scripts get it: the author's number, one space, and the unit in the spelling of the specification.

    Raises ``NotAScalarUnit`` where number or unit are missing, or the unit does not belong to ``kind``.
    """
    match = SCALAR.fullmatch(text)
    known = ", ".join(UNITS[kind])
    if match is None:
        raise NotAScalarUnit(
            f'"{text}" is not a number with a unit', f'write for example "10 {next(iter(UNITS[kind]))}"; units: {known}'
        )
    number, unit = match.groups()
    spelled = unit if unit in UNITS[kind] else _other_case(unit, kind)
    if spelled is None:
        meant = _meant(unit, kind)
        hint = f"write {' or '.join(f'{number} {m}' for m in meant)}; " if meant else ""
        raise NotAScalarUnit(f'"{unit}" is not a unit of {kind.removeprefix("scalar-unit.")}', f"{hint}units: {known}")
    return f"{number} {spelled}"


@lru_cache(maxsize=10_000)
def amount(text: str, kind: str) -> Fraction:
    """The exact amount of a canonical value, in the base unit of its kind."""
    number, unit = text.split(" ")
    return Fraction(number) * UNITS[kind][unit]


def _meant(unit: str, kind: str) -> list[str]:
    """The units that are probably meant by what is none."""
    usual = MEANT[kind].get(unit.casefold())
    return [usual] if usual else [u for u in UNITS[kind] if u.casefold() == unit.casefold()]


def _other_case(unit: str, kind: str) -> str | None:
    """The unit written in other case, where only one is meant; bit rates mind the case (bits and bytes)."""
    if kind == "scalar-unit.bitrate":
        return None
    found = [u for u in UNITS[kind] if u.casefold() == unit.casefold()]
    return found[0] if len(found) == 1 else None
