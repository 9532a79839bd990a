"""What operations print: one append-only file per job, framed by step, and beside it an index.

A frame is a line ``=<bytes> <step>`` followed by so many bytes and a newline; the file is readable as it is. A line of
the index is ``<offset> <bytes> <step>`` for the content of one frame. The index may lag behind, and a crash may cut off
both at any place: readers take every complete frame, and the next writer first removes an incomplete one.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import msgspec

from ordito.base.change_ids import is_change_id
from ordito.ensemble.errors import explained
from ordito.ensemble.files import own_handle, write_all
from ordito.ensemble.layout import Layout
from ordito.source.new_files import open_regular

LARGEST_BUFFER = 256 * 1024
"""Bytes kept in memory at most."""

LONGEST_HEAD = 4_096

_HEAD = re.compile(rb"=(\d{1,15}) ([^\n]*)\n")
_ENTRY = re.compile(rb"(\d{1,18}) (\d{1,15}) ([^\n]*)\n")

Place = tuple[str, int, int]
"""A step, and where the content of one of its frames begins and how long it is."""


class JobLog:
    """Appends to the log of a job, as a context. The file is made with the first output."""

    def __init__(self, path: Path, kept: Callable[[bytes], None] = lambda _: None) -> None:
        """``kept`` gets what was written to the file, piece by piece."""
        self._tell = kept
        self._path = path
        self._index_path = path.with_suffix(".index")
        self._log = -1
        self._index = -1
        self._end = 0
        self._step = ""
        self._content = bytearray()
        self._frames: list[bytes] = []
        self._entries: list[bytes] = []
        self._kept = 0

    def __enter__(self) -> JobLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.flush()
        finally:
            for handle in (self._log, self._index):
                if handle >= 0:
                    os.close(handle)
            self._log = self._index = -1

    def write(self, step: str, data: bytes) -> None:
        """Append a piece of a step's output; it may stay in memory until ``flush``. Raises ``EnsembleError``."""
        if step != self._step:
            self._end_frame()
            self._step = step
        self._content += data
        self._kept += len(data)
        if self._kept >= LARGEST_BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write everything to the file. Raises ``EnsembleError``."""
        self._end_frame()
        if not self._frames:
            return
        with explained("write", self._path):
            if self._log < 0:
                self._open()
            entries: list[bytes] = []
            for frame, entry in zip(self._frames, self._entries, strict=True):
                content = self._end + frame.index(b"\n") + 1
                entries.append(b"%d %b" % (content, entry))
                self._end += len(frame)
            write_all(self._log, b"".join(self._frames))
            write_all(self._index, b"".join(entries))
        self._tell(b"".join(self._frames))
        self._frames.clear()
        self._entries.clear()
        self._kept = 0

    def _end_frame(self) -> None:
        if self._content:
            name = _name(self._step)
            self._frames.append(b"=%d %b\n%b\n" % (len(self._content), name, bytes(self._content)))
            self._entries.append(b"%d %b\n" % (len(self._content), name))
            self._content = bytearray()
        self._step = ""

    def _open(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_APPEND
        self._log = own_handle(self._path, flags)
        self._index = own_handle(self._index_path, flags)
        places, self._end = _frames(self._path, 0)
        os.ftruncate(self._log, self._end)
        if places:
            os.ftruncate(self._index, 0)
            write_all(self._index, b"".join(b"%d %d %b\n" % (at, size, _name(step)) for step, at, size in places))


def read_log(path: Path, step: str | None = None) -> Iterator[tuple[str, bytes]]:
    """The output of one step, or of all, piece by piece with the step's id, in the order in which it came.

    A job that printed nothing has no log, and gives nothing. Raises ``EnsembleError``.
    """
    with explained("read", path):
        if not path.exists():
            return
        wanted = None if step is None else _name(step).decode()
        with open_regular(path) as log:
            for name, at, size in places_of(path):
                if wanted is None or name == wanted:
                    log.seek(at)
                    yield name, log.read(size)


class Frame(msgspec.Struct, frozen=True):
    """A piece of a log."""

    step: str
    content: bytes
    begin: int
    """The offset at which it begins."""

    end: int
    """The offset behind it, at which the next one begins."""


Wanted = Callable[[str], bool]
"""Whether the frames of a step are wanted."""

MOST_PASSED = 20_000
"""So many frames that are not wanted are passed over at once: there may be millions of them."""


def _all(_: str) -> bool:
    return True


class LogPart(msgspec.Struct, frozen=True):
    """A part of a log."""

    frames: tuple[Frame, ...]
    begin: int
    """The offset at which it begins, and up to which earlier parts go."""

    end: int
    """The offset at which later parts begin."""


def frames_from(path: Path, at: int, most: int) -> Iterator[Frame]:
    """The whole frames of a log from an offset on at which one begins, until they have ``most`` bytes. Raises
    ``EnsembleError``."""
    yield from log_part(path, at, most).frames


def log_part(path: Path, at: int, most: int, wanted: Wanted = _all) -> LogPart:
    """The wanted frames of a log from an offset on at which one begins, of about ``most`` bytes. Raises
    ``EnsembleError``."""
    begin, found, length = at, [], 0
    with explained("read", path):
        if not path.exists():
            return LogPart((), at, at)
        with open_regular(path) as log:
            log.seek(at)
            size = os.fstat(log.fileno()).st_size
            for _ in range(MOST_PASSED):
                head = _HEAD.fullmatch(log.readline(LONGEST_HEAD)) if length < most else None
                if head is None or at + len(head[0]) + int(head[1]) + 1 > size:
                    break
                step, end = head[2].decode("utf-8", "replace"), at + len(head[0]) + int(head[1]) + 1
                if wanted(step):
                    found.append(Frame(step, log.read(int(head[1])), at, end))
                    length += end - at
                at = log.seek(end)
    return LogPart(tuple(found), begin, at)


def log_part_before(path: Path, before: int | None, most: int, wanted: Wanted = _all) -> LogPart:
    """The same in front of an offset, None for the end of the log: its index says where frames begin, so that the end
    of a log is found without reading all of it. Raises ``EnsembleError``."""
    with explained("read", path):
        if not path.exists():
            return LogPart((), 0, 0)
        with open_regular(path) as log:
            places, end = _places_before(path, before)
            begin, length, found = end, 0, []
            for step, at, size in places:
                if length >= most:
                    break
                begin = at - len(b"=%d %b\n" % (size, _name(step)))
                if wanted(step):
                    log.seek(at)
                    found.append(Frame(step, log.read(size), begin, at + size + 1))
                    length += size
    return LogPart(tuple(reversed(found)), begin, end)


INDEX_BLOCK = 1 << 16


def _places_before(path: Path, before: int | None) -> tuple[list[Place], int]:
    """The frames in front of an offset, the last one first, not all of them; and where the last of them ends."""
    size = path.stat().st_size
    most = size if before is None else min(before, size)
    index = path.with_suffix(".index")
    found: list[Place] = []
    if index.exists():
        with open_regular(index) as lines:
            end = os.fstat(lines.fileno()).st_size if before is None else _index_end(lines, most)
            begin = max(0, end - MOST_PASSED * 32)
            lines.seek(begin)
            rows = lines.read(end - begin).splitlines(keepends=True)
            for line in rows[1:] if begin else rows:
                entry = _ENTRY.fullmatch(line)
                if entry is not None and int(entry[1]) + int(entry[2]) + 1 <= most:
                    found.append((entry[3].decode("utf-8", "replace"), int(entry[1]), int(entry[2])))
    last = found[-1][1] + found[-1][2] + 1 if found else 0
    if last < most:
        # The index may lag behind, and a log may have none.
        found += [one for one in _frames(path, last)[0] if one[1] + one[2] + 1 <= most]
    found.reverse()
    return found, found[0][1] + found[0][2] + 1 if found else 0


def _index_end(lines: BinaryIO, most: int) -> int:
    """Where the entries of an index end whose frames end in front of an offset: it is searched by halves."""
    low, high = 0, os.fstat(lines.fileno()).st_size
    while high - low > INDEX_BLOCK:
        middle = (low + high) // 2
        lines.seek(middle)
        lines.readline(LONGEST_HEAD)
        at = lines.tell()
        entry = _ENTRY.fullmatch(lines.readline(LONGEST_HEAD))
        if entry is not None and int(entry[1]) + int(entry[2]) + 1 <= most:
            low = at
        else:
            high = middle
    return high + INDEX_BLOCK


def places_of(path: Path) -> Iterator[Place]:
    """Where the frames of a log are: from its index as far as that goes, from the log itself beyond."""
    end = 0
    index = path.with_suffix(".index")
    size = path.stat().st_size
    if index.exists():
        with open_regular(index) as lines:
            for line in lines:
                entry = _ENTRY.fullmatch(line)
                if entry is None or int(entry[1]) + int(entry[2]) + 1 > size:
                    break
                yield entry[3].decode("utf-8", "replace"), int(entry[1]), int(entry[2])
                end = int(entry[1]) + int(entry[2]) + 1
    places, _ = _frames(path, end, torn=True)
    yield from places


def _frames(path: Path, start: int, *, torn: bool = False) -> tuple[list[Place], int]:
    """The frames from an offset on, and where the last whole one ends; with ``torn`` what is left of a cut one too."""
    places: list[Place] = []
    size = path.stat().st_size
    at = start
    with open_regular(path) as log:
        while at < size:
            log.seek(at)
            head = _HEAD.match(log.read(LONGEST_HEAD))
            if head is None:
                break
            content, length = at + head.end(), int(head[1])
            step = head[2].decode("utf-8", "replace")
            if content + length + 1 > size:
                if torn:
                    places.append((step, content, min(length, size - content)))
                break
            places.append((step, content, length))
            at = content + length + 1
    return places, at


def _name(step: str) -> bytes:
    """A step's id as it stands in a head: on one line."""
    return " ".join(step.split("\n")).encode("utf-8", "replace")[: LONGEST_HEAD - 32]


# What steps printed, brought together by lines: a log holds it in the pieces in which it came.

MOST_HELD = 64 * 1024
"""How many bytes of a line are held back at most until it ends."""
MOST_OPEN = 1_000
"""For how many steps the beginning of a line is held back at one time."""


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


# How long the private files of ended jobs are kept: what operations printed, and the events. Records stay for good.

MOST_JOBS = 200
"""The logs and events of so many jobs are kept, the newest ones."""

MOST_BYTES = 1 << 30
"""All of them together are at most so large, other than those of the newest job."""


class Retention(msgspec.Struct, frozen=True):
    """How much is kept of the private files of jobs."""

    jobs: int = MOST_JOBS
    size: int = MOST_BYTES
    """In bytes."""


class _ProcessRetention:
    def __init__(self) -> None:
        self.retention = Retention()


_PROCESS = _ProcessRetention()


def retain(retention: Retention) -> None:
    """Let this process keep so much of the ensembles in which it runs jobs: a server says that to each of its own."""
    _PROCESS.retention = retention


def forget_old(layout: Layout, retention: Retention | None = None) -> None:
    """Remove the logs and the events of old jobs, None as this process was told. What cannot be removed now is removed
    after a later job."""
    kept = retention or _PROCESS.retention
    files: dict[str, list[tuple[Path, int]]] = {}
    for folder in (layout.logs, layout.event_files):
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                job = entry.name.partition(".")[0]
                # A link is nobody's log: what it leads to is neither measured nor removed.
                if is_change_id(job) and entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    files.setdefault(job, []).append((Path(entry.path), size))
    left = kept.size
    for place, job in enumerate(sorted(files, reverse=True)):
        left -= sum(size for _, size in files[job])
        if place and (place >= kept.jobs or left < 0):
            for path, _ in files[job]:
                with contextlib.suppress(OSError):
                    path.unlink()
