"""The ensemble's lock: one changing command at a time, held from before the state is read.

It is a lock of the operating system on a file, so it dies with its process, however that dies. The file also says, for
people, who holds it; when nobody does, it is empty.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from pathlib import Path
from types import TracebackType

import msgspec

from ordito.ensemble.errors import explained
from ordito.ensemble.files import own_handle, write_all
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import Locked, Owner, current_user
from ordito.source.regular import read_regular, regular_handle

PAUSE = 0.05
"""Seconds between two attempts to get the lock."""

PATIENCE = 0.2
"""Seconds for which even who does not want to wait tries again: readers hold the lock for a moment to look at it."""


_HELD: set[Path] = set()
"""The directories of the ensembles whose lock this process has held."""


def was_held(layout: Layout) -> bool:
    """Whether this process has held the lock of an ensemble: others may have brought what they could not see to."""
    return layout.root in _HELD


class EnsembleLock:
    """The lock, as a context: ``with EnsembleLock(layout, command="deploy"): ...``."""

    def __init__(self, layout: Layout, *, command: str, wait: float = 0.0) -> None:
        """``wait`` is how many seconds to try. Entering raises ``Locked``, or ``EnsembleError``."""
        self._layout = layout
        self._command = command
        self._wait = max(wait, PATIENCE)
        self._handle = -1

    def __enter__(self) -> EnsembleLock:
        self._layout.make_private()
        with explained("lock", self._layout.lock):
            handle = own_handle(self._layout.lock, os.O_RDWR, 0o644)
            try:
                self._acquire(handle)
                owner = Owner(current_user(), socket.gethostname(), os.getpid(), self._command, time.time())
                _write_owner(handle, msgspec.json.encode(owner) + b"\n")
            except BaseException:
                os.close(handle)
                raise
        self._handle = handle
        _HELD.add(self._layout.root)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        handle, self._handle = self._handle, -1
        try:
            _write_owner(handle, b"")
        finally:
            os.close(handle)

    def _acquire(self, handle: int) -> None:
        give_up = time.monotonic() + self._wait
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise Locked(self._layout, read_owner(self._layout)) from None
                time.sleep(PAUSE)
            else:
                return


def holder(layout: Layout) -> Owner | None:
    """Who works on the ensemble now, None if nobody does. Raises ``EnsembleError``."""
    with explained("look at", layout.lock):
        try:
            handle = regular_handle(layout.lock)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_owner(layout) or Owner()
        finally:
            os.close(handle)
        return None


def read_owner(layout: Layout) -> Owner | None:
    """What the lock file says about its holder; None where it says nothing."""
    try:
        return msgspec.json.decode(read_regular(layout.lock), type=Owner)
    except (OSError, msgspec.DecodeError):
        return None


def _write_owner(handle: int, text: bytes) -> None:
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    write_all(handle, text)
