"""The journal's database as a file of SQLite, whichever version wrote it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from ordito.ensemble.errors import EnsembleError, explained
from ordito.ensemble.former_rows import brought_up_to_date
from ordito.ensemble.journal_database import PUT_RECORDS, Statement
from ordito.ensemble.journal_errors import NO_JOURNAL, journal_explained
from ordito.source.reach import check_opened

APPLICATION = 0x6F726474
"""Marks the database file as an Ordito journal ("ordt")."""

VERSION = 6
"""The version of the tables below, and of the content of their rows."""

OLDEST = 3
"""The oldest version that can be read: to write to it, its rows are converted first; to read it, they are converted in
a copy. Older and newer ones are refused."""


TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE job (id TEXT PRIMARY KEY, header BLOB NOT NULL, plan BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE steps (chunk INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE edges (chunk INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE record (number INTEGER PRIMARY KEY, body BLOB NOT NULL);
CREATE TABLE previous (id TEXT PRIMARY KEY, kind TEXT NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE instance (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE link (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
CREATE TABLE attribute (entity TEXT, name TEXT, value BLOB NOT NULL, PRIMARY KEY (entity, name)) WITHOUT ROWID;
CREATE TABLE output (entity TEXT, operation TEXT, body BLOB NOT NULL, PRIMARY KEY (entity, operation)) WITHOUT ROWID;
"""


class SqliteDatabase:
    """The rows of one ensemble in a file of its own: whoever holds the lock of the ensemble is the only one that
    writes, so that nobody is ever fenced. Errors name the file."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """``connection`` is given away."""
        self._path = path
        self._db = connection

    def write(self, doing: str, statements: Sequence[Statement]) -> None:
        """See ``JournalDatabase``."""
        with writing(self._db, self._path, doing) as db:
            _execute(db, statements)

    def append(self, job: str, first: int, bodies: Sequence[bytes], more: Sequence[Statement] = ()) -> None:
        """See ``JournalDatabase``."""
        with writing(self._db, self._path, "write to") as db:
            db.executemany(PUT_RECORDS, enumerate(bodies, first))
            _execute(db, more)

    def reading(self) -> AbstractContextManager[object]:
        """See ``JournalDatabase``."""
        return reading(self._db, self._path)

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """See ``JournalDatabase``."""
        return self._db.execute(query, parameters)

    def shut(self) -> None:
        """See ``JournalDatabase``."""
        with journal_explained("close", self._path):
            self._db.close()


def _execute(db: sqlite3.Connection, statements: Sequence[Statement]) -> None:
    for statement, parameters in statements:
        db.executemany(statement, parameters)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """The database for writing, made if there is none. Raises ``EnsembleError``."""
    with journal_explained("open", path):
        db = connected(path)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            found = _version(db, path)
            if not found:
                _make(db)
            elif found < VERSION:
                brought_up_to_date(db, VERSION)
        except BaseException:
            db.close()
            raise
    return db


def open_for_reading(path: Path) -> sqlite3.Connection | None:
    """The database for reading, while others may write; None where it has no tables yet. Raises ``EnsembleError``."""
    with journal_explained("read", path):
        # Who may write opens it for writing, though only to read: then SQLite tidies up its helper files at the end.
        db = connected(path, "mode=rw")
        try:
            db.execute("PRAGMA query_only = ON")
            if not _readable(db):
                # Not even those helper files can be made here, so nobody writes.
                db.close()
                db = connected(path, "immutable=1")
            made = _version(db, path)
        except BaseException:
            db.close()
            raise
        if made and made < VERSION:
            copy = sqlite3.connect(":memory:", isolation_level=None)
            with closing(db):
                db.backup(copy)
            brought_up_to_date(copy, VERSION)
            return copy
    if made:
        return db
    db.close()
    return None


def connected(path: Path, mode: str = "mode=rwc", patience: float = 5.0) -> sqlite3.Connection:
    """A database, of which nothing was read yet; ``patience`` is the seconds to wait for others who write. Raises
    ``sqlite3.Error``, and ``EnsembleError`` for one that this process may not open."""
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, timeout=patience)
    try:
        with explained("open", path):
            check_opened(path)
    except BaseException:
        db.close()
        raise
    return db


def _readable(db: sqlite3.Connection) -> bool:
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith("SQLITE_CANTOPEN") or error.sqlite_errorname.startswith("SQLITE_READONLY"):
            return False
        raise
    return True


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The version of the tables, 0 if there are none yet."""
    (found,) = db.execute("PRAGMA user_version").fetchone()
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    if owner != APPLICATION and db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
        raise EnsembleError(f"{path} is a database of another program", NO_JOURNAL)
    if found > VERSION:
        raise EnsembleError(
            f"{path} was written by a newer version of ordito", "install that version, or a newer one, and try again"
        )
    if 0 < found < OLDEST:
        raise EnsembleError(
            f"{path} was written by an older version of ordito (its format is {found}, this version's {VERSION})",
            "if no job is unfinished, move the journal away: it is made again from ensemble.yaml; "
            "else finish that job with the version that began it",
        )
    return int(found)


def _make(db: sqlite3.Connection) -> None:
    """Make the tables; in one transaction, so that they are there all or not at all."""
    marks = f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION};"
    db.executescript(f"BEGIN IMMEDIATE; {TABLES} {marks} COMMIT;")


# Transactions of the databases of an ensemble, the journal and the inbox: what SQLite says is explained.


@contextmanager
def writing(db: sqlite3.Connection, path: Path, doing: str) -> Iterator[sqlite3.Connection]:
    """One transaction for changes. Raises ``EnsembleError`` "cannot <doing> <path>"."""
    with journal_explained(doing, path):
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def reading(db: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """One consistent view, while another process may write. Raises ``EnsembleError``, also for damaged rows."""
    with journal_explained("read", path):
        nested = db.in_transaction
        if not nested:
            db.execute("BEGIN")
        try:
            yield db
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise sqlite3.DatabaseError(f"a row is damaged ({error})") from error
        finally:
            if not nested and db.in_transaction:
                db.execute("ROLLBACK")
