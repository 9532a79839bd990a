"""An ensemble of a store, as what stands behind the directory in which a process works on it."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.errands import StoreHold
from ordito.cluster.holding import LeaseLock, Wanted, Worker, place_id
from ordito.cluster.items import cancel_item_of
from ordito.cluster.keys import PoolKey
from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.store import Store
from ordito.cluster.working_copy import WorkingCopy
from ordito.ensemble.backing import EnsembleLock
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.journal_database import Fenced
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import DirectoryLock
from ordito.ensemble.owner import Locked
from ordito.ensemble.vault import use_vault
from ordito.work.invocation import Hold

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""What a project, or an ensemble in it, may be called."""

READING = 10.0
"""Seconds for which somebody who only looks waits for a store that has gone away meanwhile."""


class StoredName(msgspec.Struct, frozen=True):
    """The name of an ensemble in a store."""

    project: str
    name: str

    def __str__(self) -> str:
        return f"{self.project}/{self.name}"


def stored_name(text: str) -> StoredName:
    """PROJECT/NAME as a name. Raises ``EnsembleError``."""
    project, slash, name = text.partition("/")
    if not slash or not NAME.fullmatch(project) or not NAME.fullmatch(name):
        raise EnsembleError(
            f'"{text}" does not name an ensemble of a store', "write PROJECT/NAME, each of letters, digits and -_."
        )
    return StoredName(project, name)


class StoredEnsemble:
    """An ensemble of a store, see ``Backing``. It is made there when its first job begins."""

    is_store = True

    def __init__(
        self,
        store: Store,
        name: StoredName,
        worker: Worker,
        key: PoolKey,
        turned_away: Callable[[Fenced], None] = lambda _: None,
        patience: float = READING,
    ) -> None:
        """``turned_away`` as for ``PostgresDatabase``; ``patience`` as for ``StoreConnection``, for what is not written
        by a job. Raises ``EnsembleError`` where the store cannot be reached, or has tables of another version."""
        store.check()
        self._store = store
        self._name = name
        self._worker = worker
        self._key = key
        self._turned_away = turned_away
        self._patience = patience
        found = store.ensemble_id(name.project, name.name)
        self.is_there = bool(found)
        self.id = found or secrets.token_hex(8)
        self._link = StoreConnection(store.address, patience)
        self._lock: LeaseLock | None = None
        self._place = ""
        self._copy: WorkingCopy | None = None

    @property
    def shown(self) -> str:
        """See ``Backing``."""
        return str(self._name)

    def place_in(self, home: Path) -> Layout:
        """Its working copy below the home directory of a worker, or of this user's commands."""
        self._place = place_id(home)
        return Layout(home / "ensembles" / self._name.project / self._name.name)

    def look(self, layout: Layout, *, whole: bool) -> None:
        """Bring the working copy up to date to look at it, unless a job of this very directory runs, which has it so;
        ``whole`` with what closed jobs have printed and told. Raises ``EnsembleError``."""
        with suppress(Locked), DirectoryLock(layout, command="store"):
            copy = self.files(layout)
            copy.fetch() if whole else copy.checkout()

    def rest(self) -> None:
        """Close its connection, until it is needed again."""
        self._link.close()

    def lock(self, layout: Layout, command: str, wait: float) -> EnsembleLock:
        """See ``Backing``."""
        if not self.is_there:
            self._store.add_ensemble(self.id, self._name.project, self._name.name)
            self.is_there = True
        wanted = Wanted(self.id, str(self._name))
        self._lock = LeaseLock(layout, self._link, self._worker, wanted, command, wait)
        return self._lock

    def cancel_elsewhere(self, how: str) -> bool:
        """See ``Backing``. An item is heard of by the worker that carries it out, or by its successor; a command that
        runs its job itself hears nobody from elsewhere."""
        return self.is_there and cancel_item_of(self._link, self.id, how)

    def hold(self) -> Hold:
        """See ``Backing``."""
        return StoreHold(
            self._store.address,
            self.id,
            self._place,
            self._worker,
            self._key,
            lambda: self._lock.epoch if self._lock is not None else 0,
            self._turned_away,
        )

    def files(self, layout: Layout) -> WorkingCopy:
        """See ``Backing``."""
        if self._copy is None:
            self._copy = WorkingCopy(layout, self._link, self.id, self._key)
        return self._copy

    def open_journal(self, layout: Layout) -> EnsembleJournal:
        """See ``Backing``."""
        epoch = self._lock.epoch if self._lock is not None else 0
        if not epoch:
            raise ValueError("the ensemble is not held")
        use_vault(layout)
        database = PostgresDatabase(
            self._store.address, self.id, epoch, math.inf, sure=self._worker.sure, turned_away=self._turned_away
        )
        journal = EnsembleJournal(database, files=self.files(layout))
        try:
            journal.catch_up()
        except BaseException:
            journal.shut()
            raise
        return journal

    def read_journal(self, layout: Layout) -> EnsembleJournal | None:
        """See ``Backing``."""
        use_vault(layout)
        return (
            EnsembleJournal(PostgresDatabase(self._store.address, self.id, 0, self._patience))
            if self.is_there
            else None
        )
