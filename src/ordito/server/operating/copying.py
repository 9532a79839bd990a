"""Copying files into a backup: each with its digest, and without what holds a key unless keys are wanted."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import shutil
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote_to_bytes

import msgspec

from ordito.ensemble.files import BLOCK, digest_of, write_all
from ordito.server.refused import ServerRefused

KEYS = re.compile(
    rb"^-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----[\r\n]|\APuTTY-User-Key-File-\d+: |\Aordito-key-1:", re.MULTILINE
)
"""What a file holds that is a key: of SSH or TLS, or of an ensemble."""

LONGEST_MARK = 100
PLAIN = "/ +@=,:~()[]{}!#$&';^"
"""Characters of paths that are written as they are, besides letters, digits and ``_.-``."""


class KeptFile(msgspec.Struct, frozen=True):
    """A file of a backup: its path in the home, SHA-256, size, mode, and time of its last change."""

    path: str
    digest: str
    size: int
    mode: int
    time: float


class KeptLink(msgspec.Struct, frozen=True):
    """A symbolic link."""

    path: str
    target: str


class KeptFolder(msgspec.Struct, frozen=True):
    """A folder."""

    path: str
    mode: int


def written(path: str) -> str:
    """A path as it stands in the list of a backup, whatever bytes it has."""
    return quote(os.fsencode(path), safe=PLAIN)


def as_path(text: str) -> str:
    """A path of the list again. Raises ``ServerRefused`` for one that leads out of the home."""
    path = os.fsdecode(unquote_to_bytes(text))
    if not path or path.startswith("/") or "\0" in path or ".." in PurePosixPath(path).parts:
        raise ServerRefused(f"the backup names a file outside of it: {text}", "it was changed; use another one")
    return path


Skips = Callable[[str], bool]


class Copier:
    """Copies into a folder, which becomes the home in a backup. All methods raise ``ServerRefused`` where something
    cannot be read or written."""

    def __init__(self, root: Path, *, with_keys: bool) -> None:
        self.root = root
        self.with_keys = with_keys
        self.left_out: list[str] = []
        self._files: dict[str, KeptFile] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, int] = {}

    @property
    def files(self) -> tuple[KeptFile, ...]:
        """All files, by their paths."""
        return tuple(self._files[path] for path in sorted(self._files))

    @property
    def links(self) -> tuple[KeptLink, ...]:
        """All links."""
        return tuple(KeptLink(written(path), written(self._links[path])) for path in sorted(self._links))

    @property
    def folders(self) -> tuple[KeptFolder, ...]:
        """All folders, each before what is in it."""
        return tuple(KeptFolder(written(path), self._folders[path]) for path in sorted(self._folders))

    def forget(self, place: str) -> None:
        """Forget everything at and below a place, which is copied once more."""
        shutil.rmtree(self.root / place, ignore_errors=True)
        known: dict[str, Any]
        for known in (self._files, self._links, self._folders):
            for path in [path for path in known if path == place or path.startswith(f"{place}/")]:
                del known[path]
        self.left_out = [path for path in self.left_out if not path.startswith(f"{place}/")]

    def tree(self, source: Path, place: str, skips: Skips) -> None:
        """Copy a folder; ``skips`` says of paths in it whether they are left out. What vanishes meanwhile is left out,
        as are pipes, sockets and devices."""
        waiting = [""]
        while waiting:
            inside = waiting.pop()
            folder = source / inside
            target = f"{place}/{inside}".strip("/")
            try:
                mode = stat.S_IMODE(folder.stat().st_mode)
                with os.scandir(folder) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise ServerRefused(f"cannot read {folder}: {error.strerror}", READABLE) from error
            if target:
                self._make(target, mode)
            for entry in entries:
                path = f"{inside}/{entry.name}".lstrip("/")
                if skips(path):
                    continue
                if entry.is_symlink():
                    self._link(entry.path, f"{target}/{entry.name}".lstrip("/"))
                elif entry.is_dir():
                    waiting.append(path)
                elif entry.is_file():
                    self.file(Path(entry.path), f"{target}/{entry.name}".lstrip("/"))

    def file(self, source: Path, place: str) -> None:
        """Copy one file. One that holds a key is left out, unless keys are wanted."""
        try:
            handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ServerRefused(f"cannot read {source}: {error.strerror}", READABLE) from error
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            digest, size, before, has_key = hashlib.sha256(), 0, b"", False
            out = self._new(place)
            try:
                while block := file.read(BLOCK):
                    digest.update(block)
                    size += len(block)
                    has_key = has_key or KEYS.search(before + block) is not None
                    before = block[-LONGEST_MARK:]
                    write_all(out, block)
            except OSError as error:
                raise ServerRefused(f"cannot copy {source}: {error.strerror}", ROOM) from error
            finally:
                os.close(out)
        if has_key and not self.with_keys:
            self.leave_out(place)
            return
        self._files[place] = KeptFile(
            written(place), digest.hexdigest(), size, stat.S_IMODE(found.st_mode), found.st_mtime
        )

    def leave_out(self, place: str) -> None:
        """Note that a file is not in the backup because it holds a key, and remove what was copied of it."""
        (self.root / place).unlink(missing_ok=True)
        self.left_out.append(place)

    def content(self, place: str, content: bytes) -> None:
        """Put a file of this content there."""
        out = self._new(place)
        try:
            write_all(out, content)
        except OSError as error:
            raise ServerRefused(f"cannot write {self.root / place}: {error.strerror}", ROOM) from error
        finally:
            os.close(out)
        self.enter(place)

    def database(self, source: Path, place: str) -> None:
        """Copy a database of SQLite as it is at one moment, while others write to it; ``enter`` it afterwards."""
        os.close(self._new(place))
        try:
            with (
                contextlib.closing(sqlite3.connect(f"{source.as_uri()}?mode=rw", uri=True, timeout=30)) as found,
                contextlib.closing(sqlite3.connect(self.root / place)) as copy,
            ):
                found.backup(copy)
        except sqlite3.Error as error:
            raise ServerRefused(f"cannot copy {source}: {error}", ROOM) from error

    def enter(self, place: str, mode: int = 0o600) -> None:
        """Take a file that lies in the backup already into its list."""
        path = self.root / place
        try:
            found = path.stat()
            digest = digest_of(path)
        except OSError as error:
            raise ServerRefused(f"cannot read {path}: {error.strerror}") from error
        self._files[place] = KeptFile(written(place), digest, found.st_size, mode, found.st_mtime)

    def _new(self, place: str) -> int:
        path = self.root / place
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ServerRefused(f"cannot write {path}: {error.strerror}", ROOM) from error

    def _make(self, place: str, mode: int) -> None:
        try:
            (self.root / place).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ServerRefused(f"cannot write {self.root / place}: {error.strerror}", ROOM) from error
        self._folders[place] = mode

    def _link(self, source: str, place: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._links[place] = os.readlink(source)  # noqa: PTH115  (a text, with any bytes)


def sync_disk(path: Path) -> None:
    """Wait until everything that was written to the file system of a folder is on its disk. Raises ``OSError``."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).syncfs(handle):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(path))
    finally:
        os.close(handle)


READABLE = "do it as the user of the server, who can read everything that belongs to it"
ROOM = "make room there, or name another place; nothing is left of what was begun"
