"""The locks under which an ensemble is changed: that of its directory, and where the user asks for it the one that all
its clones share. Both are held from before the state is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.sharing import asks_for_lock, meeting_of
from ordito.ensemble.keeping import Kept
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import EnsembleLock

if TYPE_CHECKING:
    from ordito.ensemble.git.shared_lock import SharedLock


class WorkLock:
    """The locks of one command, from ``take`` on."""

    def __init__(self, layout: Layout, command: str, wait: float) -> None:
        self._layout = layout
        self._command = command
        self._wait = wait
        self._local = EnsembleLock(layout, command=command, wait=wait)
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
        """See that this clone has what the others have pushed. Raises ``EnsembleError``."""
        if self._shared is not None:
            self._shared.check_current()

    def name_job(self, job: str) -> None:
        """Say to other clones which job runs. Raises ``EnsembleError``."""
        if self._shared is not None:
            self._shared.name_job(job)

    def keep(self) -> None:
        """Do not give the lock back that clones share: the state here is not one to begin with."""
        if self._shared is not None:
            self._shared.keep()

    def publish(self, kept: Kept) -> Kept:
        """Give other clones what a job has made of the state."""
        return self._shared.publish(kept) if self._shared is not None else kept

    def abandon(self) -> None:
        """Give the locks back because nothing was begun. What goes wrong must not hide why."""
        try:
            if self._shared is not None:
                self._shared.drop()
        except EnsembleError:
            # The clone's next command finds its own lock and takes it over.
            pass
        finally:
            self._local.__exit__(None, None, None)

    def leave(self, *, is_finished: bool, may_fail: bool) -> None:
        """Give the locks back at the end; the shared one only if no job waits to be resumed (``is_finished``). Raises
        ``EnsembleError`` where it cannot be given back, if it ``may_fail``."""
        try:
            if self._shared is not None:
                self._shared.release(is_finished=is_finished)
        except EnsembleError:
            if may_fail:
                raise
        finally:
            self._local.__exit__(None, None, None)
