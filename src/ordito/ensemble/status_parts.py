"""The files in `status/` that hold the instances of a large ensemble: which of those that lie there the program wrote.

Only these are ever replaced, removed or committed. A service may have a folder of that name with files of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.files import sync_directory
from ordito.ensemble.layout import Layout
from ordito.source.regular import open_regular

PART_MARK = b"# ==== Written by ordito: a part of the status in ensemble.yaml. ====\n"
"""The first line of every such file."""


def is_part(path: Path) -> bool:
    """Whether a file bears the mark. Raises ``OSError``."""
    with open_regular(path) as file:
        return file.read(len(PART_MARK)) == PART_MARK


def check_free(layout: Layout, paths: Iterable[Path], known: Collection[str]) -> None:
    """Raise ``EnsembleError`` where a file of somebody else lies at one of the paths. ``known`` are the names below
    `status/` of the program's own."""
    for path in paths:
        with explained("look at", path):
            if _name(layout, path) in known or not path.exists() or is_part(path):
                continue
        raise EnsembleError(
            f"{path} was not written by ordito, and a part of the ensemble's status belongs there",
            "move that file, or its folder, elsewhere; then `ordito jobs resume` writes what is missing",
        )


def remove_old_parts(layout: Layout, parts: Collection[str], known: Collection[str]) -> None:
    """Remove the program's own files that are not among ``parts``, and their folders if nothing else is in them. Raises
    ``EnsembleError``."""
    with explained("tidy up", layout.status):
        old = list(_old(layout, parts, known))
        for path in old:
            path.unlink()
        for folder in (layout.shared, layout.status) if old else ():
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            elif folder.is_dir():
                sync_directory(folder)


def _old(layout: Layout, parts: Collection[str], known: Collection[str]) -> Iterator[Path]:
    for folder in (layout.status, layout.shared):
        for path in folder.glob("*.yaml"):
            name = _name(layout, path)
            if name not in parts and path.is_file() and not path.is_symlink() and (name in known or is_part(path)):
                yield path


def _name(layout: Layout, path: Path) -> str:
    return path.relative_to(layout.status).as_posix()
