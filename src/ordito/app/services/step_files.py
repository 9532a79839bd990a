"""The file that declares lifecycle steps: beside the service, named by a command, or in the pin of the service."""

from __future__ import annotations

import posixpath
from pathlib import Path

import msgspec

from ordito.base.diagnostics import Diagnostics, Related
from ordito.ensemble.pins import LIFECYCLE
from ordito.source.nodes import Node
from ordito.source.opening import STEP_FILES
from ordito.source.package import Package, load_file
from ordito.source.tree import FileTree, Folder, place


class WrittenSteps(msgspec.Struct, frozen=True):
    """A file that declares lifecycle steps: its content and its place."""

    root: Node
    tree: FileTree
    file: str


def kept_file(package: Package) -> str:
    """The path of such a file in the pin of a service."""
    return posixpath.join(posixpath.dirname(package.main), LIFECYCLE, STEP_FILES[0])


def written_steps(package: Package, given: str, diagnostics: Diagnostics, *, pinned: bool) -> WrittenSteps | None:
    """The ``given`` file, or without one the file beside the service; None if there is none, or if it cannot be read,
    which is reported. In a ``pinned`` service it has a path of its own."""
    if given and not pinned:
        document = load_file(given, diagnostics)
        path = Path(given)
        return WrittenSteps(document.root, Folder(path.parent), path.name) if document is not None else None
    beside = posixpath.dirname(package.main)
    names = [kept_file(package)] if pinned else [posixpath.join(beside, name) for name in STEP_FILES]
    found = [name for name in names if name != package.main and package.tree.is_file(name)]
    if len(found) > 1:
        first, second = map(package.shown, found)
        diagnostics.error(
            "two-lifecycles",
            f"lifecycle steps are declared in {second} as well as in {first}",
            place(second),
            hint="keep one of the two files",
            related=(Related("the other file", place(first)),),
        )
        return None
    document = package.load(found[0], diagnostics) if found else None
    return WrittenSteps(document.root, package.tree, found[0]) if document is not None else None
