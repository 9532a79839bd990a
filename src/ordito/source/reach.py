"""What this process may read and fetch: everything, unless it was confined.

A command works with the rights of who has called it. A process of a server works for others, so it is confined once,
before it reads anything: then every file that a document, a request or an inventory names is opened through here, and
nothing outside a few places is read, found or listed, whatever the path or a link in it says.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import msgspec

PROGRAM = str(Path(__file__).resolve().parent.parent)
"""The folder of this program, whose profiles and blocks every process may read."""

OWN = ".ordito"
"""The folder that each ensemble keeps for itself: its journal, its key, what operations have printed."""

OUTSIDE = "it lies outside of the package and of the ensemble's directory, where a server reads nothing"


class Reachable(msgspec.Struct, frozen=True):
    """What may be reached."""

    places: tuple[str, ...]
    """Files, and folders with all that is in them, as real paths."""

    services: tuple[str, ...]
    """The same, but read as the files of a service alone: no value and no inventory comes from there."""

    hosts: frozenset[str]
    """The hosts from which files may be fetched, as the setting ``egress`` lists them."""


class _ProcessReach:
    """What is true of the whole process, and of all its threads."""

    def __init__(self) -> None:
        self.reach: Reachable | None = None


_PROCESS = _ProcessReach()

_WITHIN: ContextVar[str] = ContextVar("within", default="")
"""The real path of the folder in which files are opened now, "" for anywhere."""


def confine(places: Iterable[str], services: Iterable[str], hosts: Iterable[str]) -> None:
    """Confine this process for the rest of its life. Raises ``RuntimeError`` if it is confined already."""
    if _PROCESS.reach is not None:
        raise RuntimeError("this process is confined already")
    real, real_services = (tuple(dict.fromkeys(map(os.path.realpath, some))) for some in (places, services))
    _PROCESS.reach = Reachable((*real, PROGRAM), real_services, frozenset(hosts))


def is_confined() -> bool:
    """Whether this process works for somebody who is not its user, as those of a server."""
    return _PROCESS.reach is not None


def listed_hosts() -> frozenset[str] | None:
    """The hosts from which files may be fetched; None where this process is not confined."""
    return _PROCESS.reach.hosts if _PROCESS.reach is not None else None


def is_reachable(path: str | Path) -> bool:
    """Whether a file may be read, and its existence be told."""
    reach = _PROCESS.reach
    if reach is None:
        return True
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return False
    return any(real == place or real.startswith(f"{place}/") for place in (*reach.places, *reach.services))


def is_given(path: str | Path) -> bool:
    """Whether a document may name a file: one that may be read, and that no ensemble keeps for itself."""
    reach = _PROCESS.reach
    return reach is None or _is_named_in(path, reach.places)


def is_of_service(path: str | Path) -> bool:
    """Whether a file may be one of a service."""
    reach = _PROCESS.reach
    return reach is None or _is_named_in(path, (*reach.places, *reach.services))


def _is_named_in(path: str | Path, places: Iterable[str]) -> bool:
    try:
        real = os.path.realpath(path)
    except (OSError, ValueError):
        return False
    return any(
        real == place or (real.startswith(f"{place}/") and OWN not in real.removeprefix(place).split("/"))
        for place in places
    )


def check_given(path: str | Path) -> None:
    """Raise ``PermissionError`` for a path that no document may name."""
    if not is_given(path):
        raise PermissionError(errno.EACCES, OUTSIDE)


def check_of_service(path: str | Path) -> None:
    """Raise ``PermissionError`` for a path that is no file of a service."""
    if not is_of_service(path):
        raise PermissionError(errno.EACCES, OUTSIDE)


def check_path(path: str | Path) -> None:
    """Raise ``PermissionError`` for a path that may not be read."""
    folder = _WITHIN.get()
    if not is_reachable(path) or (folder and not os.path.realpath(path).startswith(f"{folder}/")):
        raise PermissionError(errno.EACCES, OUTSIDE)


def check_open(handle: int) -> None:
    """The same for an open file: what it is now, whatever a link that was followed has said before."""
    if _PROCESS.reach is not None or _WITHIN.get():
        check_path(Path(f"/proc/self/fd/{handle}").readlink())


def check_opened(path: str | Path) -> None:
    """The same for a file that was just opened by its path in a way that shows no handle, as SQLite does: what the path
    leads to now may be read, and it is what was opened, however the path was changed meanwhile."""
    if _PROCESS.reach is None and not _WITHIN.get():
        return
    # A handle of this kind can be closed without losing the locks that this process has on the file.
    handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        check_open(handle)
        found, mine = os.fstat(handle), _open_files()
        mine.discard(handle)
        if not any(_is_same(found, one) for one in mine):
            raise PermissionError(errno.EACCES, OUTSIDE)
    finally:
        os.close(handle)


def _open_files() -> set[int]:
    with os.scandir("/proc/self/fd") as entries:
        return {int(entry.name) for entry in entries}


def _is_same(found: os.stat_result, handle: int) -> bool:
    try:
        return os.path.samestat(found, os.fstat(handle))
    except OSError:
        # It was closed meanwhile.
        return False


@contextmanager
def within(folder: str | Path) -> Iterator[None]:
    """Let this thread or task open nothing but what lies in a folder, for as long as the context lasts: for a process
    that is not confined, and reads what an operation may have put there, or have replaced by a link meanwhile."""
    token = _WITHIN.set(os.path.realpath(folder))
    try:
        yield
    finally:
        _WITHIN.reset(token)
