"""Copies of artifacts for the time of an operation (``get_artifact`` with a location, TOSCA 1.3 §4.8.1)."""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH101, PTH102, PTH103, PTH105, PTH106, PTH108, PTH112, PTH114, PTH116, PTH117, PTH118, PTH120, PTH211

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from ordito.executors.environment import write_private
from ordito.executors.result_files import look_at
from ordito.executors.slots import WorkDirectory
from ordito.instances.context import OWN_COPIES
from ordito.work.invocation import SCRATCH, FilePlacement

_numbers = itertools.count(1)


class Unusable(Exception):
    """An operation cannot get a file that it needs; the text says which and why."""


class CopyJob(msgspec.Struct, frozen=True):
    """A copy to make: absolute paths, and the folders (outermost first) that must be made for it."""

    source: str
    target: str
    remove: bool
    folders: tuple[str, ...] = ()


class _Pending(msgspec.Struct, frozen=True):
    """Copies that must be removed if this process dies before it removes them: the content of ``copies.json`` of a work
    directory."""

    job: str
    step: str
    copies: tuple[CopyJob, ...]


def in_tree(root: str, file: str) -> str:
    """The absolute path of a file of the service; raises ``Unusable`` if it is outside of the service or does not
    exist."""
    path = path_in_tree(root, file)
    if not os.path.lexists(path):
        raise Unusable(f"the artifact {file} is not there; it was expected at {path}")
    return path


@lru_cache(maxsize=1_024)
def path_in_tree(root: str, file: str) -> str:
    """The absolute path of a file of the service, whether or not it exists; raises ``Unusable`` if it is outside of the
    service."""
    if "://" in file:
        raise Unusable(f"the artifact {file} is at an address, not in the service; put a copy of it into the service")
    path = os.path.normpath(os.path.join(root, file))
    if not path.startswith(f"{root.rstrip('/')}/"):
        raise Unusable(f"the artifact {file} is outside of the service; it must be in the folder of the service")
    return path


def planned_copies(files: Sequence[FilePlacement], root: str, scratch: str) -> list[CopyJob]:
    """The copies to make; raises ``Unusable``."""
    return [_planned(placement, root, scratch) for placement in files]


def make_copies(copies: Sequence[CopyJob], job: str, step: str, slot: WorkDirectory) -> None:
    """Make the copies in this order; if one fails, removes those already made and raises ``Unusable``.

    Copies outside of the work directory that must be removed later are noted in the work directory first, so that they
    are removed even if this process dies.
    """
    pending = tuple(copy for copy in copies if copy.remove and not copy.target.startswith(f"{slot.path}/"))
    if pending:
        write_private(slot.copies, msgspec.json.encode(_Pending(job, step, pending)).decode())
    try:
        for copy in copies:
            try:
                _make(copy)
            except OSError as error:
                reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
                raise Unusable(f"{copy.source} cannot be copied to {copy.target} ({reason})") from None
    except Unusable:
        remove_copies(copies, slot)
        raise


def remove_copies(copies: Sequence[CopyJob], slot: WorkDirectory) -> None:
    """Remove the copies that are to be removed, and the folders made for them if they hold nothing else."""
    for copy in reversed(copies):
        if copy.remove:
            _remove(copy)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(slot.copies)


def remove_pending_copies(job: str, step: str, slot: WorkDirectory) -> bool:
    """Remove the copies of a step that a dead process has left; returns whether the work directory was that step's."""
    try:
        pending = msgspec.json.decode(look_at(slot.copies).data, type=_Pending)
    except msgspec.DecodeError:
        return False
    if (pending.job, pending.step) != (job, step):
        return False
    remove_copies(pending.copies, slot)
    return True


def copy_file(source: str, target: str, *, follow_symlinks: bool = True) -> None:
    """Copy a file atomically: a reader of the target sees the old file or the whole new one."""
    if os.path.isdir(target):
        raise IsADirectoryError(21, "there is a folder of that name", target)
    partial = f"{target}.{os.getpid()}.{next(_numbers)}.partial"
    try:
        shutil.copy2(source, partial, follow_symlinks=follow_symlinks)
        if not os.path.islink(partial):
            # The service's files are read-only, and what is made of them is not.
            os.chmod(partial, os.stat(partial).st_mode | 0o200)
        os.replace(partial, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)


def copy_tree(source: str, target: str) -> None:
    """Copy a file, or a folder with everything in it; an existing target folder is merged."""
    if not os.path.isdir(source):
        copy_file(source, target)
        return
    os.makedirs(target, exist_ok=True)
    for relative, is_folder in _inside(source):
        if is_folder:
            os.makedirs(f"{target}/{relative}", exist_ok=True)
        else:
            copy_file(f"{source}/{relative}", f"{target}/{relative}", follow_symlinks=False)


def _planned(placement: FilePlacement, root: str, scratch: str) -> CopyJob:
    source = in_tree(root, placement.file)
    path = placement.path or SCRATCH + placement.file
    target = os.path.normpath(path.replace(SCRATCH, f"{scratch}/"))
    if not os.path.isabs(target):
        raise Unusable(f"{placement.file} cannot be copied to {path}: the path must be absolute")
    return CopyJob(source, target, placement.remove, tuple(_missing_folders(os.path.dirname(target))))


def _missing_folders(folder: str) -> list[str]:
    missing: list[str] = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing[::-1]


def _make(copy: CopyJob) -> None:
    os.makedirs(os.path.dirname(copy.target), exist_ok=True)
    copy_tree(copy.source, copy.target)


def _remove(copy: CopyJob) -> None:
    """Remove a copy, but nothing that others have put beside it or into it."""
    folders = list(copy.folders)
    if os.path.isdir(copy.source):
        folders.append(copy.target)
        for relative, is_folder in _inside(copy.source):
            if is_folder:
                folders.append(f"{copy.target}/{relative}")
            else:
                _unlink(f"{copy.target}/{relative}")
    else:
        _unlink(copy.target)
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def _unlink(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _inside(folder: str) -> Iterator[tuple[str, bool]]:
    """The relative path of everything in a folder, and whether it is a folder; a folder comes before its content."""
    folders = [""]
    for relative in folders:
        with os.scandir(f"{folder}/{relative}") as entries:
            for entry in entries:
                name = f"{relative}/{entry.name}" if relative else entry.name
                is_folder = entry.is_dir(follow_symlinks=False)
                if is_folder:
                    folders.append(name)
                yield name, is_folder


# Operations' own copies of artifacts: what the variables with the names of artifacts lead to.
#
# An operation may read and write them; the service's files, which other operations need as they are, stay untouched.
# Copying hundreds of megabytes for each operation would cost what nobody wants to pay, so an artifact of more than
# ``LARGEST`` bytes or ``MOST_FILES`` files is not copied: a link lies in the place of the copy, to what is read-only.

LARGEST = 16 << 20
MOST_FILES = 1_000
"""How many files of one artifact are copied at most."""

QUICK = 64 << 10
"""Up to this number of bytes, copying is faster than waking up a thread for it."""


class OwnFile(msgspec.Struct, frozen=True):
    """One file or folder of an artifact: absolute paths, its mode, and its size if it is a file."""

    source: str
    target: str
    mode: int
    size: int

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)


def own_files(placements: Iterable[FilePlacement], root: str, work: str) -> list[OwnFile]:
    """The copies to make in a working directory, of files that exist; raises ``Unusable`` for files outside of the
    service."""
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
    """Whether copying them takes only a moment."""
    return not any(file.is_folder for file in files) and sum(file.size for file in files) <= QUICK


def make_own_copies(files: Iterable[OwnFile]) -> None:
    """Make the copies; raises ``Unusable``."""
    for file in files:
        try:
            os.makedirs(os.path.dirname(file.target), exist_ok=True)
            _make_own(file)
        except OSError as error:
            reason = f"{error.strerror}: {error.filename}" if error.filename else str(error)
            raise Unusable(f"{file.source} cannot be copied for the operation ({reason})") from None


def folder_of_copies(work: str) -> str:
    """The folder of the copies in a working directory."""
    return f"{work}/{OWN_COPIES}"


def _make_own(file: OwnFile) -> None:
    if not file.is_folder:
        if file.size > LARGEST:
            os.symlink(file.source, file.target)
        else:
            _copy(file.source, file.target, file.mode)
        return
    inside = list(_own_inside(file.source))
    if len(inside) > MOST_FILES or sum(size for _, mode, size in inside if not stat.S_ISDIR(mode)) > LARGEST:
        os.symlink(file.source, file.target)
        return
    os.mkdir(file.target)
    for relative, mode, _ in inside:
        if stat.S_ISDIR(mode):
            os.mkdir(f"{file.target}/{relative}")
        else:
            _copy(f"{file.source}/{relative}", f"{file.target}/{relative}", mode)


def _own_inside(folder: str) -> Iterable[tuple[str, int, int]]:
    """The content of a folder, each folder before its own content: relative paths, modes and sizes; cut off at
    ``MOST_FILES``."""
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
