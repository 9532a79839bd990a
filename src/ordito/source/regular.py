"""Opening files that others have put there: ordinary ones only, since a FIFO or a device would keep a reader for ever.

Everything that reads a service, an archive or an ensemble opens its files here.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO (named pipe)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFLNK: "a link",
}


def kind_of(mode: int) -> str:
    """What a thing with this mode is, in words; "" for an ordinary file."""
    return _KINDS.get(stat.S_IFMT(mode), "")


def regular_handle(path: str | Path, flags: int = os.O_RDONLY) -> int:
    """A handle of an ordinary file. It is looked at before it is opened, since opening a device may do something, and
    again when it is open, since it may have changed meanwhile. Raises ``OSError`` that says what else it is. Fits as
    the ``opener`` of ``open``."""
    _only_ordinary(os.stat(path).st_mode)  # noqa: PTH116  (of what the path leads to, whatever its type)
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
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
