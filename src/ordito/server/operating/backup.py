"""Backing up a server while it runs, and jobs too: its database, settings, packages, and all its ensembles.

The database is copied first. What it says of plans may then be older than the ensembles, never younger: a plan whose
job has begun since is found by its id in the journal, as after a crash. The backup is made beside its place, and moved
there when its list is complete and all of it is on the disk.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ordito import __version__
from ordito.ensemble.files import BLOCK, sync_directory, write_all
from ordito.ensemble.layout import Layout
from ordito.results.pages import page_data
from ordito.results.server import BackedUpData, BackedUpEnsemble
from ordito.server.database.audit import verified
from ordito.server.operating.copying import ROOM, Copier, KeptFile, KeptFolder, KeptLink, as_path, sync_disk
from ordito.server.operating.ensemble_copy import TEMPORARY, copy_ensemble
from ordito.server.operating.home import (
    DATABASE,
    KEY,
    LOCK,
    PROJECTS,
    SETTINGS,
    SSH_KEYS,
    ensembles_of,
    looking,
    refuse_other,
    refuse_shared,
    version_of,
)
from ordito.server.refused import ServerRefused
from ordito.server.restored import RESTORED, refuse_unusable
from ordito.source.new_files import fresh_folder, sweep

FORMAT = "ordito.backup/1"
LIST, SEAL, CONTENT = "backup.json", "backup.sha256", "home"
ENDING = ".backup"


class Backup(msgspec.Struct, frozen=True):
    """The list of a backup: what it is, and every file with its digest."""

    format: str
    ordito: str
    made: float
    """When it was begun."""

    with_keys: bool
    tables: str
    """The version of the tables."""

    audit_rows: int
    audit_head: str
    ensembles: tuple[BackedUpEnsemble, ...]
    left_out: tuple[str, ...]
    files: tuple[KeptFile, ...]
    links: tuple[KeptLink, ...]
    folders: tuple[KeptFolder, ...]


def place_in(project: str, name: str) -> str:
    """Where an ensemble is in a home."""
    return f"{PROJECTS}/{project}/ensembles/{name}"


def back_up(home: Path, place: Path, *, with_keys: bool) -> BackedUpData:
    """Make a backup of a home in a new directory. Raises ``ServerRefused``; then nothing is left of it."""
    refuse_other(home)
    refuse_shared(home)
    refuse_unusable(home)
    if os.path.lexists(place):
        raise ServerRefused(f"{place} exists already", "name a new directory for the backup", "exists")
    sweep(place, ENDING)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        fresh, handle = fresh_folder(place, ENDING)
    except OSError as error:
        raise ServerRefused(f"cannot write to {place.parent}: {error.strerror}", ROOM) from error
    try:
        found = _fill(home, fresh, with_keys=with_keys)
        try:
            fresh.rename(place)
            sync_directory(place.parent)
        except OSError as error:
            raise ServerRefused(f"cannot write {place}: {error.strerror}", ROOM) from error
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    finally:
        os.close(handle)
    backup, missing = found
    size = sum(file.size for file in backup.files)
    return BackedUpData(str(place), len(backup.files), size, with_keys, backup.ensembles, missing, backup.left_out)


def _fill(home: Path, fresh: Path, *, with_keys: bool) -> tuple[Backup, tuple[str, ...]]:
    began = time.time()
    copier = Copier(fresh / CONTENT, with_keys=with_keys)
    copier.database(home / DATABASE, DATABASE)
    with looking(copier.root / DATABASE, home) as connection:
        known = ensembles_of(connection)
        tables, chain = version_of(connection), verified(connection)
    copier.enter(DATABASE)
    _refuse_inside(fresh, [home, *(one.directory for one in known)])
    skips = _home_files(home, copier)
    copier.tree(home, "", lambda path: path in skips or TEMPORARY.fullmatch(path) is not None)
    ensembles, missing = [], []
    for one in known:
        if not Layout(one.directory).exists:
            missing.append(f"{one.project}/{one.name}")
            continue
        job = copy_ensemble(copier, one.directory, place_in(one.project, one.name))
        ensembles.append(BackedUpEnsemble(one.project, one.name, str(one.directory), job))
    backup = Backup(
        FORMAT,
        __version__,
        began,
        with_keys,
        tables,
        chain.rows,
        chain.head,
        tuple(ensembles),
        tuple(copier.left_out),
        copier.files,
        copier.links,
        copier.folders,
    )
    _seal(fresh, msgspec.json.encode(backup) + b"\n")
    return backup, tuple(missing)


def _refuse_inside(fresh: Path, copied: list[Path]) -> None:
    for folder in copied:
        if fresh.resolve().is_relative_to(folder.resolve()):
            hint = "name a place outside of the home and of all ensembles"
            raise ServerRefused(f"the backup would be a part of itself: it would lie in {folder}", hint)


def _home_files(home: Path, copier: Copier) -> frozenset[str]:
    """The files of a home that are not copied as they are. Those that hold keys are noted where keys are not wanted."""
    own = {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", LOCK, PROJECTS, RESTORED}
    own.update(path.name for path in home.glob(f"{DATABASE}.*"))
    if copier.with_keys:
        return frozenset(own)
    secret = {KEY, SSH_KEYS, *_named_files(home / SETTINGS)}
    for path in sorted(secret):
        if (home / path).is_file():
            copier.leave_out(path)
    for key in sorted((home / SSH_KEYS).rglob("*")):
        if key.is_file():
            copier.leave_out(str(key.relative_to(home)))
    return frozenset(own | secret)


def _named_files(settings: Path) -> set[str]:
    """The files that settings name for the values in them, and the key of TLS: what is kept apart is a secret."""
    if not settings.exists():
        return set()
    try:
        found = page_data(settings)
    except ValueError:
        return set()
    tls = found.get("tls") if isinstance(found, dict) else None
    named = {str(tls["key"])} if isinstance(tls, dict) and "key" in tls else set()
    return {os.path.normpath(path) for path in (*named, *_values(found))}


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.keys() == {"file"}:
            yield str(value["file"])
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)


def _seal(fresh: Path, text: bytes) -> None:
    """Write the list of a backup, the last of its files, once all others are on the disk."""
    try:
        sync_disk(fresh)
        digest = f"{hashlib.sha256(text).hexdigest()}  {LIST}\n".encode()
        for name, content in ((LIST, text), (SEAL, digest)):
            handle = os.open(fresh / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                write_all(handle, content)
                os.fsync(handle)
            finally:
                os.close(handle)
        sync_directory(fresh)
    except OSError as error:
        raise ServerRefused(f"cannot write {fresh}: {error.strerror}", ROOM) from error


# ------------------------------------------------------------------------------------------------- reading a backup


def read_backup(place: Path) -> Backup:
    """The list of a backup, with every file checked against it. Raises ``ServerRefused``."""
    backup = _read_list(place)
    for file in backup.files:
        path = place / CONTENT / as_path(file.path)
        if _digest(path) != file.digest:
            hint = "use another backup: nothing was restored"
            raise ServerRefused(f"the backup is damaged: {path} is not what it was", hint, "damaged-backup")
    return backup


def _read_list(place: Path) -> Backup:
    hint = "name the directory that `ordito server backup` has made"
    try:
        text = (place / LIST).read_bytes()
        sealed = (place / SEAL).read_bytes().split()
    except (FileNotFoundError, NotADirectoryError):
        message = f"{place} is no backup, or one that was not completed: it has no {LIST} or no {SEAL}"
        raise ServerRefused(message, hint, "damaged-backup") from None
    except OSError as error:
        raise ServerRefused(f"cannot read {place}: {error.strerror}", hint) from error
    if not sealed or hashlib.sha256(text).hexdigest().encode() != sealed[0]:
        message = f"the backup is damaged: {place / LIST} is not what {SEAL} says"
        raise ServerRefused(message, "use another backup: nothing was restored", "damaged-backup")
    try:
        backup = msgspec.json.decode(text, type=Backup)
    except msgspec.DecodeError as error:
        hint = "use the version of Ordito that has made it, or a newer one"
        raise ServerRefused(f"cannot read {place / LIST}: {error}", hint, "damaged-backup") from error
    if backup.format != FORMAT:
        raise ServerRefused(
            f"{place / LIST} has the format {backup.format}, which this version does not know",
            f"use a newer version of Ordito; it was made by {backup.ordito}",
            "damaged-backup",
        )
    return backup


def _digest(path: Path) -> str:
    """The SHA-256 of a file of a backup; "" where it is gone or no file."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise ServerRefused(f"cannot read {path}: {error.strerror}") from error
    found = hashlib.sha256()
    with os.fdopen(handle, "rb") as file:
        try:
            while block := file.read(BLOCK):
                found.update(block)
        except OSError as error:
            raise ServerRefused(f"cannot read {path}: {error.strerror}") from error
    return found.hexdigest()
