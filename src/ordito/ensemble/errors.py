"""Errors of an ensemble's directory, with hints that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class EnsembleError(Exception):
    """The files of the ensemble are wrong, or cannot be read or written; ``hint`` says what to do next."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


NOTHING_LOST = "nothing is lost: continue with `ordito jobs resume` if a job was running"

HINTS = {
    errno.ENOSPC: f"make room on the disk and try again; {NOTHING_LOST}",
    errno.EDQUOT: f"the quota of this user is used up: make room and try again; {NOTHING_LOST}",
    errno.EROFS: "the file system is read-only; work on a copy of the ensemble, or mount it writable",
    errno.EACCES: "give this user the right to read and write the ensemble's directory",
    errno.EPERM: "give this user the right to read and write the ensemble's directory",
    errno.ENOTDIR: "there is a file where a directory is needed; move it away",
    errno.ELOOP: "remove the link: in an ensemble from elsewhere it could lead to any file of yours",
    errno.EIO: "the disk reports an error; check it before trying again",
}
"""By error number of the operating system, the hint."""


@contextmanager
def explained(doing: str, path: Path) -> Iterator[None]:
    """Turn errors of the operating system into an ``EnsembleError`` "cannot <doing> <path>"."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        hint = HINTS.get(error.errno or 0, "")
        raise EnsembleError(f"cannot {doing} {path}: {reason}", hint) from error
