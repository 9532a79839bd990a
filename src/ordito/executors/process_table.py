"""The machine's process table: which processes run, which belong to a step, and signals that never hit another process.

A step's processes are found in four ways, because each alone may miss some: by process group and session (finds a
process with another environment), by the marker variables in their environment (finds one in a session of its own), by
the number that they were started with (`spawn.py`; finds one that has changed both, and whose parent has ended), and by
their parents (if limits do not allow that number). The kernel uses process ids again, so a process is identified by its
id *and* its start time, and a signal goes through a pidfd after the start time was read again.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

JOB = "ORDITO_JOB"
STEP = "ORDITO_STEP"
OUTPUTS = "ORDITO_OUTPUTS"

GONE = frozenset("ZXx")
"""States of a process that no longer runs: a zombie only waits for its parent."""


PIECE = 4_096
"""Bytes to read at once; more than ``stat`` and ``limits`` of a process have."""


class Process(msgspec.Struct, frozen=True):
    """A line of the process table. ``start_time`` is in clock ticks since boot (proc(5), field 22 of ``stat``)."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_time: int


class Marker(msgspec.Struct, frozen=True):
    """Identifies the processes of one step.

    ``area`` is the absolute folder of all work directories: two ensembles may have equal job ids, but never the same
    folder. ``leader`` and ``leader_start`` are the id and start time of the step's main process, which leads a session
    and a process group; 0 if they are unknown.
    """

    job: str
    step: str
    area: str
    leader: int = 0
    leader_start: int = 0

    @property
    def number(self) -> int:
        """The number that marks the processes of the step; so large that it limits nothing."""
        digest = blake2b(f"{self.area}\0{self.job}\0{self.step}".encode("utf-8", "surrogateescape"), digest_size=7)
        return int.from_bytes(digest.digest()) | 1 << 56

    def in_environment(self, environment: bytes) -> bool:
        """Whether an environment (``NAME=value`` entries that end with NUL) is that of a process of the step."""
        entries = b"\0" + environment
        return (
            f"\0{STEP}={self.step}\0".encode() in entries
            and f"\0{JOB}={self.job}\0".encode() in entries
            and f"\0{OUTPUTS}={self.area}/".encode() in entries
        )


@cache
def boot_id() -> str:
    """The boot id of the machine's kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@cache
def machine() -> str:
    """The name of this machine."""
    return os.uname().nodename


def look_up(pid: int) -> Process | None:
    """The process with this id; None if there is none (a zombie counts as one)."""
    return _process(pid, f"/proc/{pid}/stat")


def _process(pid: int, path: str) -> Process | None:
    stat = _short(path)
    # The name, in brackets, may hold blanks and brackets itself: the fields are counted from the last one.
    fields = stat[stat.rfind(b")") + 1 :].split()
    if len(fields) < 20:
        return None
    return Process(pid, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]))


def is_alive(pid: int, start_time: int) -> bool:
    """Whether the process with this id and start time still runs."""
    process = look_up(pid)
    return process is not None and process.start_time == start_time and process.state not in GONE


def now() -> int:
    """The present time on the clock of start times."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) * _TICKS // 1_000_000_000


def start_time(pid: int, earliest: int, latest: int) -> int:
    """The start time of a child that was started between two times; 0 if it is unknown.

    Usually the two times are equal, and nothing has to be read: the process table is slow for a process that has just
    begun.
    """
    if earliest == latest and _clock_tells():
        return earliest
    process = look_up(pid)
    return process.start_time if process else 0


@cache
def _clock_tells() -> bool:
    """Whether ``now`` gives the same times as the process table, which is tried with a thread of our own."""
    seen: list[Process | None] = []
    earliest = now()
    thread = threading.Thread(target=lambda: seen.append(_process(0, "/proc/thread-self/stat")))
    thread.start()
    latest = now()
    thread.join()
    return seen[0] is not None and earliest <= seen[0].start_time <= latest


_TICKS = os.sysconf("SC_CLK_TCK")


def processes_of(marker: Marker) -> list[Process]:
    """All running processes of a step, never this process itself."""
    everybody = list(_all())
    # The id of a group is not given out again while the group has members: if a younger process has it now, the
    # group is empty, and the new one is a stranger's.
    is_ours = all(p.start_time == marker.leader_start for p in everybody if p.pid == marker.leader)
    group = marker.leader if is_ours else 0
    running = [p for p in everybody if p.state not in GONE and p.pid != os.getpid()]
    number = marker.number
    found = {p.pid: p for p in running if _belongs(p, marker, group, number)}
    children: dict[int, list[Process]] = {}
    for process in running:
        children.setdefault(process.parent, []).append(process)
    todo = list(found)
    while todo:
        for child in children.get(todo.pop(), ()):
            if child.pid not in found:
                found[child.pid] = child
                todo.append(child.pid)
    return list(found.values())


def send(processes: Iterable[Process], number: signal.Signals) -> None:
    """Send a signal to exactly these processes; those that are gone, or that we may not signal, are skipped."""
    for process in processes:
        with contextlib.suppress(OSError):
            descriptor = os.pidfd_open(process.pid)
            try:
                # From here on the id cannot change its owner under our hands.
                if is_alive(process.pid, process.start_time):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def _belongs(process: Process, marker: Marker, group: int, number: int) -> bool:
    if group and group in (process.group, process.session):
        return True
    return _number(process) == number or marker.in_environment(_read(f"/proc/{process.pid}/environ"))


def _number(process: Process) -> int:
    """The number that marks a process, 0 for none."""
    limits = _short(f"/proc/{process.pid}/limits")
    found = _FILE_LOCKS.search(limits)
    return int(found[1]) if found else 0


_FILE_LOCKS = re.compile(rb"^Max file locks +(\d+) ", re.MULTILINE)


def _all() -> Iterator[Process]:
    for name in os.listdir("/proc"):
        if name.isdigit() and (process := look_up(int(name))) is not None:
            yield process


def _read(path: str) -> bytes:
    """A file of /proc; empty if the process is gone or the file is hidden from us."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""


def _short(path: str) -> bytes:
    """A small file of /proc, read at once: this is done for every operation."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, PIECE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
