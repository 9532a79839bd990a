"""Writing archives, and unpacking them."""

from __future__ import annotations

import errno
import os
import shutil
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from ordito.source.archive import Archive
from ordito.source.meta import META
from ordito.source.new_files import fresh_folder, sweep

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The time of all members, so that the same files give the same archive."""
UNIX = 3
REGULAR = 0o100000
ENDING = ".unpacking"
"""The ending of the name of a folder that is not complete yet."""


class ArchiveFiles(Protocol):
    """The files from which an archive is made."""

    def open(self, file: str) -> BinaryIO:
        """A file, open for reading. Raises ``OSError`` and ``ValueError``."""

    def is_executable(self, file: str) -> bool:
        """Whether a file may be executed."""


def write_archive(stream: BinaryIO, tree: ArchiveFiles, files: Iterable[str], meta: bytes | None) -> None:
    """Write an archive: first the TOSCA.meta where one is given, then files of a tree in the order of their names. The
    same files give the same bytes. Raises ``OSError``."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        if meta is not None:
            archive.writestr(_member(META, executable=False), meta)
        for file in sorted(files):
            with tree.open(file) as source, archive.open(_member(file, tree.is_executable(file)), "w") as target:
                shutil.copyfileobj(source, target)


def _member(name: str, executable: bool) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name, EARLIEST)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.create_system = UNIX
    member.external_attr = (REGULAR | (0o755 if executable else 0o644)) << 16
    return member


def unpack(archive: Archive, target: Path) -> list[str]:
    """Unpack an archive into a folder, which must be empty or not exist yet, completely or not at all; returns the
    files. The rest of an attempt that was killed is removed. Raises ``OSError``: ``FileExistsError`` where the folder
    is not empty."""
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise FileExistsError(errno.EEXIST, "it already exists and is not empty", str(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    # Others cannot put links where nobody but this process may write.
    sweep(target, ENDING)
    fresh, handle = fresh_folder(target, ENDING)
    try:
        files = sorted(archive.files())
        for file in files:
            path = fresh / file
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(file) as source, path.open("xb") as copy:
                shutil.copyfileobj(source, copy)
            path.chmod(0o755 if archive.is_executable(file) else 0o644)
        for folder in archive.folders():
            (fresh / folder).mkdir(parents=True, exist_ok=True)
        fresh.chmod(0o755)
        _take_place(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    finally:
        os.close(handle)
    return files


def _take_place(fresh: Path, target: Path) -> None:
    try:
        fresh.rename(target)
    except OSError as error:
        # Somebody else has put something there meanwhile: a folder that holds something, or no folder at all.
        if error.errno in {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}:
            raise FileExistsError(errno.EEXIST, "it already exists and is not empty", str(target)) from error
        raise
