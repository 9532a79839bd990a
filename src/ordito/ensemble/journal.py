"""The journal: an SQLite database that holds a job while it runs, and the records of all instances.

It has the rows of at most one job (header, plan, records), and a row for each instance, link, attribute and operation's
outputs. All records of a turn become durable in one transaction. The rows of instances are written later: an instance
that changes many times is written once, and until then the records of the job hold its changes. When the job ends these
rows are brought up to date, and when it is closed its own rows are removed; those of instances stay, so that a large
YAML file need not be read again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType

from ordito.base.collector import paused_collector
from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_mark import mark_begun, unmark
from ordito.ensemble.job_rows import (
    UnfinishedJob,
    frame_of,
    header_and_counts,
    is_going_back,
    lengthen,
    plan_of,
    progress_of,
    put_job,
    record_decoder,
    steps_of,
    unsettled,
)
from ordito.ensemble.journal_errors import check_is_file, journal_explained
from ordito.ensemble.journal_tables import (
    JOB_TABLES,
    STATE_TABLES,
    meta,
    open_for_reading,
    open_for_writing,
    reading,
    set_meta,
    writing,
)
from ordito.ensemble.layout import Layout
from ordito.ensemble.pending_rows import KEEP_PREVIOUS, PendingRows
from ordito.ensemble.status import Status
from ordito.ensemble.vault import use_vault
from ordito.instances.records import Data, Delta, Instance, Link, Snapshot, number_of
from ordito.work.plan import Plan, Step
from ordito.work.records import JobClosingRecord, JobHeader, Record, RollbackRecord

MOST_BEHIND = 10_000
"""How many records the rows of instances may lag behind; readers must read the same number of records."""

NOTHING_BEFORE = ("", b"")


class SqliteJournal:
    """The journal of one ensemble; every method raises ``EnsembleError`` where the database fails."""

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

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()

    def shut(self) -> None:
        """Close the database; uncommitted changes are lost."""
        with journal_explained("close", self._path):
            self._db.close()

    # -------------------------------------------------------------------------------------------- while a job runs

    def open(self, header: JobHeader, plan: Plan, delta: Delta, records: Sequence[Record] = ()) -> None:
        """Begin a job durably, with its first records if there are any, in one transaction. Raises ``EnsembleError``
        also while another job is unfinished."""
        rows = PendingRows()
        rows.add(delta)
        for record in records:
            if (changed := getattr(record, "delta", None)) is not None:
                rows.add(changed)
        with self._transaction("begin a job in") as db:
            if (found := db.execute("SELECT id FROM job").fetchone()) is not None:
                raise EnsembleError(f"job {found[0]} is unfinished", "continue it with `ordito jobs resume`")
            put_job(db, header, plan)
            keep_origin(db, header)
            db.executemany("INSERT INTO record VALUES (?, ?)", enumerate(map(encode, records)))
            self._kept = set()
            self._write(db, rows, len(records))
        mark_begun(self._path, header.id)
        self._next = len(records)

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Begin to roll the job back: add the further steps to its plan, in the current turn."""
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
        """Make all records of the turn durable; also the rows that they change, where those lag far behind or the job
        ends."""
        if not self._records:
            return
        last, behind = self._next + len(self._records), self._behind + len(self._records)
        is_due = behind >= MOST_BEHIND or self._rows.forgets
        with self._transaction("write to") as db:
            db.executemany("INSERT INTO record VALUES (?, ?)", enumerate(self._records, self._next))
            if self._longer is not None:
                lengthen(db, *self._longer)
            if is_due:
                self._write(db, self._rows, last)
        self._next = last
        self._longer = None
        self._records = []
        if is_due:
            self._rows = PendingRows()
        self._behind = 0 if is_due else behind

    def catch_up(self) -> None:
        """Bring the rows of instances up to date, where an interrupted job has not done so."""
        rows, settled = PendingRows(), 0
        with self._reading() as db:
            for number, record in unsettled(db):
                settled = number + 1
                if (delta := getattr(record, "delta", None)) is not None:
                    rows.add(delta)
        if settled:
            with self._transaction("write to") as db:
                self._write(db, rows, settled)

    def unfinished(self) -> UnfinishedJob | None:
        """The job that this journal holds, if any; records appended from now on follow its own."""
        with self._reading() as db:
            found = header_and_counts(db)
            if found is None:
                return None
            (self._next,) = db.execute("SELECT coalesce(max(number) + 1, 0) FROM record").fetchone()
            return UnfinishedJob(*found, self)

    def plan(self) -> Plan:
        """The plan of the job; one without steps where there is no job."""
        with self._reading() as db:
            return plan_of(db)

    def progress(self) -> tuple[int, int]:
        """How many steps of the job have ended, and how many it has, without those that only join others."""
        with self._reading() as db:
            return progress_of(db)

    def is_going_back(self) -> bool:
        """Whether the job is being rolled back."""
        with self._reading() as db:
            return is_going_back(db)

    def frame(self) -> tuple[JobHeader, Plan, int] | None:
        """The header of the job that this journal holds, its plan without steps and edges, and how many steps that
        has; None where it holds none."""
        with self._reading() as db:
            return frame_of(db)

    def holds_job(self, job: str) -> bool:
        """Whether this job is unfinished."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM job WHERE id = ?", (job,)).fetchone() is not None

    def job_of(self, origin: str) -> str:
        """The job that carries out, or has carried out, a plan of a server; "" for none of the last 1,000 such."""
        with self._reading() as db:
            return _origins(db).get(origin, "")

    def steps(self) -> tuple[Step, ...]:
        """The steps of the job's plan."""
        with self._reading() as db:
            return steps_of(db)

    def last_record(self) -> Record | None:
        """The last record of the job."""
        with self._reading() as db:
            row = db.execute("SELECT body FROM record ORDER BY number DESC LIMIT 1").fetchone()
            return None if row is None else record_decoder()(row[0])

    def records(self) -> Iterator[Record]:
        """The records of the job, read one after the other."""
        with self._reading() as db:
            decode = record_decoder()
            for (body,) in db.execute("SELECT body FROM record ORDER BY number"):
                yield decode(body)

    def previous(self) -> dict[str, tuple[str, bytes]]:
        """For each instance and link that the job has changed: its kind, ``instance`` or ``link``, and its record when
        the job began, to be read with ``codec.Decoder``; empty where it did not exist."""
        with self._reading() as db:
            rows = db.execute("SELECT id, kind, body FROM previous")
            found = {name: (kind, body) if body else NOTHING_BEFORE for name, kind, body in rows}
            # What the rows do not include yet is there as it was when the job began.
            for kind, name in _touched_since(db):
                if name not in found:
                    row = db.execute(f"SELECT body FROM {kind} WHERE id = ?", (name,)).fetchone()
                    found[name] = (kind, row[0]) if row is not None else NOTHING_BEFORE
            return found

    def viewed(self) -> AbstractContextManager[object]:
        """One consistent view for all that is read within the ``with`` statement, while another process may write."""
        return self._reading()

    def finish(self, status: Status, digest: str) -> None:
        """Remove the job, whose files are written, and store the status in them and their digest."""
        unmark(self._path)
        with self._transaction("close the job in") as db:
            for table in JOB_TABLES:
                db.execute(f"DELETE FROM {table}")
            set_meta(db, "status", encode(status))
            set_meta(db, "digest", digest.encode())

    # ---------------------------------------------------------------------------------------------- what exists

    def is_truth(self, digest: str) -> bool:
        """Whether these rows are valid, and not the files with this digest: a job is unfinished, or the files were
        written from the rows."""
        with self._reading() as db:
            if db.execute("SELECT 1 FROM job").fetchone() is not None:
                return True
            return (meta(db, "digest") or b"").decode() == digest

    def files_digest(self) -> str:
        """The digest of the files that were last written from these rows, or read into them."""
        with self._reading() as db:
            return (meta(db, "digest") or b"").decode()

    def is_free(self) -> bool:
        """Whether there is no unfinished job."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM job").fetchone() is None

    def status(self) -> Status:
        """The status as of the last job that was closed."""
        with self._reading() as db:
            found = meta(db, "status")
            return Decoder(Status)(found) if found else Status()

    def holds_instances(self) -> bool:
        """Whether there are rows of instances."""
        with self._reading() as db:
            return db.execute("SELECT 1 FROM instance LIMIT 1").fetchone() is not None

    @paused_collector()
    def snapshot(self) -> Snapshot:
        """What exists, as of the last committed turn."""
        with self._reading() as db:
            return read_snapshot(db)

    def replace_state(self, snapshot: Snapshot, status: Status, digest: str) -> None:
        """Replace the rows by the content of files that were not written from them."""
        with self._transaction("read the state into") as db:
            replace_rows(db, snapshot)
            set_meta(db, "status", encode(status))
            set_meta(db, "digest", digest.encode())

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
            keep_numbers(db, rows.forgotten)
        change_rows(db, rows)
        set_meta(db, "settled", encode(settled))

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


def open_journal(layout: Layout) -> SqliteJournal:
    """The journal of an ensemble for writing, made if there is none; only for the holder of the lock."""
    layout.make_private()
    check_is_file(layout.journal)
    use_vault(layout)
    journal = SqliteJournal(layout.journal, open_for_writing(layout.journal))
    try:
        journal.catch_up()
    except BaseException:
        journal.shut()
        raise
    return journal


def read_journal(layout: Layout) -> SqliteJournal | None:
    """The journal of an ensemble for reading, while others may write; None if there is none."""
    use_vault(layout)
    if not layout.journal.exists():
        return None
    check_is_file(layout.journal)
    db = open_for_reading(layout.journal)
    return SqliteJournal(layout.journal, db) if db is not None else None


def _touched_since(db: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """The tables and ids of the instances and links that records change which the rows do not include yet."""
    rows = PendingRows()
    for _, record in unsettled(db):
        if (delta := getattr(record, "delta", None)) is not None:
            rows.add(delta)
    return rows.touched


# The jobs that carry out plans of servers. They are written with the beginning of the job, and stay when it is closed:
# who asks for a plan a second time finds that it was carried out.

MOST_ORIGINS = 1_000


def keep_origin(db: sqlite3.Connection, header: JobHeader) -> None:
    """Remember which job carries out a plan of a server."""
    origin = header.asked.origin
    if origin:
        found = {name: job for name, job in _origins(db).items() if name != origin}
        latest = [*found.items(), (origin, header.id)][-MOST_ORIGINS:]
        set_meta(db, "origins", encode(dict(latest)))


def _origins(db: sqlite3.Connection) -> dict[str, str]:
    found = meta(db, "origins")
    return Decoder(dict[str, str])(found) if found else {}


# The rows of what exists in the journal: instances, links, attributes and what operations gave.


def read_snapshot(db: sqlite3.Connection) -> Snapshot:
    """All instances and links: by the rows, and by the records that these do not include yet."""
    snapshot = Snapshot()
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
    for _, record in unsettled(db):
        if (delta := getattr(record, "delta", None)) is not None:
            snapshot.apply(delta)
    for node, number in _highest(db).items():
        snapshot.highest[node] = max(number, snapshot.highest.get(node, 0))
    return snapshot


def replace_rows(db: sqlite3.Connection, snapshot: Snapshot) -> None:
    """Replace all rows of instances and links by those of a snapshot."""
    rows = PendingRows()
    rows.add(
        Delta(
            instances=tuple(snapshot.instances.values()),
            links=tuple(snapshot.links.values()),
            attributes=snapshot.attributes,
            outputs=snapshot.outputs,
        )
    )
    for table in STATE_TABLES:
        db.execute(f"DELETE FROM {table}")
    change_rows(db, rows)
    set_meta(db, "highest", encode(snapshot.highest))


def change_rows(db: sqlite3.Connection, rows: PendingRows) -> None:
    """Apply pending changes to the rows."""
    for statement, parameters in rows.statements():
        if parameters:
            db.executemany(statement, parameters)


def keep_numbers(db: sqlite3.Connection, forgotten: Sequence[str]) -> None:
    """Keep the numbers of instances whose rows are removed, so that none of them is used again."""
    highest = _highest(db)
    for name in forgotten:
        row = db.execute("SELECT body FROM instance WHERE id = ?", (name,)).fetchone()
        if row is not None:
            node = Decoder(Instance)(row[0]).node
            highest[node] = max(number_of(name), highest.get(node, 0))
    set_meta(db, "highest", encode(highest))


def _highest(db: sqlite3.Connection) -> dict[str, int]:
    return Decoder(dict[str, int])(meta(db, "highest") or encode({}))
