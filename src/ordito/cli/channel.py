"""The two channels to people: results go to standard output, progress and diagnostics to standard error."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TextIO

import msgspec

from ordito.base.text_width import width
from ordito.cli.text_width import one_line, pad, printable

MARK = f"\x1b{os.urandom(8).hex()}["
"""Marks the terminal sequences of channels until they are written: no text of a user contains it."""
NARROWEST = 40
USUAL_WIDTH = 100


class Color(StrEnum):
    """When to use colour."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class Symbols(msgspec.Struct, frozen=True):
    """The marks that views use; each has a form for encodings that only have ASCII."""

    ok: str
    failed: str
    running: str
    waiting: str
    skipped: str
    ellipsis: str
    bar: str


UNICODE = Symbols(ok="✓", failed="✗", running="▸", waiting="·", skipped="-", ellipsis="…", bar="│")
ASCII = Symbols(ok="v", failed="x", running=">", waiting=".", skipped="-", ellipsis="...", bar="|")

STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "good": "32",
    "bad": "31",
    "change": "33",
    "faint": "2",
    "strong": "1",
    "place": "34",
}
"""Names of styles, and how a terminal shows them (select graphic rendition). Nothing is shown by colour alone."""


class Channel:
    """A text stream with what views must know about it: colour, symbols and width.

    A reader that closes the pipe (``ordito status | head``) silences the channel without harm; any other failure to
    write is kept in ``failure``, because a command whose result was not written must not succeed.
    """

    def __init__(self, stream: TextIO, color: Color = Color.AUTO) -> None:
        self.stream = stream
        self.failure: OSError | None = None
        self.is_open = True
        self.is_terminal = stream.isatty()
        self.is_animated = self.is_terminal and os.environ.get("TERM", "") not in {"", "dumb"}
        self.has_color = self._wants_color(color)
        encoding = (stream.encoding or "ascii").lower().replace("-", "").replace("_", "")
        self.is_unicode = encoding.startswith("utf")
        self.symbols = UNICODE if self.is_unicode else ASCII

    def _wants_color(self, color: Color) -> bool:
        if color is not Color.AUTO:
            return color is Color.ALWAYS
        if os.environ.get("NO_COLOR"):
            return False
        return self.is_animated or bool(os.environ.get("FORCE_COLOR"))

    @property
    def width(self) -> int:
        """The columns of a terminal, or a default elsewhere."""
        if not self.is_terminal:
            return USUAL_WIDTH
        import shutil

        return max(shutil.get_terminal_size((USUAL_WIDTH, 24)).columns, NARROWEST)

    def paint(self, style: str, text: str) -> str:
        """A text in one of ``STYLES``, to be written by ``line``."""
        return f"{MARK}{STYLES[style]}m{text}{MARK}0m" if self.has_color and text else text

    def write(self, text: str) -> None:
        """Write a text unchanged."""
        if not self.is_open:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError as error:
            self._close(error)

    def line(self, text: str = "") -> None:
        """Write a line. Only what ``paint`` made can control a terminal: control characters in users' texts are shown
        as escapes, line ends too."""
        self.write(_steered(text))

    def lines(self, texts: Iterable[str]) -> None:
        """Write many lines at once, each as ``line`` does."""
        self.write("".join([_steered(text) for text in texts]))

    def _close(self, error: OSError) -> None:
        self.is_open = False
        if not isinstance(error, BrokenPipeError):
            self.failure = error
        silence(self.stream)


def silence(stream: TextIO) -> None:
    """Redirect a stream that cannot be written to nowhere: what it still holds must not fail again when the interpreter
    ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)


def _steered(text: str) -> str:
    """A line as it is written: only what ``paint`` made can control a terminal."""
    return "\x1b[".join(map(one_line, text.split(MARK))) + "\n"


# Rows of text with their columns aligned.


def write_columns(titles: Sequence[str], rows: Sequence[Sequence[str]], channel: Channel) -> None:
    """Write rows below their titles; the last column may have any length."""
    if not rows:
        channel.line("none")
        return
    widths = [max(map(width, column)) for column in zip(titles, *rows, strict=True)]
    channel.line(channel.paint("strong", _row(titles, widths)))
    for row in rows:
        channel.line(printable(_row(row, widths)))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(pad(cell, wide) for cell, wide in zip(cells, widths, strict=True)).rstrip()
