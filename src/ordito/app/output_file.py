"""Writing the file that a command was asked to write; and if it cannot be written, why, and what to do about it."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from ordito.app.errors import Refused
from ordito.ensemble.files import put_whole, sync_directory, write_all
from ordito.source.new_files import fresh_file, sweep

_HINTS = {
    errno.ENOSPC: "make room on the disk, and try again",
    errno.EDQUOT: "the quota of this user is used up: make room, and try again",
    errno.EFBIG: "the file is larger than this user may write: write it elsewhere",
    errno.EROFS: "the file system is read-only: write it elsewhere",
    errno.EACCES: "write it where this user may, or give this user the right to write there",
    errno.EPERM: "write it where this user may, or give this user the right to write there",
    errno.EEXIST: "there is a file where a folder is needed: name another place",
    errno.ENOTDIR: "there is a file where a folder is needed: name another place",
    errno.EISDIR: "there is a folder of that name: name a file",
    errno.ENAMETOOLONG: "give it a shorter name",
    errno.ELOOP: "the link leads back to itself: remove it, or name another place",
    errno.EIO: "the disk reports an error: check it before trying again",
}


def cannot_write(name: str, error: OSError) -> Refused:
    """The refusal for a file or folder (``name`` in the message) that cannot be written, with the reason of the
    operating system."""
    return Refused("cannot-write", f"cannot write {name}: {error.strerror or error}", _HINTS.get(error.errno or 0, ""))


_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/([0-9]+)")
_STANDARD_ERROR = "/dev/stderr"


def write_document(out: str, document: bytes, sources: Iterable[str]) -> None:
    """Write a document completely or not at all; into a device or a FIFO it is simply written. A link stays a link.
    Raises ``Refused``, also if the file is one of the ``sources`` from which the document was made."""
    try:
        handle = _stream(out)
        if handle is None:
            _refuse_source(out, sources)
            put_whole(Path(os.path.realpath(out)), document)
            return
        try:
            write_all(handle, document)
        finally:
            os.close(handle)
    except OSError as error:
        raise cannot_write(out, error) from error


def _stream(out: str) -> int | None:
    """A handle of something that is no regular file, which must not be replaced; None for a regular file, or if there
    is none yet. Raises ``OSError``."""
    numbered = _DESCRIPTOR.fullmatch(os.path.normpath(out))
    if numbered is not None or out == _STANDARD_ERROR:
        return os.dup(int(numbered[1]) if numbered is not None else 2)
    try:
        mode = Path(out).stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return None
    return os.open(out, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)


def _refuse_source(out: str, sources: Iterable[str]) -> None:
    if not Path(out).exists():
        return
    for source in sources:
        if Path(source).exists() and Path(source).samefile(out):
            raise Refused(
                "exists",
                f"{out} was read by this command and would be overwritten",
                "name another file with --out FILE",
            )


_ENDING = ".saving"


def write_private(out: str, document: bytes, is_replaceable: Callable[[Path], bool]) -> None:
    """Write a document that only its owner may read, completely or not at all. An existing file must be replaceable.
    Raises ``Refused``."""
    path = Path(os.path.realpath(out))
    if path.exists() and not is_replaceable(path):
        raise Refused("exists", f"{out} is something else, and is not overwritten", "name another file with --out FILE")
    try:
        sweep(path, _ENDING)
        fresh, handle = fresh_file(path, _ENDING)
        try:
            write_all(handle, document)
            os.fsync(handle)
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        sync_directory(path.parent)
    except OSError as error:
        raise cannot_write(out, error) from error
