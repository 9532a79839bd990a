"""Files that an operation has left, or could have put in the place of ours: reading them never waits.

An operation may leave what it likes where its outputs are looked for, and beside it. A named pipe would hold up who
opens it, a device whoever reads it, and a link may lead to what is none of the operation's. So nothing is read here but
a regular file that lies at its place itself, and no more of it than is asked for, however fast it grows.
"""

# Paths are texts here: they come as texts, and go to the kernel.

from __future__ import annotations

import errno
import os

import msgspec

from ordito.source.regular import kind_of

LARGEST_FILE = 64 * 1024 * 1024
"""Bytes of a file that are accepted: it is read into memory, and goes into the journal."""

_LOOKING = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE = 1024 * 1024


class Left(msgspec.Struct, frozen=True):
    """What lies at a path: the bytes of a file, one more than was asked for where it is larger, and none where nothing
    is there. ``problem`` says why it is no file that can be read, in words that follow its name."""

    data: bytes = b""
    problem: str = ""


NOTHING = Left()


def look_at(path: str, most: int = LARGEST_FILE) -> Left:
    """What an operation has left at a path."""
    try:
        descriptor = open_regular(path, os.O_RDONLY)
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        return Left(problem=_problem(path, error))
    try:
        return Left(_read(descriptor, most + 1))
    except OSError as error:
        return Left(problem=f"cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)


def open_regular(path: str, flags: int) -> int:
    """Open a regular file that lies at this very path, or make it where the flags say so. ``OSError`` for everything
    else, which is not opened: a device may do something when it is."""
    if not flags & os.O_CREAT or os.path.lexists(path):
        _only_regular(os.lstat(path).st_mode, path)
    descriptor = os.open(path, flags | _LOOKING, 0o600)
    try:
        _only_regular(os.fstat(descriptor).st_mode, path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _only_regular(mode: int, path: str) -> None:
    if kind := kind_of(mode):
        raise OSError(errno.EINVAL, f"it is {kind}", path)


def _read(descriptor: int, most: int) -> bytes:
    data = os.read(descriptor, min(most, _PIECE))
    if len(data) < min(os.fstat(descriptor).st_size, most):
        pieces, size = [data], len(data)
        while size < most and (piece := os.read(descriptor, min(most - size, _PIECE))):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)
    return data


def _problem(path: str, error: OSError) -> str:
    """Why it could not be opened: what it is, if that is the reason."""
    try:
        kind = kind_of(os.lstat(path).st_mode)
    except OSError:
        kind = ""
    return f"is {kind}" if kind else f"cannot be read: {error.strerror}"
