"""Writes files atomically and durably: a file is complete or does not exist, also after a crash."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ordito.ensemble.errors import explained
from ordito.source.new_files import fresh_name, kind_of, open_regular, read_regular

BLOCK = 1 << 20


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file atomically and durably: under another name, which is then renamed.

    A file that already holds the same bytes is left alone. Raises ``EnsembleError``.
    """
    content = b"".join(pieces)
    with explained("write", path):
        put_whole(path, content)


def put_whole(path: Path, content: bytes, expected: os.stat_result | None = None) -> None:
    """Write a file as ``write_whole`` does. With ``expected``, only where the file has not changed since then; raises
    ``FileChanged`` where somebody else has written to it. Raises ``OSError``."""
    if _holds(path, content):
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    # A name that nobody can foresee, so that nobody can have put a link there, and no two processes share it.
    fresh = fresh_name(path)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            write_all(handle, content)
            keep_mode(path, handle)
            os.fsync(handle)
        finally:
            os.close(handle)
        if expected is not None and not is_same(expected, path):
            raise FileChanged(errno.ESTALE, "somebody else has written to it meanwhile", str(path))
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


class FileChanged(OSError):
    """A file has changed since it was read."""


def mark_of(path: Path) -> tuple[int, int, int] | None:
    """What changes with a file: its time, size and number; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def is_same(found: os.stat_result, path: Path) -> bool:
    """Whether a file is the one that was found, and was not written to since. Raises ``OSError``."""
    now = path.stat()
    return os.path.samestat(found, now) and (found.st_mtime_ns, found.st_size) == (now.st_mtime_ns, now.st_size)


def own_handle(path: Path, flags: int, mode: int = 0o600) -> int:
    """A handle of a file to which Ordito appends; the file is made where there is none.

    A link is not followed: in an ensemble from elsewhere it could lead to any file of this user. Raises ``OSError``.
    """
    if path.is_symlink():
        raise OSError(errno.ELOOP, "there is a link in its place")
    handle = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    kind = kind_of(os.fstat(handle).st_mode)
    if kind:
        os.close(handle)
        raise OSError(errno.EINVAL, f"it is {kind}, not an ordinary file")
    return handle


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes, however many the operating system takes at once."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def keep_mode(path: Path, handle: int) -> None:
    """Give a file that will replace another the permissions of that one, and its owner where that is possible."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    own, kept = os.fstat(handle), 0o7777
    if (own.st_uid, own.st_gid) != (found.st_uid, found.st_gid):
        try:
            os.fchown(handle, found.st_uid, found.st_gid)
        except PermissionError:
            # To run as its owner is not for a file that now belongs to somebody else.
            kept = 0o777
    os.fchmod(handle, found.st_mode & kept)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path) -> bytes | None:
    """The bytes of a file, None where there is none. Raises ``EnsembleError``."""
    with explained("read", path):
        try:
            return read_regular(path)
        except FileNotFoundError:
            return None


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with open_regular(path) as file:
        return digest_of_stream(file)


def digest_of_stream(file: BinaryIO) -> str:
    """The SHA-256 of the rest of an open file, in hexadecimal digits."""
    found = hashlib.sha256()
    while block := file.read(BLOCK):
        found.update(block)
    return found.hexdigest()


def _holds(path: Path, content: bytes) -> bool:
    """Whether a file holds these bytes. Raises ``OSError`` where there is something that is no ordinary file."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            code = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL
            raise OSError(code, f"there is {kind_of(found.st_mode)} of that name")
        return found.st_size == len(content) and read_regular(path) == content
    except FileNotFoundError:
        return False
