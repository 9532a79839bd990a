"""What happened in a job and when: its timeline in columns, and its steps by page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from operator import attrgetter, sub
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from ordito.app.attempts import RETRIED, JobAttempts, job_attempts
from ordito.app.course import (
    FAILED,
    NOT_NEEDED,
    SKIPPED,
    SUCCEEDED,
    WAITING,
    Cancelled,
    CourseRequest,
    CourseStep,
    JobCourse,
    job_course,
)
from ordito.app.job.jobs import INTERRUPTED, RUNNING, JobRequest, job_changes
from ordito.base.collector import paused_collector
from ordito.base.sensitive import encode_hook
from ordito.ensemble.job_format import NO_OP, ConfigChange, moment
from ordito.results.answer import Asked, ResultData, UseCase
from ordito.results.jobs import without_printed

LETTERS = {
    RUNNING: "r",
    WAITING: "w",
    SUCCEEDED: "s",
    NO_OP: "n",
    FAILED: "f",
    SKIPPED: "k",
    NOT_NEEDED: "u",
    INTERRUPTED: "i",
    RETRIED: "a",
}


class TimelineColumns(msgspec.Struct, frozen=True):
    """The attempts of steps in columns, those that began first in front. Steps that have not begun are left out."""

    row: tuple[int, ...]
    """The number of the row of each."""

    operation: tuple[int, ...]
    """The number of the operation of each."""

    start: tuple[int, ...]
    """When each began: milliseconds after the one before it, the first one after ``t0``."""

    milliseconds: tuple[int, ...]
    """How long each took in milliseconds, -1 as long as it runs."""

    state: str
    """How each ended, one letter: ``r`` runs, ``w`` its next attempt waits, ``s`` succeeded, ``n`` did nothing, ``f``
    failed, ``a`` failed and another attempt followed, ``k`` was skipped, ``u`` was not needed, ``i`` interrupted."""

    attempt: tuple[int, ...]
    """The number of each attempt, from 1; 0 for what was not run."""

    step: dict[int, str]
    """The ids of steps that are not called as their row and their operation with a dot between them, by number."""


class CancelledData(msgspec.Struct, frozen=True):
    """That a job was asked to end."""

    at: str
    """When, in UTC."""

    by: str
    """Who has asked, "" for nobody: its time was over."""

    now: bool
    """Whether what ran was ended, instead of going on to its end."""

    because: str
    """Why, where nobody has asked."""


class TimelineData(ResultData, frozen=True, kw_only=True, tag="ordito.jobs-timeline/1"):
    """When everything in a job happened."""

    job: str
    workflow: str
    status: str
    """``running``, ``interrupted``, or how it ended."""

    t0: int
    """When it began, in milliseconds since the epoch."""

    end: int
    """How many milliseconds later it ended, -1 if it has not."""

    rows: tuple[str, ...]
    """The instances, those that began first in front."""

    operations: tuple[str, ...]
    steps: TimelineColumns
    critical: tuple[int, ...]
    """The numbers of the attempts that decided how long it took: each began when the one before it had ended."""

    cancelled: CancelledData | None = None
    """The last time that it was asked to end, null where that is not known."""


class TimelineAsked(Asked, frozen=True):
    """About one job."""

    job: str = ""
    """Its id or the beginning of it, "" for the latest."""

    no_ops: bool = True
    """Whether steps that did nothing, or were not run, are told."""


def timeline_data(attempts: JobAttempts, *, no_ops: bool = True) -> TimelineData:
    """The timeline of a job."""
    began = _whole(attempts.began)
    # Those that began at the same time stay in the order in which they are told.
    shown = sorted((one for one in attempts.all if no_ops or one.number), key=attrgetter("start"))
    of_row = [one.instance or one.step for one in shown]
    of_operation = [one.operation for one in shown]
    rows, operations = _numbered(of_row), _numbered(of_operation)
    starts = [_whole(one.start) for one in shown]
    lengths = [_whole(one.ended) - at if one.ended != math.inf else -1 for one, at in zip(shown, starts, strict=True)]
    decisive = frozenset(attempts.critical)
    return TimelineData(
        job=attempts.job,
        workflow=attempts.workflow,
        status=attempts.status,
        t0=began,
        end=_whole(attempts.ended) - began if attempts.ended is not None else -1,
        rows=tuple(rows),
        operations=tuple(operations),
        steps=TimelineColumns(
            row=tuple(map(rows.__getitem__, of_row)),
            operation=tuple(map(operations.__getitem__, of_operation)),
            start=tuple(map(sub, starts, [began, *starts[:-1]])),
            milliseconds=tuple(lengths),
            state="".join(LETTERS[one.state] for one in shown),
            attempt=tuple(one.number for one in shown),
            step={
                place: one.step
                for place, (one, row) in enumerate(zip(shown, of_row, strict=True))
                if one.step != f"{row}.{one.operation}"
            },
        ),
        critical=tuple(place for place, one in enumerate(shown) if one.step in decisive),
        cancelled=_cancelled(attempts.cancelled),
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    """The number of each name, in the order in which they come first."""
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _cancelled(found: Cancelled | None) -> CancelledData | None:
    return CancelledData(_moment(found.at), found.by, found.now, found.because) if found is not None else None


def _whole(seconds: float) -> int:
    return round(seconds * 1_000)


# ---------------------------------------------------------------------------------------------------- steps, by page


class AttemptData(msgspec.Struct, frozen=True):
    """One attempt of a step."""

    began: str
    """A moment in UTC; ``ended`` likewise, "" while it runs."""

    ended: str
    state: str
    message: str
    exit_code: int | None


class StepData(msgspec.Struct, frozen=True, kw_only=True):
    """A step of a job."""

    id: str
    instance: str
    operation: str
    far: str
    """The other end of an operation of a pair, "" for none."""

    state: str
    """``pending``, ``running``, ``waiting`` for its next attempt, ``succeeded``, ``no-op``, ``failed``, ``skipped``,
    ``not needed`` or ``interrupted``."""

    began: str
    """When its first attempt began, in UTC, "" before."""

    ended: str
    """When it ended, or was said not to run, "" before."""

    attempts: tuple[AttemptData, ...]
    most: int
    """How many attempts it has at most, as far as that is known."""

    next: str
    """When its next attempt begins, "" where it does not wait for that."""

    message: str
    """What was said at its end, or at that of the last attempt."""

    exit_code: int | None
    tail: tuple[str, ...] | UnsetType = UNSET
    """The last lines that it printed, if it failed; left out for those who may not read what is printed."""

    because: str
    """Why it was not run: the id of the failed step that it depended on, or a reason."""

    reason: str
    """Why it is in the plan."""

    declared: str
    """Where the template declares its operation, "" where that is not known."""

    artifact: str
    host: str
    """The instance on which it runs, "" for the machine of Ordito."""

    waits_for: tuple[str, ...]
    """Steps that have to end before it begins; some of them, if they are many."""

    warnings: tuple[str, ...]


class JobStepsData(ResultData, frozen=True, kw_only=True, tag="ordito.jobs-steps/1"):
    """Steps of a job."""

    job: str
    workflow: str
    status: str
    items: tuple[StepData, ...]
    next: int | None
    """The number behind the last one, null at the end."""

    counts: dict[str, int]
    """How many steps there are altogether, by state."""


class StepsAsked(Asked, frozen=True):
    """About steps of a job."""

    job: str = ""
    """Its id or the beginning of it, "" for the latest."""

    state: str = ""
    """Of these states only, with a comma between them, "" for all."""

    instance: str = ""
    """Of this instance only."""

    q: Annotated[str, msgspec.Meta(max_length=200)] = ""
    """A text in the id of the step, or in what was said of it."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    """How many steps of the job come before those that are wanted."""

    printed: bool = True
    """Whether it is told what was printed."""


def job_steps_data(course: JobCourse, asked: StepsAsked) -> JobStepsData:
    """Steps of a course."""
    counts: dict[str, int] = {}
    found: list[StepData] = []
    after: int | None = None
    states, text = frozenset(filter(None, asked.state.split(","))), asked.q.casefold()
    for number, step in enumerate(course.steps.values()):
        counts[step.state] = counts.get(step.state, 0) + 1
        if number < asked.after or after is not None or not _fits(step, states, asked.instance, text):
            continue
        if len(found) == asked.limit:
            after = number
            continue
        found.append(step_data(step, printed=asked.printed))
    return JobStepsData(
        job=course.job,
        workflow=course.workflow,
        status=course.status,
        items=tuple(found),
        next=after,
        counts=counts,
    )


def _fits(step: CourseStep, states: frozenset[str], instance: str, text: str) -> bool:
    if (states and step.state not in states) or (instance and step.instance != instance):
        return False
    return not text or text in step.id.casefold() or text in step.outcome.message.casefold()


def step_data(step: CourseStep, *, printed: bool = True) -> StepData:
    """A step."""
    attempts = (
        AttemptData(_moment(one.began), _moment(one.ended), one.state, one.outcome.message, one.outcome.exit_code)
        for one in step.attempts
    )
    return StepData(
        id=step.id,
        instance=step.instance,
        operation=step.operation,
        far=step.far,
        state=step.state,
        began=_moment(step.began),
        ended=_moment(step.at),
        attempts=tuple(attempts),
        most=step.most,
        next=_moment(step.next),
        message=step.outcome.message,
        exit_code=step.outcome.exit_code,
        tail=step.outcome.tail if printed else UNSET,
        because=step.because,
        reason=step.reason,
        declared=step.declared,
        artifact=step.artifact,
        host=step.host,
        waits_for=step.waits_for,
        warnings=step.warnings,
    )


def _moment(seconds: float | None) -> str:
    return moment(seconds) if seconds else ""


# ------------------------------------------------------------------------------------------------- changes, by page


class JobChangesData(ResultData, frozen=True, kw_only=True, tag="ordito.jobs-changes/1"):
    """What the tasks of a job did, and what that changed."""

    job: str
    items: tuple[ConfigChange, ...]
    next: int | None
    """The number behind the last one, null where no more are known."""

    last: int
    """The number behind the last one, also where no more are known: of a job that goes on, those that come later are
    asked for with it as ``after``."""

    complete: bool
    """Whether the job has ended; else further ones come behind those that are known."""


class ChangesAsked(Asked, frozen=True):
    """About changes of a job."""

    job: str = ""
    """Its id or the beginning of it, "" for the latest."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=500)] = 50
    after: Annotated[int, msgspec.Meta(ge=0)] = 0
    """How many changes of the job come before those that are wanted."""

    printed: bool = True
    """Whether it is told what was printed and given."""


def _changes(directory: str, asked: ChangesAsked) -> JobChangesData:
    with paused_collector():
        found = job_changes(JobRequest(directory, asked.job))
        there = islice(found.changes, asked.after, asked.after + asked.limit + 1)
        plain = [msgspec.to_builtins(change, enc_hook=encode_hook) for change in there]
    items = tuple(msgspec.convert(one, ConfigChange) for one in plain[: asked.limit])
    if not asked.printed:
        items = tuple(map(without_printed, items))
    last = asked.after + len(items)
    return JobChangesData(
        job=found.job,
        items=items,
        next=last if len(plain) > asked.limit else None,
        last=last,
        complete=found.is_complete,
    )


def _timeline(directory: str, asked: TimelineAsked) -> TimelineData:
    with paused_collector():
        return timeline_data(job_attempts(directory, asked.job), no_ops=asked.no_ops)


def _steps(directory: str, asked: StepsAsked) -> JobStepsData:
    with paused_collector():
        return job_steps_data(job_course(CourseRequest(directory, asked.job, explained=True)), asked)


TIMELINE = UseCase("jobs timeline", TimelineAsked, (TimelineData,), _timeline)
JOB_CHANGES = UseCase("jobs changes", ChangesAsked, (JobChangesData,), _changes)
JOB_STEPS = UseCase("jobs steps", StepsAsked, (JobStepsData,), _steps)
