"""Work directories: reusable scratch folders (slots), one per running step, in a folder per job.

    <base>/<job>/<n>/work/         the working directory of the operation, emptied after it
                     result        written by the operation's wrapper at its end, over room that is kept for it
                     outputs.json  ``$ORDITO_OUTPUTS``, if the operation writes it
                     environment   ``$ORDITO_ENVIRONMENT_FILE``, if this step needs one of its own
                     unexported    variables that are too long for any environment, if there are some
                     <NAME>.json   what a variable of that name leads to, if there is such a document
                     tree/         the script and its dependencies, if they must be brought together
                     copies.json   copies outside of the slot that must go if this process dies, if there are some
                     kept          there if copies in the slot are to stay: then it is not removed with the others; it
                                   may name the process group for as long as which they are to stay
    <base>/<job>/environment-<n>   ``$ORDITO_ENVIRONMENT_FILE`` of all steps that see the same variables

A slot is used again because making and removing folders for every step costs as much as a third of a short step. The
result of a step stays in its slot until another step gets the slot, and the slot that was given back first is given out
first. So the result is still there if this process dies before it has recorded how the step ended.

An operation may do anything to its slot. So the times of its folders are set back before it begins: every file that is
added or removed changes the time of its folder, and three checks show that an operation has left nothing. A slot that
cannot be cleaned is not used again.
"""

# Paths are texts here: they come as texts, go to the kernel, and there may be very many.
# ruff: noqa: PTH101, PTH102, PTH103, PTH106, PTH108, PTH208

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections import deque
from collections.abc import Collection, Iterator
from pathlib import Path

from ordito.executors.result_files import open_regular

ROOM = 4_096
"""Bytes that are reserved for the result of an operation before it starts, enough for most. So its end can be written
even if the disk becomes full while it runs."""


BEFORE = 10_000_000_000
"""Nanoseconds by which the times of folders are set back: more than the coarsest clock of a file system."""


class WorkDirectory:
    """One work directory; all paths are absolute. ``is_touched`` says whether the operation in it may have left more
    than its result; it is True until ``look_back`` finds otherwise."""

    __slots__ = (
        *("copies", "environment", "is_touched", "kept", "outputs", "path", "result", "tree", "unexported", "work"),
        "_made",
    )

    def __init__(self, path: str) -> None:
        self.path = path
        self.work = f"{path}/work"
        self.result = f"{path}/result"
        self.outputs = f"{path}/outputs.json"
        self.environment = f"{path}/environment"
        self.unexported = f"{path}/unexported"
        self.tree = f"{path}/tree"
        self.copies = f"{path}/copies.json"
        self.kept = f"{path}/kept"
        self.is_touched = True
        self._made: _Looks | None = None

    def look_back(self) -> None:
        """Check whether the operation has left anything, when it has ended."""
        self.is_touched = self._made is None or _looks(self) != self._made

    def is_as_made(self) -> bool:
        """Whether it holds nothing but its own files, unchanged; a file at ``$ORDITO_OUTPUTS`` may be there, too."""
        if not self.is_touched:
            return True
        found = _looks(self)
        if self._made is None or found is None or _lasting(found) != _lasting(self._made):
            return False
        try:
            with os.scandir(self.path) as entries:
                has_strangers = any(not _belongs(entry) for entry in entries)
            return not has_strangers and is_empty(self.work)
        except OSError:
            return False

    def prepare(self) -> bool:
        """Make it ready for an operation; returns whether that succeeded."""
        if not self.is_touched:
            self.is_touched = True
            return True
        try:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.outputs)
            moment = time.time_ns() - BEFORE
            for folder in (self.work, self.path):
                os.utime(folder, ns=(moment, moment), follow_symlinks=False)
        except OSError:
            return False
        self._made = _looks(self)
        return self._made is not None


_Look = tuple[int, int, int, int]
_Looks = tuple[_Look, _Look, _Look]


def _looks(slot: WorkDirectory) -> _Looks | None:
    """Device, inode, kind and mode of a slot, its working directory and its result, and the times of the folders."""
    try:
        return _folder(slot.path), _folder(slot.work), _file(slot.result)
    except OSError:
        return None


def _folder(path: str) -> _Look:
    found = os.lstat(path)
    return found.st_dev, found.st_ino, found.st_mode, found.st_mtime_ns


def _file(path: str) -> _Look:
    found = os.lstat(path)
    return found.st_dev, found.st_ino, found.st_mode, found.st_nlink


def _lasting(looks: _Looks) -> tuple[object, ...]:
    """What ``_looks`` gives, without the times of the folders."""
    folder, work, result = looks
    return folder[:3], work[:3], result


def _belongs(entry: os.DirEntry[str]) -> bool:
    if entry.name in ("result", "outputs.json"):
        return entry.is_file(follow_symlinks=False)
    return entry.name == "work"


class Slots:
    """The work directories (slots) of one executor, below one folder.

    Folders that an earlier process has left for the same job are never used again: processes that it started may still
    run in them, and they may hold the result of a step in doubt. Those of other jobs are removed when a job begins.
    """

    def __init__(self, base: str, *, has_results: bool = False) -> None:
        """``has_results``: whether operations write result files, for which room is reserved."""
        self.base = base
        self._has_results = has_results
        self._free: dict[str, deque[WorkDirectory]] = {}
        self._made: dict[str, int] = {}

    def acquire(self, job: str) -> WorkDirectory:
        """A slot that is empty, except for the result of the step that used it before."""
        free = self._free.setdefault(job, deque())
        while free:
            slot = free.popleft()
            if slot.prepare():
                return slot
        return self._make(job)

    def release(self, job: str, slot: WorkDirectory) -> None:
        """Give a slot back, with its working directory empty."""
        self._free.setdefault(job, deque()).append(slot)

    def of(self, job: str) -> Iterator[WorkDirectory]:
        """All existing slots of a job, including those of earlier processes."""
        folder = f"{self.base}/{job}"
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            for name in sorted(os.listdir(folder)):
                if name.isdigit():
                    yield WorkDirectory(f"{folder}/{name}")

    def contain(self, job: str, path: str) -> bool:
        """Whether a path is a slot of a job."""
        return any(slot.path == path for slot in self.of(job))

    def remove_all(self) -> None:
        """Remove all slots of all jobs, including those of earlier processes, except for files in them that must be
        kept."""
        self._free.clear()
        self._made.clear()
        self._remove_others()
        with contextlib.suppress(OSError):
            os.rmdir(self.base)

    def _remove_others(self) -> None:
        """Remove the slots of all jobs that have got no slot from this process."""
        with contextlib.suppress(FileNotFoundError):
            for job in set(os.listdir(self.base)).difference(self._made):
                folder = f"{self.base}/{job}"
                with contextlib.suppress(OSError):
                    for name in os.listdir(folder):
                        if not _is_kept(WorkDirectory(f"{folder}/{name}")):
                            remove(f"{folder}/{name}")
                    os.rmdir(folder)

    def _make(self, job: str) -> WorkDirectory:
        folder = f"{self.base}/{job}"
        if job not in self._made:
            # Results may hold secrets: nobody else may look into these folders.
            Path(self.base).mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o700)
            names = os.listdir(folder)
            self._made[job] = max((int(name) for name in names if name.isdigit()), default=0)
            # One job at a time: what others have left is of no use to anybody any more.
            self._remove_others()
        self._made[job] += 1
        slot = WorkDirectory(f"{folder}/{self._made[job]}")
        os.makedirs(slot.work, 0o700)
        if self._has_results:
            blank(slot.result)
            slot.prepare()
        return slot


def _is_kept(slot: WorkDirectory) -> bool:
    """Whether a slot has copies that must stay: for ever, or as long as a process of the group runs whose number is
    written there."""
    try:
        file = open_regular(slot.kept, os.O_RDONLY)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    try:
        group = os.read(file, 32)
        if group:
            os.killpg(int(group), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    finally:
        os.close(file)
    return True


def blank(path: str) -> None:
    """Empty a result file and reserve room for a result. Raises ``OSError`` if the disk is full, or the path is no
    file."""
    file = open_regular(path, os.O_WRONLY | os.O_CREAT)
    try:
        # At once or not at all: on a full disk a part may be written, and no error be raised.
        if os.write(file, b"\0" * ROOM) < ROOM:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(file)


def blank_or_remove(path: str) -> bool:
    """Empty a result file, or remove it if that fails; returns whether it is still there."""
    try:
        blank(path)
    except OSError:
        remove(path)
        return False
    return True


def is_empty(folder: str) -> bool:
    """Whether this is a readable, empty folder; a link to a folder is not."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return False
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return False


def empty(folder: str, keep: Collection[str] = ()) -> bool:
    """Remove the content of a folder, except for entries that are, or contain, one of the paths to keep; returns
    whether that succeeded. Anything else in the place of the folder is removed; links are not followed."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            remove(folder)
            return False
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            paths = [entry.path for entry in entries]
    except OSError:
        return False
    removed = [remove(path) for path in paths if not any(f"{k}/".startswith(f"{path}/") for k in keep)]
    return all(removed)


def remove(path: str) -> bool:
    """Remove a file, or a folder with everything in it; returns whether it is gone. Links are not followed.

    Folders that an operation has locked (``chmod``) are unlocked; what cannot be removed for other reasons stays.
    """
    folders: list[str] = []
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            folders.append(path)
        else:
            os.unlink(path)
        # The list grows while it is walked: a tree may be deeper than Python's stack.
        for folder in folders:
            os.chmod(folder, 0o700)
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        os.unlink(entry.path)
        for folder in reversed(folders):
            os.rmdir(folder)
    except FileNotFoundError:
        return not os.path.lexists(path)
    except OSError:
        return False
    return True
