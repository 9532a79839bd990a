"""Replaces secrets in texts by ``(sensitive)``: as they are, with escapes, encoded, and cut by line ends.

A text is searched as it is and with its escapes decoded, up to ``LAYERS`` times (``ordito.base.escapes``), and with its
lines joined in each way in which programs cut lines. It is searched for each secret as it is, in Latin-1 and UTF-16, in
base64 (both alphabets) and base32 at any offset of what was encoded, and in hexadecimal digits; and for each line of a
secret that has several.

Secrets of fewer than ``LEAST`` characters are not searched for: they occur in every text, and hardly protect anything.
Secrets that were compressed, encrypted, reversed or written with other characters in between are not found.
"""

from __future__ import annotations

import base64
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from ordito.base.escapes import Rewritten, decoded, joined, unfinished, without_cut
from ordito.base.sensitive import SHOWN, Sensitive, living, texts_in

LEAST = 4
"""How many characters a secret must have to be searched for."""

LAYERS = 4
"""How many times escapes are decoded: a text in JSON in a URL in HTML takes three."""

MOST_WITHHELD = 1 << 20
"""How many bytes of one source are held back at most, until it is known what is secret in them."""

MASK = SHOWN.encode()

_LINE_END = re.compile(rb"\r?\n")
_LAYOUTS = ((False, b""), (True, b""))
_SPACED = (True, b" ")
"""How lines may be cut: anywhere, or folded and indented; where a line is folded at a space, the cut stands for it."""

_WRITTEN = 8
"""Bytes that one byte of a secret may become where it is written with escapes and line ends."""


class Masking:
    """The known secrets, and the outputs in which they are replaced while the outputs arrive.

    As long as no secret is known and no source is withheld, everything passes unchanged: then ``is_active`` is False.
    """

    def __init__(self) -> None:
        self._secrets: set[str] = set()
        self._forms: list[bytes] = []
        self._spaced: list[bytes] = []
        self._sorted: list[bytes] = []
        self._beginnings: set[bytes] = set()
        self._longest = 0
        self._layouts: tuple[tuple[bool, bytes], ...] = _LAYOUTS
        self._held: dict[object, bytes] = {}
        self._withheld: dict[object, bytearray] = {}
        self.is_active = False

    def know(self, values: Iterable[Sensitive]) -> None:
        """Replace these values from now on."""
        for value in values:
            self.know_texts(texts_in(value.reveal()))

    def know_texts(self, texts: Iterable[str]) -> None:
        """Replace these texts from now on."""
        fresh = {t for t in texts if len(t) >= LEAST and t not in self._secrets}
        if not fresh:
            return
        self._secrets |= fresh
        known = set(self._forms)
        for secret in sorted(fresh):
            known.update(form for form in _forms(secret) if len(form) >= LEAST)
            if " " in secret:
                self._layouts = (*_LAYOUTS, _SPACED)
        self._forms = list(known)
        self._spaced = [form for form in known if b" " in form]
        self._sorted = sorted(known)
        self._beginnings = {form[:length] for form in known for length in (1, 2)}
        self._longest = max(map(len, known))
        self.is_active = True

    # -------------------------------------------------------------------------------------------- whole texts

    def text(self, text: str) -> str:
        """The text with its secrets replaced."""
        if not self._forms:
            return text
        data = text.encode("utf-8", "surrogatepass")
        masked = self.data(data)
        return text if masked is data else masked.decode("utf-8", "surrogatepass")

    def lines(self, lines: Iterable[str]) -> tuple[str, ...]:
        """The lines with their secrets replaced, also secrets that extend over several lines."""
        given = tuple(lines)
        return tuple(self.text("\n".join(given)).split("\n")) if self._forms and given else given

    def hits(self, text: str) -> bool:
        """Whether a text holds a secret."""
        return bool(self._forms) and self.text(text) is not text

    def data(self, data: bytes) -> bytes:
        """The bytes with their secrets replaced; the same object where there is none."""
        return _masked(data, self._found(data))

    def _found(self, data: bytes) -> list[tuple[int, int]]:
        """Where secrets stand, in order, ranges that touch joined."""
        found: list[tuple[int, int]] = []
        for view in self._views(data):
            for form in self._spaced if view.is_spaced else self._forms:
                at = view.text.find(form)
                while at >= 0:
                    first, end = at, at + len(form)
                    while at >= 0 and at <= end:
                        end = at + len(form)
                        at = view.text.find(form, at + 1)
                    found.append((view.begin(first), view.end(end)))
        apart: list[tuple[int, int]] = []
        for begin, end in sorted(found):
            if apart and begin <= apart[-1][1]:
                apart[-1] = apart[-1][0], max(end, apart[-1][1])
            else:
                apart.append((begin, end))
        return apart

    def _views(self, data: bytes, *, goes_on: bool = False) -> Iterator[_DataView]:
        """All that data may stand for: its lines joined, its escapes decoded, again and again; each once.

        Where the data ``goes_on``, a line end or an escape that its end cuts is left out of what is decoded."""
        views = [_DataView(data)]
        seen: set[bytes] = set()
        for layer in range(LAYERS + 1):
            fresh: list[_DataView] = []
            for view in views:
                for folded, stands_for in self._layouts:
                    in_one = view.joined(folded=folded, stands_for=stands_for, goes_on=goes_on)
                    if in_one.text not in seen:
                        seen.add(in_one.text)
                        fresh.append(in_one)
            yield from fresh
            if layer < LAYERS:
                views = [after for view in fresh if (after := view.decoded(goes_on=goes_on))]

    # ------------------------------------------------------------------------------------- outputs that come in

    def withhold(self, source: object) -> None:
        """Hold back all output of a source until its end: it may create secrets that are known only then."""
        self._withheld[source] = bytearray()
        self.is_active = True

    def feed(self, source: object, data: bytes) -> bytes:
        """Take more output of a source, and return what of it may be shown now: without an end that may be the
        beginning of a secret."""
        withheld = self._withheld.get(source)
        if withheld is not None:
            withheld += data[: MOST_WITHHELD - len(withheld)]
            return b""
        if not self._forms:
            return data
        data = self._held.pop(source, b"") + data
        found = self._found(data)
        cut = self._open_end(data, found)
        if cut < len(data):
            self._held[source] = data[cut:]
        return _masked(data[:cut], found)

    def end(self, source: object) -> bytes:
        """The rest of what may be shown of a source that has ended."""
        withheld = self._withheld.pop(source, None)
        if withheld is not None:
            return self.data(bytes(withheld))
        return self.data(self._held.pop(source, b""))

    def _open_end(self, data: bytes, found: list[tuple[int, int]]) -> int:
        """Where the end of some output begins that may go on to be a secret, of which others are ``found`` in it."""
        begin = max(0, len(data) - _WRITTEN * self._longest)
        # What begins within an escape would be decoded as something else.
        while begin and data[begin - 1] in b"\\":
            begin -= 1
        tail = data[begin:]
        cut = min((self._open_in(view, len(tail)) for view in self._views(tail, goes_on=True)), default=len(tail))
        cut += begin
        # A whole secret that ends in the open end stays together with it.
        for first, last in reversed(found):
            if first < cut < last:
                cut = first
        return cut

    def _open_in(self, view: _DataView, whole: int) -> int:
        """The same for one view of an end of ``whole`` bytes."""
        length, known = len(view.text), view.finished()
        begin = length - self._overlap(view.text)
        if known < length and ((before := self._overlap(view.text[:known])) or self._may_begin(view.text[known:])):
            begin = min(begin, known - before)
        return view.begin(begin) if begin < length else whole

    def _overlap(self, text: bytes) -> int:
        """How many bytes at the end of a text are the beginning of what is looked for, but not all of it."""
        for at in range(max(0, len(text) - self._longest + 1), len(text)):
            if text[at : at + 2] in self._beginnings:
                rest = text[at:]
                place = bisect_right(self._sorted, rest)
                if place < len(self._sorted) and self._sorted[place].startswith(rest):
                    return len(rest)
        return 0

    def _may_begin(self, escape: bytes) -> bool:
        """Whether an escape that is cut may be the first character of a secret, or of an escape around it."""
        if escape[:1] in {b"'", b'"'}:
            return any(form.startswith(escape[:1]) for form in self._forms)
        return True


class _DataView:
    """What some data may stand for. Each place in it comes from a place of the view before."""

    __slots__ = ("_before", "_rewritten", "is_spaced", "text")

    def __init__(
        self,
        text: bytes,
        before: _DataView | None = None,
        rewritten: Rewritten | None = None,
        *,
        is_spaced: bool = False,
    ) -> None:
        self.text = text
        self.is_spaced = is_spaced
        self._before = before
        self._rewritten = rewritten

    def joined(self, *, folded: bool, stands_for: bytes, goes_on: bool) -> _DataView:
        """With its lines in one."""
        rewritten = joined(self.text, folded=folded, stands_for=stands_for)
        text = without_cut(rewritten.text, folded=folded) if goes_on else rewritten.text
        return _DataView(text, self, rewritten, is_spaced=self.is_spaced or bool(stands_for))

    def up_to(self, end: int) -> _DataView:
        """The same without what follows."""
        return _DataView(self.text[:end], self._before, self._rewritten, is_spaced=self.is_spaced)

    def finished(self) -> int:
        """Where an escape begins that the end cuts; the length where none does."""
        return unfinished(self.text, decoded(self.text))

    def decoded(self, *, goes_on: bool) -> _DataView | None:
        """Without one layer of escapes; nothing where there is none."""
        given = self.up_to(self.finished()) if goes_on else self
        rewritten = decoded(given.text)
        if rewritten.text == given.text:
            return None
        return _DataView(rewritten.text, given, rewritten, is_spaced=self.is_spaced)

    def begin(self, place: int) -> int:
        """Where in the data begins what stands at a place."""
        view = self
        while view._before is not None and view._rewritten is not None:
            place, view = view._rewritten.origin(place)[0], view._before
        return place

    def end(self, place: int) -> int:
        """Where in the data ends what stands before a place."""
        view = self
        while view._before is not None and view._rewritten is not None:
            place, view = view._rewritten.origin(place - 1)[1], view._before
        return place


def _masked(data: bytes, found: Iterable[tuple[int, int]]) -> bytes:
    """Data without the secrets that were found in it and in what follows it; the very data where there is none. Ends of
    lines stay."""
    pieces: list[bytes] = []
    at = 0
    for begin, end in found:
        if end > len(data):
            break
        pieces += (data[at:begin], MASK, *_LINE_END.findall(data, begin, end))
        at = end
    return b"".join([*pieces, data[at:]]) if pieces else data


def net() -> Masking:
    """A masking for all sensitive values that this process knows now: the last protection, for reports about faults of
    Ordito itself."""
    masking = Masking()
    masking.know(value for value in living() if value.is_open)
    return masking


def _forms(secret: str) -> set[bytes]:
    """What is looked for of a secret in texts whose lines are joined and whose escapes are decoded."""
    return {_LINE_END.sub(b"", form) for form in _encoded(secret)}


def _encoded(secret: str) -> Iterator[bytes]:
    for text in (secret, *(line for line in secret.splitlines() if line != secret)):
        plain = text.encode("utf-8", "surrogatepass")
        wide = [text.encode(encoding, "surrogatepass") for encoding in ("utf-16-le", "utf-16-be")]
        yield from wide
        yield b"".join(_byte_or_bytes(character) for character in text)
        yield from (plain.hex().encode(), plain.hex().upper().encode())
        yield from _base64(plain)
        yield from _base64(wide[0])
        yield from _base32(plain)
        # Where the escapes around a secret are decoded, those that are part of it are so as well.
        for _ in range(LAYERS + 1):
            yield plain
            yield plain.replace(b" ", b"+")
            plain = decoded(_LINE_END.sub(b"", plain)).text


def _byte_or_bytes(character: str) -> bytes:
    """Latin-1, and what it does not have as UTF-8: of ``\\xe4`` nobody knows whether it is a byte or a character."""
    return character.encode("latin-1") if ord(character) < 0x100 else character.encode("utf-8", "surrogatepass")


def _base64(data: bytes) -> Iterator[bytes]:
    """The characters of base64 that data alone decides, for each place at which it may begin in what is encoded."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + data)
        decided = encoded[-(-before * 8 // 6) : (before + len(data)) * 8 // 6]
        yield decided
        yield decided.translate(_URL_SAFE)


def _base32(data: bytes) -> Iterator[bytes]:
    """The same for base32."""
    for before in range(5):
        encoded = base64.b32encode(b"\0" * before + data)
        yield encoded[-(-before * 8 // 5) : (before + len(data)) * 8 // 5]


_URL_SAFE = bytes.maketrans(b"+/", b"-_")
