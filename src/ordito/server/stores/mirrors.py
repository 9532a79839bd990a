"""Mirrors: the directories in which a server looks at the ensembles of a store.

Each is a working copy, brought up to date before anything in it is read, and while somebody follows it. What an open
job has told and printed is appended as it comes, so that files grow here as they do where the job runs, byte for byte:
a place in them is the same at every server. A mark says that a job is open, and the lock is held while a worker holds
the ensemble, so that whoever looks here sees what anybody sees in an ensemble that is its directory.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.keys import PoolKey
from ordito.cluster.moving import import_ensemble
from ordito.cluster.store import Store
from ordito.cluster.stored import READING, StoredEnsemble, StoredName
from ordito.cluster.trees import Trees
from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.events_file import FIRST
from ordito.ensemble.files import write_whole
from ordito.ensemble.job_mark import mark_begun, unmark
from ordito.ensemble.layout import Layout
from ordito.ensemble.owner import LockOwner
from ordito.ensemble.vault import KEY_BYTES, write_key
from ordito.server.answers import STATE
from ordito.server.packages import bring_package, package_path
from ordito.server.processes.attached import attach
from ordito.server.processes.calls import StoredAt

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

FOLDER = "ensembles"
PAUSE = 0.2
"""Seconds between two looks at what somebody follows."""

CONNECTIONS = 2
"""How many connections to the store all mirrors of a server share."""

FOLLOWED = 5.0
"""Seconds for which an ensemble is followed after somebody has looked at it."""

ROWS = """
SELECT e.id, e.epoch, e.tree, e.job, e.item, e.last_change, coalesce(w.name, ''), coalesce(i.by, ''),
       (SELECT count(*) FROM ordito.job j WHERE j.ensemble = e.id AND j.record <> ''),
       coalesce((SELECT max(r.number) FROM ordito.record r WHERE r.ensemble = e.id AND r.job = e.job), -1),
       coalesce((SELECT max(v.number) FROM ordito.event v WHERE v.ensemble = e.id AND v.job = e.job), -1),
       coalesce((SELECT max(l.number) FROM ordito.log_chunk l WHERE l.ensemble = e.id AND l.job = e.job), -1)
FROM ordito.ensemble e LEFT JOIN ordito.worker w ON w.id = e.holder LEFT JOIN ordito.item i ON i.id = e.item
WHERE e.project = %s AND e.name = %s
"""

TOLD = "SELECT number, lines FROM ordito.event WHERE ensemble = %s AND job = %s AND number > %s ORDER BY number"
PRINTED = "SELECT number, body FROM ordito.log_chunk WHERE ensemble = %s AND job = %s AND number > %s ORDER BY number"

CANCEL = """
UPDATE ordito.item i SET cancel = %(how)s FROM ordito.ensemble e
WHERE e.project = %(project)s AND e.name = %(name)s AND e.job = %(job)s AND i.id = e.item AND i.state = 'queued'
"""

NAMES = "SELECT project, name FROM ordito.ensemble ORDER BY project, name"


class StoreState(msgspec.Struct, frozen=True):
    """An ensemble as the store has it now."""

    id: str
    epoch: int
    tree: str
    job: str
    item: str
    last_change: str
    worker: str
    by: str
    closed: int
    """How many jobs are closed."""

    record: int
    event: int
    chunk: int
    """The numbers of the newest record, of the newest events, and of what was printed last, -1 for none."""


class _Mirror:
    """One directory."""

    def __init__(self, at: StoredAt, directory: Path) -> None:
        self.at = at
        self.layout = Layout(directory)
        self.lock = threading.Lock()
        self.touched = 0.0
        self._seen: StoreState | None = None
        self._behind: StoredEnsemble | None = None
        self._told, self._printed = -1, -1
        self._held = -1

    def refresh(self, link: StoreConnection) -> None:
        """Bring it up to date. Raises ``EnsembleError``."""
        with self.lock:
            named = (self.at.project, self.at.name)
            row = link.ask("read", lambda db: db.execute(ROWS, named).fetchone() or (), _again)
            if not row:
                raise EnsembleError(
                    f"there is no ensemble {self.at.project}/{self.at.name} in {self.at.shown}",
                    "see `ordito store status`; an administrator can remove it here",
                )
            state, before = StoreState(*row), self._seen
            if state == before:
                return
            if before is None or (before.tree, before.closed, before.job) != (state.tree, state.closed, state.job):
                self._fetch(state)
            if state.job:
                self._append(link, state)
            self._mark(state)
            self._hold(state)
            self.layout.make_private()
            write_whole(self.layout.private / STATE, [msgspec.json.encode(state)])
            self._seen = state

    def _fetch(self, state: StoreState) -> None:
        if self._behind is None:
            self.layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._behind = attach(self.at, self.layout.root)
        # With what closed jobs have told: who follows one reads its file to the end.
        try:
            self._behind.files(self.layout).fetch()
        finally:
            # A server looks at hundreds of ensembles.
            self._behind.rest()
        if self._seen is None or state.job != self._seen.job:
            self._told, self._printed = -1, -1

    def _append(self, link: StoreConnection, state: StoreState) -> None:
        for query, name in ((TOLD, "_told"), (PRINTED, "_printed")):
            after = getattr(self, name)
            rows = link.ask(
                "read",
                lambda db, query=query, after=after: db.execute(  # type: ignore[misc]
                    query.encode(), (state.id, state.job, after)
                ).fetchall(),
                _again,
            )
            if not rows:
                continue
            is_told = query is TOLD
            pieces = [bytes(body) if is_told else zlib.decompress(body) for _, body in rows]
            path = self.layout.events(state.job) if is_told else self.layout.log(state.job)
            if after < 0:
                write_whole(path, [FIRST, *pieces] if is_told else pieces)
            else:
                _append_to(path, pieces)
            setattr(self, name, int(rows[-1][0]))

    def _mark(self, state: StoreState) -> None:
        if state.job:
            mark_begun(self.layout.journal, state.job)
        else:
            unmark(self.layout.journal)

    def _hold(self, state: StoreState) -> None:
        """Hold the lock of the directory as long as a worker holds the ensemble."""
        if not state.worker:
            self.let_go()
            return
        with explained("write", self.layout.lock):
            if self._held < 0:
                self._held = os.open(self.layout.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            owner = LockOwner(state.by or "somebody", f"worker {state.worker}", command=state.item, job=state.job)
            os.ftruncate(self._held, 0)
            os.pwrite(self._held, msgspec.json.encode(owner), 0)

    def let_go(self) -> None:
        """Release the lock of the directory."""
        if self._held >= 0:
            os.close(self._held)
            self._held = -1


class StorePlaces:
    """The ensembles of a store, see ``Places``."""

    def __init__(self, home: Path, store: Store, key: str) -> None:
        self._home = home
        self._store = store
        self._key = key
        self.folder: Path | None = home / FOLDER
        self._mirrors: dict[str, _Mirror] = {}
        self._room = threading.BoundedSemaphore(CONNECTIONS)
        self._idle: list[StoreConnection] = []
        self._task: asyncio.Task[None] | None = None

    def folder_of(self, project: str) -> Path:
        """Below which the ensembles of a project have their directories."""
        return self._home / FOLDER / project

    def start(self) -> None:
        """Begin to follow what is looked at."""
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for mirror in self._mirrors.values():
            mirror.let_go()
        while self._idle:
            self._idle.pop().close()

    def stored(self, directory: str) -> StoredAt | None:
        """See ``Places``."""
        path = Path(directory)
        if self.folder is None or not path.is_relative_to(self.folder):
            return None
        parts = path.relative_to(self.folder).parts
        if len(parts) != 2 or parts[1].startswith("."):
            return None
        return StoredAt(self._store.address, str(self._store), *parts, self._key)

    async def fresh(self, *directories: str) -> None:
        """See ``Places``."""
        found = [mirror for one in directories if (mirror := self._mirror(one)) is not None]
        if found:
            await asyncio.to_thread(self._refresh, found, has_more=len(directories) > 1)

    def _refresh(self, mirrors: Sequence[_Mirror], *, has_more: bool) -> None:
        for mirror in mirrors:
            try:
                with self._linked() as link:
                    mirror.refresh(link)
            except (EnsembleError, OSError) as error:
                if not has_more:
                    raise
                _LOG.warning("cannot look at %s/%s: %s", mirror.at.project, mirror.at.name, error)

    def touch(self, directory: Path) -> None:
        """See ``Places``."""
        assert self.folder is not None
        if directory.is_relative_to(self.folder):
            own = self.folder.joinpath(*directory.relative_to(self.folder).parts[:2])
            if (mirror := self._mirror(str(own))) is not None:
                mirror.touched = time.monotonic()

    def cancel(self, directory: str, job: str, how: str) -> bool | None:
        """See ``Places``."""
        at = self.stored(directory)
        if at is None:
            return None
        given = {"project": at.project, "name": at.name, "job": job, "how": how}
        return self._ask("change", lambda db: db.execute(CANCEL, given).rowcount > 0)

    async def bring(self, digest: str) -> None:
        """See ``Places``."""
        path = package_path(self._home, digest)
        if not await asyncio.to_thread(path.exists):
            await asyncio.to_thread(self._bring, digest, path)

    def _bring(self, digest: str, path: Path) -> None:
        with self._linked() as link:
            bring_package(Trees(link), digest, path)

    def keep_package(self, digest: str) -> None:
        """Let other servers and the workers have a package that is here. Raises ``EnsembleError``."""
        path = package_path(self._home, digest)
        with self._linked() as link, explained("read", path):
            trees = Trees(link)
            if trees.missing_blobs([digest]):
                trees.put_blobs([(digest, path.read_bytes())])

    def take_in(self, project: str, name: str, directory: Path) -> None:
        """Put a new ensemble into the store, unless it has one of this name already, which is served then. Raises
        ``EnsembleError``."""
        if not self._store.ensemble_id(project, name):
            layout = Layout(directory)
            if self._key and not layout.key.exists():
                # Made here, it is sealed into the store: sensitive values are compared by it, wherever it is planned.
                layout.make_private()
                write_key(layout.key, os.urandom(KEY_BYTES))
            import_ensemble(self._store, StoredName(project, name), str(directory), PoolKey(self._key))

    def names(self) -> list[tuple[str, str]]:
        """Project and name of all ensembles of the store. Raises ``EnsembleError``."""
        return [(str(row[0]), str(row[1])) for row in self._ask("read", lambda db: db.execute(NAMES).fetchall())]

    def _mirror(self, directory: str) -> _Mirror | None:
        found = self._mirrors.get(directory)
        if found is None and (at := self.stored(directory)) is not None:
            found = self._mirrors.setdefault(directory, _Mirror(at, Path(directory)))
        return found

    @contextlib.contextmanager
    def _linked(self) -> Iterator[StoreConnection]:
        """One of a few connections that all threads share."""
        with self._room:
            link = self._idle.pop() if self._idle else StoreConnection(self._store.address, READING)
            try:
                yield link
            finally:
                self._idle.append(link)

    def _ask(self, doing: str, work: Callable[[Connection], T]) -> T:
        with self._linked() as link:
            return link.ask(doing, work, _again)

    async def _follow(self) -> None:
        while True:
            since = time.monotonic() - FOLLOWED
            found = [one for one in self._mirrors.values() if one.touched > since]
            if found:
                await asyncio.to_thread(self._refresh, found, has_more=True)
            await asyncio.sleep(PAUSE)


def _append_to(path: Path, pieces: Iterable[bytes]) -> None:
    with explained("write", path), path.open("ab") as file:
        file.write(b"".join(pieces))


def _again(_: Any) -> None:
    """Reading is done once more."""
