"""The journal: it holds a job while it runs, and the records of all instances, in the rows of a database.

It has the rows of at most one job (header, plan, records), and a row for each instance, link, attribute and operation's
outputs. All records of a turn become durable in one transaction. The rows of instances are written later: an instance
that changes many times is written once, and until then the records of the job hold its changes. When the job ends these
rows are brought up to date, and when it is closed its own rows are removed; those of instances stay, so that a large
YAML file need not be read again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
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
from ordito.ensemble.journal_database import (
    JOB_TABLES,
    KEEP_PREVIOUS,
    PUT_EVENTS,
    PUT_LOG,
    PUT_RECORDS,
    STATE_TABLES,
    DirectoryFiles,
    EnsembleFiles,
    JournalDatabase,
    Statement,
    emptied,
    meta,
    put_meta,
)
from ordito.ensemble.journal_errors import check_is_file
from ordito.ensemble.layout import Layout
from ordito.ensemble.pending_rows import PendingRows
from ordito.ensemble.sqlite import SqliteDatabase, open_for_reading, open_for_writing
from ordito.ensemble.status import Status
from ordito.ensemble.vault import use_vault
from ordito.instances.records import Data, Delta, Instance, Link, Snapshot, number_of
from ordito.work.plan import Plan, Step
from ordito.work.records import JobClosingRecord, JobHeader, Record, RollbackRecord

MOST_BEHIND = 10_000
"""How many records the rows of instances may lag behind; readers must read the same number of records."""

NOTHING_BEFORE = ("", b"")

DIRECTORY = DirectoryFiles()


class EnsembleJournal:
    """The journal of one ensemble; every method raises ``EnsembleError`` where the database fails."""

    def __init__(self, database: JournalDatabase, file: Path | None = None, files: EnsembleFiles = DIRECTORY) -> None:
        """Use ``open_journal`` or ``read_journal``; ``file`` is the journal's file, beside which a job is marked that
        could be lost with it; ``files`` are those that a job begins with, and leaves behind."""
        self._db = database
        self._file = file
        self._files = files
        self._records: list[bytes] = []
        self._rows = PendingRows()
        self._behind = 0
        self._job = ""
        self._next = 0
        self._kept: set[str] = set()
        self._told: Callable[[Sequence[Record]], bytes] | None = None
        self._turn: list[Record] = []
        self._printed = b""
        self._longer: tuple[Plan, RollbackRecord] | None = None

    def __enter__(self) -> EnsembleJournal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shut()

    def shut(self) -> None:
        """Close the database; uncommitted changes are lost."""
        self._db.shut()

    # -------------------------------------------------------------------------------------------- while a job runs

    def tell_with(self, told: Callable[[Sequence[Record]], bytes]) -> None:
        """Keep, in the rows of each turn, the events that ``told`` gives for its records, and what was printed up to
        it; that of the begin has no records."""
        self._told = told

    def keep_log(self, printed: bytes) -> None:
        """Keep what operations have printed with the next turn, where the journal keeps such."""
        if self._told is not None:
            self._printed += printed

    def open(self, header: JobHeader, plan: Plan, delta: Delta, records: Sequence[Record] = ()) -> None:
        """Begin a job durably, with its first records if there are any, in one transaction. Raises ``EnsembleError``
        also while another job is unfinished."""
        rows = PendingRows()
        rows.add(delta)
        for record in records:
            if (changed := getattr(record, "delta", None)) is not None:
                rows.add(changed)
        with self._keeping(), self._db.reading():
            if (found := next(self._db.rows("SELECT id FROM job"), None)) is not None:
                raise EnsembleError(f"job {found[0]} is unfinished", "continue it with `ordito jobs resume`")
            self._kept = set()
            begin = [*put_job(header, plan), *keep_origin(self._db, header)]
            changes = self._changes(rows, len(records))
        # Whoever goes on with the job elsewhere needs its pin, and what it was told.
        begin += self._files.publish()
        if self._told is not None:
            begin.append((PUT_EVENTS, [(0, self._told(()))]))
        with self._keeping():
            first = (PUT_RECORDS, list(enumerate(map(encode, records))))
            self._db.write("begin a job in", [*begin, first, *changes])
        if self._file is not None:
            mark_begun(self._file, header.id)
        self._job = header.id
        self._next = len(records)

    def extend(self, plan: Plan, record: RollbackRecord) -> None:
        """Begin to roll the job back: add the further steps to its plan, in the current turn."""
        self._longer = (plan, record)
        self.append(record)

    def append(self, record: Record) -> None:
        """Add a record to the current turn."""
        self._records.append(encode(record))
        if self._told is not None:
            self._turn.append(record)
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
        with self._keeping():
            more = self._due(last if is_due else None) if is_due or self._longer is not None else ()
            if self._told is not None:
                more = [*more, *self._telling(self._told, last)]
            self._db.append(self._job, self._next, self._records, more)
        self._next = last
        self._longer = None
        self._records = []
        if is_due:
            self._rows = PendingRows()
        self._behind = 0 if is_due else behind

    def _telling(self, told: Callable[[Sequence[Record]], bytes], last: int) -> list[Statement]:
        """The statements that keep the events of the turn, and what was printed up to it."""
        turn, self._turn = self._turn, []
        printed, self._printed = self._printed, b""
        rows = ((PUT_EVENTS, told(turn)), (PUT_LOG, printed and zlib.compress(printed)))
        return [(statement, [(last, body)]) for statement, body in rows if body]

    def _due(self, settled: int | None) -> list[Statement]:
        """What a turn writes besides its records: a longer plan, and the rows that lag behind, which then say what the
        first ``settled`` records say."""
        with self._db.reading():
            longer = [] if self._longer is None else lengthen(self._db, *self._longer)
            return longer if settled is None else [*longer, *self._changes(self._rows, settled)]

    def catch_up(self) -> None:
        """Bring the rows of instances up to date, where an interrupted job has not done so."""
        rows, settled = PendingRows(), 0
        with self._keeping():
            with self._db.reading():
                for number, record in unsettled(self._db):
                    settled = number + 1
                    if (delta := getattr(record, "delta", None)) is not None:
                        rows.add(delta)
                changes = self._changes(rows, settled) if settled else []
            if changes:
                self._db.write("write to", changes)

    def unfinished(self) -> UnfinishedJob | None:
        """The job that this journal holds, if any; records appended from now on follow its own."""
        with self._db.reading():
            found = header_and_counts(self._db)
            if found is None:
                return None
            ((self._next,),) = self._db.rows("SELECT coalesce(max(number) + 1, 0) FROM record")
            self._job = found[0].id
            return UnfinishedJob(*found, self)

    def plan(self) -> Plan:
        """The plan of the job; one without steps where there is no job."""
        with self._db.reading():
            return plan_of(self._db)

    def progress(self) -> tuple[int, int]:
        """How many steps of the job have ended, and how many it has, without those that only join others."""
        with self._db.reading():
            return progress_of(self._db)

    def is_going_back(self) -> bool:
        """Whether the job is being rolled back."""
        with self._db.reading():
            return is_going_back(self._db)

    def frame(self) -> tuple[JobHeader, Plan, int] | None:
        """The header of the job that this journal holds, its plan without steps and edges, and how many steps that
        has; None where it holds none."""
        with self._db.reading():
            return frame_of(self._db)

    def holds_job(self, job: str) -> bool:
        """Whether this job is unfinished."""
        with self._db.reading():
            return next(self._db.rows("SELECT 1 FROM job WHERE id = ?", (job,)), None) is not None

    def job_of(self, origin: str) -> str:
        """The job that carries out, or has carried out, a plan of a server; "" for none of the last 1,000 such."""
        with self._db.reading():
            return _origins(self._db).get(origin, "")

    def steps(self) -> tuple[Step, ...]:
        """The steps of the job's plan."""
        with self._db.reading():
            return steps_of(self._db)

    def last_record(self) -> Record | None:
        """The last record of the job."""
        with self._db.reading():
            row = next(self._db.rows("SELECT body FROM record ORDER BY number DESC LIMIT 1"), None)
            return None if row is None else record_decoder()(row[0])

    def records(self) -> Iterator[Record]:
        """The records of the job, read one after the other."""
        with self._db.reading():
            decode = record_decoder()
            for (body,) in self._db.rows("SELECT body FROM record ORDER BY number"):
                yield decode(body)

    def previous(self) -> dict[str, tuple[str, bytes]]:
        """For each instance and link that the job has changed: its kind, ``instance`` or ``link``, and its record when
        the job began, to be read with ``codec.Decoder``; empty where it did not exist."""
        with self._db.reading():
            rows = self._db.rows("SELECT id, kind, body FROM previous ORDER BY id")
            found = {name: (kind, body) if body else NOTHING_BEFORE for name, kind, body in rows}
            # What the rows do not include yet is there as it was when the job began.
            for kind, name in _touched_since(self._db):
                if name not in found:
                    row = next(self._db.rows(f"SELECT body FROM {kind} WHERE id = ?", (name,)), None)
                    found[name] = (kind, row[0]) if row is not None else NOTHING_BEFORE
            return found

    def viewed(self) -> AbstractContextManager[object]:
        """One consistent view for all that is read within the ``with`` statement, while another process may write."""
        return self._db.reading()

    def finish(self, status: Status, digest: str) -> None:
        """Remove the job, whose files are written, and store the status in them and their digest."""
        with self._db.reading():
            job = next((str(name) for (name,) in self._db.rows("SELECT id FROM job")), "")
        published = self._files.publish(job, status)
        if self._file is not None:
            unmark(self._file)
        self._db.write("close the job in", [*published, *emptied(JOB_TABLES), *written(status, digest)])

    # ---------------------------------------------------------------------------------------------- what exists

    def is_truth(self, digest: str) -> bool:
        """Whether these rows are valid, and not the files with this digest: a job is unfinished, or the files were
        written from the rows."""
        with self._db.reading():
            if next(self._db.rows("SELECT 1 FROM job"), None) is not None:
                return True
            return (meta(self._db, "digest") or b"").decode() == digest

    def files_digest(self) -> str:
        """The digest of the files that were last written from these rows, or read into them."""
        with self._db.reading():
            return (meta(self._db, "digest") or b"").decode()

    def is_free(self) -> bool:
        """Whether there is no unfinished job."""
        with self._db.reading():
            return next(self._db.rows("SELECT 1 FROM job"), None) is None

    def status(self) -> Status:
        """The status as of the last job that was closed."""
        with self._db.reading():
            found = meta(self._db, "status")
            return Decoder(Status)(found) if found else Status()

    def holds_instances(self) -> bool:
        """Whether there are rows of instances."""
        with self._db.reading():
            return next(self._db.rows("SELECT 1 FROM instance LIMIT 1"), None) is not None

    @paused_collector()
    def snapshot(self) -> Snapshot:
        """What exists, as of the last committed turn."""
        with self._db.reading():
            return read_snapshot(self._db)

    def replace_state(self, snapshot: Snapshot, status: Status, digest: str) -> None:
        """Replace the rows by the content of files that were not written from them."""
        self._db.write("read the state into", [*replaced_by(snapshot), *written(status, digest)])

    # ------------------------------------------------------------------------------------------- the database

    def _changes(self, rows: PendingRows, settled: int) -> list[Statement]:
        """The statements that change rows, which then say what the first ``settled`` records say; what they held when
        the job began is kept."""
        statements: list[Statement] = []
        kept = self._kept
        for table, keep in KEEP_PREVIOUS.items():
            fresh = [name for found, name in rows.touched if found == table and name not in kept]
            kept.update(fresh)
            statements.append((keep, [(name, name, b"") for name in fresh]))
        if rows.forgotten:
            statements.append(keep_numbers(self._db, rows.forgotten))
        return [*statements, *rows.statements(), put_meta("settled", encode(settled))]

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """After a failure it is not known any more what is kept of before."""
        try:
            yield
        except BaseException:
            self._kept = set()
            raise


def open_journal(layout: Layout) -> EnsembleJournal:
    """The journal of an ensemble for writing, made if there is none; only for the holder of the lock."""
    layout.make_private()
    check_is_file(layout.journal)
    use_vault(layout)
    journal = EnsembleJournal(SqliteDatabase(layout.journal, open_for_writing(layout.journal)), layout.journal)
    try:
        journal.catch_up()
    except BaseException:
        journal.shut()
        raise
    return journal


def read_journal(layout: Layout) -> EnsembleJournal | None:
    """The journal of an ensemble for reading, while others may write; None if there is none."""
    use_vault(layout)
    if not layout.journal.exists():
        return None
    check_is_file(layout.journal)
    db = open_for_reading(layout.journal)
    return EnsembleJournal(SqliteDatabase(layout.journal, db), layout.journal) if db is not None else None


def written(status: Status, digest: str) -> list[Statement]:
    """The statements that store the status in the files, and their digest."""
    return [put_meta("status", encode(status)), put_meta("digest", digest.encode())]


def _touched_since(db: JournalDatabase) -> Iterator[tuple[str, str]]:
    """The tables and ids of the instances and links that records change which the rows do not include yet."""
    rows = PendingRows()
    for _, record in unsettled(db):
        if (delta := getattr(record, "delta", None)) is not None:
            rows.add(delta)
    return rows.touched


# The jobs that carry out plans of servers. They are written with the beginning of the job, and stay when it is closed:
# who asks for a plan a second time finds that it was carried out.

MOST_ORIGINS = 1_000


def keep_origin(db: JournalDatabase, header: JobHeader) -> list[Statement]:
    """The statements that remember which job carries out a plan of a server."""
    origin = header.asked.origin
    if not origin:
        return []
    found = {name: job for name, job in _origins(db).items() if name != origin}
    latest = [*found.items(), (origin, header.id)][-MOST_ORIGINS:]
    return [put_meta("origins", encode(dict(latest)))]


def _origins(db: JournalDatabase) -> dict[str, str]:
    found = meta(db, "origins")
    return Decoder(dict[str, str])(found) if found else {}


# The rows of what exists in the journal: instances, links, attributes and what operations gave.


def read_snapshot(db: JournalDatabase) -> Snapshot:
    """All instances and links: by the rows, and by the records that these do not include yet."""
    snapshot = Snapshot()
    instance, link = Decoder(Instance), Decoder(Link)
    data, outputs = Decoder(object), Decoder(dict[str, Data])
    snapshot.apply(
        Delta(
            instances=tuple(instance(b) for (b,) in db.rows("SELECT body FROM instance ORDER BY number")),
            links=tuple(link(b) for (b,) in db.rows("SELECT body FROM link ORDER BY number")),
        )
    )
    for entity, name, value in db.rows("SELECT entity, name, value FROM attribute ORDER BY entity, name"):
        snapshot.attributes.setdefault(entity, {})[name] = data(value)
    for entity, operation, body in db.rows("SELECT entity, operation, body FROM output ORDER BY entity, operation"):
        snapshot.outputs.setdefault(entity, {})[operation] = outputs(body)
    for _, record in unsettled(db):
        if (delta := getattr(record, "delta", None)) is not None:
            snapshot.apply(delta)
    for node, number in _highest(db).items():
        snapshot.highest[node] = max(number, snapshot.highest.get(node, 0))
    return snapshot


def replaced_by(snapshot: Snapshot) -> list[Statement]:
    """The statements that replace all rows of instances and links by those of a snapshot."""
    rows = PendingRows()
    rows.add(
        Delta(
            instances=tuple(snapshot.instances.values()),
            links=tuple(snapshot.links.values()),
            attributes=snapshot.attributes,
            outputs=snapshot.outputs,
        )
    )
    return [*emptied(STATE_TABLES), *rows.statements(), put_meta("highest", encode(snapshot.highest))]


AT_ONCE = 100
"""How many rows are asked for by their ids at once."""

INSTANCES = f"SELECT id, body FROM instance WHERE id IN ({', '.join('?' * AT_ONCE)})"


def keep_numbers(db: JournalDatabase, forgotten: list[str]) -> Statement:
    """The statement that keeps the numbers of instances whose rows are removed, so that none of them is used again."""
    highest = _highest(db)
    decode = Decoder(Instance)
    for first in range(0, len(forgotten), AT_ONCE):
        names = forgotten[first : first + AT_ONCE]
        for name, body in db.rows(INSTANCES, [*names, *names[-1:] * (AT_ONCE - len(names))]):
            node = decode(body).node
            highest[node] = max(number_of(name), highest.get(node, 0))
    return put_meta("highest", encode(highest))


def _highest(db: JournalDatabase) -> dict[str, int]:
    return Decoder(dict[str, int])(meta(db, "highest") or encode({}))
