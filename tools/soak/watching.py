"""Processes that live long, watched: the memory and the open files that they have, over time."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from statistics import median

import msgspec

from tools.soak.growth import slope

PAUSE = 1.0
"""Seconds between two looks."""
PAGE = 4096
WARM = 0.25
"""The part of its life in which a process may still grow to its size."""
BUCKETS = 60
"""Of how many medians at most a course is made."""


class Sample(msgspec.Struct, frozen=True):
    """One look at a process: seconds since it was first seen, bytes of memory, open files."""

    seconds: float
    bytes: int
    files: int


class Course(msgspec.Struct, frozen=True):
    """How a process fared after it was warm: its memory in bytes, first and last, the bytes by which it grew in a
    second, and the most files that it had open in the first half of its life and in the second."""

    samples: int
    seconds: float
    first_bytes: int
    last_bytes: int
    bytes_a_second: float
    most_files_before: int
    most_files_after: int

    @property
    def growth(self) -> float:
        """Bytes by which it grew in all after it was warm, if it did so all the time."""
        return self.bytes_a_second * self.seconds


class Watcher:
    """Looks at processes once a second until it is told to stop."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[int, float]] = {}
        self._samples: dict[str, list[Sample]] = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def watch(self, name: str, pid: int) -> None:
        """Look at a process from now on."""
        self._samples[name] = []
        self._began[name] = (pid, time.monotonic())

    def stop(self) -> dict[str, Course]:
        """Look no more; gives what was seen of each process that was seen often enough to say anything."""
        self._end.set()
        self._thread.join()
        return {name: course(samples) for name, samples in self._samples.items() if len(samples) >= 20}

    def _look(self) -> None:
        while not self._end.wait(PAUSE):
            for name, (pid, began) in list(self._began.items()):
                if (sample := look(pid, time.monotonic() - began)) is not None:
                    self._samples[name].append(sample)


def look(pid: int, seconds: float) -> Sample | None:
    """What a process has now; nothing where it is gone."""
    place = Path("/proc") / str(pid)
    try:
        pages = int((place / "statm").read_text(encoding="ascii").split()[1])
        files = sum(1 for _ in (place / "fd").iterdir())
    except OSError:
        return None
    return Sample(seconds, pages * PAGE, files)


def course(samples: list[Sample]) -> Course:
    """The course that samples show."""
    warm = samples[int(len(samples) * WARM) :]
    size = max(1, len(warm) // BUCKETS)
    buckets = [warm[at : at + size] for at in range(0, len(warm), size)]
    points = [(median(s.seconds for s in bucket), median(s.bytes for s in bucket)) for bucket in buckets]
    # The middle of the slopes between any two: what grows once, as by code that is loaded late, does not count.
    middle = len(samples) // 2
    return Course(
        samples=len(samples),
        seconds=warm[-1].seconds - warm[0].seconds,
        first_bytes=int(points[0][1]),
        last_bytes=int(points[-1][1]),
        bytes_a_second=slope(points),
        most_files_before=max(s.files for s in samples[:middle]),
        most_files_after=max(s.files for s in samples[middle:]),
    )
