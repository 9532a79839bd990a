"""An ensemble of a store, as a process of the server sees it: its files are in a directory, all else in the store."""

from __future__ import annotations

from pathlib import Path

from ordito.cluster.holding import OwnWorker
from ordito.cluster.keys import PoolKey
from ordito.cluster.store import Store
from ordito.cluster.stored import StoredEnsemble, StoredName
from ordito.ensemble.backing import put_behind
from ordito.ensemble.layout import Layout
from ordito.server.processes.calls import StoredAt


def attach(at: StoredAt, *directories: Path) -> StoredEnsemble:
    """From now on this process finds the ensemble of these directories in the store. Their files are as they are.
    Raises ``EnsembleError``."""
    store = Store(at.address, at.shown)
    found = StoredEnsemble(store, StoredName(at.project, at.name), OwnWorker(at.address), PoolKey(at.key))
    for directory in directories:
        put_behind(Layout(directory), found)
    return found
