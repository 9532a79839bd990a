"""PostgreSQL as the database of servers: any number of them at one time.

Whoever writes holds one lock until the transaction ends, as in SQLite: what a change has read is so until it is
committed, rows of the audit log and events follow each other without a gap that fills later, and no two changes are
ever in each other's way. A change is a few statements, so hundreds a second pass one after the other.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterable

import psycopg
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError

from ordito.cluster.address import database_at
from ordito.cluster.connecting import AWAY, LET_GO, SETTINGS
from ordito.cluster.store import Store
from ordito.ensemble.errors import EnsembleError
from ordito.server.problems import ApiProblem
from ordito.server.refused import ServerRefused

_LOG = logging.getLogger(__name__)

SCHEMA = "ordito_server"
CHANNEL = "ordito_server"
WRITING, MIGRATING = 0x6F726477, 0x6F72646D
"""The numbers of the locks of whoever writes, and of whoever changes the tables."""

LISTENS = 1.0
"""Seconds after which a listener looks whether it is to end."""

FULL = "53"
"""How the codes of errors begin that say that there is no room."""


def postgres_of(address: str) -> Store:
    """The database at an address in the settings. Raises ``ServerRefused``."""
    try:
        return database_at(address, "`database` in server.yaml")
    except EnsembleError as error:
        raise ServerRefused(error.message, error.hint) from error


class Postgres:
    """A schema of its own in a database, see ``DatabaseKind``."""

    def __init__(self, at: Store, connections: int) -> None:
        self._at = at
        self.shown = str(at)
        self._make_schema()
        self._own = secrets.token_hex(4)
        """By which a server knows what it has told itself."""

        self.engine = create_engine(
            "postgresql+psycopg://",
            creator=self._connected,
            pool_size=connections,
            max_overflow=2,
            pool_pre_ping=True,
        )

    def _make_schema(self) -> None:
        """Raises ``ServerRefused`` where the database cannot be reached, or may not be used so."""
        try:
            with self._at.connection() as opened:
                found = opened.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone()
                if found is not None and found[0] is None:
                    opened.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}".encode())
        except EnsembleError as error:
            raise ServerRefused(f"database: {self._at}: {error.message}", error.hint) from error

    def _connected(self) -> psycopg.Connection[tuple[object, ...]]:
        opened = psycopg.connect(self._at.address, autocommit=True, **SETTINGS)  # type: ignore[arg-type]
        # Not among the parameters of the connection, which poolers may not know.
        opened.execute(f"SET search_path TO {SCHEMA}; {LET_GO}".encode())
        opened.autocommit = False
        return opened

    def to_read(self, connection: Connection) -> Connection:
        """See ``DatabaseKind``."""
        return connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def began_writing(self, connection: Connection) -> None:
        """See ``DatabaseKind``."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": WRITING})

    def tell(self, connection: Connection, tables: Iterable[str]) -> None:
        """See ``DatabaseKind``."""
        said = {"channel": CHANNEL, "said": f"{self._own} {','.join(sorted(tables))}"}
        connection.execute(text("SELECT pg_notify(:channel, :said)"), said)

    def hear(self, told: Callable[[frozenset[str] | None], None]) -> Callable[[], None]:
        """See ``DatabaseKind``."""
        is_over = threading.Event()

        def listen() -> None:
            while not is_over.is_set():
                try:
                    with psycopg.connect(self._at.address, autocommit=True, **SETTINGS) as opened:  # type: ignore[arg-type]
                        opened.execute(f"LISTEN {CHANNEL}".encode())
                        # What was told while nobody listened is not known.
                        told(None)
                        while not is_over.is_set():
                            for one in opened.notifies(timeout=LISTENS):
                                who, _, tables = one.payload.partition(" ")
                                if who != self._own:
                                    told(frozenset(tables.split(",")))
                except psycopg.Error as error:
                    _LOG.warning("cannot listen to %s: %s", self.shown, str(error).strip().splitlines()[0])
                    is_over.wait(LISTENS)

        listener = threading.Thread(target=listen, name="listener", daemon=True)
        listener.start()

        def end() -> None:
            is_over.set()
            listener.join()

        return end

    def problem(self, error: DBAPIError) -> ApiProblem | None:
        """See ``DatabaseKind``."""
        found = error.orig
        code = getattr(found, "sqlstate", None) or ""
        if code.startswith(FULL):
            hint = "make room in PostgreSQL, then ask again"
            return ApiProblem("no-space", "the database has no room to keep this", hint)
        if isinstance(found, psycopg.DataError):
            return ApiProblem("malformed", "a text has a character in it that no text may have", "leave NUL out")
        if (
            error.connection_invalidated
            or code.startswith(AWAY)
            or isinstance(found, psycopg.OperationalError | psycopg.InterfaceError)
        ):
            hint = "ask again in a while; a change with an Idempotency-Key is done once, however often it is asked"
            return ApiProblem("busy", "the database of the server cannot be reached now", hint, again_in=5)
        return None

    def lock_migrations(self, connection: Connection) -> None:
        """See ``DatabaseKind``."""
        connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": MIGRATING})

    def keep_copy(self, version: str) -> None:
        """See ``DatabaseKind``: copies of PostgreSQL are made by its own means."""
