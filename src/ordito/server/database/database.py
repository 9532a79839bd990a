"""The database of a server: SQLite in its home, or PostgreSQL, with one transaction at a time that writes.

Whatever was committed is on the disk. Reads run beside writes, each in a thread of a few, and see all at one moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from sqlalchemy import Connection, Engine, Table, UpdateBase, event, inspect
from sqlalchemy.exc import DBAPIError

from ordito.server.database.sqlite import Sqlite
from ordito.server.database.tables import HOME
from ordito.server.problems import ApiProblem
from ordito.server.refused import ServerRefused

if TYPE_CHECKING:
    from ordito.cluster.store import Store

T = TypeVar("T")

READERS = 4
NEWEST = "0006"
"""The version of the tables, after the newest of ``migrations``."""

MIGRATIONS = Path(__file__).parent / "migrations"


class DatabaseKind(Protocol):
    """In which things the databases differ."""

    shown: str
    """How messages call it."""

    engine: Engine

    def to_read(self, connection: Connection) -> Connection:
        """A connection that sees all at one moment, and changes nothing."""

    def began_writing(self, connection: Connection) -> None:
        """Wait until nobody else writes: from now on to the end of the transaction nobody does."""

    def tell(self, connection: Connection, tables: Iterable[str]) -> None:
        """Tell other servers which tables this transaction changes, once it is committed."""

    def hear(self, told: Callable[[frozenset[str] | None], None]) -> Callable[[], None]:
        """Hear in another thread what other servers tell, None where it is not known; returns what ends that."""

    def problem(self, error: DBAPIError) -> ApiProblem | None:
        """How an error is told that is no fault of Ordito, None for one that is."""

    def lock_migrations(self, connection: Connection) -> None:
        """Wait until nobody else changes the tables: to the end of the transaction nobody does."""

    def keep_copy(self, version: str) -> None:
        """Keep what is there before the tables are changed that have a version."""


class Database:
    """The database; ``close`` it at the end."""

    def __init__(self, at: Path | Store, home: Path | None = None) -> None:
        """Open the file of SQLite, or the PostgreSQL at an address for the server of a ``home``, and bring its tables
        up to date. Raises ``ServerRefused`` for one of a newer version."""
        self._kind = _kind(at)
        if home is not None:
            setattr(self._kind.engine.dialect, HOME, str(home))
        self.is_shared = not isinstance(at, Path)
        """Whether other servers may use it too."""

        event.listen(self._kind.engine, "after_execute", _note_table)
        self._versions: dict[str, int] = {}
        _migrate(self._kind)
        self._writer = ThreadPoolExecutor(1, "writer")
        self._readers = ThreadPoolExecutor(READERS, "reader")
        self._stop_hearing: Callable[[], None] = lambda: None
        self.changed = asyncio.Event()
        """Is set with the next change; each time it is another one."""

    def close(self) -> None:
        """Let what was begun end, and close it."""
        self._stop_hearing()
        self._writer.shutdown()
        self._readers.shutdown()
        self._kind.engine.dispose()

    def follow(self, told: Callable[[frozenset[str] | None], None]) -> None:
        """From now on, hear of the changes of other servers too: ``told`` is called in the loop that runs, with the
        names of the tables, None for any."""
        loop = asyncio.get_running_loop()

        def take(tables: frozenset[str] | None) -> None:
            for name in tables if tables is not None else list(self._versions):
                self._versions[name] = self._versions.get(name, 0) + 1
            self._ring(None)
            told(tables)

        def hear(tables: frozenset[str] | None) -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(take, tables)

        self._stop_hearing = self._kind.hear(hear)

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
        with self._told(), self._kind.engine.connect() as made:
            return ask(self._kind.to_read(made))

    def versions(self, *tables: Table) -> tuple[int, ...]:
        """For each table a number that is another one once a change of it has returned: what was made of its rows until
        then is to be made anew."""
        return tuple(self._versions.get(table.name, 0) for table in tables)

    def write_now(self, change: Callable[[Connection], T]) -> T:
        """The same, in this thread."""
        changed: set[str] = set()
        try:
            with self._told(), self._kind.engine.connect() as made:
                connection = made.execution_options(writes=True, changed=changed)
                with connection.begin():
                    self._kind.began_writing(connection)
                    found = change(connection)
                    if changed:
                        self._kind.tell(connection, changed)
                    return found
        finally:
            for name in changed:
                self._versions[name] = self._versions.get(name, 0) + 1

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Tells errors that are no faults of ours as problems."""
        try:
            yield
        except DBAPIError as error:
            problem = self._kind.problem(error)
            if problem is None:
                raise
            raise problem from error


def _kind(at: Path | Store) -> DatabaseKind:
    if isinstance(at, Path):
        return Sqlite(at, READERS + 1)
    # Without it nothing of PostgreSQL is imported.
    from ordito.server.database.postgres import Postgres

    return Postgres(at, READERS + 1)


def _note_table(connection: Connection, statement: object, *_: object) -> None:
    """Note which table a statement changes."""
    if isinstance(statement, UpdateBase) and isinstance(statement.table, Table):
        connection.get_execution_options().get("changed", set()).add(statement.table.name)


def _migrate(kind: DatabaseKind) -> None:
    with contextlib.closing(kind.engine.connect()) as connection:
        now = _version(connection)
        connection.rollback()
        if now != NEWEST:
            kind.lock_migrations(connection)
            # Another server may have done it meanwhile.
            now = _version(connection)
        if now == NEWEST:
            return
        if now > NEWEST:
            raise ServerRefused(
                f"{kind.shown} was written by a newer version of ordito",
                "use that version, or put back the copy of the database that was made before",
            )
        if now:
            kind.keep_copy(now)
        # Only a new home or a new version needs it, and it takes long to import.
        from alembic import command
        from alembic.config import Config

        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(MIGRATIONS))
        command.upgrade(config, "head")
        connection.commit()


def _version(connection: Connection) -> str:
    """The version of the tables, "" where there are none yet."""
    if not inspect(connection).has_table("alembic_version"):
        return ""
    found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return str(found or "")
