"""Show the jobs of an ensemble: the list, the record of one, and the output of its operations."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from ordito.app.ensemble_checks import no_ensemble
from ordito.app.errors import Refused
from ordito.app.place import Place, place_of
from ordito.base.suggest import nearest
from ordito.ensemble.backing import backing_of
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.git.shared_lock import Lease, find, remove
from ordito.ensemble.git.sharing import Meeting, asks_for_lock, meeting_of
from ordito.ensemble.job_format import NO_OP, ConfigChange, moment
from ordito.ensemble.job_history import JobLine, JobList, RecordedJob, all_jobs, job_lines, read_job
from ordito.ensemble.job_record import changes_so_far
from ordito.ensemble.job_rows import UnfinishedJob
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.ensemble.logs import by_lines, places_of, read_log
from ordito.ensemble.owner import SharedLocked
from ordito.ensemble.store import read_ensemble
from ordito.work.invocation import Ending
from ordito.work.plan import Action
from ordito.work.records import NOBODY, AskedBy

WELL = frozenset({"", NO_OP, str(Ending.SUCCEEDED), str(Ending.BY_HAND)})
"""The values by which the ConfigChange of a step says that it has succeeded, or has not ended."""

RUNNING = "running"
INTERRUPTED = "interrupted"


class JobsRequest(msgspec.Struct, frozen=True):
    """A request about all jobs of an ensemble."""

    directory: str


class JobRequest(msgspec.Struct, frozen=True):
    """A request about one job of an ensemble: its id or the beginning of it, "" for the latest; ``step`` restricts a
    log to one step."""

    directory: str
    job: str = ""
    step: str = ""


class OpenJob(msgspec.Struct, frozen=True):
    """A job whose end is not recorded: it runs, or was interrupted."""

    job: str
    workflow: str
    began: float
    """When it began, in seconds since the epoch."""

    done: int
    """How many of its steps have ended."""

    steps: int
    """How many steps it has."""

    holder: str
    """The command that runs it, "" for none."""

    rolling_back: bool = False
    """Whether it has failed and is being rolled back."""

    asked: AskedBy = NOBODY

    @property
    def outcome(self) -> str:
        """Whether it runs or was interrupted, in one word."""
        return RUNNING if self.holder else INTERRUPTED

    @property
    def line(self) -> JobLine:
        """Its row in the list of jobs."""
        summary = f"{self.done} of {self.steps} steps ended{', rolling back' if self.rolling_back else ''}"
        return JobLine(self.job, self.workflow, self.outcome, moment(self.began), None, summary)


def list_jobs(request: JobsRequest) -> JobList:
    """All jobs, the latest first. Raises ``Refused`` if there is no ensemble, and ``EnsembleError``."""
    place = ensemble_place(request.directory)
    listed = all_jobs(place.layout)
    lines = {line.id: line for line in listed.jobs}
    found = open_job(place)
    if found is not None:
        lines[found.job] = found.line
    return JobList(tuple(sorted(lines.values(), key=lambda line: line.id, reverse=True)), listed.problems)


def show_job(request: JobRequest) -> RecordedJob | OpenJob:
    """The record of a closed job, or what is known of an open one. Raises ``Refused`` and ``EnsembleError``."""
    place = ensemble_place(request.directory)
    found = open_job(place)
    job = find_job(place, request.job, found)
    if found is not None and found.job == job:
        return found
    record = read_job(place.layout, job)
    if record is None:
        raise Refused("no-record", f"the record of job {job} is missing", "restore the directory jobs from git")
    return record


class ToldChanges(msgspec.Struct, frozen=True):
    """What the tasks of a job have done."""

    job: str
    changes: Iterator[ConfigChange]
    """In the order in which the tasks have ended; reading them raises ``EnsembleError``."""

    is_complete: bool
    """Whether the job is closed; else further ones come behind these."""


def job_changes(request: JobRequest) -> ToldChanges:
    """What the tasks of a job have done, so far if it has not ended. Raises ``Refused`` and ``EnsembleError``."""
    found = show_job(request)
    if isinstance(found, OpenJob):
        layout = place_of(request.directory).layout
        journal = backing_of(layout).read_journal(layout)
        if journal is not None:
            with journal:
                so_far = changes_so_far(journal, found.job)
            if so_far is not None:
                return ToldChanges(found.job, iter(so_far), is_complete=False)
        # It was closed meanwhile.
        found = show_job(msgspec.structs.replace(request, job=found.job))
        assert not isinstance(found, OpenJob)
    return ToldChanges(found.head.change_id, found.changes(), is_complete=True)


class JobOutput(msgspec.Struct, frozen=True):
    """What the operations of a job have printed."""

    job: str
    pieces: Iterator[tuple[str, bytes]]
    """Pieces of whole lines, each with the id of the step that printed it; reading them raises ``EnsembleError``."""

    is_kept: bool
    """Whether its output would be here: that of old jobs, and of jobs of other clones, is not."""


def job_log(request: JobRequest) -> JobOutput:
    """The output of the operations of a job. Raises ``Refused`` and ``EnsembleError``."""
    place = ensemble_place(request.directory)
    found = open_job(place)
    job = find_job(place, request.job, found)
    if request.step:
        _check_step(place, job, request.step)
    log, layout = place.layout.log(job), place.layout
    is_kept = log.exists() or layout.events(job).exists() or (found is not None and found.job == job)
    return JobOutput(job, by_lines(read_log(log, request.step or None)), is_kept)


def _check_step(place: Place, job: str, step: str) -> None:
    """Raise ``Refused`` for a step that the job does not have; a step without output is allowed."""
    with read_ensemble(place.layout.root) as ensemble:
        unfinished = ensemble.unfinished
        if unfinished is not None and unfinished.header.id == job:
            known = {s.id for s in unfinished.plan.steps if s.action is not Action.JOIN}
        else:
            log = place.layout.log(job)
            known = {name for name, _, _ in (places_of(log) if log.exists() else ())}
            known.update(steps_of(read_job(place.layout, job)))
    if step not in known:
        raise unknown_step(job, step, known)


def steps_of(record: RecordedJob | None) -> set[str]:
    """The ids of the steps of a closed job, by its record. Raises ``EnsembleError``."""
    if record is None:
        return set()
    tasks = {step_of(change) for change in record.changes() if change.operation}
    return tasks | record.file.skipped.keys()


def failed_steps(place: Place, job: str) -> list[str]:
    """The ids of the failed steps of a closed job; none if its record cannot be read."""
    try:
        record = read_job(place.layout, job)
        changes = list(record.changes()) if record is not None else []
    except EnsembleError:
        return []
    return [step_of(change) for change in changes if change.operation and change.outcome not in WELL]


def step_of(change: ConfigChange) -> str:
    """The id of the step of a ConfigChange."""
    return change.step or f"{change.target}.{change.operation}"


def unknown_step(job: str, step: str, known: Collection[str]) -> Refused:
    """The refusal for a step that a job does not have, with similar ones."""
    near = nearest(step, known) or sorted(k for k in known if k.endswith(f".{step.rpartition('.')[2]}"))[:3]
    named = " or ".join(f'"{name}"' for name in near)
    return Refused(
        "unknown-step",
        f'job {job} has no step "{step}"',
        f"did you mean {named}?" if named else "steps are written like web_1.Standard.create",
        next_words=("jobs", "show", job),
        purpose="see its steps",
    )


def open_job(place: Place) -> OpenJob | None:
    """The open job of an ensemble, if any. Raises ``EnsembleError``."""
    with read_ensemble(place.layout.root) as ensemble:
        if ensemble.unfinished is None:
            return None
        return describe(place, ensemble.unfinished)


def describe(place: Place, unfinished: UnfinishedJob) -> OpenJob:
    """What is known of an open job."""
    ended, steps = unfinished.progress
    owner = holder(place.layout)
    return OpenJob(
        job=unfinished.header.id,
        workflow=unfinished.header.workflow,
        began=unfinished.header.began,
        done=ended,
        steps=steps,
        holder=str(owner) if owner else "",
        rolling_back=unfinished.is_going_back,
        asked=unfinished.header.asked,
    )


def ensemble_place(directory: str) -> Place:
    """The place of an ensemble. Raises ``Refused`` if there is none."""
    place = place_of(directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    return place


def find_job(place: Place, wanted: str, found: OpenJob | None) -> str:
    """The id of the wanted job: by its beginning, or the latest. Raises ``Refused``."""
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


# Take the lock that clones share away from one that does not come back.


class HeldLock(msgspec.Struct, frozen=True):
    """A held lock: where, by whom (``lease``), and the job of this clone that must be resumed first, "" for none."""

    meeting: Meeting
    lease: Lease


def held_lock(directory: str) -> HeldLock | None:
    """The shared lock of an ensemble; None if nobody holds it. Raises ``Refused`` if there is no such lock, ``Locked``
    if its holder is known to be running, ``EnsembleError``."""
    place = place_of(directory)
    if not place.layout.exists:
        raise no_ensemble(place.name)
    if not asks_for_lock(place.layout):
        raise Refused(
            "no-shared-lock",
            f'{place.manifest} does not ask for a lock that clones share: it has no "lock: git"',
            "the lock of this directory needs no unlocking: it ends with the process that holds it",
            next_words=("status",),
            purpose="see whether a command is at work",
        )
    meeting = meeting_of(place.layout)
    lease = find(meeting)
    if lease is None:
        return None
    if lease.owner.is_alive:
        raise SharedLocked(meeting.remote, lease.owner)
    _refuse_own_job(place.layout, lease)
    return HeldLock(meeting, lease)


def _refuse_own_job(layout: Layout, lease: Lease) -> None:
    """Raise ``Refused`` for the lock of an open job of this clone: resuming the job takes it over."""
    if lease.owner.place != str(layout.root):
        return
    with read_ensemble(layout.root) as ensemble:
        if ensemble.unfinished is not None:
            raise Refused(
                "unfinished-job",
                f"the lock is held for job {ensemble.unfinished.header.id} of this clone, which is not finished",
                "resuming the job takes the lock over, and releases it at the end",
                next_words=("jobs", "resume"),
                purpose="continue it where it stopped",
            )


def take_away(held: HeldLock) -> None:
    """Remove the lock, if it still has the holder that was shown. Raises ``EnsembleError``."""
    remove(held.meeting, held.lease.id)
