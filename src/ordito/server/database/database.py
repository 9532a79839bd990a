"""The database of the server: SQLite in its home, with one thread that writes.

Whatever was committed is on the disk (``synchronous=FULL``). Reads run beside writes, each in a thread of a few.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Table, UpdateBase, create_engine, event, inspect
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import QueuePool

from ordito.server.problems import ApiProblem
from ordito.server.refused import ServerRefused

T = TypeVar("T")

READERS = 4
NEWEST = "0005"
"""The version of the tables, after the newest of ``migrations``."""

MIGRATIONS = Path(__file__).parent / "migrations"
FULL = ("database or disk is full", "disk I/O error")


class Database:
    """The database; ``close`` it at the end."""

    def __init__(self, path: Path) -> None:
        """Open it, and bring its tables up to date. Raises ``ServerRefused`` for one of a newer version."""
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        self._engine = create_engine(
            f"sqlite:///{path}",
            poolclass=QueuePool,
            pool_size=READERS + 1,
            connect_args={"check_same_thread": False, "timeout": 30},
        )
        event.listen(self._engine, "connect", _configure)
        event.listen(self._engine, "begin", _begin)
        event.listen(self._engine, "after_execute", _note_table)
        self._versions: dict[str, int] = {}
        _migrate(self._engine.connect(), path)
        self._writer = ThreadPoolExecutor(1, "writer")
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self.changed = asyncio.Event()
        """Is set with the next change; each time it is another one."""

    def close(self) -> None:
        """Let what was begun end, and close it."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._engine.dispose()

    async def read(self, ask: Callable[[Connection], T]) -> T:
        """What a function reads, in a thread of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self.read_now, ask)

    async def write(self, change: Callable[[Connection], T]) -> T:
        """Carry out a change in one transaction. It is on the disk when this returns, even where the caller is
        cancelled meanwhile. Raises ``ApiProblem`` if the disk is full."""
        future = asyncio.get_running_loop().run_in_executor(self._writer, self.write_now, change)
        future.add_done_callback(self._ring)
        return await asyncio.shield(future)

    def _ring(self, _: object) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def read_now(self, ask: Callable[[Connection], T]) -> T:
        """The same, in this thread."""
        with self._engine.connect() as connection:
            return ask(connection)

    def versions(self, *tables: Table) -> tuple[int, ...]:
        """For each table a number that is another one once a change of it has returned: what was made of its rows until
        then is to be made anew."""
        return tuple(self._versions.get(table.name, 0) for table in tables)

    def write_now(self, change: Callable[[Connection], T]) -> T:
        """The same, in this thread."""
        changed: set[str] = set()
        try:
            with self._engine.connect() as made:
                connection = made.execution_options(writes=True, changed=changed)
                with connection.begin():
                    return change(connection)
        except OperationalError as error:
            if any(text in str(error.orig) for text in FULL):
                hint = "make room on the disk of the server, then ask again"
                raise ApiProblem("no-space", "the server has no room to keep this", hint) from error
            raise
        finally:
            for name in changed:
                self._versions[name] = self._versions.get(name, 0) + 1


def _configure(connection: Any, _: object) -> None:  # a connection of sqlite3, as SQLAlchemy hands it over
    connection.isolation_level = None
    for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {setting}")


def _note_table(connection: Connection, statement: object, *_: object) -> None:
    """Note which table a statement changes."""
    if isinstance(statement, UpdateBase) and isinstance(statement.table, Table):
        connection.get_execution_options().get("changed", set()).add(statement.table.name)


def _begin(connection: Connection) -> None:
    # Without it a transaction that reads first could not write where another has written meanwhile.
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


def _migrate(connection: Connection, path: Path) -> None:
    with contextlib.closing(connection):
        now = _version(connection)
        connection.rollback()
        if now == NEWEST:
            return
        if now > NEWEST:
            raise ServerRefused(
                f"{path} was written by a newer version of ordito",
                "use that version, or put back the copy of the database that lies beside it",
            )
        if now:
            copy_database(path, path.with_name(f"{path.name}.{now}"))
        # Only a new home or a new version needs it, and it takes long to import.
        from alembic import command
        from alembic.config import Config

        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, "head")


def copy_database(path: Path, copy: Path) -> None:
    """Copy a database as it is now, also while others use it."""
    copy.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_CREAT | os.O_WRONLY | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with contextlib.closing(sqlite3.connect(path)) as source, contextlib.closing(sqlite3.connect(copy)) as target:
        source.backup(target)


def _version(connection: Connection) -> str:
    """The version of the tables, "" where there are none yet."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return str(found or "")
