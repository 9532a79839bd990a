"""What SQLite may say about the journal, said so that people can act on it."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ordito.ensemble.errors import HINTS, EnsembleError


@contextmanager
def journal_explained(doing: str, path: Path) -> Iterator[None]:
    """Turn what SQLite says about the journal into an ``EnsembleError``; ``doing`` is as in "cannot <doing> <path>"."""
    try:
        yield
    except sqlite3.Error as error:
        raise EnsembleError(f"cannot {doing} {path}: {error}", _journal_hint(error)) from error


def _journal_hint(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")):
        return (
            "the journal is damaged. If no job was running, move it away: it is made again from ensemble.yaml. "
            "Else keep a copy, and recover what it holds with `sqlite3 journal.db .recover`"
        )
    if name.startswith("SQLITE_FULL"):
        return HINTS[errno.ENOSPC]
    if name.startswith("SQLITE_READONLY"):
        return HINTS[errno.EROFS]
    if name.startswith("SQLITE_CANTOPEN"):
        return HINTS[errno.EACCES]
    if name.startswith("SQLITE_IOERR"):
        return HINTS[errno.EIO]
    if name.startswith("SQLITE_BUSY"):
        return "another program holds the journal open for writing; end it and try again"
    return ""
