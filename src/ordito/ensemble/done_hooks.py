"""The lifecycle steps that succeeded and were not undone since, by the records of closed jobs and the running one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ordito.ensemble.job_history import RecordedJob, all_jobs, read_job
from ordito.ensemble.job_record import hook_done, undone_by
from ordito.ensemble.layout import Layout
from ordito.ensemble.status import WELL
from ordito.work.hooks import DoneHook
from ordito.work.plan import Plan
from ordito.work.records import ROLLED_BACK, Record, StepFinishedRecord
from ordito.work.workflows import workflow_of


class Attempts(msgspec.Struct, frozen=True):
    """The jobs since the last complete revision, or the last complete rollback."""

    since: str = ""
    """The id of the first of them, "" for none."""
    done: tuple[DoneHook, ...] = ()
    """The lifecycle steps that they have done, the oldest first."""


def attempts(layout: Layout) -> Attempts:
    """The attempts at the next revision so far. Raises ``EnsembleError``."""
    found: list[RecordedJob] = []
    for record in _newest_first(layout):
        if _is_stable(record):
            break
        found.append(record)
    return Attempts(found[-1].head.change_id, _left(reversed(found))) if found else Attempts()


def done_since(layout: Layout, job: str) -> tuple[DoneHook, ...]:
    """The steps that all jobs after the given one have done, the oldest first. Raises ``EnsembleError``."""
    found: list[RecordedJob] = []
    for record in _newest_first(layout):
        if record.head.change_id <= job:
            break
        found.append(record)
    return _left(reversed(found))


def done_in(job: str, plan: Plan, records: Iterable[Record], before: Iterable[DoneHook] = ()) -> tuple[DoneHook, ...]:
    """The steps that were done ``before``, and by a job that is not closed, by its records; the oldest first."""
    found = {done.change: done for done in before}
    for record in records:
        if isinstance(record, StepFinishedRecord) and (step := plan.steps[record.step]).hook >= 0:
            found.pop(undone_by(plan, step, record), None)
            if (done := hook_done(plan, step, record)) is not None:
                found[record.change] = DoneHook(done.step, job, record.change, done.result)
    return tuple(found.values())


def _newest_first(layout: Layout) -> Iterator[RecordedJob]:
    """The records of the jobs that may have carried out lifecycle steps."""
    for line in reversed(all_jobs(layout).jobs):
        if workflow_of(line.workflow).revises:
            record = read_job(layout, line.id)
            if record is not None:
                yield record


def _is_stable(record: RecordedJob) -> bool:
    head = record.head
    well = head.status in WELL
    made_revision = workflow_of(head.workflow).goes_back or "revision" in record.file.status
    return head.rollback == ROLLED_BACK or (well and made_revision)


def _left(records: Iterable[RecordedJob]) -> tuple[DoneHook, ...]:
    """What these jobs have done, the oldest first, and not undone."""
    found: dict[str, DoneHook] = {}
    for record in records:
        for change in record.changes():
            if change.undoes:
                found.pop(change.undoes, None)
            elif change.hook is not None:
                done = change.hook
                found[change.change_id] = DoneHook(done.step, record.head.change_id, change.change_id, done.result)
    return tuple(found.values())
