"""A shop in a store, and workers for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ordito.cluster.store import Store
from tests.cluster.shop import CommandWorker, Shop, Started


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Shop:
    """A service of two nodes, whose ensemble is empty."""
    return Shop(store, tmp_path)


@pytest.fixture
def started(shop: Shop) -> Iterator[Started]:
    """Starts workers, which end with the test."""
    workers: list[CommandWorker] = []

    def start(name: str) -> CommandWorker:
        workers.append(CommandWorker(shop, name))
        return workers[-1]

    yield start
    for worker in workers:
        worker.kill()
