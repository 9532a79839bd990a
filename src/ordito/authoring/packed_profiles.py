"""Bundled profiles in an archive: profiles that a service imports as ``profile:NAME`` become files of the archive, and
are imported as files, so that other processors can read it."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator
from typing import BinaryIO

from ordito.app.services.read import ReadService
from ordito.base.diagnostics import Diagnostics
from ordito.source.bundled import BLOCKS, PROFILE_SCHEME, profile_file, read_beside_profile, read_profile
from ordito.source.nodes import Mapping, Node, Scalar, Sequence
from ordito.source.package import Package
from ordito.source.tree import FileTree

FOLDER = "profiles"
NORMATIVE = "tosca_"
"""The prefix of profiles that every processor has."""


class WithProfiles:
    """The files of a tree, with some texts replaced and some files added; ``places`` has the path in the tree of files
    with another path there."""

    def __init__(self, tree: FileTree, texts: dict[str, bytes], places: dict[str, str]) -> None:
        self._tree = tree
        self._texts = texts
        self._places = places

    def open(self, file: str) -> BinaryIO:
        """Open a file for reading. Raises as ``FileTree.open`` does."""
        text = self._texts.get(file)
        return io.BytesIO(text) if text is not None else self._tree.open(self._places.get(file, file))

    def is_executable(self, file: str) -> bool:
        """Whether a file may be executed."""
        return file not in self._texts and self._tree.is_executable(self._places.get(file, file))


def imports_blocks(read: ReadService) -> bool:
    """Whether the service imports the blocks that come with the program, so that they are in its archive."""
    files = map(posixpath.normpath, read.service.files)
    found = (s for file in files if read.package.tree.is_file(file) for s in _imports(read.package, file))
    return any(_name(scalar) == BLOCKS for scalar in found)


def with_profiles(read: ReadService) -> dict[str, bytes]:
    """The profiles that a service imports, as files by their paths in the archive, and the new texts of the files that
    import them; nothing if it imports none. Raises ``OSError``."""
    texts: dict[str, bytes] = {}
    places: dict[str, str] = {}
    for file in read.service.files:
        path = posixpath.normpath(file)
        if not read.package.tree.is_file(path):
            continue  # What is fetched stays where it is.
        found = _imports(read.package, path)
        if not found:
            continue
        for scalar in found:
            _copy(read.package, _name(scalar), texts, places)
        texts[path] = _rewritten(path, found, places)
    return texts


def _copy(package: Package, name: str, texts: dict[str, bytes], places: dict[str, str]) -> None:
    """Add a profile, and before it those that it imports. Bundled profiles import few others, and never each other."""
    if name in places:
        return
    found = _imports(package, profile_file(name) or "")
    for scalar in found:
        _copy(package, _name(scalar), texts, places)
    beside = read_beside_profile(name)
    number = 1
    while True:
        # What has further files beside it gets a folder.
        folder = f"{FOLDER}/{_numbered(name, number)}" if beside else FOLDER
        place = f"{folder}/{name if beside else _numbered(name, number)}.yaml"
        text = _rewritten(place, found, places) if found else read_profile(name)
        files = {place: text, **{f"{folder}/{path}": data for path, data in beside.items()}}
        if all(_is_free(package, file, data) for file, data in files.items()):
            break
        number += 1
    places[name] = place
    texts.update(files)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"


def _is_free(package: Package, file: str, data: bytes) -> bool:
    """Whether a path is free, or has a file with the same content."""
    if not package.tree.exists(file):
        return True
    with package.tree.open(file) as stream:
        return stream.read() == data


def _name(scalar: Scalar) -> str:
    return scalar.text.removeprefix(PROFILE_SCHEME)


def _imports(package: Package, file: str) -> list[Scalar]:
    """The places in a file that name bundled profiles to be copied."""
    document = package.load(file, Diagnostics())
    root = document.root if document is not None else None
    imports = root.values.get("imports") if isinstance(root, Mapping) else None
    if imports is None:
        return []
    places: dict[tuple[int, int], Scalar] = {}
    for scalar in _scalars(imports):
        name = _name(scalar)
        if name != scalar.text and not name.startswith(NORMATIVE):
            places[scalar.line, scalar.column] = scalar
    return list(places.values())


def _scalars(node: Node) -> Iterator[Scalar]:
    """The values in a list of imports: each entry is a file, or a map that names one, with or without a name above
    it."""
    waiting: list[Node] = [node]
    while waiting:
        current = waiting.pop()
        if isinstance(current, Scalar):
            yield current
        else:
            waiting.extend(current.items if isinstance(current, Sequence) else current.values.values())


def _rewritten(file: str, imports: list[Scalar], places: dict[str, str]) -> bytes:
    """The text of a file, with imports of copies instead of bundled profiles."""
    lines = imports[0].source.text.splitlines(keepends=True)
    for scalar in sorted(imports, key=lambda s: (s.line, s.column), reverse=True):
        place = places[_name(scalar)]
        relative = posixpath.relpath(place, posixpath.dirname(file) or ".")
        line = lines[scalar.line - 1]
        lines[scalar.line - 1] = line[: scalar.column - 1] + relative + line[scalar.end_column - 1 :]
    return "".join(lines).encode()
