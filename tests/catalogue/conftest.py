"""The servers that tests of blocks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.real.bind import Bind
from tests.support.real.postgres import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server of PostgreSQL."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def bind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bind]:
    """A server of DNS that takes updates."""
    with Bind(tmp_path_factory.mktemp("bind")) as server:
        yield server
