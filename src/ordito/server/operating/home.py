"""The home of a server as a directory: where things are, and reading its database beside a server that runs."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from sqlalchemy import Connection, create_engine, event, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from ordito.server.database.tables import ENSEMBLES, HOME
from ordito.server.refused import ServerRefused
from ordito.server.settings import SQLITE, read_settings

DATABASE, KEY, LOCK, SETTINGS = "server.db", "key", "lock", "server.yaml"
PROJECTS = "projects"
"""Where the ensembles of the server are: ``projects/PROJECT/NAME``."""

OVER = "store"
"""Says over which store a server serves whose database is there."""

SSH_KEYS = "keys"
NO_HOME = "name the directory that was given to `ordito serve`; without one that is .ordito/server of the ensemble"


class Anything(dict[str, str]):
    """An environment in which every variable is set: that of the server is not known here."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return os.environ.get(name, "")


def shared_database(home: Path) -> str:
    """The address of the PostgreSQL of a server, "" for one with a database in its home. Raises ``ServerRefused``."""
    path = home / SETTINGS
    if (home / DATABASE).is_file() or not path.is_file():
        return ""
    found = read_settings(path, Anything()).database
    return "" if found == SQLITE else found


def refuse_other(home: Path) -> None:
    """Raise ``ServerRefused`` for a directory that is no home of a server."""
    over = home / OVER
    if not (home / DATABASE).is_file() and not shared_database(home) and over.is_file():
        where = over.read_text(encoding="utf-8").strip()
        raise ServerRefused(
            f"the database of {home} is in the store {where}, which is not read here",
            "name it in server.yaml too, as in `database: { file: address }`, to look at it; it is backed up by the"
            " means of PostgreSQL",
        )
    if not (home / DATABASE).is_file() and not shared_database(home):
        raise ServerRefused(f"{home} is not the home of a server: it has no {DATABASE}", NO_HOME)


def refuse_shared(home: Path) -> None:
    """Raise ``ServerRefused`` where the database of a server is not in its home."""
    if shared_database(home):
        raise ServerRefused(
            f"the database of {home} is a PostgreSQL, which has backups of its own",
            "back it up with its means, as pg_dump or base backups with WAL, and keep server.yaml and the file `key` of"
            " the home beside that; to restore, bring all three back, then start the servers",
        )


@contextlib.contextmanager
def looking_at(home: Path) -> Iterator[Connection]:
    """The same as ``looking``, of the database of a home, wherever it is."""
    address = shared_database(home)
    if not address:
        with looking(home / DATABASE) as connection:
            yield connection
        return
    from ordito.server.database.postgres import Postgres, postgres_of

    kind = Postgres(postgres_of(address), 1)
    setattr(kind.engine.dialect, HOME, str(home))
    try:
        with kind.engine.connect() as connection:
            yield kind.to_read(connection)
    except DatabaseError as error:
        hint = "see whether PostgreSQL runs, and whether a server was ever started with it"
        raise ServerRefused(f"cannot read {kind.shown}: {error.orig}", hint) from error
    finally:
        kind.engine.dispose()


@contextlib.contextmanager
def looking(path: Path) -> Iterator[Connection]:
    """A connection to a database that only reads it, as it is. Raises ``ServerRefused`` for a damaged one."""
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool, connect_args={"timeout": 30})
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))
    try:
        with engine.connect() as connection:
            yield connection
    except DatabaseError as error:
        hint = "restore it from a backup with `ordito server restore`"
        raise ServerRefused(f"cannot read {path}: {error.orig}", hint) from error
    finally:
        engine.dispose()


def version_of(connection: Connection) -> str:
    """The version of the tables."""
    return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() or "")


class KnownEnsemble(msgspec.Struct, frozen=True):
    """An ensemble that the server knows, and its directory."""

    project: str
    name: str
    directory: Path


def ensembles_of(connection: Connection) -> list[KnownEnsemble]:
    """All ensembles that the server knows."""
    columns = ENSEMBLES.c
    asked = select(columns.project, columns.name, columns.directory).order_by(columns.project, columns.name)
    return [KnownEnsemble(row[0], row[1], Path(row[2])) for row in connection.execute(asked)]


class ServingHome(msgspec.Struct, frozen=True):
    """A server that runs: its process, and since when, in seconds since the epoch."""

    process: int
    since: float


def serving(home: Path) -> ServingHome | None:
    """The server that runs on a home, None where none does. Raises ``ServerRefused``."""
    path = home / LOCK
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ServerRefused(f"cannot look at {path}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        process = os.read(handle, 32).strip()
        return ServingHome(int(process) if process.isdigit() else 0, os.fstat(handle).st_mtime)
    finally:
        os.close(handle)
    return None
