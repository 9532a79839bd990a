"""Where catalogues are searched for, and which of several blocks with the same name is chosen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.blocks.catalogue import BlockCatalogue, content_digest, read_catalogue
from ordito.model.lifecycle_steps import BUILT_IN, BlockType, is_newer
from ordito.source.meta import META
from ordito.source.opening import ARCHIVES, DEFINITIONS_ENDINGS, open_package, open_tree
from ordito.source.package import Package
from ordito.source.tree import FileTree, Folder, SubTree

FOLDER = "catalog"
"""The folder with the catalogues of a project, beside the service or beside the ensemble."""
PROGRAM_FOLDER = Path(__file__).parent.parent / "catalogue"
"""The catalogue that comes with Ordito."""


def user_folder(environment: Mapping[str, str]) -> Path:
    """The folder with the catalogues of the user."""
    data = environment.get("XDG_DATA_HOME", "")
    home = Path(data) if data.startswith("/") else Path(environment.get("HOME") or "~").expanduser() / ".local/share"
    return home / "ordito" / FOLDER


class Places(msgspec.Struct, frozen=True):
    """Where catalogues are searched for besides the service itself."""

    folders: tuple[str, ...] = ()
    """Each of them, if it exists, is a catalogue or holds some."""
    given: tuple[str, ...] = ()
    """Catalogues that the user has given, which must exist."""
    alone: bool = False
    """Whether to leave out the catalogue that comes with Ordito, which otherwise is searched last."""


class Search:
    """Finds blocks in all catalogues. These are read when the first block is searched for, and their faults are added
    to ``diagnostics`` then."""

    def __init__(self, places: Places, inside: Sequence[tuple[FileTree, str, str]], diagnostics: Diagnostics) -> None:
        """``inside`` are folders of trees that may hold catalogues: the tree, the folder, and what people call it."""
        self._places = places
        self._inside = inside
        self._diagnostics = diagnostics

    @cached_property
    def catalogues(self) -> dict[str, BlockCatalogue]:
        """All catalogues, by their names in messages, in the order in which they are searched."""
        found: dict[str, BlockCatalogue] = {}
        for package, origin in self._packages():
            if origin not in found:
                found[origin] = read_catalogue(package, origin, self._diagnostics)
        return found

    def find(self, fqn: str) -> BlockType | None:
        """The newest block of a name, the first one where several have that version; None where there is none."""
        best: BlockType | None = None
        for block in self.named(fqn):
            if best is None or is_newer(block, best):
                best = block
        return best

    def named(self, fqn: str) -> Iterator[BlockType]:
        """All blocks of a name."""
        return (c.blocks[fqn] for c in self.catalogues.values() if fqn in c.blocks)

    def names(self) -> Iterator[str]:
        """The names of all blocks."""
        return (fqn for catalogue in self.catalogues.values() for fqn in catalogue.blocks)

    def other(self, block: BlockType, tree: FileTree) -> BlockType | None:
        """A block of the same name and version with different content, None where there is none; ``tree`` holds the
        files of the given block. Raises ``OSError``."""
        mine = ""
        for rival in self.named(block.fqn):
            if rival.version != block.version or rival.origin == block.origin:
                continue
            mine = mine or content_digest(block, tree)
            if content_digest(rival, self.catalogues[rival.origin].package.tree) != mine:
                return rival
        return None

    def _packages(self) -> Iterator[tuple[Package, str]]:
        for tree, folder, shown in self._inside:
            yield from self._in_tree(tree, folder, shown)
        for given in self._places.given:
            yield from self._in_folder(given)
        for folder in self._places.folders:
            if Folder(folder).is_folder("."):
                yield from self._in_folder(folder)
        if not self._places.alone:
            yield from self._opened(open_package(str(PROGRAM_FOLDER), self._diagnostics), BUILT_IN)

    def _in_folder(self, folder: str) -> Iterator[tuple[Package, str]]:
        """The catalogues at a path: an archive, a catalogue, or a folder of such."""
        path = Path(folder)
        if Folder(path).is_folder(".") and not _is_catalogue(Folder(path)):
            for name in sorted(os.listdir(path)):  # noqa: PTH208  (names, in an order of their own)
                inner = path / name
                if not name.startswith(".") and (inner.suffix.lower() in ARCHIVES or inner.is_dir()):
                    yield from self._opened(open_package(str(inner), self._diagnostics), str(inner))
            return
        yield from self._opened(open_package(folder, self._diagnostics), folder)

    def _in_tree(self, tree: FileTree, folder: str, shown: str) -> Iterator[tuple[Package, str]]:
        if not tree.is_folder(folder):
            return
        view = SubTree(tree, folder)
        if _is_catalogue(view):
            yield from self._opened(open_tree(view, shown, self._diagnostics), shown)
            return
        folders, files = view.entries(".")
        for name in folders:
            if not name.startswith("."):
                inner = SubTree(view, name)
                yield from self._opened(open_tree(inner, f"{shown}/{name}", self._diagnostics), f"{shown}/{name}")
        if not tree.is_archive:
            for name in files:
                if Path(name).suffix.lower() in ARCHIVES:
                    path = f"{view.root}/{name}"
                    yield from self._opened(
                        open_package(path, self._diagnostics, shown=f"{shown}/{name}"), f"{shown}/{name}"
                    )

    def _opened(self, package: Package | None, origin: str) -> Iterator[tuple[Package, str]]:
        if package is not None:
            yield package, origin


def _is_catalogue(tree: FileTree) -> bool:
    """Whether a folder holds a catalogue itself."""
    return tree.is_file(META) or any(Path(name).suffix in DEFINITIONS_ENDINGS for name in tree.entries(".")[1])
