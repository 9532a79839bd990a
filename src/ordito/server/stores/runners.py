"""Runners elsewhere: items of a store, which its workers carry out. Nothing of them is on this machine."""

from __future__ import annotations

import asyncio
import re
import secrets
import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from ordito.app.surroundings import Surroundings
from ordito.app.work_items import SEALED_FOR, PlanItem
from ordito.cluster.connecting import Connection, StoreConnection
from ordito.cluster.items import NewItem, add_item
from ordito.cluster.keys import PoolKey
from ordito.cluster.store import Store
from ordito.results.item_outcome import ItemOutcome
from ordito.server.processes.calls import (
    Already,
    Began,
    Finished,
    ForkedTask,
    News,
    NotDone,
    NothingToDo,
    StoredAt,
    StoredTask,
)
from ordito.server.processes.runners import RunnerLook

T = TypeVar("T")

PACKAGE = re.compile(r"/([0-9a-f]{64})\.csar$")

PATIENCE = 5.0
"""Seconds for which a store that is away is waited for."""

LOOK = """
SELECT i.state, i.job, i.outcome, CASE WHEN e.item = i.id THEN e.job ELSE '' END
FROM ordito.item i LEFT JOIN ordito.ensemble e ON e.id = i.ensemble WHERE i.id = %s
"""

AGAIN = """
UPDATE ordito.item SET state = 'waiting', request = %(request)s, outcome = NULL, cancel = '', worker = '', takeovers = 0
WHERE id = %(id)s AND state = 'done' AND job = '' RETURNING 1
"""
"""An item that was done without a job is begun once more under its id: so its plan has one job at most."""

OPEN = "SELECT 1 FROM ordito.item WHERE ensemble = %s AND kind = %s AND state <> 'done' LIMIT 1"
FORGET = "DELETE FROM ordito.item WHERE id = %s AND state = 'done'"

Where = Callable[[str], StoredAt | None]


class StoredRunners:
    """The workers of a store, see ``Runners``. Its methods wait for the store, and may be called in any thread."""

    def __init__(self, store: Store, key: PoolKey, where: Where) -> None:
        """``key`` is that of the workers; ``where`` says where the ensemble of a directory is."""
        self._key = key
        self._store = store
        self._where = where
        self._link = StoreConnection(store.address, PATIENCE)
        self._lock = threading.Lock()
        self.changed = asyncio.Event()

    @property
    def count(self) -> int:
        """See ``Runners``: they are nobody's children here."""
        return 0

    def close(self) -> None:
        """Let go of the store."""
        with self._lock:
            self._link.close()

    async def start(self, name: str, task: ForkedTask) -> bool:
        """See ``Runners``."""
        return await asyncio.to_thread(self._start, name, task)

    def _start(self, name: str, task: ForkedTask) -> bool:
        at = self._where(task.item.directory)
        ensemble = self._store.ensemble_id(at.project, at.name) if at is not None else ""
        if at is None or not ensemble:
            return False
        around: Surroundings = task.surroundings
        item = msgspec.structs.replace(task.item, directory="")
        task_of_store = StoredTask(item, around.variables, around.hosts, task.retention, packages_of(around.services))
        is_plan = isinstance(task.item, PlanItem)
        kind = "plan" if is_plan else name.partition("-")[0]
        id = name if is_plan else f"{name}-{secrets.token_hex(4)}"
        # It may hold values of inputs.
        sealed = self._key.sealed(msgspec.json.encode(task_of_store), id, SEALED_FOR, always=True)
        new = NewItem(
            id=id,
            ensemble=ensemble,
            kind=kind,
            request=sealed,
            klass="normal" if is_plan else "urgent",
            by=task.item.by.by if isinstance(task.item, PlanItem) else "",
        )

        def add(db: Connection) -> bool:
            if not is_plan and db.execute(OPEN, (ensemble, kind)).fetchone() is not None:
                return False
            return add_item(db, new) or db.execute(AGAIN, {"id": id, "request": new.request}).fetchone() is not None

        return self._ask("add an item to", add)

    def look(self, name: str) -> RunnerLook:
        """See ``Runners``."""
        row = self._ask("read", lambda db: db.execute(LOOK, (name,)).fetchone() or ())
        if not row:
            return RunnerLook(is_alive=False)
        state, job, outcome, open_job = row
        begun: tuple[News, ...] = tuple(Began(str(one)) for one in (job or open_job,) if one)
        if state != "done":
            return RunnerLook(is_alive=True, news=begun)
        return RunnerLook(is_alive=False, news=(*begun, _news(bytes(outcome or b""))))

    def forget(self, name: str) -> None:
        """See ``Runners``."""
        self._ask("change", lambda db: db.execute(FORGET, (name,)).rowcount + 1)

    def _ask(self, doing: str, work: Callable[[Connection], T]) -> T:
        with self._lock:
            return self._link.ask(doing, work, lambda _: None)


def packages_of(paths: Iterable[str]) -> tuple[str, ...]:
    """The digests of the packages among the files that a task may read."""
    found = (PACKAGE.search(path) for path in paths)
    return tuple(dict.fromkeys(one[1] for one in found if one is not None))


def _news(outcome: bytes) -> News:
    """How an item has ended, as a runner tells it."""
    if not outcome:
        return NothingToDo()
    found = msgspec.json.decode(outcome, type=ItemOutcome)
    if found.trouble is not None:
        return NotDone(found.trouble)
    if found.status == "nothing":
        return NothingToDo()
    if found.status == "known":
        return Already(found.job)
    return Finished(found.job, found.status, found.report)
