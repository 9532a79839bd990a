"""The journal: an SQLite database that knows everything about a job while it runs, and what exists.

It holds the rows of at most one job (header, plan, records), and a row for each instance, link, attribute and
operation's outputs. All records of a turn become durable in one transaction. The rows of what exists follow behind: an
instance that changes many times is written once, and what the rows lack the records say. When the job ends they are
brought up to date, and when it is closed its own rows go; those of what exists stay, so that a large YAML file need not
be read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import msgspec

from ordito.base.collector import paused_collector
from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_mark import mark_begun, unmark
from ordito.ensemble.journal_errors import NO_JOURNAL, check_is_file, journal_explained
from ordito.ensemble.layout import Layout
from ordito.ensemble.pending_rows import KEEP_PREVIOUS, PendingRows
from ordito.ensemble.status import Status
from ordito.ensemble.transactions import reading, writing
from ordito.ensemble.unfinished import UnfinishedJob
from ordito.ensemble.vault import use_vault
from ordito.instances.records import Data, Delta, Instance, Link, Snapshot, number_of
from ordito.work.plan import Action, Plan, Step
from ordito.work.records import JobClosingRecord, JobHeader, Record, RollbackRecord

T = TypeVar("T")

APPLICATION = 0x6F726474
"""Marks the database file as an Ordito journal ("ordt")."""

VERSION = 4
"""The version of the tables below, and of what their rows hold."""

OLDEST = 3
"""The oldest version that can be read, and written to as it is: its rows say less. Older and newer ones are refused."""

CHUNK = 1_000
"""Steps, and edges, in one row."""

MOST_BEHIND = 10_000
"""Records by which the rows of what exists may be behind: who looks meanwhile reads so many more."""

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
NOTHING_BEFORE = ("", b"")
JOB_TABLES = ("job", "steps", "edges", "record", "previous")
_ENDINGS = frozenset({"finished", "skipped"})
STATE_TABLES = ("instance", "link", "attribute", "output")


class _Counts(msgspec.Struct):
    """Of a plan only the wanted numbers of instances."""

    counts: dict[str, int] = {}


class _StepKind(msgspec.Struct):
    """Of a step only what it does."""

    action: Action = Action.CALL


class _RecordKind(msgspec.Struct):
    """Of a record only which it is, and of which step."""

    type: str
    step: int = -1


class Journal:
    """The journal of one ensemble; every method raises ``EnsembleError`` if the database cannot do its part."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        """Use ``open_journal`` or ``read_journal``."""
        self._path = path
        self._db = connection
        self._records: list[bytes] = []
        self._rows = PendingRows()
        self._behind = 0
        self._next = 0
        self._kept: set[str] = set()
        self._longer: tuple[Plan, RollbackRecord] | None = None

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()

    def shut(self) -> None:
        """Let go of the database; what was not committed is lost."""
        with journal_explained("close", self._path):
            self._db.close()

    # -------------------------------------------------------------------------------------------- while a job runs

    def open(self, header: JobHeader, plan: Plan, delta: Delta, records: Sequence[Record] = ()) -> None:
        """Begin a job durably, with the first of its records, if there are any yet: all of it is there then, or
        nothing. Raises ``EnsembleError`` also while another job is unfinished."""
        frame = msgspec.structs.replace(plan, steps=(), edges=())
        rows = PendingRows()
        rows.add(delta)
        for record in records:
            if (changed := getattr(record, "delta", None)) is not None:
                rows.add(changed)
        with self._transaction("begin a job in") as db:
            if (found := db.execute("SELECT id FROM job").fetchone()) is not None:
                raise EnsembleError(f"job {found[0]} is unfinished", "continue it with `ordito jobs resume`")
            db.execute("INSERT INTO job VALUES (?, ?, ?)", (header.id, encode(header), encode(frame)))
            db.executemany("INSERT INTO steps VALUES (?, ?)", _chunks(plan.steps))
            db.executemany("INSERT INTO edges VALUES (?, ?)", _chunks(plan.edges))
            db.executemany("INSERT INTO record VALUES (?, ?)", enumerate(map(encode, records)))
            self._kept = set()
            self._write(db, rows, len(records))
        mark_begun(self._path, header.id)
        self._next = len(records)

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Begin to roll the job back: its plan goes on, in the current turn."""
        self._longer = (plan, record)
        self.append(record)

    def append(self, record: Record) -> None:
        """Add a record to the current turn."""
        self._records.append(encode(record))
        delta = getattr(record, "delta", None)
        if delta is not None:
            self._rows.add(delta)
        if isinstance(record, JobClosingRecord):
            self._behind = MOST_BEHIND

    def commit(self) -> None:
        """Make all records of the turn durable; with the rows that they change, where those are far behind or the job
        ends."""
        if not self._records:
            return
        last, behind = self._next + len(self._records), self._behind + len(self._records)
        is_due = behind >= MOST_BEHIND or self._rows.forgets
        with self._transaction("write to") as db:
            db.executemany("INSERT INTO record VALUES (?, ?)", enumerate(self._records, self._next))
            if self._longer is not None:
                _lengthen(db, *self._longer)
            if is_due:
                self._write(db, self._rows, last)
        self._next = last
        self._longer = None
        self._records = []
        if is_due:
            self._rows = PendingRows()
        self._behind = 0 if is_due else behind

    def catch_up(self) -> None:
        """Bring the rows of what exists up to date, if a job that was interrupted has left them behind."""
        rows, settled = PendingRows(), 0
        with self._reading() as db:
            for number, record in _unsettled(db):
                settled = number + 1
                if (delta := getattr(record, "delta", None)) is not None:
                    rows.add(delta)
        if settled:
            with self._transaction("write to") as db:
                self._write(db, rows, settled)

    def unfinished(self) -> UnfinishedJob | None:
        """The job that this journal holds, if any; records appended from here on follow those it has."""
        with self._reading() as db:
            row = db.execute("SELECT header, plan FROM job").fetchone()
            if row is None:
                return None
            (self._next,) = db.execute("SELECT coalesce(max(number) + 1, 0) FROM record").fetchone()
            return UnfinishedJob(Decoder(JobHeader)(row[0]), Decoder(_Counts)(row[1]).counts, self)

    def plan(self) -> Plan:
        """The plan of the job; one without steps where there is no job any more."""
        with self._reading() as db:
            row = db.execute("SELECT plan FROM job").fetchone()
            steps = _joined(db, "SELECT body FROM steps ORDER BY chunk", Decoder(tuple[Step, ...]))
            edges = _joined(db, "SELECT body FROM edges ORDER BY chunk", Decoder(tuple[tuple[int, int, int], ...]))
            frame = Decoder(Plan)(row[0]) if row is not None else Plan("", (), (), (), ())
            return msgspec.structs.replace(frame, steps=steps, edges=edges)

    def progress(self) -> tuple[int, int]:
        """How many steps of the job have ended, and how many it has, without those that only join others."""
        with self._reading() as db:
            steps = _joined(db, "SELECT body FROM steps", Decoder(tuple[_StepKind, ...]))
            decode = Decoder(_RecordKind)
            records = (decode(body) for (body,) in db.execute("SELECT body FROM record"))
            ended = {record.step for record in records if record.type in _ENDINGS}
            return len(ended), sum(step.action is not Action.JOIN for step in steps)

    def frame(self) -> tuple[JobHeader, Plan, int] | None:
        """The header of the job that this journal holds, its plan without steps and edges, and how many steps that
        has; None where it holds none."""
        with self._reading() as db:
            row = db.execute("SELECT header, plan FROM job").fetchone()
            if row is None:
                return None
            parts = Decoder(tuple[msgspec.Raw, ...])
            count = sum(len(parts(body)) for (body,) in db.execute("SELECT body FROM steps"))
            return Decoder(JobHeader)(row[0]), Decoder(Plan)(row[1]), count

    def holds_job(self, job: str) -> bool:
        """Whether this job is unfinished."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM job WHERE id = ?", (job,)).fetchone() is not None

    def steps(self) -> tuple[Step, ...]:
        """The steps of the job's plan."""
        with self._reading() as db:
            return _joined(db, "SELECT body FROM steps ORDER BY chunk", Decoder(tuple[Step, ...]))

    def last_record(self) -> Record | None:
        """The last record of the job."""
        with self._reading() as db:
            row = db.execute("SELECT body FROM record ORDER BY number DESC LIMIT 1").fetchone()
            return None if row is None else _record_decoder()(row[0])

    def records(self) -> Iterator[Record]:
        """The records of the job, one after the other as they are asked for."""
        with self._reading() as db:
            decode = _record_decoder()
            for (body,) in db.execute("SELECT body FROM record ORDER BY number"):
                yield decode(body)

    def previous(self) -> dict[str, tuple[str, bytes]]:
        """For each instance and link that the job has changed: what it is, ``instance`` or ``link``, and its record as
        it was when the job began, to be read with ``codec.Decoder``; empty for what there was not."""
        with self._reading() as db:
            rows = db.execute("SELECT id, kind, body FROM previous")
            return {name: (kind, body) if body else NOTHING_BEFORE for name, kind, body in rows}

    def finish(self, status: Status, digest: str) -> None:
        """The job's files are written: forget the job, and remember what they say and their digest."""
        unmark(self._path)
        with self._transaction("close the job in") as db:
            for table in JOB_TABLES:
                db.execute(f"DELETE FROM {table}")
            _set(db, "status", encode(status))
            _set(db, "digest", digest.encode())

    # ---------------------------------------------------------------------------------------------- what exists

    def is_truth(self, digest: str) -> bool:
        """Whether these rows say what exists, and not the files, whose digest this is: a job is unfinished, or the
        files are those that were written from the rows."""
        with self._reading() as db:
            if db.execute("SELECT 1 FROM job").fetchone() is not None:
                return True
            return (_get(db, "digest") or b"").decode() == digest

    def files_digest(self) -> str:
        """The digest of the files that were written from these rows, or read into them, last."""
        with self._reading() as db:
            return (_get(db, "digest") or b"").decode()

    def is_free(self) -> bool:
        """Whether there is no job that is not closed."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM job").fetchone() is None

    def status(self) -> Status:
        """The status as of the last job that was closed."""
        with self._reading() as db:
            found = _get(db, "status")
            return Decoder(Status)(found) if found else Status()

    def holds_instances(self) -> bool:
        """Whether there is a row of an instance."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM instance LIMIT 1").fetchone() is not None

    @paused_collector()
    def snapshot(self) -> Snapshot:
        """What exists, as of the last committed turn."""
        snapshot = Snapshot()
        with self._reading() as db:
            instance, link = Decoder(Instance), Decoder(Link)
            data, outputs = Decoder(object), Decoder(dict[str, Data])
            snapshot.apply(
                Delta(
                    instances=tuple(instance(b) for (b,) in db.execute("SELECT body FROM instance ORDER BY number")),
                    links=tuple(link(b) for (b,) in db.execute("SELECT body FROM link ORDER BY number")),
                )
            )
            for entity, name, value in db.execute("SELECT entity, name, value FROM attribute"):
                snapshot.attributes.setdefault(entity, {})[name] = data(value)
            for entity, operation, body in db.execute("SELECT entity, operation, body FROM output"):
                snapshot.outputs.setdefault(entity, {})[operation] = outputs(body)
            for _, record in _unsettled(db):
                if (delta := getattr(record, "delta", None)) is not None:
                    snapshot.apply(delta)
            highest = Decoder(dict[str, int])(_get(db, "highest") or encode({}))
            for node, number in highest.items():
                snapshot.highest[node] = max(number, snapshot.highest.get(node, 0))
        return snapshot

    def replace_state(self, snapshot: Snapshot, status: Status, digest: str) -> None:
        """Take over what files say that were not written from these rows."""
        rows = PendingRows()
        rows.add(
            Delta(
                instances=tuple(snapshot.instances.values()),
                links=tuple(snapshot.links.values()),
                attributes=snapshot.attributes,
                outputs=snapshot.outputs,
            )
        )
        with self._transaction("read the state into") as db:
            for table in STATE_TABLES:
                db.execute(f"DELETE FROM {table}")
            _execute(db, rows)
            _set(db, "highest", encode(snapshot.highest))
            _set(db, "status", encode(status))
            _set(db, "digest", digest.encode())

    # ------------------------------------------------------------------------------------------- the database

    def _write(self, db: sqlite3.Connection, rows: PendingRows, settled: int) -> None:
        """Change rows, which then say what the first ``settled`` records say; what they held when the job began is
        kept."""
        kept = self._kept
        for table in ("instance", "link"):
            fresh = [(name,) for found, name in rows.touched if found == table and name not in kept]
            kept.update(name for (name,) in fresh)
            db.executemany(KEEP_PREVIOUS.format(table), fresh)
        if rows.forgotten:
            _keep_numbers(db, rows.forgotten)
        _execute(db, rows)
        _set(db, "settled", encode(settled))

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[sqlite3.Connection]:
        try:
            with writing(self._db, self._path, doing) as db:
                yield db
        except BaseException:
            self._kept = set()
            raise

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return reading(self._db, self._path)


def open_journal(layout: Layout) -> Journal:
    """The journal of an ensemble for writing, made if there is none; only for who holds the lock."""
    layout.make_private()
    check_is_file(layout.journal)
    use_vault(layout)
    with journal_explained("open", layout.journal):
        db = sqlite3.connect(layout.journal, isolation_level=None)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            found = _version(db, layout.journal)
            if not found:
                _make(db)
            elif found < VERSION:
                db.execute(f"PRAGMA user_version = {VERSION}")
        except BaseException:
            db.close()
            raise
    journal = Journal(layout.journal, db)
    try:
        journal.catch_up()
    except BaseException:
        journal.shut()
        raise
    return journal


def read_journal(layout: Layout) -> Journal | None:
    """The journal of an ensemble for reading, while others may write; None if there is none."""
    use_vault(layout)
    if not layout.journal.exists():
        return None
    check_is_file(layout.journal)
    with journal_explained("read", layout.journal):
        # Who may write opens it for writing, though only to read: then SQLite tidies up its helper files at the end.
        db = _connection(layout.journal, "mode=rw")
        try:
            db.execute("PRAGMA query_only = ON")
            if not _readable(db):
                # Not even those helper files can be made here, so nobody writes.
                db.close()
                db = _connection(layout.journal, "immutable=1")
            made = _version(db, layout.journal)
        except BaseException:
            db.close()
            raise
    if made:
        return Journal(layout.journal, db)
    db.close()
    return None


def _connection(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.as_uri()}?{mode}", uri=True, isolation_level=None)


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


def _execute(db: sqlite3.Connection, rows: PendingRows) -> None:
    for statement, parameters in rows.statements():
        if parameters:
            db.executemany(statement, parameters)


def _keep_numbers(db: sqlite3.Connection, forgotten: Sequence[str]) -> None:
    """Remember the numbers of instances whose rows go, so that none of them is used again."""
    highest = Decoder(dict[str, int])(_get(db, "highest") or encode({}))
    for name in forgotten:
        row = db.execute("SELECT body FROM instance WHERE id = ?", (name,)).fetchone()
        if row is not None:
            node = Decoder(Instance)(row[0]).node
            highest[node] = max(number_of(name), highest.get(node, 0))
    _set(db, "highest", encode(highest))


def _unsettled(db: sqlite3.Connection) -> Iterator[tuple[int, Record]]:
    """The records that the rows of what exists do not know yet, with their numbers."""
    settled = Decoder(int)(_get(db, "settled") or encode(0))
    decode = _record_decoder()
    for number, body in db.execute("SELECT number, body FROM record WHERE number >= ? ORDER BY number", (settled,)):
        yield number, decode(body)


def _record_decoder() -> Decoder[Record]:
    return Decoder(Record)  # type: ignore[arg-type]


def _chunks(items: Sequence[object]) -> Iterator[tuple[int, bytes]]:
    for chunk, first in enumerate(range(0, len(items), CHUNK)):
        yield chunk, encode(items[first : first + CHUNK])


def _lengthen(db: sqlite3.Connection, plan: Plan, record: RollbackRecord) -> None:
    """Write down the steps and edges by which a plan goes on, and what it has besides."""
    for table, items in (("steps", plan.steps[record.first :]), ("edges", plan.edges[record.first_edge :])):
        (last,) = db.execute(f"SELECT coalesce(max(chunk), -1) FROM {table}").fetchone()
        db.executemany(f"INSERT INTO {table} VALUES (?, ?)", ((last + 1 + n, body) for n, body in _chunks(items)))
    db.execute("UPDATE job SET plan = ?", (encode(msgspec.structs.replace(plan, steps=(), edges=())),))


def _joined(db: sqlite3.Connection, query: str, decode: Callable[[bytes], tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(item for (body,) in db.execute(query) for item in decode(body))


def _get(db: sqlite3.Connection, key: str) -> bytes | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else bytes(row[0])


def _set(db: sqlite3.Connection, key: str, value: bytes) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
