"""Decodes escapes in texts that programs wrote, and tells which original bytes each decoded byte comes from.

It knows the escapes of JSON, JavaScript, Python, C, Perl and shells (``\\n``, ``\\u00e4``, ``\\303``), those of URLs
(``%2D``, ``%u20ac``), character references of HTML and XML (``&#39;``, ``&apos;``), and quotes that are doubled, or
closed and opened again, as in SQL, CSV and shells (``''``, ``'\\''``). All are decoded at once, since a line of a log
does not tell which of them is meant. What was encoded twice is decoded by calling twice.
"""

from __future__ import annotations

import re
from bisect import bisect_right

# What all escapes begin with stands first: that is what makes looking for them cheap.
_ESCAPE = re.compile(
    rb"""
    [\\%&'"]
    (?: (?<=[\\%]) u[dD](?P<high>[89abAB][0-9a-fA-F]{2})[\\%]u[dD](?P<low>[c-fC-F][0-9a-fA-F]{2})
      | (?<=\\) (?: u(?P<unit>[0-9a-fA-F]{4}) | [ux]\{(?P<braced>[0-9a-fA-F]{1,6})\} | U(?P<long>[0-9a-fA-F]{8})
                  | x(?P<byte>[0-9a-fA-F]{2}) | (?P<octal>[0-3]?[0-7]{1,2}) | (?P<other>.) )
      | (?<=%) (?: (?P<percent>[0-9a-fA-F]{2}) | u(?P<percent_unit>[0-9a-fA-F]{4}) )
      | (?<=&) (?: \#(?P<decimal>[0-9]{1,7}) | \#[xX](?P<hexadecimal>[0-9a-fA-F]{1,6})
                 | (?P<name>[A-Za-z][A-Za-z0-9]{1,31}) );
      | (?P<quote> (?<=') (?: \\'' | "'"' | '(?! \\'' | "'"' ) ) | (?<=") " )
    )
    """,
    re.VERBOSE | re.DOTALL,
)

_UNFINISHED = re.compile(
    rb"""
    (?: [\\%]u[dD][89abAB][0-9a-fA-F]{2}(?: [\\%](?: u[0-9a-fA-F]{0,3} )? )?
      | \\(?: u[0-9a-fA-F]{0,3} | [ux]\{[0-9a-fA-F]{0,6} | U[0-9a-fA-F]{0,7} | x[0-9a-fA-F]? | [0-3]?[0-7]? )
      | %(?: [0-9a-fA-F]? | u[0-9a-fA-F]{0,3} )
      | &(?: \#[0-9]{0,7} | \#[xX][0-9a-fA-F]{0,6} | [A-Za-z0-9]{0,32} )
      | ''?(?: \\'? | "'?"? )? | "
    )\Z
    """,
    re.VERBOSE,
)
_LONGEST = 40

_BLANKS = b" \t"

_LETTERS = {
    b"a": b"\a",
    b"b": b"\b",
    b"e": b"\x1b",
    b"E": b"\x1b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}


class Rewritten:
    """A text made from another by replacing pieces of it, and where each of its bytes comes from.

    ``text`` is the new text. Places are offsets in bytes.
    """

    __slots__ = ("_begins", "_pieces", "text")

    def __init__(self, text: bytes, begins: list[int], pieces: list[tuple[int, int, int]]) -> None:
        """Of each piece: where it begins in the new text; and where it ends there, where the old text had it, up to
        where."""
        self.text = text
        self._begins = begins
        self._pieces = pieces

    def origin(self, place: int) -> tuple[int, int]:
        """The range of bytes of the given text (begin, end) that became the byte at ``place``."""
        before = bisect_right(self._begins, place) - 1
        if before < 0:
            return place, place + 1
        end, first, last = self._pieces[before]
        return (first, last) if place < end else (last + place - end, last + place - end + 1)

    def is_inside(self, given_place: int) -> bool:
        """Whether a place of the given text is inside a piece that was replaced, and not at its beginning."""
        before = bisect_right(self._pieces, given_place, key=lambda piece: piece[1]) - 1
        return before >= 0 and self._pieces[before][1] < given_place < self._pieces[before][2]


def decoded(text: bytes) -> Rewritten:
    """The text without one layer of escapes."""
    texts: list[bytes] = []
    begins: list[int] = []
    pieces: list[tuple[int, int, int]] = []
    at = size = 0
    for found in _ESCAPE.finditer(text):
        begin, end = found.span()
        new = _meant(found)
        size += begin - at
        begins.append(size)
        texts += (text[at:begin], new)
        size += len(new)
        pieces.append((size, begin, end))
        at = end
    return Rewritten(b"".join([*texts, text[at:]]) if texts else text, begins, pieces)


def joined(text: bytes, *, folded: bool = False, stands_for: bytes = b"") -> Rewritten:
    """The text with all its lines in one.

    Args:
        folded: Also remove blanks around the end of a line, and a backslash before it.
        stands_for: The text that takes the place of each line end.
    """
    lines = text.split(b"\n")
    begins: list[int] = []
    pieces: list[tuple[int, int, int]] = []
    kept: list[bytes] = []
    begin = end = size = 0
    for number, line in enumerate(lines):
        first, last = begin, begin + len(line)
        begin = last + 1
        rest = line
        if number:
            if folded:
                rest = rest.lstrip(_BLANKS)
                first = last - len(rest)
            begins.append(size)
            # What follows the last line end is not known.
            size += len(stands_for) if rest or begin <= len(text) else 0
            pieces.append((size, end, first))
        if number < len(lines) - 1:
            rest = without_cut(rest, folded=folded)
        kept.append(rest)
        size += len(rest)
        end = first + len(rest)
    return Rewritten(stands_for.join(kept)[:size], begins, pieces)


def without_cut(line: bytes, *, folded: bool) -> bytes:
    """A line without its end; where lines are folded, also without the blanks and the backslash before it."""
    line = line.removesuffix(b"\r")
    return line.removesuffix(b"\\").rstrip(_BLANKS) if folded else line


def unfinished(text: bytes, read: Rewritten) -> int:
    """Where an escape begins that the end of a text cuts, or may cut; the length of the text where there is none.

    ``read`` is the decoded text.
    """
    found = _UNFINISHED.search(text, max(0, len(text) - _LONGEST))
    while found and read.is_inside(found.start()):
        found = _UNFINISHED.search(text, found.start() + 1)
    return found.start() if found else len(text)


def _meant(found: re.Match[bytes]) -> bytes:
    kind = found.lastgroup or ""
    written = found[kind]
    if kind == "other":
        return _LETTERS.get(written, written)
    if kind == "quote":
        return found[0][:1]
    if kind in {"byte", "percent"}:
        return bytes([int(written, 16)])
    if kind == "octal":
        return bytes([int(written, 8)])
    if kind == "name":
        from html.entities import html5

        character = html5.get(f"{written.decode()};")
        return character.encode() if character else found[0]
    if kind == "low":
        number = 0x10000 + ((int(found["high"], 16) & 0x3FF) << 10 | int(written, 16) & 0x3FF)
    else:
        number = int(written, 10 if kind == "decimal" else 16)
    return chr(number).encode("utf-8", "surrogatepass") if number < 0x110000 else found[0]
