"""Takes secrets out of texts: as they are, in the encodings that scripts make of them, and cut in two.

What is looked for is each secret as it is, in base64 (both alphabets, wherever it stands in what was encoded), in
hexadecimal digits, quoted for URLs, JSON, HTML and shells; and of a text of several lines each line. Ends of lines
inside of it do not hide it. In its place stands `(sensitive)`.

A secret of fewer than ``LEAST`` characters is not looked for: it would take away half of every text, and is no secret.
"""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from ordito.base.sensitive import SHOWN, Sensitive, living, texts_in

LEAST = 4
"""Characters that a secret must have to be looked for."""

MOST_WITHHELD = 1 << 20
"""Bytes of one source that are kept back at most until it is known what is secret in them."""

MASK = SHOWN.encode()

_LINE_END = re.compile(rb"\r?\n")
_IN_DOUBLE_QUOTES = re.compile(r"([\\\"$`])")
_SHELL_SPECIAL = re.compile(r"([^A-Za-z0-9_./:=@%+,^-])")


class Masking:
    """The secrets that are known, and the outputs from which they are taken out as these come in.

    As long as nothing is known, and nothing withheld, everything goes through untouched: ``is_active`` says so.
    """

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._forms: list[bytes] = []
        self._longest = 0
        self._held: dict[object, bytes] = {}
        self._withheld: dict[object, bytearray] = {}
        self.is_active = False

    def know(self, values: Iterable[Sensitive]) -> None:
        """Look for these values from now on."""
        for value in values:
            self.know_texts(texts_in(value.reveal()))

    def know_texts(self, texts: Iterable[str]) -> None:
        """Look for these texts from now on."""
        fresh = {t for t in texts if len(t) >= LEAST and t not in self._secrets}
        if not fresh:
            return
        self._secrets |= fresh
        known = set(self._forms)
        for secret in sorted(fresh):
            known.update(form for form in forms(secret) if len(form) >= LEAST)
        self._forms = sorted(known, key=lambda form: (-len(form), form))
        self._longest = len(self._forms[0])
        self.is_active = True

    # -------------------------------------------------------------------------------------------- whole texts

    def text(self, text: str) -> str:
        """A text without secrets."""
        if not self._forms:
            return text
        data = text.encode("utf-8", "surrogatepass")
        masked = self.data(data)
        return text if masked is data else masked.decode("utf-8", "surrogatepass")

    def lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """Lines without secrets, also such as go on from one line to the next."""
        given = tuple(lines)
        return tuple(self.text("\n".join(given)).split("\n")) if self._forms and given else given

    def hits(self, text: str) -> bool:
        """Whether there is a secret in a text."""
        return bool(self._forms) and self.text(text) is not text

    def data(self, data: bytes) -> bytes:
        """Bytes without secrets; the very bytes where there is none."""
        ends = [found.span() for found in _LINE_END.finditer(data)]
        ranges = self._found(_LINE_END.sub(b"", data) if ends else data)
        if not ranges:
            return data
        place = _Places(ends)
        pieces: list[bytes] = []
        at = 0
        for begin, end in ranges:
            first, last = place.of(begin), place.of(end - 1) + 1
            pieces += (data[at:first], MASK, *_LINE_END.findall(data, first, last))
            at = last
        return b"".join([*pieces, data[at:]])

    def _found(self, data: bytes) -> list[tuple[int, int]]:
        """Where secrets stand, in order, ranges that touch joined."""
        found: list[tuple[int, int]] = []
        for form in self._forms:
            at = data.find(form)
            while at >= 0:
                found.append((at, at + len(form)))
                at = data.find(form, at + 1)
        joined: list[tuple[int, int]] = []
        for begin, end in sorted(found):
            if joined and begin <= joined[-1][1]:
                joined[-1] = joined[-1][0], max(end, joined[-1][1])
            else:
                joined.append((begin, end))
        return joined

    # ------------------------------------------------------------------------------------- outputs that come in

    def withhold(self, source: object) -> None:
        """Keep back all that comes from a source until its end: it may make secrets that are known only then."""
        self._withheld[source] = bytearray()
        self.is_active = True

    def feed(self, source: object, data: bytes) -> bytes:
        """What may be shown of the output of a source after some more of it: without the end that may be the beginning
        of a secret."""
        withheld = self._withheld.get(source)
        if withheld is not None:
            withheld += data[: MOST_WITHHELD - len(withheld)]
            return b""
        if not self._forms:
            return data
        data = self._held.pop(source, b"") + data
        cut = self._open_end(data)
        if cut < len(data):
            self._held[source] = data[cut:]
        return self.data(data[:cut])

    def end(self, source: object) -> bytes:
        """What is left to show of a source that has ended."""
        withheld = self._withheld.pop(source, None)
        if withheld is not None:
            return self.data(bytes(withheld))
        return self.data(self._held.pop(source, b""))

    def _open_end(self, data: bytes) -> int:
        """Where the end of some output begins that may go on to be a secret."""
        # Ends of lines count for nothing: with one after each byte the end is three times as long.
        tail = data[-3 * self._longest :]
        ends = [found.span() for found in _LINE_END.finditer(tail)]
        plain = _LINE_END.sub(b"", tail) if ends else tail
        # The line end itself may come in two parts.
        plain = plain.removesuffix(b"\r")
        longest = max((_overlap(plain, form) for form in self._forms), default=0)
        if not longest:
            return len(data)
        # A whole secret that ends in the open end stays together with it.
        begin = len(plain) - longest
        for first, last in self._found(plain):
            if first < begin < last:
                begin = first
        return len(data) - len(tail) + _Places(ends).of(begin)


class _Places:
    """From places in data without its line ends to places in the data."""

    def __init__(self, ends: list[tuple[int, int]]) -> None:
        self._removed: list[int] = []
        self._plain: list[int] = []
        removed = 0
        for begin, end in ends:
            self._plain.append(begin - removed)
            removed += end - begin
            self._removed.append(removed)

    def of(self, place: int) -> int:
        """The place of the byte that is at ``place`` without line ends."""
        before = bisect_left(self._plain, place + 1)
        return place + (self._removed[before - 1] if before else 0)


def _overlap(data: bytes, form: bytes) -> int:
    """How many bytes at the end of data are the beginning of a form, but not all of it."""
    begin = max(0, len(data) - len(form) + 1)
    at = data.find(form[:1], begin)
    while at >= 0:
        if form.startswith(data[at:]):
            return len(data) - at
        at = data.find(form[:1], at + 1)
    return 0


def net() -> Masking:
    """What takes out all sensitive values that this process holds and knows now: the last net, for reports of its own
    faults."""
    masking = Masking()
    masking.know(value for value in living() if value.is_open)
    return masking


def forms(secret: str) -> Iterator[bytes]:
    """What a secret looks like where it is printed."""
    from urllib.parse import quote, quote_plus

    parts = [secret, *(line for line in secret.splitlines() if line != secret)]
    for text in parts:
        data = text.encode("utf-8", "surrogatepass")
        yield _LINE_END.sub(b"", data)
        yield data.hex().encode()
        yield data.hex().upper().encode()
        yield from _base64(data)
        for quoted in (quote(data, safe=""), quote(data), quote_plus(data)):
            yield quoted.encode()
            yield re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), quoted).encode()
        for ascii_only in (True, False):
            inner = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            yield inner.encode("utf-8", "surrogatepass")
            yield inner.replace("/", "\\/").encode("utf-8", "surrogatepass")
        for shown in (html.escape(text), shlex.quote(text), shlex.quote(text)[1:-1], _backslashes(text)):
            yield shown.encode("utf-8", "surrogatepass")
        # What `declare -p`, `set -x` and `printf %q` of bash write.
        yield _IN_DOUBLE_QUOTES.sub(r"\\\1", text).encode("utf-8", "surrogatepass")
        yield text.replace("'", "'\\''").encode("utf-8", "surrogatepass")
        yield text.replace("\\", "\\\\").replace("'", "\\'").encode("utf-8", "surrogatepass")


def _backslashes(text: str) -> str:
    return _SHELL_SPECIAL.sub(r"\\\1", text)


def _base64(data: bytes) -> Iterator[bytes]:
    """The characters of base64 that data alone decides, for each place at which it may begin in what is encoded."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data)
        begin = -(-before * 8 // 6)
        end = (before + len(data)) * 8 // 6
        yield encoded[begin:end]
        yield encoded[begin:end].translate(_URL_SAFE)


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
