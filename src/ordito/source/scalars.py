"""The meaning of a scalar where no type is declared: the core schema of YAML 1.2 (§3.3.1)."""

from __future__ import annotations

import re
from math import isfinite

from ordito.source.nodes import Scalar, is_null

INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
NOT_NUMBERS = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
MOST_DIGITS = 300


def core_value(scalar: Scalar) -> None | bool | int | float | str:
    """The value of a scalar by the YAML 1.2 core schema; quoted ones are strings."""
    text = scalar.text
    if not scalar.plain:
        return text
    if is_null(scalar):
        return None
    if text in BOOLEANS:
        return BOOLEANS[text]
    whole = integer(text)
    if whole is not None:
        return whole
    return text if (number := decimal(text)) is None else number


def integer(text: str) -> int | None:
    """The integer written by ``text`` (decimal, ``0o`` octal, ``0x`` hexadecimal), or None."""
    if len(text) > MOST_DIGITS:
        return None
    if text.isdecimal() and text.isascii():
        return int(text)
    if not INTEGER.fullmatch(text):
        return None
    return int(text, 0) if text[:2] in {"0o", "0x"} else int(text)


def decimal(text: str) -> float | None:
    """The floating point number written by ``text``, or None, also where the number is too large."""
    if text in NOT_NUMBERS:
        return NOT_NUMBERS[text]
    if len(text) > MOST_DIGITS or not FLOAT.fullmatch(text):
        return None
    number = float(text)
    return number if isfinite(number) else None


def is_number(text: str) -> bool:
    """Whether a text is a number of any length; only its first thousand characters are checked."""
    return FLOAT.fullmatch(text[:1_000]) is not None
