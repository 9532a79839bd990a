"""The catalogue of archives: folders that hold archives at any depth, each known by its name and version."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.source.meta import META
from ordito.source.package import Package, read_file
from ordito.source.tree import FileTree, Folder

FOLDER = "catalog"
ENDINGS = (".yml", ".yaml")
PACKED = (".zip", ".csar")
MOST_BYTES = 1 << 16
"""How much of a file is looked at for its name and version, which stand at its beginning."""
FACT = r"(?:^|[{{,])[ \t]*[\"']?{}[\"']?[ \t]*:[ \t]*[\"']?([^\"'#\s,}}]+)"
NAME = re.compile(FACT.format("template_name"), re.MULTILINE)
VERSION = re.compile(FACT.format("template_version"), re.MULTILINE)
LANGUAGE = re.compile(FACT.format("tosca_definitions_version"), re.MULTILINE)
ENTRY = re.compile(r"^Entry-Definitions:[ \t]*(\S+)", re.MULTILINE)
NUMBERS = re.compile(r"\d+(?:\.\d+)*(?:[.-][\w.-]+)?")


class ShelvedArchive(msgspec.Struct, frozen=True):
    """An archive of the catalogue, as far as it is known without being read."""

    name: str
    version: str
    file: str
    """Its definitions, as the service names the file."""
    root: str
    """The folder of the archive, where paths in it begin."""
    rivals: tuple[str, ...] = ()
    """Further files beside it that could be its definitions, as people call them."""


class ArchiveShelf:
    """The archives that a service may import: those in the folder beside its main file, then those of the catalogues
    that the command names."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self.packed: list[str] = []
        """The names of packed archives, which are not looked into."""

    def find(self, name: str, version: str) -> ShelvedArchive | None:
        """The archive of that name and version."""
        return self.archives.get((name, version))

    def versions(self, name: str) -> list[str]:
        """The versions of an archive that there are."""
        return [v for n, v in self.archives if n == name]

    @property
    def names(self) -> list[str]:
        """The names of all archives."""
        return sorted({n for n, _ in self.archives})

    @property
    def places(self) -> list[str]:
        """The folders that are searched, as people call them."""
        beside = posixpath.join(posixpath.dirname(self._package.main), FOLDER)
        return [self._package.shown(beside), *self._package.catalogues]

    @cached_property
    def archives(self) -> dict[tuple[str, str], ShelvedArchive]:
        """All archives, by name and version."""
        found: dict[tuple[str, str], ShelvedArchive] = {}
        beside = posixpath.join(posixpath.dirname(self._package.main), FOLDER)
        self._scan(self._package.tree, beside, "", found)
        for folder in self._package.catalogues:
            path = Path(folder).resolve()
            self._scan(Folder(path), ".", self._package.local(os.fspath(path)), found)
        return found

    def _scan(self, tree: FileTree, folder: str, begin: str, found: dict[tuple[str, str], ShelvedArchive]) -> None:
        """Enter the archives in a folder. ``begin`` is the place of the tree, as the service names it."""
        waiting = [folder]
        here: dict[tuple[str, str], ShelvedArchive] = {}
        while waiting:
            current = waiting.pop(0)
            if not tree.is_folder(current):
                continue
            folders, files = tree.entries(current)
            self.packed += [f for f in files if f.endswith(PACKED)]
            entries = self._definitions(tree, current, files)
            archive = self._look(tree, current, entries, begin)
            if archive is not None:
                self._enter(archive, here)
            if not entries:
                waiting += [posixpath.join(current, f) for f in sorted(folders) if not f.startswith(".")]
        for key, archive in here.items():
            found.setdefault(key, archive)

    def _definitions(self, tree: FileTree, folder: str, files: Iterable[str]) -> list[str]:
        meta = posixpath.join(folder, META)
        if tree.is_file(meta):
            entry = ENTRY.search(_text(tree, meta))
            return [posixpath.join(folder, entry[1])] if entry is not None else []
        named = [posixpath.join(folder, f) for f in sorted(files) if f.endswith(ENDINGS)]
        return [path for path in named if LANGUAGE.search(_text(tree, path))]

    def _look(self, tree: FileTree, folder: str, entries: list[str], begin: str) -> ShelvedArchive | None:
        """The archive of a folder: its definitions are the file that has a name and a version."""
        found: list[ShelvedArchive] = []
        files = {p: posixpath.normpath(posixpath.join(begin, p)) for p in entries}
        if posixpath.normpath(self._package.main) in files.values():
            return None
        for path, file in files.items():
            text = _text(tree, path)
            name, version = NAME.search(text), VERSION.search(text)
            if name is not None and version is not None:
                root = posixpath.normpath(posixpath.join(begin, folder))
                found.append(ShelvedArchive(name[1], version[1], file, root))
        if not found and files:
            self._diagnostics.warning(
                "unnamed-template",
                f"{self._package.shown(next(iter(files.values())))} cannot be imported by name: it lacks template_name "
                "or template_version",
                None,
                hint="add both below metadata:, or take the file out of the catalogue",
            )
        rivals = tuple(self._package.shown(a.file) for a in found[1:])
        return msgspec.structs.replace(found[0], rivals=rivals) if found else None

    def _enter(self, archive: ShelvedArchive, here: dict[tuple[str, str], ShelvedArchive]) -> None:
        key = archive.name, archive.version
        earlier = here.setdefault(key, archive)
        if earlier is not archive:
            first, second = (self._package.shown(a.file) for a in (earlier, archive))
            self._diagnostics.warning(
                "duplicate-name",
                f"{archive.name}:{archive.version} is in {first} and in {second}; the first one is taken",
                None,
                hint="remove one of them, or raise its version",
            )


def _text(tree: FileTree, path: str) -> str:
    """The beginning of a file; "" where it cannot be read."""
    try:
        return read_file(tree, path, MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def order_of(version: str) -> tuple[tuple[int, ...], bool, str]:
    """What versions are ordered by: the numbers, then one without a qualifier comes last."""
    numbers: list[int] = []
    rest = version
    while (match := re.match(r"(\d+)\.?", rest)) is not None:
        numbers.append(int(match[1]))
        rest = rest[match.end() :]
    return tuple([*numbers, 0, 0, 0][: max(3, len(numbers))]), not rest, rest


def is_version(text: str) -> bool:
    """Whether a text is a version as archives have it: numbers with dots, and a qualifier."""
    return NUMBERS.fullmatch(text) is not None
