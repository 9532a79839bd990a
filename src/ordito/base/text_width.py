"""The width of texts, in columns of fonts in which all characters are equally wide."""

from __future__ import annotations

import unicodedata


def width(text: str) -> int:
    """The columns that a text without control characters takes."""
    return len(text) if text.isascii() else sum(map(character_width, text))


def character_width(character: str) -> int:
    """The columns of one character: 2 for wide ones, 0 for those that only change the one before."""
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
