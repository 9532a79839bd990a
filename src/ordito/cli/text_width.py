"""Texts on a terminal: made safe for one, and fitted to its width."""

from __future__ import annotations

import re

from ordito.base.text_width import character_width, width

TAB_STOP = 4
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


STEERING = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
"""Characters that move the cursor, change the direction of writing or end a line, and invalid ones."""
UNFIT = re.compile(f"[{STEERING}]")
UNFIT_IN_LINE = re.compile(f"[\n{STEERING}]")
NAMED = {"\n": "\\n", "\r": "\\r"}


def printable(text: str) -> str:
    """A text that cannot control the terminal: control characters except tab and newline, and those that change the
    direction of writing, are shown as escapes."""
    return text if text.isprintable() else UNFIT.sub(_escape, text)


PIN = re.compile(r"(\bartifacts/[0-9a-f]{12})[0-9a-f]{52}(?![0-9a-f])")
"""The path of a folder of pinned files, whose name is their digest."""


def short_pins(text: str) -> str:
    """A printable text, in which the digests in paths of pinned files are shortened."""
    return PIN.sub(r"\1...", printable(text))


def one_line(text: str) -> str:
    """A printable text on one line."""
    return text if text.isprintable() else UNFIT_IN_LINE.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:
        # A byte of a file's name that is not UTF-8.
        code -= 0xDC00
    return NAMED.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def columns(line: str) -> list[str]:
    """How each character of a line is shown, with tabs expanded and control characters replaced."""
    shown: list[str] = []
    at = 0
    for character in line:
        form = character
        if character == "\t":
            form = " " * (TAB_STOP - at % TAB_STOP)
        elif UNFIT_IN_LINE.match(character):
            form = REPLACEMENT
        shown.append(form)
        at += width(form)
    return shown


def shorten(text: str, most: int, ellipsis: str) -> str:
    """A text of at most ``most`` columns; a longer one is cut and marked."""
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
    """A text filled up with blanks to a number of columns."""
    return text + " " * (to - width(text))
