"""The revisions of an ensemble: each job that has made one says in its record what it has deployed.

A revision has a number. Clones that worked separately may have given the same number to different revisions; these
differ by their jobs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.job_history import RecordedJob, all_jobs, read_job
from ordito.ensemble.layout import Layout
from ordito.ensemble.status import WELL
from ordito.model.choices import Choices
from ordito.work.records import Form
from ordito.work.workflows import workflow_of

TO = "to"
"""The key in the record of a rollback for the job of the revision to which it leads."""


class Revision(msgspec.Struct, frozen=True):
    """A revision, and the job that has made it."""

    number: int
    form: Form
    """What was deployed."""
    job: str
    workflow: str
    """The workflow of the job."""
    ended: str = ""
    """When the job ended, in UTC."""
    status: str = ""
    """The status of the job."""
    to: str = ""
    """For a rollback, the job of the revision to which it led, "" where the record does not say it."""

    @property
    def was_removed(self) -> bool:
        """Whether the job has removed everything, so that there is nothing to roll back to."""
        return workflow_of(self.workflow).removes


def revisions(layout: Layout) -> Iterator[Revision]:
    """The revisions, the newest first; records are read only as far as needed. Raises ``EnsembleError``, also during
    the iteration."""
    jobs = all_jobs(layout).jobs
    for line in reversed(jobs):
        if not workflow_of(line.workflow).revises or line.outcome not in WELL:
            continue
        record = read_job(layout, line.id)
        if record is None:
            raise EnsembleError(f"the record of job {line.id} is missing", "restore the directory jobs from git")
        if number := _number(record):
            head, form = record.head, record.file.form or _form(layout, record, [job.id for job in jobs])
            form = msgspec.structs.replace(form, revision=number)
            yield Revision(number, form, line.id, head.workflow, head.ended, head.status, _told(head.options))


def _told(options: Mapping[str, object]) -> str:
    """The job of the revision to which a rollback was told to go."""
    told = options.get("told")
    return str(told.get(TO, "")) if isinstance(told, Mapping) else ""


def recorded_form(layout: Layout, job: str) -> Form | None:
    """What a job has deployed, or had to deploy, by its record; None where there is none. Raises ``EnsembleError``."""
    record = read_job(layout, job)
    if record is None or not workflow_of(record.head.workflow).revises:
        return None
    return record.file.form or _form(layout, record, [line.id for line in all_jobs(layout).jobs])


def _number(record: RecordedJob) -> int:
    """The number of the revision that a job has made, 0 for none."""
    if record.file.form is not None:
        return record.head.revision
    said = record.file.status.get("revision", 0)
    return said if isinstance(said, int) else 0


OF_FORM = ("main", "inputs", "choices")
"""The keys of the status for what belongs to a deployed version besides its service."""


def _form(layout: Layout, record: RecordedJob, jobs: list[str]) -> Form:
    """What a job has deployed whose record is of a format that does not say it: what it has changed in the status, and
    else the jobs before it."""
    said: dict[str, object] = {}
    at: RecordedJob | None = record
    for job in reversed(jobs[: jobs.index(record.head.change_id) + 1]):
        if job != record.head.change_id:
            at = read_job(layout, job)
        if at is not None:
            said = {**{key: at.file.status[key] for key in OF_FORM if key in at.file.status}, **said}
        if len(said) == len(OF_FORM):
            break
    inputs, choices = said.get("inputs", {}), msgspec.convert(said.get("choices", {}), Choices)
    return Form(
        record.head.service,
        str(said.get("main", "")),
        inputs if isinstance(inputs, dict) else {},
        choices,
    )
