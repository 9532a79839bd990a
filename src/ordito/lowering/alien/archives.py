"""The files of an archive: its own, and those of all archives that it imports, one of each name (section 2)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from ordito.base.diagnostics import Diagnostics
from ordito.base.paths import beside, is_url
from ordito.base.span import Span
from ordito.lowering.alien.keynames import PREFIX, VERSIONS, Keynames, number_of
from ordito.lowering.alien.shelf import ArchiveShelf, ShelvedArchive, order_of
from ordito.lowering.making import text
from ordito.source.loader import Document
from ordito.source.nodes import Mapping, Node, Scalar, Sequence, is_null
from ordito.source.package import Package

VERSION = "tosca_definitions_version"
NORMATIVE = "tosca-normative-types"
NORMATIVE_VERSIONS = frozenset(
    ("1.0.0-ALIEN20", "1.0.0-ALIEN14", "1.0.0-ALIEN12", "1.0.0-ALIEN11", "1.0.0.wd06-SNAPSHOT", "1.0.0.wd03-SNAPSHOT")
)
SNAPSHOT = "SNAPSHOT"
FILES = (".yml", ".yaml")


class ArchiveFile(msgspec.Struct, frozen=True):
    """A file that was read: where it is, and what it holds in which version of the language."""

    file: str
    root: Mapping
    number: int
    home: str
    """The folder of its archive, where paths begin."""
    name: str = ""
    """The name and version by which it was imported, "" where a path did."""


class _Wanted(msgspec.Struct, frozen=True):
    """An import: the archive or the path that it names, and where that is written."""

    written: Scalar
    name: str
    version: str = ""


def version_of(document: Document) -> Scalar | None:
    """The version that a document names, where that is one of Alien4Cloud."""
    root = document.root
    written = root.values.get(VERSION) if isinstance(root, Mapping) else None
    return written if isinstance(written, Scalar) and written.text.startswith(PREFIX) else None


class ArchiveImports:
    """Reads the files of an archive, the main one first; what is imported stands before what imports it in
    ``in_order``."""

    def __init__(self, package: Package, diagnostics: Diagnostics) -> None:
        self._package = package
        self._diagnostics = diagnostics
        self._shelf = ArchiveShelf(package, diagnostics)
        self._read: dict[str, ArchiveFile | None] = {}
        self._homes: dict[str, str] = {}
        """The folders of the archives, by their definitions."""
        self._findings: dict[str, Diagnostics] = {}
        """What is wrong with each file that was read, said only where it is part of the service."""
        self._chosen: dict[str, tuple[str, bool]] = {}
        """The version that is taken of each archive, and whether the main file asks for it."""
        self.incomplete = False
        """Whether a file could not be read, so that names may be missing for that reason."""
        self.has_normative = False
        self.in_order: list[ArchiveFile] = []

    def gather(self, document: Document, file: str) -> ArchiveFile | None:
        """Read the main file and all that it imports; None, with the reason, where the main file is none."""
        main = self._file(document, file, self._diagnostics)
        if main is None:
            return None
        self._read[file] = main
        # What is only read on the way to other versions is not part of the service: nothing is said of it.
        said, self._diagnostics = self._diagnostics, Diagnostics()
        conflicts = self._choose(main)
        self._diagnostics = said
        self._warn_of(conflicts)
        self.incomplete = False
        self._order(main, [], set())
        return main

    # One file.

    def _file(self, document: Document, file: str, diagnostics: Diagnostics, name: str = "") -> ArchiveFile | None:
        root = document.root
        if not isinstance(root, Mapping):
            diagnostics.error("wrong-form", f"an archive is a map, not {root.kind}", root.span)
            return None
        written = root.values.get(VERSION)
        number = number_of(written.text) if isinstance(written, Scalar) else 0
        if not number:
            shown = f'"{written.text}"' if isinstance(written, Scalar) else "no version"
            diagnostics.error(
                "unknown-version",
                f"{shown} is not a version of the language of archives that can be read",
                written.span if written is not None else root.span,
                hint=f"known here: {', '.join(VERSIONS)}, and those of TOSCA in archives that are imported",
            )
            return None
        if root.keys[0].text != VERSION:
            diagnostics.warning(
                "version-not-first", f'"{VERSION}" should be the first line', root.key(VERSION).span, hint="move it up"
            )
        home = self._homes.get(file, posixpath.dirname(file))
        return ArchiveFile(file, Keynames(number, diagnostics).kept(root, "archive"), number, home, name)

    def _load(self, file: str, wanted: Scalar, name: str) -> ArchiveFile | None:
        """A file that is imported, read once."""
        if file not in self._read:
            found = self._findings[file] = Diagnostics()
            document = self._package.load_definitions(file, found, wanted.span)
            self._read[file] = self._file(document, file, found, name) if document is not None else None
        self._diagnostics.extend(self._findings.get(file, ()))
        self.incomplete = self.incomplete or self._read[file] is None
        return self._read[file]

    # Imports.

    def _imports(self, file: ArchiveFile) -> Iterator[_Wanted]:
        """What a file imports, save the normative types, which come with the program."""
        for written in self._written(file.root.values.get("imports")):
            name, colon, version = written.text.partition(":")
            if is_url(written.text) or not colon or written.text.endswith(FILES):
                yield _Wanted(written, written.text)
            elif name == NORMATIVE:
                self._normative(written, version)
            else:
                yield _Wanted(written, name, version)

    def _written(self, node: Node | None) -> Iterator[Scalar]:
        """The texts of imports, with or without a name before them."""
        if node is None or is_null(node):
            return
        if isinstance(node, Mapping):
            items: list[Node] = [*node.values.values()]
        else:
            items = node.items if isinstance(node, Sequence) else [node]
        for item in items:
            value = next(iter(item.values.values())) if isinstance(item, Mapping) and len(item.keys) == 1 else item
            if isinstance(value, Scalar) and not is_null(value):
                yield value
            else:
                self._diagnostics.error(
                    "wrong-form",
                    "an import names an archive and its version, or a file",
                    item.span,
                    hint="write - name:version",
                )
                self.incomplete = True

    def _normative(self, written: Scalar, version: str) -> None:
        self.has_normative = True
        if version not in NORMATIVE_VERSIONS and "ALIEN20" not in version:
            self._diagnostics.note(
                "other-release",
                f"normative types of version {version} do not come with the program; those of 1.0.0-ALIEN20 are taken",
                written.span,
            )

    def _locate(self, file: ArchiveFile, wanted: _Wanted) -> str | None:
        """The file that an import names; None where there is none, which is reported."""
        if not wanted.version:
            return beside(file.file, wanted.name) if not is_url(wanted.name) else wanted.name
        found = self._shelf.find(wanted.name, wanted.version)
        if found is None:
            self._missing(wanted)
            return None
        if found.rivals:
            others = ", ".join(found.rivals)
            self._diagnostics.error(
                "no-entry",
                f"the archive {found.name}:{found.version} has several definitions: {self._package.shown(found.file)}, "
                f"{others}",
                wanted.written.span,
                hint="keep one of them at its top, or name it in TOSCA-Metadata/TOSCA.meta",
            )
        self._warn_of_snapshot(file, wanted, found)
        self._homes[found.file] = found.root
        return found.file

    def _missing(self, wanted: _Wanted) -> None:
        self.incomplete = True
        versions = self._shelf.versions(wanted.name)
        places = ", ".join(self._shelf.places)
        if self._shelf.packed:
            hint = f"packed archives are not looked into: unpack {', '.join(sorted(self._shelf.packed)[:3])}"
        elif versions:
            hint = f"there are versions {', '.join(versions)}"
        else:
            known = [*self._shelf.names, NORMATIVE]
            hint = self._diagnostics.suggestion(wanted.name, known)
        self._diagnostics.error(
            "import-not-found",
            f"no archive {wanted.name}:{wanted.version} in {places}",
            wanted.written.span,
            hint=f"{hint}; put it there, or name its catalogue with --catalog" if hint else "put it there",
        )

    def _warn_of_snapshot(self, file: ArchiveFile, wanted: _Wanted, found: ShelvedArchive) -> None:
        own = fact(file.root, "template_version")
        if own is not None and SNAPSHOT not in own.text and SNAPSHOT in found.version:
            self._diagnostics.warning(
                "unreleased-import",
                f"this archive is released, as {own.text}, and imports {found.name}:{found.version}, which may change",
                wanted.written.span,
                hint="import a released version",
            )

    # Which versions.

    def _choose(self, main: ArchiveFile) -> dict[tuple[str, str, str], Span]:
        """Find out which version of each archive is taken, until nothing changes any more. Gives where two versions of
        an archive are asked for: its name, the version that was taken then, and the other one."""
        conflicts: dict[tuple[str, str, str], Span] = {}
        settled = False
        while not settled:
            settled = True
            waiting = [main]
            seen = {main.file}
            while waiting:
                file = waiting.pop(0)
                for wanted in self._imports(file):
                    if wanted.version and not self._decide(wanted, file is main, conflicts):
                        settled = False
                    found = self._follow(file, wanted)
                    if found is not None and found.file not in seen:
                        seen.add(found.file)
                        waiting.append(found)
        return conflicts

    def _warn_of(self, conflicts: dict[tuple[str, str, str], Span]) -> None:
        for (name, taken, other), place in conflicts.items():
            if self._chosen[name][0] == taken:
                self._diagnostics.warning(
                    "two-versions",
                    f"{name} is imported as {taken} and as {other}; {taken} is taken",
                    place,
                    hint="import one version",
                )

    def _decide(self, wanted: _Wanted, direct: bool, conflicts: dict[tuple[str, str, str], Span]) -> bool:
        """Whether the version that was chosen before stays: that which the main file asks for, or else the newest."""
        known = self._chosen.get(wanted.name)
        if known is None:
            self._chosen[wanted.name] = (wanted.version, direct)
            return True
        version, is_direct = known
        if version == wanted.version:
            return True
        stays = (is_direct and not direct) or order_of(version) >= order_of(wanted.version)
        taken, other = (version, wanted.version) if stays else (wanted.version, version)
        conflicts.setdefault((wanted.name, taken, other), wanted.written.span)
        if not stays:
            self._chosen[wanted.name] = (wanted.version, direct)
        return stays

    def _follow(self, file: ArchiveFile, wanted: _Wanted) -> ArchiveFile | None:
        """The file behind an import, in the version that is taken."""
        if wanted.version:
            wanted = msgspec.structs.replace(wanted, version=self._chosen[wanted.name][0])
        location = self._locate(file, wanted)
        name = f"{wanted.name}:{wanted.version}" if wanted.version else ""
        return self._load(location, wanted.written, name) if location is not None else None

    def _order(self, file: ArchiveFile, path: list[ArchiveFile], done: set[str]) -> None:
        """Put what a file imports before it. The depth is that of imports, each of which is another file."""
        done.add(file.file)
        for wanted in self._imports(file):
            found = self._follow(file, wanted)
            if found is None:
                continue
            circle = [*path, file]
            if found in circle:
                names = [_called(f) for f in (*circle[circle.index(found) :], found)]
                itself = len(names) == 2
                self._diagnostics.error(
                    "bad-value",
                    f"{names[0]} imports itself" if itself else f"archives import each other: {' -> '.join(names)}",
                    wanted.written.span,
                    hint="remove this import",
                )
            elif found.file not in done:
                self._order(found, circle, done)
        self.in_order.append(file)


def fact(root: Mapping, name: str) -> Scalar | None:
    """A fact of an archive, at its top or in its metadata."""
    metadata = root.values.get("metadata")
    for holder in (root, metadata):
        value = holder.values.get(name) if isinstance(holder, Mapping) else None
        if isinstance(value, Scalar) and not is_null(value):
            return value
    return None


def _called(file: ArchiveFile) -> str:
    name, version = fact(file.root, "template_name"), fact(file.root, "template_version")
    return f"{name.text}:{version.text}" if name is not None and version is not None else posixpath.basename(file.file)


def moved(path: Scalar, file: ArchiveFile, main: ArchiveFile, package: Package) -> Scalar:
    """A path that is written in a file, from the folder of the main file. It begins in the folder of the archive, or in
    that of the file where there is nothing of that name."""
    if is_url(path.text) or path.text.startswith("/") or not path.text:
        return path
    folder, top = file.home, posixpath.dirname(main.file)
    beside_it = posixpath.dirname(file.file)
    if beside_it != folder and not package.has(posixpath.normpath(posixpath.join(folder, path.text))):
        folder = beside_it
    if folder == top:
        return path
    return text(posixpath.relpath(posixpath.join(folder, path.text), top or "."), path, plain=path.plain)
