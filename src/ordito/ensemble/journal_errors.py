"""Turns errors of SQLite about the journal into messages that say what to do."""

from __future__ import annotations

import errno
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordito.ensemble.errors import HINTS, EnsembleError, explained
from ordito.ensemble.job_mark import marked
from ordito.source.new_files import kind_of
from ordito.source.reach import check_path

NO_JOURNAL = (
    "it is damaged, or something else was put there: move it away, and the journal is made again from ensemble.yaml. "
    "If a job was running, what it has done since it began is in its log only, in .ordito/logs; let `ordito check` "
    "look at what exists"
)
"""The hint where the journal's file is something else."""


def check_is_file(path: Path) -> None:
    """Raise ``EnsembleError`` where there is something other than a file in the journal's place: SQLite would wait for
    it, or report missing permissions."""
    try:
        kind = kind_of(path.lstat().st_mode)
    except OSError:
        # There is none, or SQLite says better why it cannot be opened.
        return
    if kind:
        raise EnsembleError(f"{path} is {kind}, not a journal", NO_JOURNAL)
    with explained("open", path):
        check_path(path)


@contextmanager
def journal_explained(doing: str, path: Path) -> Iterator[None]:
    """Turn errors of SQLite about the journal into an ``EnsembleError`` "cannot <doing> <path>"."""
    try:
        yield
    except sqlite3.Error as error:
        if _is_disk_full(error, path):
            raise EnsembleError(f"cannot {doing} {path}: no space left on the disk", HINTS[errno.ENOSPC]) from error
        raise EnsembleError(f"cannot {doing} {path}: {error}", _journal_hint(error, path)) from error


def _is_disk_full(error: sqlite3.Error, path: Path) -> bool:
    """Whether an error is one of a full disk: of some of its files SQLite only says that they could not be written."""
    name = getattr(error, "sqlite_errorname", "")
    if not name.startswith("SQLITE_IOERR"):
        return name.startswith("SQLITE_FULL")
    try:
        return shutil.disk_usage(path.parent).free < LEAST_FREE
    except OSError:
        return False


def _damaged(path: Path) -> str:
    try:
        job = marked(path)
    except EnsembleError:
        job = "a job"
    if job:
        return (
            f"the journal is damaged, and {job} was running: keep a copy of {path.parent}, and recover what the "
            f"journal holds with `sqlite3 {shlex.quote(str(path))} .recover`; what the job has printed is in its log, "
            "in .ordito/logs"
        )
    away = shlex.quote(str(path.parent / "damaged"))
    moved = f"mkdir {away}; mv {shlex.quote(str(path))}* {away}"
    return (
        f"No job was running, so nothing is lost: move the journal away, it is made again from ensemble.yaml: `{moved}`"
    )


LEAST_FREE = 1 << 17
"""How many bytes SQLite may need at once for its helper files."""


def _journal_hint(error: sqlite3.Error, path: Path) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith("SQLITE_NOTADB"):
        return NO_JOURNAL
    if not name or name.startswith(("SQLITE_CORRUPT", "SQLITE_ERROR")):
        return _damaged(path)
    if name.startswith("SQLITE_READONLY"):
        return HINTS[errno.EROFS]
    if name.startswith("SQLITE_CANTOPEN"):
        return HINTS[errno.EACCES]
    if name.startswith("SQLITE_IOERR"):
        return HINTS[errno.EIO]
    if name.startswith("SQLITE_BUSY"):
        return "another program holds the journal open for writing; end it and try again"
    return ""
