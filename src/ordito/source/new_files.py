"""New files and folders that are moved to their place when they are complete, with names that cannot be predicted.

A process holds a lock on such a file while it fills it. Where the process is killed, the file stays without a lock: so
the next process that makes the same file recognises and removes it.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from ordito.source.reach import check_open, check_path

_LONGEST = 40
"""How many characters of a name the temporary name repeats: it must not become too long."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def fresh_name(path: Path, ending: str = ".new") -> Path:
    """A name beside a path that cannot be predicted."""
    return path.with_name(f"{_beginning(path)}{os.urandom(8).hex()}{ending}")


def fresh_file(path: Path, ending: str) -> tuple[Path, int]:
    """Make a file that will replace another; returns its name and its handle, which holds the lock. Only its owner may
    read it. Raises ``OSError``."""
    while True:
        fresh = fresh_name(path, ending)
        handle = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if _locked(handle):
            return fresh, handle


def fresh_folder(path: Path, ending: str) -> tuple[Path, int]:
    """Make a folder that will be moved to a path; returns its name and a handle, which holds the lock. Raises
    ``OSError``."""
    while True:
        fresh = fresh_name(path, ending)
        fresh.mkdir(0o700)
        try:
            handle = os.open(fresh, _FOLDER)
        except FileNotFoundError:
            continue
        if _locked(handle):
            return fresh, handle


def usual_mode(plain: int) -> int:
    """The permissions of a file or folder that is made with the mode ``plain``, under the umask of this process."""
    mask = os.umask(0o077)
    os.umask(mask)
    return plain & ~mask


def sweep(path: Path, ending: str) -> None:
    """Remove the temporary files for a path that killed processes have left: those that belong to this user and are not
    locked. A file that cannot be removed stays, and does no harm."""
    pattern = re.compile(re.escape(_beginning(path)) + "[0-9a-f]{16}" + re.escape(ending))
    try:
        found = [entry.name for entry in os.scandir(path.parent) if pattern.fullmatch(entry.name)]
    except OSError:
        return
    for name in found:
        _remove_left(path.with_name(name))


def _beginning(path: Path) -> str:
    return f".{path.name[:_LONGEST]}."


def _locked(handle: int) -> bool:
    """Take the lock of what was just made; False, with the handle closed, where somebody has swept it away before."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        # A file system without locks: then nothing can be taken away either.
        return True
    if os.fstat(handle).st_nlink:
        return True
    os.close(handle)
    return False


def _remove_left(path: Path) -> None:
    try:
        found = path.lstat()
        if found.st_uid != os.geteuid() or not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
            return
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if stat.S_ISDIR(found.st_mode):
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    except OSError:
        return
    finally:
        os.close(handle)


# Opening files that others have put there: ordinary ones only, since a FIFO or a device would keep a reader for ever.
#
# Everything that reads a service, an archive or an ensemble opens its files here.

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO (named pipe)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


def kind_of(mode: int) -> str:
    """The kind of a file with this mode, in words; "" for an ordinary file."""
    return _KINDS.get(stat.S_IFMT(mode), "")


def regular_handle(path: str | Path, flags: int = os.O_RDONLY) -> int:
    """A handle of an ordinary file, usable as the ``opener`` of ``open``. Raises ``OSError`` that says what else it is.

    The kind is checked before the file is opened, since opening a device may have an effect, and again when it is open,
    since it may have changed meanwhile; so is whether this process may read it.
    """
    check_path(path)
    _only_ordinary(os.stat(path).st_mode)  # noqa: PTH116  (of what the path leads to, whatever its type)
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        check_open(handle)
        _only_ordinary(os.fstat(handle).st_mode)
    except OSError:
        os.close(handle)
        raise
    return handle


def open_regular(path: str | Path) -> BinaryIO:
    """An ordinary file, open for reading. Raises ``OSError``."""
    return os.fdopen(regular_handle(path), "rb")


def read_regular(path: str | Path) -> bytes:
    """The bytes of an ordinary file. Raises ``OSError``."""
    with open_regular(path) as file:
        return file.read()


def _only_ordinary(mode: int) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, f"it is {kind_of(mode) or 'something else'}, not an ordinary file")
