"""The course of a job: when each of its steps began and ended, attempt by attempt, and how. It is read from the events
of the job, also while it runs; where those are not kept any more, its record says nearly the same."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import msgspec

from ordito.app.errors import Refused
from ordito.app.job.jobs import INTERRUPTED, RUNNING, WELL, OpenJob, ensemble_place, find_job, open_job, step_of
from ordito.app.place import Place
from ordito.ensemble.events_file import lines_from
from ordito.ensemble.job_format import NO_OP, ConfigChange
from ordito.ensemble.job_history import RecordedJob, read_job
from ordito.ensemble.store import read_ensemble
from ordito.work.plan import Action

PENDING = "pending"
WAITING = "waiting"
"""An attempt has failed, and another one follows."""

SUCCEEDED = "succeeded"
FAILED = "failed"
SKIPPED = "skipped"
NOT_NEEDED = "not needed"

STEP_STATES = (PENDING, RUNNING, WAITING, SUCCEEDED, NO_OP, FAILED, SKIPPED, NOT_NEEDED, INTERRUPTED)


# They are made step by step while a file is read, of which there may be hundreds of thousands: so they are not frozen.


class Attempt(msgspec.Struct):
    """One attempt of a step."""

    began: float
    """Seconds since the epoch; ``ended`` likewise, None while it runs."""

    ended: float | None = None
    state: str = RUNNING
    message: str = ""
    exit_code: int | None = None


class CourseStep(msgspec.Struct):
    """A step of a job."""

    id: str
    instance: str
    operation: str
    far: str = ""
    """The other end of an operation of a pair, "" for none."""

    state: str = PENDING
    attempts: list[Attempt] = []
    most: int = 1
    """How many attempts it has at most, as far as that is known."""

    next: float | None = None
    """When the next attempt begins, while it waits for that."""

    at: float = 0.0
    """When it ended, or was said not to run; 0 before."""

    message: str = ""
    """What was said at its end, or at that of the last attempt."""

    exit_code: int | None = None
    tail: tuple[str, ...] = ()
    """The last lines that it printed, if it failed."""

    because: str = ""
    """Why it was not run: the id of the failed step that it depended on, or a reason."""

    reason: str = ""
    """Why it is in the plan, where that is known."""

    declared: str = ""
    """Where the template declares its operation, where that is known."""

    artifact: str = ""
    host: str = ""
    warnings: tuple[str, ...] = ()
    waits_for: tuple[str, ...] = ()
    """Steps that have to end before it begins, some of them if they are many; only of a job that has not ended."""

    @property
    def began(self) -> float:
        """When its first attempt began; 0 if it was not run."""
        return self.attempts[0].began if self.attempts else 0.0


class Cancelled(msgspec.Struct, frozen=True):
    """That a job was asked to end."""

    at: float
    by: str
    """Who has asked, "" for nobody: its time was over."""

    now: bool
    """Whether what ran was ended."""

    because: str
    """Why, where nobody has asked."""


class JobCourse(msgspec.Struct):
    """The course of a job so far."""

    job: str
    workflow: str
    status: str
    """``running``, ``interrupted``, or how it ended."""

    began: float
    ended: float | None
    steps: dict[str, CourseStep]
    """By id, in the order in which they began or were said not to run."""

    remains: tuple[str, ...] = ()
    """What a rollback has not undone."""

    cancelled: Cancelled | None = None
    """The last time that it was asked to end, as far as its events are kept."""


class CourseRequest(msgspec.Struct, frozen=True):
    """The ensemble, and the job: its id or the beginning of it, "" for the latest."""

    directory: str
    job: str = ""
    explained: bool = False
    """Whether it is told why each step is in the plan, and which are still to come; that takes longer."""


def job_course(request: CourseRequest) -> JobCourse:
    """The course of a job. Raises ``Refused`` and ``EnsembleError``."""
    place = ensemble_place(request.directory)
    found = open_job(place)
    job = find_job(place, request.job, found)
    is_open = found is not None and found.job == job
    course = _by_events(place, job, found if is_open else None)
    if is_open:
        if request.explained:
            _explain_by_plan(place, course)
        return course
    record = None
    if not course.steps or request.explained:
        record = read_job(place.layout, job)
    if not course.steps:
        if record is None:
            raise Refused("no-record", f"the record of job {job} is missing", "restore the directory jobs from git")
        return _by_record(record)
    if record is not None:
        _explain_by_record(record, course)
    return course


# ------------------------------------------------------------------------------------------------------ by its events


class _Outcome(msgspec.Struct, frozen=True):
    message: str = ""
    exit_code: int | None = None
    tail: tuple[str, ...] = ()


_NONE = _Outcome()


class _Line(msgspec.Struct, frozen=True):
    """What is taken from an event."""

    type: str
    at: float = 0.0
    step: str = ""
    instance: str = ""
    operation: str = ""
    far: str = ""
    no_op: bool | int = False
    """Whether a step did nothing; at the end of the job how many there were."""

    artifact: str = ""
    host: str = ""
    outcome: _Outcome = _NONE
    attempts: int = 1
    seconds: float = 0.0
    because: str = ""
    needless: bool = False
    declared: str = ""
    message: str = ""
    workflow: str = ""
    status: str = ""
    remains: tuple[str, ...] = ()
    by: str = ""
    now: bool = False


def _by_events(place: Place, job: str, found: OpenJob | None) -> JobCourse:
    course = JobCourse(job, "", found.outcome if found is not None else "", 0.0, None, {})
    decode = msgspec.json.Decoder(_Line).decode
    for line in lines_from(place.layout.events(job), 0):
        _take(course, decode(line))
    if course.status == INTERRUPTED:
        _interrupt(course)
    return course


def _take(course: JobCourse, line: _Line) -> None:
    """Add what an event tells."""
    kind, _, what = line.type.partition(".")
    if kind == "step" and line.step:
        step = course.steps.get(line.step)
        if step is None:
            step = course.steps[line.step] = CourseStep(line.step, line.instance, line.operation, line.far)
        _STEP[what](step, line)
    elif line.type == "job.started":
        course.workflow = line.workflow
        course.began = course.began or line.at
        # Whatever ran when the job was interrupted is begun anew, or is found to have ended.
        _interrupt(course)
    elif line.type == "job.rollback":
        course.remains = line.remains
    elif line.type == "job.cancelling":
        course.cancelled = Cancelled(line.at, line.by, line.now, line.because)
    elif line.type == "job.finished":
        course.status, course.ended, course.remains = line.status, line.at, line.remains


def _interrupt(course: JobCourse) -> None:
    for step in course.steps.values():
        if step.state == RUNNING:
            step.state = INTERRUPTED


def _started(step: CourseStep, line: _Line) -> None:
    if step.attempts and step.attempts[-1].ended is None:
        step.attempts[-1].ended = line.at
        step.attempts[-1].state = INTERRUPTED
    step.attempts.append(Attempt(line.at))
    # The first word about a step may have been a warning.
    step.instance, step.operation, step.far = line.instance, line.operation, line.far
    step.artifact, step.host = line.artifact, line.host
    step.state, step.next = RUNNING, None


def _ended(step: CourseStep, line: _Line, state: str) -> None:
    step.instance, step.operation = line.instance, line.operation
    step.state, step.at, step.next = state, line.at, None
    step.message, step.exit_code, step.tail = line.outcome.message, line.outcome.exit_code, line.outcome.tail
    step.declared = line.declared or step.declared
    _close(step, line, state)


def _close(step: CourseStep, line: _Line, state: str) -> None:
    if step.attempts and step.attempts[-1].ended is None:
        last = step.attempts[-1]
        last.ended, last.state = line.at, state
        last.message, last.exit_code = line.outcome.message, line.outcome.exit_code


def _succeeded(step: CourseStep, line: _Line) -> None:
    _ended(step, line, NO_OP if line.no_op else SUCCEEDED)


def _failed(step: CourseStep, line: _Line) -> None:
    _ended(step, line, FAILED)


def _retrying(step: CourseStep, line: _Line) -> None:
    step.message, step.exit_code, step.tail = line.outcome.message, line.outcome.exit_code, line.outcome.tail
    step.most, step.next, step.state = line.attempts, line.at + line.seconds, WAITING
    _close(step, line, FAILED)


def _skipped(step: CourseStep, line: _Line) -> None:
    _ended(step, line, NOT_NEEDED if line.needless else SKIPPED)
    step.because = line.because


def _warning(step: CourseStep, line: _Line) -> None:
    step.warnings = (*step.warnings, line.message)


def _nothing(_: CourseStep, __: _Line) -> None:
    """What is printed is in the log."""


_STEP = {
    "started": _started,
    "succeeded": _succeeded,
    "failed": _failed,
    "retrying": _retrying,
    "skipped": _skipped,
    "warning": _warning,
    "log": _nothing,
}

# ------------------------------------------------------------------------------------------- by its plan, by its record


MOST_NAMED = 10


def _explain_by_plan(place: Place, course: JobCourse) -> None:
    """Add to a job that has not ended what its plan says: the steps to come, and why each is there."""
    with read_ensemble(place.layout.root) as ensemble:
        if ensemble.unfinished is None or ensemble.unfinished.header.id != course.job:
            return
        plan = ensemble.unfinished.plan
    for step in plan.steps:
        if step.action is Action.JOIN:
            continue
        call = plan.calls[step.call] if step.call >= 0 else None
        known = course.steps.get(step.id)
        if known is None:
            operation = call.name if call is not None else step.id.rpartition(".")[2]
            known = course.steps[step.id] = CourseStep(step.id, step.instance, operation, step.far)
        known.reason = plan.reasons[step.reason]
        known.host = known.host or step.runs_on
        if call is not None:
            known.declared, known.artifact = call.declared, known.artifact or call.artifact
    before: dict[str, list[str]] = {}
    for first, then, _ in plan.edges:
        known = course.steps.get(plan.steps[then].id)
        other = course.steps.get(plan.steps[first].id)
        if known is not None and other is not None and known.state == PENDING and not other.at:
            before.setdefault(known.id, []).append(other.id)
    for name, others in before.items():
        course.steps[name].waits_for = tuple(others[:MOST_NAMED])


def _explain_by_record(record: RecordedJob, course: JobCourse) -> None:
    for change in record.changes():
        known = course.steps.get(step_of(change)) if change.operation else None
        if known is not None:
            known.reason = change.reason


def _by_record(record: RecordedJob) -> JobCourse:
    head = record.head
    steps, at = {}, _seconds(head.began)
    for step in map(_recorded, _tasks(record.changes())):
        # Of what did nothing the record does not say when: it stands behind what has ended before.
        at = step.at = step.at or at
        steps[step.id] = step
    ended = _seconds(head.ended) if head.ended else None
    for name, because in record.file.skipped.items():
        instance, _, operation = name.partition(".")
        steps[name] = CourseStep(name, instance, operation, state=SKIPPED, because=because, at=ended or 0.0)
    return JobCourse(head.change_id, head.workflow, head.status, _seconds(head.began), ended, steps, head.remains)


def _tasks(changes: Iterable[ConfigChange]) -> Iterable[ConfigChange]:
    return (change for change in changes if change.operation)


def _recorded(change: ConfigChange) -> CourseStep:
    began = _seconds(change.start)
    state = NO_OP if change.outcome == NO_OP else SUCCEEDED if change.outcome in WELL else FAILED
    ended = began + (change.seconds or 0.0)
    ran = [Attempt(began, ended, state, change.summary, change.exit_code)] if began and state != NO_OP else []
    return CourseStep(
        step_of(change),
        change.instance or change.target,
        change.operation,
        state=state,
        attempts=ran,
        most=change.attempts,
        at=ended,
        message=change.summary,
        exit_code=change.exit_code,
        tail=change.output,
        reason=change.reason,
        warnings=change.warnings,
    )


def _seconds(moment: str) -> float:
    """A moment of a record in seconds since the epoch, 0 for none."""
    try:
        return datetime.fromisoformat(moment).timestamp() if moment else 0.0
    except ValueError:
        return 0.0


# ------------------------------------------------------------------------------------------------- what took the time


def critical_path(course: JobCourse) -> tuple[str, ...]:
    """The steps that decided how long the job has taken: each began when the one before it had ended, and the last one
    ended last. They are found by their times alone, since nobody keeps the order of a plan once its job has ended."""
    ran = [step for step in course.steps.values() if step.attempts]
    if not ran:
        return ()
    by_end = sorted(ran, key=lambda step: (_end(step), step.id))
    found, at = [by_end[-1]], len(by_end) - 1
    while True:
        began = found[-1].began
        while at >= 0 and (_end(by_end[at]) > began or by_end[at] is found[-1]):
            at -= 1
        if at < 0:
            return tuple(step.id for step in reversed(found))
        found.append(_nearest(by_end, at, found[-1]))
        at = by_end.index(found[-1], max(0, at - MOST_ALIKE), at + 1)


MOST_ALIKE = 50
CLOSE = 0.002
"""Seconds between which two ends are the same."""


def _nearest(by_end: list[CourseStep], at: int, after: CourseStep) -> CourseStep:
    """The step that ended last, up to a place in their order; of several, one on the same instance."""
    last = by_end[at]
    for place in range(at, max(-1, at - MOST_ALIKE), -1):
        one = by_end[place]
        if _end(last) - _end(one) > CLOSE:
            break
        if one.instance == after.instance:
            return one
    return last


def _end(step: CourseStep) -> float:
    last = step.attempts[-1].ended
    return last if last is not None else float("inf")
