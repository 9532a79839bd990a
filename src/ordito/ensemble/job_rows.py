"""The rows of a job in the journal: its plan in chunks, and its records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

import msgspec

from ordito.ensemble.codec import Decoder, encode
from ordito.ensemble.journal_database import BEGIN_JOB, LENGTHEN, PUT_CHUNKS, JournalDatabase, Statement, meta
from ordito.work.plan import Action, InstanceCounts, Plan, Step
from ordito.work.records import JobHeader, Record, RollbackRecord

T = TypeVar("T")

CHUNK = 1_000
"""How many steps, or edges, one row holds."""
_ENDINGS = frozenset({"finished", "skipped"})


class _Counts(msgspec.Struct):
    """Of a plan only the numbers of instances."""

    counts: InstanceCounts = InstanceCounts()


class _StepKind(msgspec.Struct):
    """Of a step only what it does."""

    action: Action = Action.CALL


class _RecordKind(msgspec.Struct):
    """Of a record only which it is, and of which step."""

    type: str
    step: int = -1


def put_job(header: JobHeader, plan: Plan) -> list[Statement]:
    """The statements that write the rows of a job that begins, and of its plan."""
    frame = msgspec.structs.replace(plan, steps=(), edges=())
    return [
        (BEGIN_JOB, [(header.id, encode(header), encode(frame))]),
        (PUT_CHUNKS["steps"], _chunks(plan.steps)),
        (PUT_CHUNKS["edges"], _chunks(plan.edges)),
    ]


def lengthen(db: JournalDatabase, plan: Plan, record: RollbackRecord) -> list[Statement]:
    """The statements that add the steps and edges with which a plan continues, and update the rest of it."""
    statements: list[Statement] = [(LENGTHEN, [(encode(msgspec.structs.replace(plan, steps=(), edges=())),)])]
    for table, items in (("steps", plan.steps[record.first :]), ("edges", plan.edges[record.first_edge :])):
        ((count,),) = db.rows(f"SELECT coalesce(max(chunk) + 1, 0) FROM {table}")
        statements.append((PUT_CHUNKS[table], _chunks(items, count)))
    return statements


def header_and_counts(db: JournalDatabase) -> tuple[JobHeader, dict[str, int]] | None:
    """The header of the job, and the wanted numbers of instances that its plan has; None where there is no job."""
    row = next(db.rows("SELECT header, plan FROM job"), None)
    return None if row is None else (Decoder(JobHeader)(row[0]), Decoder(_Counts)(row[1]).counts.wanted)


def frame_of(db: JournalDatabase) -> tuple[JobHeader, Plan, int] | None:
    """The header of the job, its plan without steps and edges, and how many steps that has; None where there is no
    job."""
    row = next(db.rows("SELECT header, plan FROM job"), None)
    if row is None:
        return None
    parts = Decoder(tuple[msgspec.Raw, ...])
    count = sum(len(parts(body)) for (body,) in db.rows("SELECT body FROM steps"))
    return Decoder(JobHeader)(row[0]), Decoder(Plan)(row[1]), count


def plan_of(db: JournalDatabase) -> Plan:
    """The plan of the job; one without steps where there is no job."""
    row = next(db.rows("SELECT plan FROM job"), None)
    edges = _joined(db, "SELECT body FROM edges ORDER BY chunk", Decoder(tuple[tuple[int, int, int], ...]))
    frame = Decoder(Plan)(row[0]) if row is not None else Plan("", (), (), (), ())
    return msgspec.structs.replace(frame, steps=steps_of(db), edges=edges)


def steps_of(db: JournalDatabase) -> tuple[Step, ...]:
    """The steps of the job's plan."""
    return _joined(db, "SELECT body FROM steps ORDER BY chunk", Decoder(tuple[Step, ...]))


def progress_of(db: JournalDatabase) -> tuple[int, int]:
    """How many steps of the job have ended, and how many it has, without those that only join others."""
    steps = _joined(db, "SELECT body FROM steps", Decoder(tuple[_StepKind, ...]))
    decode = Decoder(_RecordKind)
    records = (decode(body) for (body,) in db.rows("SELECT body FROM record"))
    ended = {record.step for record in records if record.type in _ENDINGS}
    return len(ended), sum(step.action is not Action.JOIN for step in steps)


def is_going_back(db: JournalDatabase) -> bool:
    """Whether the job is being rolled back."""
    decode = Decoder(_RecordKind)
    return any(decode(body).type == "rollback" for (body,) in db.rows("SELECT body FROM record"))


def unsettled(db: JournalDatabase) -> Iterator[tuple[int, Record]]:
    """The records that the rows of instances do not include yet, with their numbers."""
    settled = Decoder(int)(meta(db, "settled") or encode(0))
    decode = record_decoder()
    for number, body in db.rows("SELECT number, body FROM record WHERE number >= ? ORDER BY number", (settled,)):
        yield number, decode(body)


def record_decoder() -> Decoder[Record]:
    """A decoder for the rows of records."""
    return Decoder(Record)  # type: ignore[arg-type]


def _chunks(items: Sequence[object], count: int = 0) -> list[tuple[object, ...]]:
    """The rows of items, after so many that there are."""
    starts = enumerate(range(0, len(items), CHUNK), count)
    return [(chunk, encode(items[first : first + CHUNK])) for chunk, first in starts]


def _joined(db: JournalDatabase, query: str, decode: Callable[[bytes], tuple[T, ...]]) -> tuple[T, ...]:
    return tuple(item for (body,) in db.rows(query) for item in decode(body))


# A job that is not closed, of which no more is read than is asked for: others may look at it while it runs.


class JobRows(Protocol):
    """A source of the rows of a job. Its methods raise ``EnsembleError``."""

    def plan(self) -> Plan:
        """The whole plan."""

    def records(self) -> Iterator[Record]:
        """The records so far."""

    def progress(self) -> tuple[int, int]:
        """How many steps have ended, and how many the plan has, without those that only join others."""

    def is_going_back(self) -> bool:
        """Whether the job is being rolled back."""


class UnfinishedJob:
    """A job that the journal holds: it runs, or it was interrupted and must be resumed.

    ``header`` and ``counts``, the numbers of instances that the plan wants, are read at once; everything else is read
    once, when it is needed first, as long as the journal is open. Raises ``EnsembleError``.
    """

    def __init__(self, header: JobHeader, counts: dict[str, int], rows: JobRows) -> None:
        self.header = header
        self.counts = counts
        self._rows = rows

    @cached_property
    def plan(self) -> Plan:
        """The whole plan: for a large job that takes a while."""
        return self._rows.plan()

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """All records so far: for a large job that takes a while."""
        return tuple(self._rows.records())

    @cached_property
    def progress(self) -> tuple[int, int]:
        """How many steps have ended, and how many there are, without those that only join others."""
        return self._rows.progress()

    @cached_property
    def is_going_back(self) -> bool:
        """Whether the job is being rolled back."""
        return self._rows.is_going_back()
