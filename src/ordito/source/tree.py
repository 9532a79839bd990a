"""The files of a service, in a folder or in an archive, behind one interface.

Files are named relative to the root of the service, with ``/`` between the parts; in a folder a name may begin with
``..``.
"""

from __future__ import annotations

import io
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from ordito.base.span import SourceText, Span
from ordito.source.new_files import open_regular
from ordito.source.reach import check_of_service, is_of_service


class FileTree(Protocol):
    """The files of a service. ``root`` is the absolute path of its folder, or of its archive."""

    root: str

    @property
    def is_archive(self) -> bool:
        """Whether the files are in an archive."""

    def is_file(self, file: str) -> bool:
        """Whether there is a regular file of that name."""

    def is_folder(self, file: str) -> bool:
        """Whether there is a folder of that name."""

    def exists(self, file: str) -> bool:
        """Whether there is anything of that name."""

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        """The names of the folders and of the files in a folder, sorted; links to folders are left out. Raises
        ``OSError``."""

    def open(self, file: str) -> BinaryIO:
        """A file, open for reading. Opening it and reading from it raise ``OSError``, and ``ValueError`` for a name
        that no file can have."""

    def is_executable(self, file: str) -> bool:
        """Whether a file may be executed."""


class Folder:
    """The files below a folder of this machine, and beside it."""

    is_archive = False

    def __init__(self, root: Path | str) -> None:
        self.root = str(root)

    def path(self, file: str) -> Path:
        """The path of a file on this machine."""
        return Path(self.root) / file

    def is_file(self, file: str) -> bool:
        return stat.S_ISREG(self._mode(file))

    def is_folder(self, file: str) -> bool:
        return stat.S_ISDIR(self._mode(file))

    def exists(self, file: str) -> bool:
        return self._mode(file) != 0

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        check_of_service(self.path(folder))
        folders, files = [], []
        with os.scandir(self.path(folder)) as found:
            for entry in found:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif _is_file(entry):
                    files.append(entry.name)
        return sorted(folders), sorted(files)

    def open(self, file: str) -> BinaryIO:
        check_of_service(self.path(file))
        return open_regular(self.path(file))

    def is_executable(self, file: str) -> bool:
        return self.exists(file) and os.access(self.path(file), os.X_OK)

    def _mode(self, file: str) -> int:
        try:
            return self.path(file).stat().st_mode if is_of_service(self.path(file)) else 0
        except (OSError, ValueError):
            return 0


def _is_file(entry: os.DirEntry[str]) -> bool:
    """Whether there is a regular file; a link that leads round in a circle leads to none."""
    try:
        return entry.is_file()
    except OSError:
        return False


def place(shown: str) -> Span:
    """The place of a message about a whole file."""
    return Span(SourceText(shown, ""), 1, 1, 1, 1)


def inside(shown: str, file: str) -> str:
    """The name of a file in an archive in messages."""
    return f"{shown}:/{file}"


# Trees of files that are made of other trees: one folder of a tree by itself, and a tree with further files in it.


class SubTree:
    """The files below a folder of a tree, as a separate tree."""

    def __init__(self, tree: FileTree, folder: str) -> None:
        self._tree = tree
        self._folder = folder
        self.root = posixpath.normpath(posixpath.join(tree.root, folder))

    @property
    def is_archive(self) -> bool:
        return self._tree.is_archive

    def _path(self, file: str) -> str:
        return posixpath.normpath(posixpath.join(self._folder, file))

    def is_file(self, file: str) -> bool:
        return self._tree.is_file(self._path(file))

    def is_folder(self, file: str) -> bool:
        return self._tree.is_folder(self._path(file))

    def exists(self, file: str) -> bool:
        return self._tree.exists(self._path(file))

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        return self._tree.entries(self._path(folder))

    def open(self, file: str) -> BinaryIO:
        return self._tree.open(self._path(file))

    def is_executable(self, file: str) -> bool:
        return self._tree.is_executable(self._path(file))


Added = Mapping[str, tuple[FileTree, str] | bytes]
"""Files by their places: for each the tree that holds it and its name there, or its content."""


class Overlaid:
    """A tree with added files from elsewhere, which hide its own files of the same names. Added files are found by name
    only: the entries of folders are those of the tree itself."""

    def __init__(self, tree: FileTree, added: Added) -> None:
        self._tree = tree
        self._added = added
        self.root = tree.root

    @property
    def is_archive(self) -> bool:
        return self._tree.is_archive

    def is_file(self, file: str) -> bool:
        return posixpath.normpath(file) in self._added or self._tree.is_file(file)

    def is_folder(self, file: str) -> bool:
        return self._tree.is_folder(file)

    def exists(self, file: str) -> bool:
        return self.is_file(file) or self._tree.exists(file)

    def entries(self, folder: str) -> tuple[Sequence[str], Sequence[str]]:
        return self._tree.entries(folder)

    def open(self, file: str) -> BinaryIO:
        found = self._added.get(posixpath.normpath(file))
        if found is None:
            return self._tree.open(file)
        return io.BytesIO(found) if isinstance(found, bytes) else found[0].open(found[1])

    def is_executable(self, file: str) -> bool:
        found = self._added.get(posixpath.normpath(file))
        if found is None:
            return self._tree.is_executable(file)
        return not isinstance(found, bytes) and found[0].is_executable(found[1])
