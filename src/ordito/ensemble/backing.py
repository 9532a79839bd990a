"""What stands behind an ensemble: the lock under which it is changed, the database of its journal, and the place where
its files are kept.

For most ensembles all of it is their directory. Who works on one that is kept elsewhere, in a store, has a directory
too: a working copy. It is made known here by what stands behind it, before it is opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from ordito.ensemble.journal import EnsembleJournal, open_journal, read_journal
from ordito.ensemble.journal_database import DirectoryFiles, EnsembleFiles
from ordito.ensemble.keeping import KeptCommits
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import WorkLock
from ordito.work.invocation import Hold


class EnsembleLock(Protocol):
    """The lock under which one command changes an ensemble. All methods raise ``EnsembleError``."""

    @property
    def is_shared(self) -> bool:
        """Whether other clones of the ensemble need its files after each job."""

    def take(self) -> None:
        """Take it. Raises ``Locked`` where somebody else holds it."""

    def check_current(self) -> None:
        """Check that the directory has everything that others have done."""

    def name_job(self, job: str) -> None:
        """Tell others which job runs."""

    def keep(self) -> None:
        """Do not release what others wait for: they must not begin with this state."""

    def publish(self, kept: KeptCommits) -> KeptCommits:
        """Hand the state after a job to others."""

    def abandon(self) -> None:
        """Release it because nothing was begun. Failures are ignored: they must not hide the reason."""

    def release(self, *, is_finished: bool, may_fail: bool) -> None:
        """Release it at the end; ``is_finished`` says whether no job waits to be resumed. It raises only if it
        ``may_fail``."""


class Backing(Protocol):
    """What stands behind one ensemble. All methods raise ``EnsembleError``."""

    @property
    def is_store(self) -> bool:
        """Whether the directory is only a working copy of what is kept in a store."""

    @property
    def shown(self) -> str:
        """How messages call the ensemble, "" for its directory."""

    def lock(self, layout: Layout, command: str, wait: float) -> EnsembleLock:
        """The lock, which is not taken yet; ``wait`` is how many seconds to try."""

    def cancel_elsewhere(self, how: str) -> bool:
        """Ask whoever works on it on another machine to end its job, ``CANCEL`` or ``NOW``; returns whether somebody
        hears it."""

    def hold(self) -> Hold | None:
        """How this process holds it, where other machines may take it over; None where none can."""

    def files(self, layout: Layout) -> EnsembleFiles:
        """The files."""

    def open_journal(self, layout: Layout) -> EnsembleJournal:
        """The journal for writing; only for the holder of the lock."""

    def read_journal(self, layout: Layout) -> EnsembleJournal | None:
        """The journal for reading, while others may write; None if there is none."""


class DirectoryBacking:
    """The directory itself."""

    is_store = False
    shown = ""

    def lock(self, layout: Layout, command: str, wait: float) -> EnsembleLock:
        """See ``Backing``."""
        return WorkLock(layout, command, wait)

    def cancel_elsewhere(self, how: str) -> bool:
        """See ``Backing``."""
        return False

    def hold(self) -> Hold | None:
        """See ``Backing``."""
        return None

    def files(self, layout: Layout) -> EnsembleFiles:
        """See ``Backing``."""
        return DirectoryFiles()

    def open_journal(self, layout: Layout) -> EnsembleJournal:
        """See ``Backing``."""
        return open_journal(layout)

    def read_journal(self, layout: Layout) -> EnsembleJournal | None:
        """See ``Backing``."""
        return read_journal(layout)


DIRECTORY = DirectoryBacking()

_BEHIND: dict[Path, Backing] = {}


def put_behind(layout: Layout, backing: Backing) -> None:
    """From now on, this process finds the ensemble of a directory where ``backing`` has it."""
    _BEHIND[layout.root] = backing


def backing_of(layout: Layout) -> Backing:
    """What stands behind the ensemble of a directory."""
    return _BEHIND.get(layout.root, DIRECTORY)
