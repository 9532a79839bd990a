"""The guard of a worker: its parent process, which ends everything that the worker has at work once that is gone, or
has not confirmed its lease for five sixths of it. So whoever takes its jobs over may take for granted that nothing of
them runs any more, though nobody can be asked.

What an operation has left that has ended goes on: a guard knows what is at work by the marks in the worker's home.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from ordito.cluster.leases import LAUNCHING, since_boot
from ordito.cluster.worker_runner import LaunchLimit
from ordito.executors.held import marks_in
from ordito.executors.process_table import Process, look_up, processes_of, send

SILENT = 5 / 6
"""The part of a lease after whose last confirmation the guard ends everything."""

LOOKING = 0.25
"""Seconds between two looks at the worker."""

STARTING = 60.0
"""Seconds that a worker has until its first lease."""

ENDING = 20
"""So often at most processes are ended that come back: who starts others while it is ended."""

_SUBREAPER = 36
"""``PR_SET_CHILD_SUBREAPER`` of ``prctl(2)``."""

_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of ``prctl(2)``."""


def end_with_parent() -> None:
    """Let this process end with the one that has started it: a worker without its guard promises too much."""
    ctypes.CDLL(None).prctl(_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def main(settings: int, poll: str) -> int:
    """Run a worker by its settings, which are JSON in a file in memory; the exit code of the worker."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    given = json.loads(os.pread(settings, os.fstat(settings).st_size, 0))
    handle = LaunchLimit.handle()
    limit = LaunchLimit(handle)
    limit.put(since_boot() + STARTING)
    given |= {"limit": handle, "is_guarded": True}
    os.ftruncate(settings, 0)
    os.pwrite(settings, msgspec.json.encode(given), 0)
    worker = subprocess.Popen(
        [sys.executable, "-m", "ordito.cluster.worker", str(settings), poll], pass_fds=(settings, handle)
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: worker.send_signal(number))
    slack = float(given["lease"]) * (SILENT - LAUNCHING)
    while worker.poll() is None and since_boot() < limit.until + slack:
        _reap(worker.pid)
        time.sleep(LOOKING)
    if worker.poll() is None:
        sys.stderr.write("the worker has not confirmed its lease: everything that it has at work is ended\n")
        sys.stderr.flush()
    end_everything(worker.pid, Path(given["home"]))
    code = worker.wait()
    _reap(0)
    return code if code >= 0 else 1


def end_everything(worker: int, home: Path) -> None:
    """End a worker, its runners, and all operations in its home that are at work."""
    for _ in range(ENDING):
        found = {process.pid: process for process in _descendants(worker)}
        for mark in marks_in(home):
            found |= {process.pid: process for process in processes_of(mark)}
        if not found:
            return
        send(found.values(), signal.SIGKILL)
        _reap(worker)
        time.sleep(LOOKING / 5)


def _descendants(pid: int) -> Iterator[Process]:
    """A process and all that descend from it, those that have ended left out. What an operation has left behind
    descends from the guard."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  (plain names, of which there may be many)
        if name.isdigit() and (process := look_up(int(name))) is not None:
            children.setdefault(process.parent, []).append(process)
    first = look_up(pid)
    # Whoever was killed before its children has left them to the guard.
    todo = [first] if first is not None else []
    while todo:
        process = todo.pop()
        todo += children.get(process.pid, [])
        if process.state not in "ZXx":
            yield process


def _reap(worker: int) -> None:
    """Let go of orphans that have ended; the worker itself is waited for elsewhere."""
    with suppress(ChildProcessError):
        while (found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if found.si_pid == worker:
                # It hides those that come after it until its end was noticed, which is soon.
                return
            os.waitpid(found.si_pid, os.WNOHANG)


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]), sys.argv[2]))
