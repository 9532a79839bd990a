"""SQLite as the database of a server: one file in its home. Whatever was committed is on the disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from ordito.server.problems import HINT_OF_FULL, ApiProblem

FULL = ("database or disk is full", "disk I/O error")


class Sqlite:
    """The file, see ``DatabaseKind``."""

    def __init__(self, path: Path, connections: int) -> None:
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        self._path = path
        self.shown = str(path)
        self.engine = create_engine(
            f"sqlite:///{path}",
            poolclass=QueuePool,
            pool_size=connections,
            connect_args={"check_same_thread": False, "timeout": 30},
        )
        event.listen(self.engine, "connect", _configure)
        event.listen(self.engine, "begin", _begin)

    def to_read(self, connection: Connection) -> Connection:
        """See ``DatabaseKind``."""
        return connection

    def began_writing(self, connection: Connection) -> None:
        """See ``DatabaseKind``. The transaction itself has begun so that nobody else writes."""

    def tell(self, connection: Connection, tables: Iterable[str]) -> None:
        """See ``DatabaseKind``. Nobody else uses the file."""

    def hear(self, told: Callable[[frozenset[str] | None], None]) -> Callable[[], None]:
        """See ``DatabaseKind``."""
        return lambda: None

    def problem(self, error: DBAPIError) -> ApiProblem | None:
        """See ``DatabaseKind``."""
        if not any(text in str(error.orig) for text in FULL):
            return None
        return ApiProblem("no-space", "the server has no room to keep this", HINT_OF_FULL)

    def lock_migrations(self, connection: Connection) -> None:
        """See ``DatabaseKind``. Only one server runs on a home."""

    def keep_copy(self, version: str) -> None:
        """See ``DatabaseKind``: the copy lies beside the file."""
        copy_database(self._path, self._path.with_name(f"{self._path.name}.{version}"))


def _configure(connection: Any, _: object) -> None:  # a connection of sqlite3, as SQLAlchemy hands it over
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _begin(connection: Connection) -> None:
    # Without it a transaction that reads first could not write where another has written meanwhile.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database as it is now, also while others use it."""
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)
