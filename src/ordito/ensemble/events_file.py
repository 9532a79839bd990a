"""The file of a job's events: what `--json` prints while a job runs, kept so that everybody can follow any job.

The first line names the format, then there is one event a line, with its ``n``: how many records the journal had when
all events of that record are told, 0 for the begin of the job. The lines are made from the records alone and are
written after the journal has committed them, so a crash can only cut the end off; that is written again from the
journal when the job is resumed. Whole lines are never changed: who has read up to some byte goes on from there. The
line that says that a job goes on has no ``n``, since no record says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ordito import __version__
from ordito.base.json_text import json_text
from ordito.base.sensitive import encode_hook
from ordito.ensemble.errors import explained
from ordito.ensemble.files import own_handle, write_all
from ordito.source.new_files import open_regular
from ordito.work.events import FORMAT, Event, rounded

CHUNK = 1 << 16
AT_ONCE = 1 << 20
"""Bytes that are written at once at most."""

BLOCK = 1 << 17
"""Bytes that are read at once: the cache of a processor holds what becomes of them."""

FIRST = msgspec.json.encode({"type": "version", "format": FORMAT, "ordito": __version__}) + b"\n"

UNNUMBERED = -1
"""Instead of the number of a line that has none."""

_ENCODER = msgspec.json.Encoder(enc_hook=encode_hook)


class ToldUpTo(msgspec.Struct, frozen=True):
    """Up to where a file tells: the number ``n`` of its last line that has one (``UNNUMBERED`` for none), and how many
    lines have that number."""

    n: int
    lines: int


class EventsFile:
    """Appends to the file of one job's events. Every method raises ``EnsembleError``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle = -1

    def open(self, most: int) -> ToldUpTo:
        """Open the file, made if there is none, and remove what is no whole line at its end, as after a crash, and what
        it tells of records beyond the first ``most``, as after a power failure that the journal has not survived."""
        with explained("write", self._path):
            if self._handle < 0:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._handle = own_handle(self._path, os.O_RDWR | os.O_APPEND)
            told, end = _told(self._handle, most)
            os.ftruncate(self._handle, end)
            if not end:
                write_all(self._handle, FIRST)
            return told

    def write(self, events: Iterable[tuple[Event, int]]) -> None:
        """Append events, each with its number."""
        lines: list[bytes] = []
        size = 0
        for event, number in events:
            line = line_of(event, number)
            lines.append(line)
            size += len(line)
            if size >= AT_ONCE:
                self._append(lines)
                lines, size = [], 0
        if lines:
            self._append(lines)

    def close(self) -> None:
        """Close the file."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _append(self, lines: list[bytes]) -> None:
        with explained("write", self._path):
            write_all(self._handle, b"".join(lines))


def line_of(event: Event, number: int) -> bytes:
    """The line of an event."""
    event = rounded(event)
    try:
        text = _ENCODER.encode(event)
    except (UnicodeEncodeError, OverflowError):
        # A file's name that is not UTF-8, an integer of more than 64 bits.
        text = json_text(msgspec.to_builtins(event, enc_hook=encode_hook)).encode()
    return text + b"\n" if number == UNNUMBERED else b'%b,"n":%d}\n' % (text[:-1], number)


class _Numbered(msgspec.Struct):
    type: str
    n: int = UNNUMBERED


_NUMBERED = msgspec.json.Decoder(_Numbered)


def _told(handle: int, most: int) -> tuple[ToldUpTo, int]:
    """Up to where a file tells, and where its last line ends that stays."""
    end, n, count = 0, UNNUMBERED, 0
    for at, line in _backwards(handle):
        found = _numbered(line)
        if not end:
            if found is None or found.n > most:
                continue
            end = at + len(line)
        if found is None or n not in (UNNUMBERED, found.n):
            break
        if found.n != UNNUMBERED:
            n, count = found.n, count + 1
    return ToldUpTo(n, count), end


def _numbered(line: bytes) -> _Numbered | None:
    """What is needed of a line, None for one that is none."""
    if not line.endswith(b"\n"):
        return None
    try:
        return _NUMBERED.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _backwards(handle: int) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their places, the last one first."""
    at, rest = os.fstat(handle).st_size, b""
    while at:
        size = min(CHUNK, at)
        at -= size
        rest = os.pread(handle, size, at) + rest
        begin = rest.find(b"\n") + 1 if at else 0
        if not begin and at:
            continue
        place = at + len(rest)
        for line in reversed(rest[begin:].splitlines(keepends=True) if begin < len(rest) else ()):
            place -= len(line)
            yield place, line
        rest = rest[:begin]


def lines_from(path: Path, at: int) -> Iterator[bytes]:
    """The whole lines of a file of events from a place on; none where there is no file yet. Raises
    ``EnsembleError``."""
    for block in blocks_from(path, at):
        for line in block[:-1].split(b"\n"):
            yield line + b"\n"


def blocks_from(path: Path, at: int) -> Iterator[bytes]:
    """The same lines, many at once. Raises ``EnsembleError``."""
    with explained("read", path):
        if not path.exists():
            return
        with open_regular(path) as file:
            handle, most = file.fileno(), BLOCK
            end = os.fstat(handle).st_size
            while at < end and (data := os.pread(handle, min(most, end - at), at)):
                size = data.rfind(b"\n") + 1
                if size:
                    yield data[:size]
                    at += size
                elif len(data) < most:
                    return
                # A line may be longer than what is read at once.
                most = BLOCK if size else most * 2
