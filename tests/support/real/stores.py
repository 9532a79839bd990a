"""Stores in a PostgreSQL of the tests' own: one server, and a database for each, a copy of one that has the tables."""

from __future__ import annotations

import os
from functools import cached_property

from ordito.cluster.connecting import StoreConnection
from ordito.cluster.leases import WorkerLease, WorkerRow, take
from ordito.cluster.postgres import PostgresDatabase
from ordito.cluster.store import Store
from ordito.ensemble.journal import EnsembleJournal
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import use_vault
from tests.support.real.postgres import PASSWORD, USER, Postgres


class StoreServer(Postgres):
    """A server for stores."""

    def __init__(self) -> None:
        super().__init__("max_connections=60", "shared_buffers=32MB", "max_locks_per_transaction=256")

    @cached_property
    def _template(self) -> str:
        found = self.database()
        Store(self._with_password(found)).upgrade()
        return found

    def store(self) -> Store:
        """An empty store with all its tables."""
        return Store(self._with_password(self.database(self._template)))

    def empty(self) -> Store:
        """A store without tables."""
        return Store(self._with_password(self.database()))

    @staticmethod
    def _with_password(address: str) -> str:
        return address.replace(f"{USER}@", f"{USER}:{PASSWORD}@")


def worker(name: str = "one") -> WorkerRow:
    """What a worker says of itself."""
    return WorkerRow(id=f"{name}-{os.getpid()}", name=name, machine=f"machine of {name}", boot="1")


class StoredJournals:
    """Gives journals in a store to ensembles in directories: whoever holds the lock of the directory takes the ensemble
    from whoever has held it before."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._epochs: dict[str, int] = {}
        self._given: list[EnsembleJournal] = []
        self._lease = WorkerLease(store.address, worker(), lease=3_600.0)
        self._link = StoreConnection(store.address)

    def shut(self) -> None:
        """Shut the journals that a test has left open, as its death leaves them."""
        for journal in self._given:
            journal.shut()
        self._given.clear()

    def close(self) -> None:
        """Let go of the store."""
        self._lease.close()
        self._link.close()

    def id_of(self, layout: Layout) -> str:
        """The id of the ensemble in a directory."""
        return str(layout.root)

    def open(self, layout: Layout) -> EnsembleJournal:
        """As ``ensemble.journal.open_journal``."""
        layout.make_private()
        use_vault(layout)
        ensemble = self.id_of(layout)
        if not self.store.ensemble_id("tests", ensemble):
            self.store.add_ensemble(ensemble, "tests", ensemble)
        epoch = take(self._link, ensemble, self._lease.worker.id, ended=self._epochs.get(ensemble, 0))
        assert epoch
        self._epochs[ensemble] = epoch
        journal = self._journal(ensemble, epoch)
        try:
            journal.catch_up()
        except BaseException:
            journal.shut()
            raise
        return journal

    def read(self, layout: Layout) -> EnsembleJournal | None:
        """As ``ensemble.journal.read_journal``."""
        use_vault(layout)
        ensemble = self.id_of(layout)
        if not self.store.ensemble_id("tests", ensemble):
            return None
        return self._journal(ensemble, 0)

    def _journal(self, ensemble: str, epoch: int) -> EnsembleJournal:
        found = EnsembleJournal(PostgresDatabase(self.store.address, ensemble, epoch, patience=30.0))
        self._given.append(found)
        return found
