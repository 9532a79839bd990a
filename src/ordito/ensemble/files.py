"""Writing files so that they are there whole or not at all, and stay there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ordito.ensemble.errors import explained

BLOCK = 1 << 20


def write_whole(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file atomically and durably: under another name, then in one move to its own.

    A file that holds these very bytes already is left alone. Raises ``EnsembleError``.
    """
    content = b"".join(pieces)
    with explained("write", path):
        if _holds(path, content):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}.new")
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
        try:
            write_all(handle, content)
            keep_mode(path, handle)
            os.fsync(handle)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        fresh.replace(path)
        sync_directory(path.parent)


def write_all(handle: int, content: bytes) -> None:
    """Write all bytes, however many the operating system takes at once."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def keep_mode(path: Path, handle: int) -> None:
    """Give a file that is to take another's place the permissions of that other one."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    os.fchmod(handle, mode & 0o7777)


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
            return path.read_bytes()
        except FileNotFoundError:
            return None


def digest_of(path: Path) -> str:
    """The SHA-256 of a file's content, in hexadecimal digits."""
    with path.open("rb") as file:
        return digest_of_stream(file)


def digest_of_stream(file: BinaryIO) -> str:
    """The SHA-256 of what is still to be read of an open file, in hexadecimal digits."""
    found = hashlib.sha256()
    while block := file.read(BLOCK):
        found.update(block)
    return found.hexdigest()


def _holds(path: Path, content: bytes) -> bool:
    try:
        return path.stat().st_size == len(content) and path.read_bytes() == content
    except FileNotFoundError:
        return False
