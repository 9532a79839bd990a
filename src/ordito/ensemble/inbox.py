"""The inbox: what was told from outside and waits for its turn, and what triggers remember from one event to the next.

It is a database of its own beside the journal, since who notifies must not wait for the job that runs, and has not its
lock. Every change is one transaction that is durable when it returns. What a notice leads to goes on in small steps,
each of which is written down here before it is done, with the id of the job that does it: so whoever finds the inbox
after a crash sees by the jobs that there are what is done, and nothing is lost or done twice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

import msgspec

from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_errors import check_is_file, journal_explained
from ordito.ensemble.journal_tables import reading, writing
from ordito.ensemble.layout import Layout
from ordito.ensemble.vault import use_vault
from ordito.work.evaluations import Evaluation
from ordito.work.notices import Notice
from ordito.work.triggers import Decision

APPLICATION = 0x6F726469
"""Marks the database file as an Ordito inbox ("ordi")."""

VERSION = 1

PATIENCE = 30.0
"""Seconds to wait for another process that writes to it: each does so for a moment only."""

MOST_WAITING = 10_000
"""Notices that may wait at one time."""

MOST_REMEMBERED = 200
"""Notices of which it is remembered what came of them."""

TABLES = """
CREATE TABLE notice (number INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL, job TEXT NOT NULL DEFAULT '',
                     said TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'waiting');
CREATE TABLE firing (number INTEGER PRIMARY KEY AUTOINCREMENT, notice INTEGER NOT NULL, policy TEXT NOT NULL,
                     trigger TEXT NOT NULL, part INTEGER NOT NULL DEFAULT 0, job TEXT NOT NULL DEFAULT '',
                     said TEXT NOT NULL DEFAULT '', state TEXT NOT NULL);
CREATE TABLE evaluation (policy TEXT NOT NULL, trigger TEXT NOT NULL, entity TEXT NOT NULL, number INTEGER NOT NULL,
                         body BLOB NOT NULL, PRIMARY KEY (policy, trigger, entity, number)) WITHOUT ROWID;
CREATE INDEX of_notice ON firing (notice);
"""
WAITING, DECIDED, RECORDED, HANDLED = "waiting", "decided", "recorded", "handled"
ACTING, DONE = "acting", "done"


class Firing(msgspec.Struct, frozen=True):
    """What one trigger made of a notice: that it acts, or why it does not (``said``). ``part`` counts the jobs that
    have carried out some of its actions, ``job`` is the one that carries out the next of them, "" before there is one;
    ``is_done`` says that nothing is left to do."""

    number: int
    notice: int
    policy: str
    trigger: str
    part: int
    job: str
    said: str
    is_done: bool

    @property
    def name(self) -> str:
        """``policy.trigger``."""
        return f"{self.policy}.{self.trigger}"


class InboxEntry(msgspec.Struct, frozen=True):
    """A notice in the inbox: its number, which orders them, and how far it has come; ``job`` is the one that records
    it, "" before there is one, and ``said`` why it is not recorded, where nothing could be made of it."""

    number: int
    notice: Notice
    job: str
    said: str
    state: str
    firings: tuple[Firing, ...] = ()

    @property
    def next_firing(self) -> Firing | None:
        """The first trigger whose actions are not all carried out."""
        return next((firing for firing in self.firings if not firing.is_done), None)


class InboxFull(EnsembleError):
    """More notices wait than can be handled."""


class Inbox:
    """The inbox of one ensemble, as a context. Every method raises ``EnsembleError`` where the database cannot do its
    part."""

    def __init__(self, layout: Layout) -> None:
        """It is made where there is none yet."""
        layout.make_private()
        check_is_file(layout.inbox)
        use_vault(layout)
        self._path = layout.inbox
        with journal_explained("open", self._path):
            self._db = sqlite3.connect(self._path, isolation_level=None, timeout=PATIENCE)
            try:
                # Not in WAL mode, which two processes cannot begin at one time; EXTRA makes the end of each durable.
                self._db.execute("PRAGMA synchronous = EXTRA")
                if not self._is_made():
                    self._make()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> Inbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with journal_explained("close", self._path):
            self._db.close()

    # ------------------------------------------------------------------------------------------------ the queue

    def put(self, notice: Notice) -> int:
        """Keep a notice until it is its turn; gives its number. Raises ``InboxFull``."""
        body = encode(notice)
        with self._transaction("write to") as db:
            (count,) = db.execute("SELECT count(*) FROM notice WHERE state <> ?", (HANDLED,)).fetchone()
            if count >= MOST_WAITING:
                raise InboxFull(
                    f"{count} notices wait already, and no more are taken",
                    "see what holds them up with `ordito status`; they are handled when no job runs any more",
                )
            number = db.execute("INSERT INTO notice (body) VALUES (?)", (body,)).lastrowid
            assert number is not None
            return number

    def next(self) -> InboxEntry | None:
        """The notice whose turn it is: the first that is not handled."""
        with self._reading() as db:
            row = db.execute(
                "SELECT number, body, job, said, state FROM notice WHERE state <> ? ORDER BY number LIMIT 1", (HANDLED,)
            ).fetchone()
            return None if row is None else self._entry(row)

    def waiting(self) -> int:
        """How many notices are not handled yet."""
        with self._reading() as db:
            (count,) = db.execute("SELECT count(*) FROM notice WHERE state <> ?", (HANDLED,)).fetchone()
            return int(count)

    def entry(self, number: int) -> InboxEntry | None:
        """What is known of a notice; None where it is too long ago."""
        with self._reading() as db:
            row = db.execute("SELECT number, body, job, said, state FROM notice WHERE number = ?", (number,)).fetchone()
            return None if row is None else self._entry(row)

    def all(self) -> tuple[InboxEntry, ...]:
        """All that are known, the latest first."""
        with self._reading() as db:
            rows = db.execute("SELECT number, body, job, said, state FROM notice ORDER BY number DESC").fetchall()
            return tuple(self._entry(row) for row in rows)

    def cause(self, job: str) -> tuple[Firing, Notice] | None:
        """The trigger whose actions a job carries out just now, and the notice that it acts on; None for other jobs."""
        with self._reading() as db:
            row = db.execute("SELECT * FROM firing WHERE job = ? AND state = ?", (job, ACTING)).fetchone()
            if row is None:
                return None
            found = _firing(row)
            (body,) = db.execute("SELECT body FROM notice WHERE number = ?", (found.notice,)).fetchone()
            return found, Decoder(Notice)(body)

    # ------------------------------------------------------------------ one step after the other, under the lock

    def decide(self, number: int, job: str, decisions: Iterable[Decision]) -> None:
        """Write down what triggers make of a notice, what they remember, and which job is to record it."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET job = ?, state = ? WHERE number = ?", (job, DECIDED, number))
            for decision in decisions:
                state = ACTING if decision.acts else DONE
                row = (number, decision.policy, decision.trigger, decision.said, state)
                db.execute("INSERT INTO firing (notice, policy, trigger, said, state) VALUES (?, ?, ?, ?, ?)", row)
                for entity, kept in decision.evaluations.items():
                    key = (decision.policy, decision.trigger, entity)
                    db.execute("DELETE FROM evaluation WHERE policy = ? AND trigger = ? AND entity = ?", key)
                    rows = ((*key, at, encode(one)) for at, one in enumerate(kept))
                    db.executemany("INSERT INTO evaluation VALUES (?, ?, ?, ?, ?)", rows)

    def record_by(self, number: int, job: str) -> None:
        """Another job is to record a notice: that which was to do it never began."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET job = ? WHERE number = ?", (job, number))

    def recorded(self, number: int) -> None:
        """The job that records a notice is there."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET state = ? WHERE number = ?", (RECORDED, number))

    def drop(self, number: int, said: str) -> None:
        """Nothing can be made of a notice; ``said`` is why."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET state = ?, said = ? WHERE number = ?", (HANDLED, said, number))

    def begin(self, firing: int, job: str) -> None:
        """A job is to carry out the actions of a trigger."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET job = ? WHERE number = ?", (job, firing))

    def go_on(self, firing: int) -> None:
        """The job of a trigger's present part has ended well."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET part = part + 1, job = '' WHERE number = ?", (firing,))

    def end(self, firing: int, said: str) -> None:
        """Nothing is left to do for a trigger; ``said`` is what came of it."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET state = ?, said = ? WHERE number = ?", (DONE, said, firing))

    def finish(self, number: int) -> None:
        """A notice is handled; what is long ago is forgotten."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET state = ? WHERE number = ?", (HANDLED, number))
            last = number - MOST_REMEMBERED
            db.execute("DELETE FROM firing WHERE notice <= ?", (last,))
            db.execute("DELETE FROM notice WHERE number <= ? AND state = ?", (last, HANDLED))

    def evaluations(self, policy: str, trigger: str, entity: str) -> tuple[Evaluation, ...]:
        """What a trigger remembers of an entity, the oldest first."""
        with self._reading() as db:
            decode = Decoder(Evaluation)
            query = "SELECT body FROM evaluation WHERE policy = ? AND trigger = ? AND entity = ? ORDER BY number"
            return tuple(decode(body) for (body,) in db.execute(query, (policy, trigger, entity)))

    def evaluated(self, policy: str, trigger: str) -> dict[str, tuple[Evaluation, ...]]:
        """What a trigger remembers, by entity."""
        with self._reading() as db:
            query = "SELECT DISTINCT entity FROM evaluation WHERE policy = ? AND trigger = ? ORDER BY entity"
            entities: Sequence[tuple[str]] = db.execute(query, (policy, trigger)).fetchall()
            return {entity: self.evaluations(policy, trigger, entity) for (entity,) in entities}

    # ------------------------------------------------------------------------------------------------ the database

    def _entry(self, row: tuple[int, bytes, str, str, str]) -> InboxEntry:
        number, body, job, said, state = row
        found = self._db.execute("SELECT * FROM firing WHERE notice = ? ORDER BY number", (number,))
        return InboxEntry(number, Decoder(Notice)(body), job, said, state, tuple(map(_firing, found)))

    def _is_made(self) -> bool:
        """Whether there are tables."""
        (owner,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if owner == APPLICATION and version == VERSION:
            return True
        if owner or version or self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None:
            raise EnsembleError(
                f"{self._path} was written by another version of ordito, or by another program",
                "move it away; notices that wait in it are lost then",
            )
        return False

    def _make(self) -> None:
        """Make the tables: in one transaction, so that they are there all or not at all."""
        with self._transaction("make") as db:
            if self._is_made():
                # Another process was quicker.
                return
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")

    def _transaction(self, doing: str) -> AbstractContextManager[sqlite3.Connection]:
        return writing(self._db, self._path, doing)

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return reading(self._db, self._path)


def _firing(row: tuple[int, int, str, str, int, str, str, str]) -> Firing:
    number, notice, policy, trigger, part, job, said, state = row
    return Firing(number, notice, policy, trigger, part, job, said, state == DONE)


def open_inbox(layout: Layout) -> Inbox | None:
    """The inbox of an ensemble, None where nothing ever came. Raises ``EnsembleError``."""
    return Inbox(layout) if layout.inbox.exists() else None
