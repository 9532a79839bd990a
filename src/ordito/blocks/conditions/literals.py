"""Numbers and strings as CUE writes them."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

MOST_EXPONENT = 1_000
"""The largest exponent of a number, either way."""

NUMBER = re.compile(
    r"""
    0[xX](?P<hex>[0-9a-fA-F_]*) | 0o(?P<octal>[0-9_]*) | 0b(?P<binary>[0-9_]*)
    | (?P<whole>[0-9][0-9_]*)? (?P<point>\.(?P<fraction>[0-9][0-9_]*)?)?
      (?: (?P<multiplier>[KMGTP]i?) | [eE](?P<exponent>[-+]?[0-9][0-9_]*) )?
    """,
    re.VERBOSE | re.ASCII,
)
"""The text of a number, if it begins with a digit, or with a point and a digit."""

_MULTIPLIERS = {
    f"{letter}{i}": base**power
    for i, base in (("", 1_000), ("i", 1_024))
    for power, letter in enumerate("KMGTP", start=1)
}
_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "/": "/",
    "\\": "\\",
    '"': '"',
}
_HEX = {"u": 4, "U": 8}


class NotALiteral(ValueError):
    """A literal is not well formed; ``begin`` and ``end`` are the range of the wrong characters in its text."""

    def __init__(self, message: str, begin: int, end: int, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.begin = begin
        self.end = end
        self.hint = hint


def number(text: str) -> int | Decimal:
    """The value of a number that ``NUMBER`` has matched: an integer, or a float as a ``Decimal``."""
    found = NUMBER.fullmatch(text)
    assert found is not None
    if text.startswith("_") or text.endswith("_") or "__" in text or re.search(r"_[.xobeEKMGTP]|[.xobeE+-]_", text):
        raise NotALiteral('"_" in a number stands between two digits', 0, len(text))
    for name, base in (("hex", 16), ("octal", 8), ("binary", 2)):
        if found[name] is not None:
            return _based(found[name], base, text)
    return _decimal(found, text)


def _based(digits: str, base: int, text: str) -> int:
    try:
        return int(digits, base)
    except ValueError:
        raise NotALiteral(f'"{text}" is not a number of base {base}', 0, len(text)) from None


def _decimal(found: re.Match[str], text: str) -> int | Decimal:
    whole, fraction = found["whole"] or "0", found["fraction"] or ""
    exponent = (found["exponent"] or "0").replace("_", "")
    if len(whole) > 1 and whole.startswith("0"):
        raise NotALiteral("a number does not begin with 0", 0, len(text), "octal numbers begin with 0o")
    if len(exponent) > 6 or abs(int(exponent)) > MOST_EXPONENT:
        raise NotALiteral(f"exponents are between -{MOST_EXPONENT} and {MOST_EXPONENT}", 0, len(text))
    plain = f"{whole}.{fraction or '0'}".replace("_", "")
    if found["multiplier"]:
        amount = Fraction(plain) * _MULTIPLIERS[found["multiplier"]]
        if amount.denominator != 1:
            raise NotALiteral(f"{text} is not a whole number", 0, len(text))
        return int(amount)
    if found["point"] or found["exponent"]:
        return Decimal(f"{plain}e{exponent}")
    return int(whole)


def opening(text: str, at: int) -> int:
    """How many ``#`` come before the quote of a string that begins at a place; -1 where none begins there."""
    end = at
    while text.startswith("#", end):
        end += 1
    return end - at if text.startswith('"', end) else -1


def string(text: str, at: int, hashes: int) -> tuple[str, int]:
    """The value of the string that begins at a place of a text, and where it ends. Between ``#"`` and ``"#`` only
    ``\\#`` begins an escape. The range of a ``NotALiteral`` counts characters of the whole text."""
    closing = '"' + "#" * hashes
    escape = "\\" + "#" * hashes
    found: list[str] = []
    position = at + hashes + 1
    while not text.startswith(closing, position):
        character = text[position : position + 1]
        if character in {"", "\n", "\r"}:
            raise NotALiteral("the string has no end on its line", at, position, f"close it with {closing}")
        if text.startswith(escape, position):
            piece, position = _escaped(text, position, len(escape))
            found.append(piece)
        else:
            found.append(character)
            position += 1
    return "".join(found), position + len(closing)


def _escaped(text: str, begin: int, width: int) -> tuple[str, int]:
    """The character that an escape stands for, and where it ends."""
    letter = text[begin + width : begin + width + 1]
    end = begin + width + 1
    if letter == "(":
        raise NotALiteral("interpolation is not part of conditions", begin, end, 'join texts with +: "a" + values.b')
    if letter in _HEX:
        return _code_point(text, begin, width)
    if letter not in _ESCAPES or not letter:
        hint = f'write #"{text[begin:end]}"# or {text[begin]}{text[begin:end]} for the characters themselves'
        raise NotALiteral(f"{text[begin:end]} is not an escape", begin, end, hint if letter.strip() else "")
    return _ESCAPES[letter], end


def _code_point(text: str, begin: int, width: int) -> tuple[str, int]:
    code, end = _hex_digits(text, begin, width)
    if 0xD800 <= code < 0xDC00 and text.startswith(text[begin : begin + width] + "u", end):
        low, low_end = _hex_digits(text, end, width)
        if 0xDC00 <= low < 0xE000:
            return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)), low_end
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise NotALiteral(f"{text[begin:end]} is not a character", begin, end)
    return chr(code), end


def _hex_digits(text: str, begin: int, width: int) -> tuple[int, int]:
    first = begin + width + 1
    end = first + _HEX[text[first - 1]]
    digits = text[first:end]
    if not re.fullmatch(r"[0-9a-fA-F]+", digits) or len(digits) != end - first:
        raise NotALiteral(f"\\{text[first - 1]} is followed by {end - first} hexadecimal digits", begin, first)
    return int(digits, 16), end
