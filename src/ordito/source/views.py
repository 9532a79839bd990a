"""Trees of files that are made of other trees: one folder of a tree by itself, and a tree with further files in it."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from ordito.source.tree import FileTree


class SubTree:
    """The files below a folder of a tree, as a tree of their own."""

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
"""Files by their places: where each is taken from, by the tree and its name there, or what is in it."""


class Overlaid:
    """A tree with files that lie elsewhere: these hide what it has of the same names. Only files that are asked for by
    name are seen so: the entries of its folders are those that it has itself."""

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
