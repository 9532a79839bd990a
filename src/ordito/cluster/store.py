"""A store: the tables of Ordito in a PostgreSQL database, and which versions of them this one works with."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psycopg

from ordito.cluster.connecting import LET_GO, SETTINGS, Connection, explained
from ordito.ensemble.errors import EnsembleError

NEWEST = "0003"
"""The version of the tables, after the newest of ``migrations``."""

OLDEST = "0003"
"""The oldest version of the tables with which this version of Ordito works; one release may run beside the next."""

MIGRATIONS = Path(__file__).parent / "migrations"

UPGRADING = 0x6F726474
"""The number of the advisory lock that whoever changes the tables holds."""

UPGRADING_PAUSE = 0.2
"""Seconds until it is tried again."""


class StoredLook(msgspec.Struct, frozen=True):
    """An ensemble in a store, as lists show it."""

    project: str
    name: str
    status: str
    """How its last job ended."""
    last_change: str
    """The highest changeId that any of its jobs has reserved."""
    job: str
    """The job that has begun and not ended, "" for none."""
    holder: str
    """The worker that holds it, "" for none."""
    is_alive: bool
    """Whether the lease of that worker has not ended."""


class StoreLook(msgspec.Struct, frozen=True):
    """What is in a store."""

    tables: str
    """The version of its tables, "" where there are none."""
    ensembles: tuple[StoredLook, ...] = ()
    workers: int = 0
    """How many workers live."""
    blobs: int = 0
    size: int = 0
    """The bytes of all blobs."""


class Store(msgspec.Struct, frozen=True):
    """A store, by the address of its database, which may hold a password."""

    address: str
    shown: str = ""
    """How messages call it, without a password; "" for what can be shown of the address."""

    def upgrade(self) -> None:
        """Make the tables, or bring them up to date; one process at a time does it. Raises ``EnsembleError``."""
        # Only this needs them, and they take long to import.
        from alembic import command
        from alembic.config import Config
        from sqlalchemy import NullPool, create_engine

        from ordito.cluster.dbos import make_tables

        with self.connection() as db:
            # Who waited for it in the database would keep an old snapshot there, for whose end the other one waits.
            while db.execute("SELECT pg_try_advisory_lock(%s)", (UPGRADING,)).fetchone() != (True,):
                time.sleep(UPGRADING_PAUSE)
            found = version(db)
            if found > NEWEST:
                raise _newer(found)
            db.execute("CREATE SCHEMA IF NOT EXISTS ordito")
            engine = create_engine(
                "postgresql+psycopg://", creator=lambda: psycopg.connect(self.address), poolclass=NullPool
            )
            config = Config()
            config.set_main_option("script_location", str(MIGRATIONS))
            with engine.connect() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                connection.commit()
            make_tables(self.address)

    def check(self) -> None:
        """Raise ``EnsembleError`` where the tables are missing, too old, or newer than this version of Ordito knows."""
        with self.connection() as db:
            found = version(db)
        if not found:
            raise EnsembleError(f"{self} has no tables of Ordito", "make them with `ordito store init`")
        if found > NEWEST:
            raise _newer(found)
        if found < OLDEST:
            raise EnsembleError(
                f"the tables of {self} are of an older version ({found}; this version of ordito needs {OLDEST})",
                "bring them up to date with `ordito store upgrade`",
            )

    def add_ensemble(self, ensemble: str, project: str, name: str) -> None:
        """Add an empty ensemble, which nobody holds. Raises ``EnsembleError``, also where its project has one of this
        name."""
        with self.connection() as db:
            done = db.execute(
                "INSERT INTO ordito.ensemble (id, project, name) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                (ensemble, project, name),
            )
            if not done.rowcount:
                raise EnsembleError(f"there is an ensemble {project}/{name} in {self}", "choose another name")

    def ensemble_id(self, project: str, name: str) -> str:
        """The id of an ensemble, "" where there is none. Raises ``EnsembleError``."""
        with self.connection() as db:
            query = "SELECT id FROM ordito.ensemble WHERE project = %s AND name = %s"
            found = db.execute(query, (project, name)).fetchone()
            return "" if found is None else str(found[0])

    def ensemble_name(self, ensemble: str) -> tuple[str, str]:
        """The project and the name of an ensemble. Raises ``EnsembleError``, also where there is none of this id."""
        with self.connection() as db:
            query = "SELECT project, name FROM ordito.ensemble WHERE id = %s"
            found = db.execute(query, (ensemble,)).fetchone()
        if found is None:
            raise EnsembleError(f"there is no ensemble {ensemble} in {self}", "see `ordito store status`")
        return str(found[0]), str(found[1])

    def look(self) -> StoreLook:
        """What is in it. Raises ``EnsembleError``."""
        with self.connection() as db:
            found = version(db)
            if not found or found > NEWEST:
                return StoreLook(found)
            workers = db.execute(
                "SELECT count(*) FROM ordito.worker WHERE state <> 'lost' AND lease_until > clock_timestamp()"
            ).fetchone()
            blobs = db.execute("SELECT count(*), coalesce(sum(size), 0)::bigint FROM ordito.blob").fetchone()
            ensembles = db.execute(
                "SELECT e.project, e.name, e.status, e.last_change, e.job, coalesce(w.name, ''),"
                " coalesce(w.lease_until > clock_timestamp(), false) FROM ordito.ensemble e"
                " LEFT JOIN ordito.worker w ON w.id = e.holder ORDER BY e.project, e.name"
            ).fetchall()
        assert workers is not None
        assert blobs is not None
        return StoreLook(found, tuple(StoredLook(*row) for row in ensembles), int(workers[0]), *map(int, blobs))

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """A connection of its own, closed at the end. Raises ``EnsembleError``, also for errors inside."""
        try:
            with psycopg.connect(self.address, autocommit=True, **SETTINGS) as db:  # type: ignore[arg-type]
                db.execute(LET_GO)
                yield db
        except psycopg.Error as error:
            raise explained("use", error) from error

    def __str__(self) -> str:
        if self.shown:
            return self.shown
        return re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", self.address) if "://" in self.address else "the store"


def version(db: Connection) -> str:
    """The version of the tables, "" where there are none yet."""
    found = db.execute("SELECT to_regclass('ordito.alembic_version')::text").fetchone()
    if found is None or found[0] is None:
        return ""
    row = db.execute("SELECT version_num FROM ordito.alembic_version").fetchone()
    return "" if row is None else str(row[0])


def _newer(found: str) -> EnsembleError:
    return EnsembleError(
        f"the tables of the store are of a newer version ({found}; this version of ordito knows {NEWEST})",
        "use that version of ordito",
    )
