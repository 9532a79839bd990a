"""A copy of an ensemble that can be resumed, made while its jobs run.

A job changes the files of its ensemble at two moments only: its pin is made before it begins in the journal, and
everything else is written after its last record is there. In between only the journal grows, and what may be cut off
anywhere: events and logs. So the files are copied first and the journal after them, as it is between two turns; the
copy is good where the journal held the same job before and afterwards, that job was not being closed, and no file was
replaced meanwhile. Else it is made once more; at last under the lock of the ensemble, so that nothing can begin.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_mark import NAME as BEGUN
from ordito.ensemble.job_mark import marked
from ordito.ensemble.journal import read_journal
from ordito.ensemble.layout import PRIVATE, Layout
from ordito.ensemble.lock import DirectoryLock, holder
from ordito.ensemble.owner import Locked
from ordito.server.operating.copying import Copier
from ordito.server.refused import ServerRefused
from ordito.work.records import JobClosingRecord

FREELY = 5
"""How often it is tried without the lock at first."""

TRIES = 30
PAUSE = 0.2
PATIENCE = 10.0
"""Seconds to wait for the lock of the ensemble."""

NOT_KEPT = frozenset({"lock", "door", "secrets.lock", "shared-lock", "scratch", "server", BEGUN})
"""What of ``.ordito`` is not copied as a file: locks and pipes; work directories, which hold environments of operations
with secrets in them; the home of a server; and the mark of a job that runs, which is made by what the journal holds."""

TEMPORARY = re.compile(r"(?:.*/)?\..{1,40}\.[0-9a-f]{16}\.[a-z]+|artifacts/\.new-.*|\.git/(?:.*/)?[^/]*\.lock")
BESIDE_DATABASES = re.compile(r"(?:.*/)?\.ordito/[^/]*\.db(?:-wal|-shm|-journal)?")
DATABASES = re.compile(r"(?:.*/)?\.ordito/[^/]*\.db")
JOURNAL, INBOX, KEY = f"{PRIVATE}/journal.db", f"{PRIVATE}/inbox.db", f"{PRIVATE}/key"


class _Moment(msgspec.Struct, frozen=True):
    """What a journal holds: the job that has not ended, whether all its steps have, and the digest of the files."""

    job: str = ""
    is_closing: bool = False
    digest: str = ""

    @property
    def same(self) -> tuple[str, str]:
        """What stays the same while a job runs."""
        return self.job, self.digest


def copy_ensemble(copier: Copier, directory: Path, place: str) -> str:
    """Copy an ensemble to a place in a backup; returns the job that has not ended there, "" for none. Raises
    ``ServerRefused``."""
    layout = Layout(directory)
    try:
        for number in range(TRIES):
            try:
                with _locked(layout) if number >= FREELY else contextlib.nullcontext() as lock:
                    found = _try(copier, layout, place, is_alone=lock is not None)
            except Locked:
                found = _try(copier, layout, place, is_alone=False)
            if found is not None:
                return found
            copier.forget(place)
            time.sleep(PAUSE)
    except EnsembleError as error:
        raise ServerRefused(f"cannot back up the ensemble {directory}: {error}", error.hint) from error
    raise ServerRefused(
        f"{directory} changes faster than it can be copied", "try again when fewer jobs begin and end there", "busy"
    )


def _locked(layout: Layout) -> DirectoryLock:
    return DirectoryLock(layout, command="server backup", wait=PATIENCE)


def _try(copier: Copier, layout: Layout, place: str, *, is_alone: bool) -> str | None:
    """Copy once; returns the job that has not ended, or None where the copy may be torn. ``is_alone`` says that nobody
    else can change the ensemble meanwhile."""
    before, stamps = _moment(layout), _stamps(layout.root)
    databases = _files(copier, layout, place)
    with _watched(layout.inbox) as inbox_is_same:
        if layout.inbox.exists():
            _database(copier, layout.root, place, INBOX)
        if layout.journal.exists():
            copier.database(layout.journal, f"{place}/{JOURNAL}")
        after = _moment(Layout(copier.root / place))
        if layout.journal.exists():
            copier.enter(f"{place}/{JOURNAL}")
        is_closing = after.is_closing and not is_alone and holder(layout) is not None
        if after.same != before.same or is_closing or not (is_alone or inbox_is_same()):
            return None
    # What hosts are given to is written before anything is done with them: so the later copy is the safe one.
    for path in databases:
        _database(copier, layout.root, place, path)
    mark = after.job or _lost(layout)
    if mark:
        copier.content(f"{place}/{PRIVATE}/{BEGUN}", f"{mark}\n".encode())
    return after.job if _stamps(layout.root) == stamps else None


def _files(copier: Copier, layout: Layout, place: str) -> list[str]:
    """Copy all files but databases; returns the paths of these, without those of the journal and the inbox."""
    databases: list[str] = []

    def skips(path: str) -> bool:
        if BESIDE_DATABASES.fullmatch(path):
            if DATABASES.fullmatch(path) and path not in (JOURNAL, INBOX):
                databases.append(path)
            return True
        if path == KEY and not copier.with_keys:
            copier.leave_out(f"{place}/{KEY}")
            return True
        folder, _, rest = path.partition("/")
        return (folder == PRIVATE and rest.partition("/")[0] in NOT_KEPT) or bool(TEMPORARY.fullmatch(path))

    copier.tree(layout.root, place, skips)
    return databases


def _database(copier: Copier, root: Path, place: str, path: str) -> None:
    copier.database(root / path, f"{place}/{path}")
    copier.enter(f"{place}/{path}")


def _moment(layout: Layout) -> _Moment:
    journal = read_journal(layout)
    if journal is None:
        return _Moment()
    with journal:
        frame = journal.frame()
        is_closing = frame is not None and isinstance(journal.last_record(), JobClosingRecord)
        return _Moment(frame[0].id if frame is not None else "", is_closing, journal.files_digest())


def _lost(layout: Layout) -> str:
    """The job that the journal of an ensemble has lost, "" for none: a copy must not hide that."""
    job = marked(layout.journal)
    journal = read_journal(layout) if job and not layout.job_record(job).exists() else None
    if journal is None:
        return ""
    with journal:
        return "" if journal.holds_job(job) else job


@contextlib.contextmanager
def _watched(path: Path) -> Iterator[Callable[[], bool]]:
    """Gives a function that says whether nobody has written to a database since."""
    if not path.exists():
        yield lambda: not path.exists()
        return
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=30)) as found:

        def version() -> int:
            return int(found.execute("PRAGMA data_version").fetchone()[0])

        before = version()
        yield lambda: version() == before


def _stamps(root: Path) -> dict[str, tuple[int, int, int]]:
    """What changes with each file that a job or a user writes of an ensemble: its number, size and time. Files of a pin
    never change, so of those only the folders count."""
    found: dict[str, tuple[int, int, int]] = {}
    waiting = ["", "jobs", "status", "status/few", "artifacts", ".git", ".git/refs"]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                for entry in entries:
                    path = f"{folder}/{entry.name}".lstrip("/")
                    if entry.is_dir(follow_symlinks=False):
                        if folder.startswith(".git/refs"):
                            waiting.append(path)
                        elif folder == "artifacts":
                            found[path] = (entry.inode(), 0, 0)
                    elif _counts(path):
                        state = entry.stat(follow_symlinks=False)
                        found[path] = (state.st_ino, state.st_size, state.st_mtime_ns)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise ServerRefused(f"cannot read {root / folder}: {error.strerror}") from error
    return found


OWN = frozenset({"ensemble.yaml", "jobs.tsv", "secrets.yaml", "hosts.yaml", ".gitignore", ".gitattributes"})


def _counts(path: str) -> bool:
    if TEMPORARY.fullmatch(path):
        return False
    return "/" in path or path in OWN
