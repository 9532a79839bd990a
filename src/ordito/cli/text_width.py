"""How many columns a text takes on a terminal, and texts made fit for one."""

from __future__ import annotations

import unicodedata

TAB_STOP = 4
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def width(text: str) -> int:
    """The columns that a text without control characters takes."""
    return len(text) if text.isascii() else sum(map(character_width, text))


def character_width(character: str) -> int:
    """The columns of one character: 2 for wide ones, 0 for those that only change the one before."""
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def printable(text: str) -> str:
    """A text that cannot steer the terminal it is printed on: control characters but tab and newline are replaced."""
    if text.isprintable():
        return text
    return "".join(c if c in "\t\n" or unicodedata.category(c) != "Cc" else REPLACEMENT for c in text)


def columns(line: str) -> list[str]:
    """What each character of a line looks like when tabs are expanded and control characters replaced."""
    shown: list[str] = []
    at = 0
    for character in line:
        form = character
        if character == "\t":
            form = " " * (TAB_STOP - at % TAB_STOP)
        elif unicodedata.category(character) == "Cc":
            form = REPLACEMENT
        shown.append(form)
        at += width(form)
    return shown


def shorten(text: str, most: int, ellipsis: str) -> str:
    """A text of at most so many columns; what does not fit is cut off and marked."""
    if width(text) <= most:
        return text
    room = most - width(ellipsis)
    kept: list[str] = []
    for character in text:
        room -= character_width(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + ellipsis


def pad(text: str, to: int) -> str:
    """A text filled up with blanks to so many columns."""
    return text + " " * (to - width(text))
