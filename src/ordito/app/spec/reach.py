"""Which files the user's part of an ensemble may read: those beside it, and others by their absolute path."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import msgspec

from ordito.source.regular import open_regular


class Unreadable(Exception):
    """A file is not there (``missing``), cannot be read, or may not be; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str = "", *, missing: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.missing = missing


class Reach(msgspec.Struct, frozen=True):
    """The files that can be named relative to the ensemble ``root``, whose directory people know as ``shown``.

    Relative paths stay in the ensemble's directory, or in the git working tree that it is a part of: what is read comes
    with the ensemble then, and what does not is named by its absolute path, which everybody sees.
    """

    root: Path
    shown: str

    def read(self, path: str, base: Path | None, most: int) -> bytes:
        """The bytes of a file, at most so many; a relative path is seen from ``base``, by default the ensemble's
        directory. Raises ``Unreadable``."""
        target = self.find(path, base)
        try:
            with open_regular(target) as file:
                content = file.read(most + 1)
        except FileNotFoundError as error:
            raise Unreadable(f"there is no file {self.name(target)}", _where(path), missing=True) from error
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise Unreadable(f"cannot read {self.name(target)}: {said}", _hint(error)) from error
        if len(content) > most:
            raise Unreadable(
                f"{self.name(target)} is larger than {most // 1024:,} KiB", "only small files are read here"
            )
        return content

    def find(self, path: str, base: Path | None = None) -> Path:
        """The file of a path, which need not exist. Raises ``Unreadable`` for a relative one that leads outside."""
        given = Path(path)
        if given.is_absolute():
            return given
        target = Path(os.path.normpath((base or self.root) / given))
        edge = self._edge()
        try:
            inside = target.resolve().is_relative_to(edge)
        except (OSError, RuntimeError, ValueError) as error:
            raise Unreadable(f"cannot read {path}: {error}", "name another file") from error
        if not inside:
            raise Unreadable(
                f"{path} leads out of {edge}",
                "relative paths stay in the ensemble's directory, or in the git working tree around it: "
                "name the file by its absolute path, or put it there",
            )
        return target

    def name(self, target: Path) -> str:
        """How a file is called in messages."""
        if not target.is_relative_to(self.root):
            return str(target)
        return os.path.normpath(Path(self.shown) / target.relative_to(self.root))

    def _edge(self) -> Path:
        root = self.root.resolve()
        return next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)


def _where(path: str) -> str:
    if Path(path).is_absolute():
        return "make it, or name another one"
    return "make it, or name another one; it is looked for from the ensemble's directory"


def _hint(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "give this user the right to read it"
    if isinstance(error, OSError) and error.errno in {errno.EISDIR, errno.EINVAL}:
        return "name an ordinary file"
    return "name another file"
