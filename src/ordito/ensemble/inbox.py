"""The inbox: notices from outside that wait to be handled, and what triggers remember from one event to the next.

It is a separate database beside the journal: a sender of notices does not hold the lock of the running job, and must
not wait for it. Every change is one transaction that is durable when it returns. A notice is handled in small steps,
and each is recorded here before it is done, with the id of its job: so after a crash, the existing jobs show what was
done, and nothing is lost or done twice.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

import msgspec

from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.journal_errors import check_is_file, journal_explained
from ordito.ensemble.layout import INBOX, PRIVATE, Layout
from ordito.ensemble.sqlite import connected, reading, writing
from ordito.ensemble.vault import use_vault
from ordito.work.evaluations import Evaluation
from ordito.work.notices import Notice
from ordito.work.triggers import Decision

APPLICATION = 0x6F726469
"""Marks the database file as an Ordito inbox ("ordi")."""

VERSION = 1

PATIENCE = 30.0
"""Seconds to wait for another process that writes to it, which never takes long."""

MOST_WAITING = 10_000
"""How many notices may wait at one time."""

MOST_REMEMBERED = 200
"""For how many notices the result is remembered."""

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
    """What one trigger does about a notice."""

    number: int
    notice: int
    """The number of the notice."""
    policy: str
    trigger: str
    part: int
    """How many jobs have carried out some of its actions."""
    job: str
    """The job that carries out the next actions, "" before there is one."""
    said: str
    """Why it does not act, or what the result was."""
    is_done: bool
    """Whether nothing is left to do."""

    @property
    def name(self) -> str:
        """``policy.trigger``."""
        return f"{self.policy}.{self.trigger}"


class InboxEntry(msgspec.Struct, frozen=True):
    """A notice in the inbox."""

    number: int
    """Notices are handled in the order of their numbers."""
    notice: Notice
    job: str
    """The job that records it, "" before there is one."""
    said: str
    """Why it could not be handled, "" where it could."""
    state: str
    """How far it has been handled: ``WAITING``, ``DECIDED``, ``RECORDED`` or ``HANDLED``."""
    firings: tuple[Firing, ...] = ()
    """The triggers that react to it."""

    @property
    def next_firing(self) -> Firing | None:
        """The first trigger whose actions are not all carried out, None where there is none."""
        return next((firing for firing in self.firings if not firing.is_done), None)


class InboxFull(EnsembleError):
    """Too many notices wait already."""


def may_have_inbox(directory: str) -> bool:
    """Whether something is in the place of the inbox, of the ensemble in a directory. Nothing is read."""
    return os.path.lexists(f"{directory}/{PRIVATE}/{INBOX}")


class Inbox:
    """The inbox of one ensemble, as a context. Every method raises ``EnsembleError`` where the database fails."""

    def __init__(self, layout: Layout) -> None:
        """It is made where there is none yet."""
        layout.make_private()
        check_is_file(layout.inbox)
        use_vault(layout)
        self._path = layout.inbox
        with journal_explained("open", self._path):
            self._db = connected(self._path, patience=PATIENCE)
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
        """Add a notice; returns its number. Raises ``InboxFull``."""
        body = encode(notice)
        with self._transaction("write to") as db:
            (count,) = db.execute("SELECT count(*) FROM notice WHERE state <> ?", (HANDLED,)).fetchone()
            if count >= MOST_WAITING:
                raise InboxFull(
                    f"{count} notices wait already, and no more are taken",
                    "see what delays them with `ordito status`; they are handled when no job runs any more",
                )
            number = db.execute("INSERT INTO notice (body) VALUES (?)", (body,)).lastrowid
            assert number is not None
            return number

    def next(self) -> InboxEntry | None:
        """The first notice that is not handled, None where there is none."""
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
        """The entry of a notice; None where it is too old."""
        with self._reading() as db:
            row = db.execute("SELECT number, body, job, said, state FROM notice WHERE number = ?", (number,)).fetchone()
            return None if row is None else self._entry(row)

    def all(self) -> tuple[InboxEntry, ...]:
        """All entries, the latest first."""
        with self._reading() as db:
            rows = db.execute("SELECT number, body, job, said, state FROM notice ORDER BY number DESC").fetchall()
            return tuple(self._entry(row) for row in rows)

    def cause(self, job: str) -> tuple[Firing, Notice] | None:
        """The trigger whose actions a job carries out now, and its notice; None for other jobs."""
        with self._reading() as db:
            row = db.execute("SELECT * FROM firing WHERE job = ? AND state = ?", (job, ACTING)).fetchone()
            if row is None:
                return None
            found = _firing(row)
            (body,) = db.execute("SELECT body FROM notice WHERE number = ?", (found.notice,)).fetchone()
            return found, Decoder(Notice)(body)

    # ------------------------------------------------------------------ one step after the other, under the lock

    def decide(self, number: int, job: str, decisions: Iterable[Decision]) -> None:
        """Record what triggers do about a notice, what they remember, and which job will record the notice."""
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
        """Let another job record a notice, since the job that was planned for it never began."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET job = ? WHERE number = ?", (job, number))

    def recorded(self, number: int) -> None:
        """Note that the job which records a notice exists."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET state = ? WHERE number = ?", (RECORDED, number))

    def drop(self, number: int, said: str) -> None:
        """Note that a notice cannot be handled; ``said`` is why."""
        with self._transaction("write to") as db:
            db.execute("UPDATE notice SET state = ?, said = ? WHERE number = ?", (HANDLED, said, number))

    def begin(self, firing: int, job: str) -> None:
        """Note which job will carry out the next actions of a trigger."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET job = ? WHERE number = ?", (job, firing))

    def go_on(self, firing: int) -> None:
        """Note that the job with the present actions of a trigger has succeeded."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET part = part + 1, job = '' WHERE number = ?", (firing,))

    def end(self, firing: int, said: str) -> None:
        """Note that a trigger has nothing left to do; ``said`` is the result."""
        with self._transaction("write to") as db:
            db.execute("UPDATE firing SET state = ?, said = ? WHERE number = ?", (DONE, said, firing))

    def finish(self, number: int) -> None:
        """Note that a notice is handled, and forget old ones."""
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
    """The inbox of an ensemble, None where no notice ever came. Raises ``EnsembleError``."""
    return Inbox(layout) if layout.inbox.exists() else None
