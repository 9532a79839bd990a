"""Operations' own copies of artifacts: what the variables with the names of artifacts lead to.

An operation may read and write them; the service's files, which other operations need as they are, stay untouched.
Copying hundreds of megabytes for each operation would cost what nobody wants to pay, so an artifact of more than
``LARGEST`` bytes or ``MOST_FILES`` files is not copied: a link lies in the place of the copy, to what is read-only.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH101, PTH102, PTH103, PTH116, PTH120, PTH211

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence

import msgspec

from ordito.executors.copies import Unusable, path_in_tree
from ordito.instances.context import OWN_COPIES
from ordito.work.invocation import SCRATCH, Placement

LARGEST = 16 << 20
MOST_FILES = 1_000
"""What of one artifact is copied at most."""

QUICK = 64 << 10
"""Bytes that are copied sooner than a thread is woken up for it."""


class OwnFile(msgspec.Struct, frozen=True):
    """What there is of an artifact: absolute paths, its mode, and how large it is if it is a file."""

    source: str
    target: str
    mode: int
    size: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)


def own_files(placements: Iterable[Placement], root: str, work: str) -> list[OwnFile]:
    """The copies to make in a working directory, of what is there; raises ``Unusable`` for what lies elsewhere."""
    found: list[OwnFile] = []
    for placement in placements:
        source = path_in_tree(root, placement.file)
        try:
            there = os.stat(source)
        except FileNotFoundError:
            continue
        target = os.path.normpath(placement.path.replace(SCRATCH, f"{work}/"))
        found.append(OwnFile(source, target, there.st_mode, there.st_size))
    return found


def are_quick(files: Sequence[OwnFile]) -> bool:
    """Whether they are copied within a moment."""
    return not any(file.is_folder for file in files) and sum(file.size for file in files) <= QUICK


def make_own_copies(files: Iterable[OwnFile]) -> None:
    """Make the copies; raises ``Unusable``."""
    for file in files:
        try:
            os.makedirs(os.path.dirname(file.target), exist_ok=True)
            _make(file)
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            raise Unusable(f"{file.source} cannot be copied for the operation ({reason})") from None


def folder_of_copies(work: str) -> str:
    """Where they lie in a working directory."""
    return f"{work}/{OWN_COPIES}"


def _make(file: OwnFile) -> None:
    if not file.is_folder:
        if file.size > LARGEST:
            os.symlink(file.source, file.target)
        else:
            _copy(file.source, file.target, file.mode)
        return
    inside = list(_inside(file.source))
    if len(inside) > MOST_FILES or sum(size for _, mode, size in inside if not stat.S_ISDIR(mode)) > LARGEST:
        os.symlink(file.source, file.target)
        return
    os.mkdir(file.target)
    for relative, mode, _ in inside:
        if stat.S_ISDIR(mode):
            os.mkdir(f"{file.target}/{relative}")
        else:
            _copy(f"{file.source}/{relative}", f"{file.target}/{relative}", mode)


def _inside(folder: str) -> Iterable[tuple[str, int, int]]:
    """What is in a folder, a folder before what is in it: paths relative to it, modes and sizes; of more than is copied
    only the beginning."""
    found: list[tuple[str, int, int]] = []
    folders = [""]
    for relative in folders:
        with os.scandir(f"{folder}/{relative}") as entries:
            for entry in entries:
                name = f"{relative}/{entry.name}" if relative else entry.name
                there = entry.stat()
                found.append((name, there.st_mode, there.st_size))
                if entry.is_dir():
                    folders.append(name)
                if len(found) > MOST_FILES:
                    return found
    return found


def _copy(source: str, target: str, mode: int) -> None:
    shutil.copyfile(source, target)
    os.chmod(target, 0o755 if mode & 0o100 else 0o644)
