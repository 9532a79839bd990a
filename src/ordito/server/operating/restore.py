"""Restoring a server into an empty home, and letting a restored server go on.

Every file of the backup is checked before anything is written. While files are written the mark ``restoring`` lies in
the home, so no server starts on half of them; who restores again begins anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote_to_bytes

import msgspec
from sqlalchemy import Connection, update
from sqlalchemy.exc import DatabaseError

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import sync_directory
from ordito.ensemble.owner import current_user
from ordito.results.server import RestoredData, ServerResumedData
from ordito.server.database.audit import Deed, write_down
from ordito.server.database.database import NEWEST, Database
from ordito.server.database.tables import ENSEMBLES
from ordito.server.operating.backup import CONTENT, Backup, place_in, read_backup
from ordito.server.operating.copying import as_path, sync_disk
from ordito.server.operating.home import DATABASE, KEY, PROJECTS, looking, refuse_other, refuse_shared
from ordito.server.operating.sealed import forget_sealed, opens, sealed_things
from ordito.server.refused import ServerRefused
from ordito.server.restored import RESTORING, Restored, mark, refuse_unusable, restored

T = TypeVar("T")


def restore(place: Path, home: Path, *, resumes: bool) -> RestoredData:
    """Restore a backup into a home that is empty or does not exist. Raises ``ServerRefused``."""
    _refuse_filled(home)
    backup = read_backup(place)
    if backup.tables > NEWEST:
        hint = f"use a newer version of Ordito; it was made by {backup.ordito}"
        raise ServerRefused(f"{place} was made by a newer version of Ordito", hint)
    try:
        with _restoring(home):
            _write(place / CONTENT, backup, home)
            said, unreadable = _adapt(backup, home, resumes=resumes)
            mark(home, said)
            sync_disk(home)
    except (OSError, EnsembleError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ServerRefused(f"cannot restore {home}: {reason}", ROOM_THERE) from error
    ensembles = tuple(
        msgspec.structs.replace(one, directory=str(home / place_in(one.project, one.name))) for one in backup.ensembles
    )
    return RestoredData(str(home), backup.made, len(backup.files), ensembles, said.is_held, tuple(unreadable))


ROOM_THERE = "mend that, then restore it again, which begins anew"


def _refuse_filled(home: Path) -> None:
    """Raise ``ServerRefused`` for a home that holds something, and was not half restored."""
    try:
        found = sorted(path.name for path in home.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise ServerRefused(f"cannot look into {home}: {error.strerror}") from error
    if found and RESTORING not in found:
        raise ServerRefused(
            f"{home} is not empty: it holds {found[0]}", "a backup is restored into an empty or new directory", "exists"
        )


@contextlib.contextmanager
def _restoring(home: Path) -> Iterator[None]:
    """Mark that a home is being restored, until that is complete. What an interrupted one has left is removed first."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = home / RESTORING
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            hint = "wait until that has ended"
            raise ServerRefused(f"another process restores {home} just now", hint, "busy") from None
        os.fsync(handle)
        sync_directory(home)
        for left in home.iterdir():
            if left.name != RESTORING:
                _remove(left)
        yield
        path.unlink()
        sync_directory(home)
    finally:
        os.close(handle)


def _remove(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
        return
    for folder, _, _ in os.walk(path):
        # Pins are read-only.
        Path(folder).chmod(0o700)
    shutil.rmtree(path)


def _write(content: Path, backup: Backup, home: Path) -> None:
    """Put the files of a backup there. Modes of folders come last: some are read-only."""
    for folder in backup.folders:
        (home / as_path(folder.path)).mkdir(parents=True, exist_ok=True)
    for file in backup.files:
        target = home / as_path(file.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(content / as_path(file.path), target, follow_symlinks=False)
        os.utime(target, (file.time, file.time))
        target.chmod(file.mode)
    for link in backup.links:
        target = home / as_path(link.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(os.fsdecode(unquote_to_bytes(link.target)))
    for folder in reversed(backup.folders):
        (home / as_path(folder.path)).chmod(folder.mode)
    with contextlib.suppress(FileNotFoundError):
        (home / PROJECTS).chmod(0o700)


def _adapt(backup: Backup, home: Path, *, resumes: bool) -> tuple[Restored, list[str]]:
    """Say in the database where ensembles are now; returns how the home is to be marked, and what cannot be read
    without a key that is not there."""
    made = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(backup.made))

    def change(connection: Connection) -> list[str]:
        for one in backup.ensembles:
            mine = (ENSEMBLES.c.project == one.project) & (ENSEMBLES.c.name == one.name)
            directory = str(home / place_in(one.project, one.name))
            connection.execute(update(ENSEMBLES).where(mine).values(directory=directory))
        _write_down(connection, "server.restore", f"from the backup of {made}")
        return [thing.what for thing in sealed_things(connection)]

    sealed = _changed(home, change)
    has_key = (home / KEY).exists()
    unreadable = [f"{what}: the key of the server belongs to {home / KEY}" for what in ([] if has_key else sealed)]
    unreadable.extend(_lacking(backup, home))
    return Restored(is_held=not resumes, needs_key=bool(sealed) and not has_key), unreadable


def _lacking(backup: Backup, home: Path) -> Iterator[str]:
    of_ensembles = {f"{place_in(one.project, one.name)}/.ordito/key": one for one in backup.ensembles}
    for path in backup.left_out:
        one = of_ensembles.get(path)
        if one is not None:
            name = f"{one.project}/{one.name}"
            yield f"secrets and sensitive values of {name}: the key of the ensemble belongs to {home / path}"
        elif path != KEY:
            yield f"a file that holds a key belongs to {home / path}"


def _changed(home: Path, change: Callable[[Connection], T]) -> T:
    try:
        database = Database(home / DATABASE, home)
    except DatabaseError as error:
        raise ServerRefused(f"cannot read {home / DATABASE}: {error.orig}", "restore it from a backup") from error
    try:
        return database.write_now(change)
    finally:
        database.close()


def _write_down(connection: Connection, action: str, detail: str) -> None:
    deed = Deed(current_user(), "beside the server", "", "", action, detail=detail)
    write_down(connection, deed, time.time())


# -------------------------------------------------------------------------------------------------------- going on


def resume(home: Path, *, new_key: bool) -> ServerResumedData:
    """Let a restored server go on. With ``new_key``, what its lost key opened is removed. Raises ``ServerRefused``."""
    refuse_other(home)
    refuse_shared(home)
    if (home / RESTORING).exists():
        refuse_unusable(home)
    found = restored(home)
    with looking(home / DATABASE) as connection:
        things = sealed_things(connection)
    has_key = (home / KEY).exists()
    if found is not None and found.needs_key and has_key and not opens((home / KEY).read_bytes().strip(), things):
        hint = "bring the one of the server that was backed up"
        raise ServerRefused(f"{home / KEY} is not the key with which this server has sealed", hint, "no-key")
    if new_key and has_key:
        hint = f"leave out --new-key, or move {home / KEY} away if it is another server's"
        raise ServerRefused("the key of this server is there", hint, "exists")
    if found is not None and found.needs_key and not has_key and not new_key:
        refuse_unusable(home)

    def change(connection: Connection) -> list[str]:
        gone = forget_sealed(connection, time.time()) if new_key else []
        _write_down(connection, "server.resume", f"{len(gone)} sealed things forgotten" if gone else "")
        return gone

    if found is None and not new_key:
        return ServerResumedData(str(home), changed=False, forgotten=())
    forgotten = _changed(home, change)
    try:
        mark(home, Restored(is_held=False, needs_key=False))
    except (OSError, EnsembleError) as error:
        raise ServerRefused(f"cannot change {home}: {error}") from error
    return ServerResumedData(str(home), found is not None and found.is_held, tuple(forgotten))
