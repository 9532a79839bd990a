"""Look at the jobs of an ensemble: the list of them, the record of one, and what its operations printed."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ordito.app.errors import Refused
from ordito.app.gate import no_ensemble
from ordito.app.place import Place, place_of
from ordito.base.suggest import nearest
from ordito.ensemble.job_format import moment
from ordito.ensemble.job_history import JobLine, JobList, RecordedJob, all_jobs, job_lines, read_job
from ordito.ensemble.journal import UnfinishedJob
from ordito.ensemble.lock import holder
from ordito.ensemble.logs import read_log
from ordito.ensemble.store import read_ensemble
from ordito.work.plan import Action
from ordito.work.records import StepFinishedRecord, StepSkippedRecord

RUNNING = "running"
INTERRUPTED = "interrupted"


class JobsRequest(msgspec.Struct, frozen=True):
    """Which ensemble."""

    directory: str


class JobRequest(msgspec.Struct, frozen=True):
    """Which ensemble and which job: its id or the beginning of it, "" for the latest; ``step`` narrows a log."""

    directory: str
    job: str = ""
    step: str = ""


class OpenJob(msgspec.Struct, frozen=True):
    """A job whose end is not recorded: it runs, or it was interrupted. ``holder`` says who runs it, "" for nobody;
    ``done`` of ``steps`` have ended."""

    job: str
    workflow: str
    began: float
    done: int
    steps: int
    holder: str

    @property
    def outcome(self) -> str:
        """Whether somebody is at work on it."""
        return RUNNING if self.holder else INTERRUPTED

    @property
    def line(self) -> JobLine:
        """The job as the list of jobs shows it."""
        summary = f"{self.done} of {self.steps} steps done"
        return JobLine(self.job, self.workflow, self.outcome, moment(self.began), None, summary)


def list_jobs(request: JobsRequest) -> JobList:
    """All jobs, the latest first. Raises ``Refused`` where there is no ensemble, and ``EnsembleError``."""
    place = _place(request.directory)
    listed = all_jobs(place.layout)
    lines = {line.id: line for line in listed.jobs}
    found = open_job(place)
    if found is not None:
        lines[found.job] = found.line
    return JobList(tuple(sorted(lines.values(), key=lambda line: line.id, reverse=True)), listed.problems)


def show_job(request: JobRequest) -> RecordedJob | OpenJob:
    """The record of a closed job, or what is known of one that is not. Raises ``Refused`` and ``EnsembleError``."""
    place = _place(request.directory)
    found = open_job(place)
    job = _find(place, request.job, found)
    if found is not None and found.job == job:
        return found
    record = read_job(place.layout, job)
    if record is None:
        raise Refused("no-record", f"the record of job {job} is missing", "restore the directory jobs from git")
    return record


def job_log(request: JobRequest) -> tuple[str, Iterator[tuple[str, bytes]]]:
    """The id of the job, and what its operations printed, piece by piece with the id of the step.

    Raises ``Refused`` and ``EnsembleError``, the latter also while the pieces are read.
    """
    place = _place(request.directory)
    job = _find(place, request.job, open_job(place))
    return job, read_log(place.layout.log(job), request.step or None)


def open_job(place: Place) -> OpenJob | None:
    """The job of an ensemble whose end is not recorded, if any. Raises ``EnsembleError``."""
    with read_ensemble(place.layout.root) as ensemble:
        if ensemble.unfinished is None:
            return None
        return describe(place, ensemble.unfinished)


def describe(place: Place, unfinished: UnfinishedJob) -> OpenJob:
    """What is known of a job whose end is not recorded."""
    steps = [step.action is not Action.JOIN for step in unfinished.plan.steps]
    ended = {r.step for r in unfinished.records if isinstance(r, StepFinishedRecord | StepSkippedRecord)}
    owner = holder(place.layout)
    return OpenJob(
        job=unfinished.header.id,
        workflow=unfinished.header.workflow,
        began=unfinished.header.began,
        done=len(ended),
        steps=sum(steps),
        holder=str(owner) if owner else "",
    )


def _place(directory: str) -> Place:
    place = place_of(directory)
    if not place.layout.exists:
        raise no_ensemble(place.shown)
    return place


def _find(place: Place, wanted: str, found: OpenJob | None) -> str:
    """The id of the job that is meant."""
    known = {*place.layout.job_ids(), *(line.id for line in job_lines(place.layout))}
    if found is not None:
        known.add(found.job)
    if not known:
        raise Refused(
            "no-jobs", "no job has run in this ensemble yet", next_words=("deploy",), purpose="begin the first one"
        )
    if not wanted:
        return max(known)
    matching = [job for job in known if job.startswith(wanted)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise Refused("ambiguous-job", f'"{wanted}" may be {", ".join(sorted(matching)[:5])}', "give more characters")
    near = nearest(wanted, sorted(known, reverse=True))
    hint = f'did you mean "{near[0]}"?' if near else ""
    raise Refused(
        "unknown-job", f'there is no job "{wanted}"', hint, next_words=("jobs", "list"), purpose="see which there are"
    )
