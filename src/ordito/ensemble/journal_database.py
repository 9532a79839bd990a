"""What the journal needs of a database: the rows of one ensemble, and the statements that change them.

The statements are written once, in what SQLite and PostgreSQL both understand, as if there were no other ensemble and
no other job in the tables. A database that holds many adds which ones are meant. Only the statements of ``WRITING``
change rows, so that it is known of each that whoever has lost the ensemble changes nothing by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.status import Status

Statement = tuple[str, Sequence[tuple[object, ...]]]
"""One of ``WRITING``, and the parameters of each of its executions. No two have the same key."""


class Fenced(EnsembleError):
    """Another process has taken the ensemble over: nothing was written, and nothing may be started any more."""


class JournalDatabase(Protocol):
    """The tables of one ensemble, whichever database holds them. All methods raise ``EnsembleError``, those that write
    ``Fenced`` where the ensemble has another holder."""

    def write(self, doing: str, statements: Sequence[Statement]) -> None:
        """Execute statements in one transaction, which is durable when this returns; ``doing`` is for messages:
        "cannot <doing> the journal"."""

    def append(self, job: str, first: int, bodies: Sequence[bytes], more: Sequence[Statement] = ()) -> None:
        """A turn: add records to the job, of which the first has this number, and execute further statements; in one
        transaction, which is durable when this returns."""

    def reading(self) -> AbstractContextManager[object]:
        """One consistent view for all ``rows`` inside, while another process may write. Damaged rows that are decoded
        inside are explained too."""

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, inside ``reading``."""

    def shut(self) -> None:
        """Let go of the database."""


class EnsembleFiles(Protocol):
    """The files of one ensemble's directory, where that is a copy of what is kept elsewhere. All methods raise
    ``EnsembleError``."""

    def checkout(self) -> None:
        """Bring the directory up to date; only for the holder of the ensemble's lock."""

    def publish(self, job: str = "", status: Status | None = None) -> Sequence[Statement]:
        """Keep what has changed in the directory. It becomes that of the ensemble by the statements that are given,
        in the transaction in which a job begins, or in which ``job`` is closed, which leaves the ensemble in this
        ``status``."""


class DirectoryFiles:
    """The files of a directory that is all there is: nothing is kept elsewhere."""

    def checkout(self) -> None:
        """Nothing is missing."""

    def publish(self, job: str = "", status: Status | None = None) -> Sequence[Statement]:
        """Nothing is told."""
        return ()


JOB_TABLES = ("steps", "edges", "record", "previous", "job")
"""What holds the job, in the order in which it is removed."""

STATE_TABLES = ("instance", "link", "attribute", "output")

EMPTY = {table: f"DELETE FROM {table}" for table in (*JOB_TABLES, *STATE_TABLES)}

PUT_META = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

BEGIN_JOB = "INSERT INTO job (id, header, plan) VALUES (?, ?, ?)"
LENGTHEN = "UPDATE job SET plan = ?"
PUT_CHUNKS = {table: f"INSERT INTO {table} (chunk, body) VALUES (?, ?)" for table in ("steps", "edges")}
PUT_RECORDS = "INSERT INTO record (number, body) VALUES (?, ?)"

KEEP_PREVIOUS = {
    table: (
        f"INSERT INTO previous (id, kind, body) VALUES (?, '{table}', "
        f"coalesce((SELECT body FROM {table} WHERE id = ?), ?)) ON CONFLICT (id) DO NOTHING"
    )
    for table in ("instance", "link")
}
"""Keeps the record that an entity, by its id twice, had when the job began, at its first change; the third parameter
where it did not exist."""

PUT_ENTITY = {
    table: f"INSERT INTO {table} (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body"
    for table in ("instance", "link")
}
FORGET_ENTITY = {table: f"DELETE FROM {table} WHERE id = ?" for table in ("instance", "link")}
CLEAR_VALUES = {table: f"DELETE FROM {table} WHERE entity = ?" for table in ("attribute", "output")}
PUT_ATTRIBUTE = (
    "INSERT INTO attribute (entity, name, value) VALUES (?, ?, ?) "
    "ON CONFLICT (entity, name) DO UPDATE SET value = excluded.value"
)
PUT_OUTPUT = (
    "INSERT INTO output (entity, operation, body) VALUES (?, ?, ?) "
    "ON CONFLICT (entity, operation) DO UPDATE SET body = excluded.body"
)

NAME_FILES = "UPDATE ensemble SET tree = ?"
"""Names the tree of the files of the ensemble, of those that a store holds."""
NAME_STATE = "UPDATE ensemble SET status = ?, last_change = ?"
"""Repeats, for lists of ensembles, how the last job ended, and the highest id that it has reserved."""
KEEP_RECORD = "UPDATE job SET record = ?, summary = ?"
"""Names the tree of the files of the job that is about to be closed, and keeps its lines in `jobs.tsv`."""
PUT_KEY = "INSERT INTO sealed_key (pool, body) VALUES (?, ?) ON CONFLICT (pool) DO UPDATE SET body = excluded.body"
"""Keeps the key of the ensemble, sealed with that of a pool of workers."""

PUT_EVENTS = "INSERT INTO event (number, lines) VALUES (?, ?)"
"""Keeps the lines of events of a turn, by the number of records up to it."""
PUT_LOG = "INSERT INTO log_chunk (number, body) VALUES (?, ?)"
"""Keeps what operations have printed up to a turn, by the same number."""
FORGET_EVENTS = "DELETE FROM event"
"""The events of a job that is about to be closed are in its file."""

OF_STORE = frozenset({PUT_EVENTS, PUT_LOG, FORGET_EVENTS, NAME_FILES, NAME_STATE, KEEP_RECORD, PUT_KEY})
"""Statements for ensembles of a store alone."""

WRITING = frozenset(
    {
        *EMPTY.values(),
        PUT_META,
        BEGIN_JOB,
        LENGTHEN,
        *PUT_CHUNKS.values(),
        PUT_RECORDS,
        *KEEP_PREVIOUS.values(),
        *PUT_ENTITY.values(),
        *FORGET_ENTITY.values(),
        *CLEAR_VALUES.values(),
        PUT_ATTRIBUTE,
        PUT_OUTPUT,
        *OF_STORE,
    }
)
"""Every statement that changes rows."""


def emptied(tables: Sequence[str]) -> list[Statement]:
    """The statements that remove all rows of tables."""
    return [(EMPTY[table], [()]) for table in tables]


def meta(db: JournalDatabase, key: str) -> bytes | None:
    """The value of a key in the table ``meta``."""
    row = next(db.rows("SELECT value FROM meta WHERE key = ?", (key,)), None)
    return None if row is None else bytes(row[0])


def put_meta(key: str, value: bytes) -> Statement:
    """The statement that sets the value of a key in the table ``meta``."""
    return PUT_META, [(key, value)]
