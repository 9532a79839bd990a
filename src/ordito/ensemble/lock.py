"""The ensemble's lock: one changing command at a time, held from before the state is read.

It is a lock of the operating system on a file, so it ends with its process in any case. The file also says who holds
the lock; when nobody does, it is empty.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import msgspec

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import own_handle, write_all
from ordito.ensemble.git.sharing import asks_for_lock, meeting_of
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import Locked, LockOwner, current_user
from ordito.source.new_files import read_regular, regular_handle

if TYPE_CHECKING:
    from ordito.ensemble.git.shared_lock import SharedLock


PAUSE = 0.05
"""Seconds between two attempts to get the lock."""

PATIENCE = 0.2
"""Seconds for which even a command that does not wait tries again: readers hold the lock for a moment."""


_HELD: set[Path] = set()
"""The directories of the ensembles whose lock this process has held."""


def was_held(layout: Layout) -> bool:
    """Whether this process has held the lock of an ensemble: others may have waited for it with their notices."""
    return layout.root in _HELD


class DirectoryLock:
    """The lock of a directory, as a context: ``with DirectoryLock(layout, command="deploy"): ...``."""

    def __init__(self, layout: Layout, *, command: str, wait: float = 0.0) -> None:
        """``wait`` is how many seconds to try. Entering raises ``Locked``, or ``EnsembleError``."""
        self._layout = layout
        self._command = command
        self._wait = max(wait, PATIENCE)
        self._handle = -1

    def __enter__(self) -> DirectoryLock:
        self._layout.make_private()
        with explained("lock", self._layout.lock):
            handle = own_handle(self._layout.lock, os.O_RDWR, 0o644)
            try:
                self._acquire(handle)
                owner = LockOwner(current_user(), socket.gethostname(), os.getpid(), self._command, time.time())
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


def holder(layout: Layout) -> LockOwner | None:
    """Who holds the lock of the ensemble now, None where nobody does. Raises ``EnsembleError``."""
    with explained("look at", layout.lock):
        try:
            handle = regular_handle(layout.lock)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return read_owner(layout) or LockOwner()
        finally:
            os.close(handle)
        return None


def read_owner(layout: Layout) -> LockOwner | None:
    """The holder of the lock by its file; None where the file is empty."""
    try:
        return msgspec.json.decode(read_regular(layout.lock), type=LockOwner)
    except (OSError, msgspec.DecodeError):
        return None


def _write_owner(handle: int, text: bytes) -> None:
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    write_all(handle, text)


# The locks under which an ensemble is changed: that of its directory, and where the user asks for it the one that all
# its clones share. Both are held from before the state is read.


class WorkLock:
    """The locks of one command: that of the ensemble, and the one that clones share where there is one."""

    def __init__(self, layout: Layout, command: str, wait: float) -> None:
        self._layout = layout
        self._command = command
        self._wait = wait
        self._local = DirectoryLock(layout, command=command, wait=wait)
        self._shared: SharedLock | None = None

    @property
    def is_shared(self) -> bool:
        """Whether the clones share a lock."""
        return self._shared is not None

    def take(self) -> None:
        """Take them. Raises ``Locked`` and ``EnsembleError``; then none is held."""
        self._local.__enter__()
        try:
            if asks_for_lock(self._layout):
                # Most ensembles share no lock, and most commands only look.
                from ordito.ensemble.git.shared_lock import SharedLock

                shared = SharedLock(self._layout, meeting_of(self._layout), self._command)
                shared.take(self._wait)
                self._shared = shared
        except BaseException:
            self._local.__exit__(None, None, None)
            raise

    def check_current(self) -> None:
        """Check that this clone has everything that others have pushed. Raises ``EnsembleError``."""
        if self._shared is not None:
            self._shared.check_current()

    def name_job(self, job: str) -> None:
        """Tell other clones which job runs. Raises ``EnsembleError``."""
        if self._shared is not None:
            self._shared.name_job(job)

    def keep(self) -> None:
        """Do not release the lock that clones share: no other clone must begin with this state."""
        if self._shared is not None:
            self._shared.keep()

    def publish(self, kept: KeptCommits) -> KeptCommits:
        """Push the state after a job to other clones."""
        return self._shared.publish(kept) if self._shared is not None else kept

    def abandon(self) -> None:
        """Release the locks because nothing was begun. Failures are ignored: they must not hide the reason."""
        try:
            if self._shared is not None:
                self._shared.drop()
        except EnsembleError:
            # The clone's next command finds its own lock and takes it over.
            pass
        finally:
            self._local.__exit__(None, None, None)

    def release(self, *, is_finished: bool, may_fail: bool) -> None:
        """Release the locks at the end; the shared one only if no job waits to be resumed (``is_finished``). Raises
        ``EnsembleError`` where it cannot be released, if it ``may_fail``."""
        try:
            if self._shared is not None:
                self._shared.release(is_finished=is_finished)
        except EnsembleError:
            if may_fail:
                raise
        finally:
            self._local.__exit__(None, None, None)
