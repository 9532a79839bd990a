"""The store over which a server serves: its ensembles, and the workers that carry out what is to be done with them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from sqlalchemy import Connection, insert, select

from ordito.cluster.items import DEFAULT_POOL
from ordito.cluster.keys import PoolKey
from ordito.cluster.store import Store
from ordito.results.workers import StoreStateData
from ordito.server.database.database import Database
from ordito.server.database.tables import ENSEMBLES, PROJECTS
from ordito.server.metrics import StoreFigures
from ordito.server.stores.mirrors import StorePlaces
from ordito.server.stores.runners import StoredRunners
from ordito.server.stores.watching import figures_of, state_of

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""What projects and ensembles of a server are called; those of a store with other names are not served."""

WORKER = "ordito.server.processes.stored_item:run"
LEASE, SLOTS, POLL = 30.0, 4, 1.0


class Stores:
    """A store, as the parts of a server use it."""

    def __init__(self, home: Path, store: Store, key: str) -> None:
        """``key`` is the file with the key of the workers. Raises ``EnsembleError`` for a store without tables, or with
        others than this version of Ordito knows."""
        store.check()
        self.store = store
        self.places = StorePlaces(home, store, key)
        self.runners = StoredRunners(store, PoolKey(key), self.places.stored)

    def state(self) -> StoreStateData:
        """How it is. Raises ``EnsembleError``."""
        return state_of(self.store)

    def figures(self) -> StoreFigures:
        """The same as figures. Raises ``EnsembleError``."""
        return figures_of(self.store)

    async def stop(self) -> None:
        """Let go of it."""
        await self.places.stop()
        self.runners.close()

    async def serve_all(self, database: Database) -> None:
        """Serve the ensembles of the store that the server does not know yet, as those that were imported."""
        names = [one for one in await asyncio.to_thread(self.places.names) if all(map(NAME.fullmatch, one))]
        if missing := await database.read(partial(_unknown, names=names)):
            await database.write(partial(self._add, names=missing))

    def _add(self, connection: Connection, names: Sequence[tuple[str, str]]) -> None:
        now = time.time()
        for project, name in _unknown(connection, names):
            if connection.execute(select(PROJECTS.c.name).where(PROJECTS.c.name == project)).first() is None:
                connection.execute(insert(PROJECTS).values(name=project, description="", created=now))
            directory = str(self.places.folder_of(project) / name)
            # Nothing of it is read where its service lies: what was deployed is in the store.
            row = {"project": project, "name": name, "directory": directory, "created": now, "reads": ""}
            connection.execute(insert(ENSEMBLES).values(**row))


def _unknown(connection: Connection, names: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    known = set(connection.execute(select(ENSEMBLES.c.project, ENSEMBLES.c.name)).tuples())
    return [one for one in names if one not in known]


@contextlib.contextmanager
def own_workers(home: Path, store: Store, key: str, count: int) -> Iterator[None]:
    """So many workers of a server's own, which hand over what they do and end with it."""
    running = [_worker(home / "workers" / str(number), store, key) for number in range(1, count + 1)]
    try:
        yield
    finally:
        for one in running:
            one.send_signal(signal.SIGTERM)
        for one in running:
            one.wait()


def _worker(home: Path, store: Store, key: str) -> subprocess.Popen[bytes]:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{os.uname().nodename}-{os.getpid()}-{home.name}"
    about = {"address": store.address, "home": str(home), "entry": WORKER, "pool": DEFAULT_POOL, "name": name}
    words = {**about, "reaches": [], "slots": SLOTS, "key": key, "lease": LEASE, "finish": 0.0}
    # The address may hold a password, and everybody on a machine sees the words of a command.
    handle = os.memfd_create("settings", 0)
    try:
        os.write(handle, msgspec.json.encode(words))
        command = [sys.executable, "-m", "ordito.cluster.worker", str(handle), str(POLL)]
        return subprocess.Popen(command, pass_fds=(handle,), stdin=subprocess.DEVNULL, start_new_session=True)
    finally:
        os.close(handle)
