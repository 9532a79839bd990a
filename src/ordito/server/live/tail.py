"""Tails: the files of jobs as they grow, read once for all who follow them."""

from __future__ import annotations

import asyncio
import contextlib
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.events_file import lines_from
from ordito.source.reach import within

PAUSE = 0.05
"""Seconds between two looks at a file that somebody follows."""

MOST_LINES = 4_096
MOST_BYTES = 8 << 20


class FileTail:
    """A file of whole lines that only grows; its newest lines are kept for those who follow it. Places are offsets of
    bytes behind a line."""

    def __init__(self, path: Path, *, keeps: bool, touch: Callable[[Path], None]) -> None:
        """Without ``keeps`` it only tells that the file grows. ``touch`` is told of each look at it."""
        self._keeps = keeps
        self._touch = touch
        self.path = path
        self.watchers = 0
        self._lines: deque[bytes] = deque()
        self._ends: deque[int] = deque()
        self._begin = 0
        self._end = 0
        """Where what is kept begins and ends."""

        self._bytes = 0
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def enter(self) -> None:
        """Somebody follows it."""
        self.watchers += 1
        if self._task is None:
            self._end = self._begin = _size(self.path)
            self._task = asyncio.create_task(self._look())

    def leave(self) -> bool:
        """Somebody does not follow it any more; whether nobody does."""
        self.watchers -= 1
        if self.watchers:
            return False
        if self._task is not None:
            self._task.cancel()
        return True

    @property
    def end(self) -> int:
        """How far it was read."""
        return self._end

    @property
    def changed(self) -> asyncio.Event:
        """Is set with the next line; each time it is another one."""
        return self._changed

    def read(self, place: int, most: int) -> list[tuple[int, bytes]]:
        """The lines behind a place, with the places behind them. Raises ``EnsembleError``."""
        if place >= self._end:
            return []
        if place < self._begin or not self._lines:
            found, at = [], place
            with within(self._ensemble):
                for line in islice(lines_from(self.path, place), most):
                    at += len(line)
                    found.append((at, line))
            return found
        first = bisect_left(self._ends, place + 1)
        return list(islice(zip(self._ends, self._lines, strict=True), first, first + most))

    async def _look(self) -> None:
        while True:
            self._touch(self._ensemble)
            if _size(self.path) > self._end:
                # What cannot be read now is tried again: nothing is told twice by that.
                with contextlib.suppress(EnsembleError):
                    self._take()
            await asyncio.sleep(PAUSE)

    @property
    def _ensemble(self) -> Path:
        """The ensemble to which the file belongs: it is read nowhere else."""
        return self.path.parents[2]

    def _take(self) -> None:
        if not self._keeps:
            self._end = _size(self.path)
        with within(self._ensemble):
            self._take_lines()
        self._changed.set()
        self._changed = asyncio.Event()

    def _take_lines(self) -> None:
        for line in lines_from(self.path, self._end):
            self._end += len(line)
            self._lines.append(line)
            self._ends.append(self._end)
            self._bytes += len(line)
            while len(self._lines) > MOST_LINES or self._bytes > MOST_BYTES:
                self._bytes -= len(self._lines.popleft())
                self._begin = self._ends.popleft()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
