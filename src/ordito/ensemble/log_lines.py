"""What steps printed, brought together by lines: a log holds it in the pieces in which it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

MOST_HELD = 64 * 1024
"""Bytes of a line after which it is not waited for its end."""
MOST_OPEN = 1_000
"""Steps whose lines are waited for at one time."""


def by_lines(pieces: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The same pieces, each with its step, cut at ends of lines: a line begins and ends in one piece, unless it is very
    long, and no character is cut in two."""
    held: dict[str, bytearray] = {}
    for step, data in pieces:
        open_line = held.setdefault(step, bytearray())
        open_line += data
        end = open_line.rfind(b"\n", len(open_line) - len(data)) + 1
        if len(open_line) - end > MOST_HELD:
            end = _whole_characters(open_line)
        if end:
            yield step, bytes(open_line[:end])
            del open_line[:end]
        if not open_line:
            del held[step]
        elif len(held) > MOST_OPEN:
            oldest = next(iter(held))
            yield oldest, bytes(held.pop(oldest))
    for step, rest in held.items():
        yield step, bytes(rest)


def _whole_characters(data: bytearray) -> int:
    """How many bytes there are before a character of UTF-8 that is not whole."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            return len(data) - back if byte >= 0xC0 else len(data)
    return len(data)
