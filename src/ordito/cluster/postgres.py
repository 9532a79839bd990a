"""The rows of one ensemble in the tables of a store, as a journal's database.

A turn is one statement, which inserts nothing where another process has taken the ensemble over (``statements.py``).
Where the store is away, or its answer was lost, the writer waits: what it has sent is there completely or not at all,
which its next connection can see.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import msgspec
import psycopg
from psycopg.types.numeric import Int8

from ordito.cluster.connecting import Connection, StoreConnection, explained
from ordito.cluster.statements import APPEND, APPEND_TOLD, reading, writing
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_database import PUT_EVENTS, PUT_LOG, Fenced, Statement, put_meta

AT_ONCE = 10_000
"""So many rows are sent with one statement at most."""

GUARD = b"SELECT 1 FROM ordito.ensemble WHERE id = %(ensemble)b AND epoch = %(epoch)b FOR SHARE"

MINE = (
    b"SELECT coalesce(max(number), -1), count(*) FILTER (WHERE epoch = %(epoch)b AND number >= %(first)b)"
    b" FROM ordito.record WHERE ensemble = %(ensemble)b AND job = %(job)b"
)

TOLD = frozenset({PUT_EVENTS, PUT_LOG})
"""What goes with a turn in its own statement: one row each, whose number is that of the records up to the turn."""

WRITTEN = "written"
"""The key in the table ``meta`` by which a writer knows its last transaction again."""


class PostgresDatabase:
    """The rows of one ensemble, see ``JournalDatabase``. One connection, which waits for a store that is away."""

    def __init__(
        self,
        address: str,
        ensemble: str,
        epoch: int = 0,
        patience: float = math.inf,
        *,
        sure: Callable[[], bool] = lambda: True,
        turned_away: Callable[[Fenced], None] = lambda _: None,
    ) -> None:
        """``epoch`` is that of the lease by which it may write, 0 for reading only; ``patience`` as for
        ``StoreConnection``. ``sure`` is called after each transaction: it returns once the lease has surely not run
        out, and whether it had not meanwhile, so that nothing is started by a turn while somebody else may have taken
        the ensemble. ``turned_away`` hears that somebody
        has, before it is raised: who runs operations leaves here, and lets them be."""
        self._sure = sure
        self._turned_away = turned_away
        self._link = StoreConnection(address, patience)
        self._ensemble = ensemble
        self._epoch = epoch
        self._held = {"ensemble": ensemble, "epoch": Int8(epoch)}
        self._depth = 0

    def write(self, doing: str, statements: Sequence[Statement]) -> None:
        """See ``JournalDatabase``."""
        self._check_writable()
        mark = secrets.token_bytes(8)

        def work(db: Connection) -> bool:
            with db.transaction():
                if not self._run(db, GUARD).rowcount:
                    raise self._fenced()
                self._execute(db, [*statements, put_meta(WRITTEN, mark)])
            return True

        def answered(db: Connection) -> bool | None:
            query = reading("SELECT value FROM meta WHERE key = ?")
            found = self._run(db, query, {"p0": WRITTEN}).fetchone()
            return True if found is not None and found[0] == mark else None

        self._link.ask(doing, work, answered)
        self._be_sure()

    def append(self, job: str, first: int, bodies: Sequence[bytes], more: Sequence[Statement] = ()) -> None:
        """See ``JournalDatabase``."""
        self._check_writable()
        turn: dict[str, object] = {"job": job, "first": Int8(first), "bodies": list(bodies)}
        told = {name: parameters[0][1] for name, parameters in more if name in TOLD}
        more = [(name, parameters) for name, parameters in more if name not in TOLD]
        query = APPEND_TOLD if told else APPEND
        if told:
            turn |= {"last": Int8(first + len(bodies)), "lines": told.get(PUT_EVENTS), "log": told.get(PUT_LOG)}

        def insert(db: Connection) -> None:
            if self._run(db, query, turn).rowcount != len(bodies):
                raise self._fenced()

        def work(db: Connection) -> bool:
            try:
                # Without more it is one statement, which is a transaction by itself.
                with db.transaction() if more else nullcontext():
                    insert(db)
                    self._execute(db, more)
            except psycopg.errors.UniqueViolation as error:
                # What an earlier attempt had sent was committed just now, or somebody else writes in the same epoch.
                if answered(db) is None:
                    raise self._fenced() from error
            return True

        def answered(db: Connection) -> bool | None:
            found = self._run(db, MINE, {"job": job, "first": Int8(first)}).fetchone()
            assert found is not None
            highest, mine = found
            if highest < first - 1:
                raise EnsembleError(
                    f"the store has lost records of job {job}: it knows {highest + 1}, and {first} were acknowledged",
                    "it was restored, or failed over without a synchronous standby: see `ordito doctor --store`",
                )
            return True if mine == len(bodies) else None

        self._link.ask("write to", work, answered)
        self._be_sure()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """See ``JournalDatabase``."""
        if self._depth:
            yield
            return
        db = self._link.ask("read", self._begin, lambda _: None)
        self._depth += 1
        try:
            yield
        except psycopg.Error as error:
            raise explained("read", error) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise EnsembleError(
                f"cannot read the store: a row of ensemble {self._ensemble} is damaged ({error})",
                "put back a backup of PostgreSQL, then `ordito store restored`",
            ) from error
        finally:
            self._depth -= 1
            # Where the connection has broken there is nothing to end, and what is asked next notices it.
            with suppress(psycopg.Error):
                db.rollback()

    def rows(self, query: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """See ``JournalDatabase``."""
        given = {f"p{n}": value for n, value in enumerate(parameters)}
        return iter(self._run(self._link.connected(), reading(query), given))

    def shut(self) -> None:
        """See ``JournalDatabase``."""
        self._link.close()

    @staticmethod
    def _begin(db: Connection) -> Connection:
        db.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        return db

    def _execute(self, db: Connection, statements: Sequence[Statement]) -> None:
        execute(db, self._held, statements)

    def _run(self, db: Connection, query: bytes, parameters: Mapping[str, object] = {}) -> psycopg.Cursor[Any]:
        return run(db, {**self._held, **parameters}, query)

    def _be_sure(self) -> None:
        if self._sure():
            return

        def work(db: Connection) -> bool:
            return self._run(db, GUARD).rowcount > 0

        if not self._link.ask("read", work, lambda _: None):
            raise self._fenced()

    def _check_writable(self) -> None:
        if not self._epoch:
            raise ValueError("this ensemble was opened for reading")
        if self._depth:
            raise ValueError("nothing can be written while something is read")

    def _fenced(self) -> Fenced:
        error = fenced(self._ensemble)
        self._turned_away(error)
        return error


def fenced(ensemble: str) -> Fenced:
    """What is said where somebody else has taken an ensemble."""
    return Fenced(
        f"ensemble {ensemble} was taken over by another worker: nothing is written or started any more",
        "nothing needs to be done: the other worker carries the job on",
    )


def execute(db: Connection, held: Mapping[str, object], statements: Sequence[Statement]) -> None:
    """Execute statements for the ensemble and the epoch of ``held``. Raises ``psycopg.Error``."""
    for statement, parameters in statements:
        for first in range(0, len(parameters), AT_ONCE):
            some = parameters[first : first + AT_ONCE]
            columns = {f"p{n}": list(column) for n, column in enumerate(zip(*some, strict=True))}
            for made in writing(statement, tuple(map(type, some[0]))):
                run(db, {**held, **columns}, made)


def run(db: Connection, given: Mapping[str, object], query: bytes) -> psycopg.Cursor[Any]:
    """Execute one statement, which is prepared. Raises ``psycopg.Error``."""
    return db.cursor(binary=True).execute(query, given, prepare=True)
