"""What one operation prints: bytes that end anywhere become lines of text, and the last of them are kept."""

from __future__ import annotations

import codecs
from collections import deque

TAIL_LINES = 20
LONGEST_LINE = 8_192
"""Characters after which a line is cut, so that a program that never ends its line costs no memory."""

_UTF8 = codecs.getincrementaldecoder("utf-8")


class PrintedLines:
    """Decodes a step's output (UTF-8, with U+FFFD for what is none) and cuts it into lines."""

    def __init__(self) -> None:
        self._decoder = _UTF8("replace")
        self._partial = ""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    def feed(self, data: bytes) -> str:
        """Take a piece of output; gives the lines that are complete by now, joined by newlines, "" for none."""
        return self._complete(self._partial + self._decoder.decode(data))

    def end(self) -> str:
        """The output has ended; gives what was left without the end of a line."""
        rest = self._partial + self._decoder.decode(b"", final=True)
        return self._complete(rest + "\n" if rest else "")

    @property
    def tail(self) -> tuple[str, ...]:
        """The last lines, without their ends."""
        return tuple(self._tail)

    def _complete(self, text: str) -> str:
        *lines, self._partial = text.split("\n")
        if len(self._partial) >= LONGEST_LINE:
            lines.append(self._partial)
            self._partial = ""
        lines = [piece for line in lines for piece in _pieces(line.removesuffix("\r"))]
        self._tail.extend(lines)
        return "\n".join(lines)


def _pieces(line: str) -> list[str]:
    if len(line) <= LONGEST_LINE:
        return [line]
    return [line[at : at + LONGEST_LINE] for at in range(0, len(line), LONGEST_LINE)]
