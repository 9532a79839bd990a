"""The packages of the server: archives of services, each kept once under its SHA-256, whichever projects have it.

Nothing here reads what is in an archive: query processes do. An archive comes to its place whole, after it was looked
at, so that a server that is killed leaves at most files that nobody knows, which the next start removes.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Connection, select

from ordito.base.suggest import nearest
from ordito.ensemble.files import write_whole
from ordito.server.database.tables import ENSEMBLES, LABELS, PACKAGES, PLANS, SCHEDULES
from ordito.server.problems import ApiProblem

if TYPE_CHECKING:
    from ordito.cluster.trees import Trees

FOLDER = "packages"
ENDING = ".csar"
NEW = ".new-"
BLOCK = 1 << 20
DIGEST = re.compile(r"[0-9a-f]{64}")
LABEL = r"[a-z0-9][a-z0-9-]{0,62}:[A-Za-z0-9][A-Za-z0-9._+-]{0,62}"
"""``name:version``."""

MOVABLE = "-dev"
"""The end of versions whose labels may be given to another package."""

OPEN = ("planning", "ready", "waiting", "queued", "starting", "running")
"""The states in which a plan may still need its package."""


def package_path(home: Path, digest: str) -> Path:
    """The archive with a SHA-256, in hex, below the home of a server."""
    return home / FOLDER / digest[:2] / f"{digest}{ENDING}"


def seen_from_ensemble(path: Path, directory: str) -> str:
    """The path of an archive relative to an ensemble's directory, so that messages name no place of the machine."""
    return os.path.relpath(path, directory)


def package_named(connection: Connection, project: str, wanted: str) -> str:
    """The digest of the package of a project that is called so: by its digest, or by a label, ``name:version``. Raises
    ``ApiProblem``."""
    if DIGEST.fullmatch(wanted):
        mine = (PACKAGES.c.project == project) & (PACKAGES.c.digest == wanted)
        found = connection.execute(select(PACKAGES.c.digest).where(mine)).scalar()
    else:
        name, _, version = wanted.partition(":")
        label = (LABELS.c.project == project) & (LABELS.c.name == name) & (LABELS.c.version == version)
        found = connection.execute(select(LABELS.c.digest).where(label)).scalar()
    if found is None:
        labels = connection.execute(select(LABELS.c.name, LABELS.c.version).where(LABELS.c.project == project)).all()
        near = nearest(wanted, [f"{row.name}:{row.version}" for row in labels])
        hint = f"did you mean {near[0]}?" if near else "send it first; it is named by its digest, or as name:version"
        raise ApiProblem("unknown-package", f'the project "{project}" has no package "{wanted[:200]}"', hint)
    return str(found)


def labels_of(connection: Connection, project: str, digest: str) -> tuple[str, ...]:
    """The labels that point to a package of a project."""
    mine = (LABELS.c.project == project) & (LABELS.c.digest == digest)
    rows = connection.execute(select(LABELS.c.name, LABELS.c.version).where(mine).order_by(LABELS.c.created)).all()
    return tuple(f"{row.name}:{row.version}" for row in rows)


def users_of(connection: Connection, sealer: Fernet, project: str, digest: str) -> Iterator[str]:
    """What needs a package of a project: ensembles that are made of it, open plans, schedules, in words."""
    mine = (ENSEMBLES.c.project == project) & (ENSEMBLES.c.package == digest)
    for name in connection.execute(select(ENSEMBLES.c.name).where(mine)).scalars():
        yield f'the ensemble "{name}"'
    named = tuple(name.encode() for name in (digest, *labels_of(connection, project, digest)))
    plans = select(PLANS.c.id, PLANS.c.request).where(PLANS.c.project == project, PLANS.c.state.in_(OPEN))
    schedules = select(SCHEDULES.c.id, SCHEDULES.c.request).where(SCHEDULES.c.project == project)
    for what, rows in (("plan", plans), ("schedule", schedules)):
        for row in connection.execute(rows):
            if _names(row.request, sealer, named):
                yield f"the {what} {row.id}"


def _names(sealed: bytes, sealer: Fernet, named: tuple[bytes, ...]) -> bool:
    """Whether a sealed request names one of these. A request that cannot be opened needs nothing any more."""
    try:
        request = sealer.decrypt(sealed)
    except InvalidToken:
        return False
    # A request holds the whole name as one text, whether it is kept as JSON or as MessagePack.
    return any(name in request for name in named)


def bring_package(trees: Trees, digest: str, path: Path) -> None:
    """Write a package that a store has to its place. Raises ``EnsembleError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for _, body in trees.bodies([digest]):
        write_whole(path, [body])


class NewArchive(msgspec.Struct, frozen=True):
    """An archive that was sent: a file that is not at its place yet."""

    path: Path
    digest: str
    """The SHA-256, in hex."""

    size: int


class PackageStore:
    """The archives of a server."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.kept: Callable[[str], None] = _nobody
        """Is told of each archive that has come to its place, by its digest."""

        self._folder = home / FOLDER
        self.lock = asyncio.Lock()
        """Held by who brings an archive to its place or removes one, until the database says so."""

    def start(self) -> None:
        """Make the folder, and remove what a server that was killed had not finished."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for left in self._folder.glob(f"{NEW}*"):
            left.unlink(missing_ok=True)

    async def take(self, pieces: AsyncIterator[bytes], most: int) -> NewArchive:
        """Write what is sent into a new file, which is on the disk afterwards. Raises ``ApiProblem`` if it has more
        than ``most`` bytes."""
        path = self._folder / f"{NEW}{secrets.token_hex(16)}{ENDING}"
        digest, size, waiting = hashlib.sha256(), 0, bytearray()
        handle = await asyncio.to_thread(os.open, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            async for piece in pieces:
                size += len(piece)
                if size > most:
                    raise too_large(most)
                waiting += piece
                if len(waiting) >= BLOCK:
                    await asyncio.to_thread(_write, handle, bytes(waiting), digest)
                    waiting.clear()
            await asyncio.to_thread(_write, handle, bytes(waiting), digest)
            await asyncio.to_thread(os.fsync, handle)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
        return NewArchive(path, digest.hexdigest(), size)

    def place(self, archive: NewArchive) -> None:
        """Bring a new archive to its place. Raises ``EnsembleError``."""
        path = package_path(self._home, archive.digest)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.exists() and path.stat().st_size == archive.size:
            # The same is there already. Sandboxes that run have just that file, not whichever has its name.
            self.drop(archive)
            self.kept(archive.digest)
            return
        archive.path.replace(path)
        for folder in (path.parent, self._folder):
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)
        self.kept(archive.digest)

    def drop(self, archive: NewArchive) -> None:
        """Remove a new archive that was not brought to its place."""
        archive.path.unlink(missing_ok=True)

    def forget(self, connection: Connection, digest: str) -> None:
        """Remove an archive that no project has."""
        if connection.execute(select(PACKAGES.c.digest).where(PACKAGES.c.digest == digest).limit(1)).first() is None:
            package_path(self._home, digest).unlink(missing_ok=True)

    def forget_others(self, connection: Connection) -> None:
        """Remove the archives that no project has: those of a server that was killed just before it said so."""
        known = set(connection.execute(select(PACKAGES.c.digest).distinct()).scalars())
        for path in self._folder.glob(f"??/*{ENDING}"):
            if path.stem not in known:
                with contextlib.suppress(OSError):
                    path.unlink()


def _nobody(_: str) -> None:
    pass


def _write(handle: int, content: bytes, digest: Any) -> None:
    digest.update(content)
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def too_large(most: int) -> ApiProblem:
    """The problem with an archive that is too large."""
    return ApiProblem(
        "too-large",
        f"the archive has more than {most:,} bytes",
        "leave out what is not needed, or let an administrator raise `limits: package` in server.yaml",
    )
