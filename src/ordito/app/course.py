"""The course of a job: when each of its steps began and ended, attempt by attempt, and how. It is read from the events
of the job, also while it runs; where those are not kept any more, its record says nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from ordito.app.errors import Refused
from ordito.app.job.jobs import INTERRUPTED, RUNNING, WELL, OpenJob, ensemble_place, find_job, open_job, step_of
from ordito.app.place import Place
from ordito.ensemble.events_file import blocks_from
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


class StepOutcome(msgspec.Struct, frozen=True, gc=False):
    """How a step or an attempt ended."""

    message: str = ""
    """What was said at its end."""

    exit_code: int | None = None
    tail: tuple[str, ...] = ()
    """The last lines that it printed, if it failed."""


NO_OUTCOME = StepOutcome()

# They are made step by step while a file is read, of which there may be hundreds of thousands: so they are not frozen,
# and hold what was read of an event as it is.


class Attempt(msgspec.Struct, gc=False):
    """One attempt of a step."""

    began: float
    """Seconds since the epoch; ``ended`` likewise, None while it runs."""

    ended: float | None = None
    state: str = RUNNING
    outcome: StepOutcome = NO_OUTCOME


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

    outcome: StepOutcome = NO_OUTCOME
    """How it ended, or its last attempt."""

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


class CourseHead(msgspec.Struct):
    """What is known of the course of a job as a whole."""

    job: str
    workflow: str = ""
    status: str = ""
    """``running``, ``interrupted``, or how it ended."""

    began: float = 0.0
    ended: float | None = None
    remains: tuple[str, ...] = ()
    """What a rollback has not undone."""

    cancelled: Cancelled | None = None
    """The last time that it was asked to end, as far as its events are kept."""

    def interrupt(self) -> None:
        """Whatever runs does not any more."""


class JobCourse(CourseHead):
    """The course of a job so far."""

    steps: dict[str, CourseStep] = {}
    """By id, in the order in which they began or were said not to run."""

    def interrupt(self) -> None:
        """Whatever runs does not any more."""
        for step in self.steps.values():
            if step.state == RUNNING:
                step.state = INTERRUPTED


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
    course = JobCourse(job)
    read_events(place.layout.events(job), course, EventLine, _TAKES, found if is_open else None)
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


class HeadLine(msgspec.Struct, frozen=True, gc=False):
    """What is taken from an event about the job itself."""

    type: str
    at: float = 0.0
    workflow: str = ""
    status: str = ""
    remains: tuple[str, ...] = ()
    by: str = ""
    now: bool = False
    because: str = ""


class AttemptLine(HeadLine, frozen=True, gc=False):
    """What says of an event about a step when it was, and how it went."""

    step: str = ""
    instance: str = ""
    operation: str = ""
    no_op: bool | int = False
    """Whether a step did nothing; at the end of the job how many there were."""

    needless: bool = False


class EventLine(AttemptLine, frozen=True, gc=False):
    """What is taken from an event about a step."""

    far: str = ""
    artifact: str = ""
    host: str = ""
    outcome: StepOutcome = NO_OUTCOME
    attempts: int = 1
    seconds: float = 0.0
    declared: str = ""
    message: str = ""


H = TypeVar("H", bound=CourseHead)
L = TypeVar("L", bound=HeadLine)


def read_events(
    path: Path, into: H, line: type[L], takes: Mapping[str, Callable[[H, L], None]], found: OpenJob | None
) -> None:
    """Read the events of a job, which is ``found`` to be open or not. What is wanted of a ``line`` about a step
    ``takes`` adds; what is told about the job itself is added too. Raises ``EnsembleError``."""
    if found is not None:
        into.status = found.outcome
    # Many lines at once, and only what is wanted of them: there are hundreds of thousands of a large job.
    decode = msgspec.json.Decoder(line).decode_lines
    for block in blocks_from(path, 0):
        for one in decode(block):
            take = takes.get(one.type) or _OF_JOB.get(one.type)
            if take is not None:
                take(into, one)
    if into.status == INTERRUPTED:
        into.interrupt()


def _job_started(course: CourseHead, line: HeadLine) -> None:
    course.workflow = line.workflow
    course.began = course.began or line.at
    # Whatever ran when the job was interrupted is begun anew, or is found to have ended.
    course.interrupt()


def _job_rollback(course: CourseHead, line: HeadLine) -> None:
    course.remains = line.remains


def _job_cancelling(course: CourseHead, line: HeadLine) -> None:
    course.cancelled = Cancelled(line.at, line.by, line.now, line.because)


def _job_finished(course: CourseHead, line: HeadLine) -> None:
    course.status, course.ended, course.remains = line.status, line.at, line.remains


_OF_JOB = {
    "job.started": _job_started,
    "job.rollback": _job_rollback,
    "job.cancelling": _job_cancelling,
    "job.finished": _job_finished,
}


def _of(course: JobCourse, line: EventLine) -> CourseStep:
    """The step that an event is about."""
    step = course.steps.get(line.step)
    if step is None:
        step = course.steps[line.step] = CourseStep(line.step, line.instance, line.operation, line.far)
    return step


def _started(course: JobCourse, line: EventLine) -> None:
    step = _of(course, line)
    if step.attempts and step.attempts[-1].ended is None:
        step.attempts[-1].ended = line.at
        step.attempts[-1].state = INTERRUPTED
    step.attempts.append(Attempt(line.at))
    # The first word about a step may have been a warning.
    step.instance, step.operation, step.far = line.instance, line.operation, line.far
    step.artifact, step.host = line.artifact, line.host
    step.state, step.next = RUNNING, None


def _ended(step: CourseStep, line: EventLine, state: str) -> None:
    step.instance, step.operation = line.instance, line.operation
    step.state, step.at, step.next, step.outcome = state, line.at, None, line.outcome
    if line.declared:
        step.declared = line.declared
    _close(step, line, state)


def _close(step: CourseStep, line: EventLine, state: str) -> None:
    if step.attempts:
        last = step.attempts[-1]
        if last.ended is None:
            last.ended, last.state, last.outcome = line.at, state, line.outcome


def _succeeded(course: JobCourse, line: EventLine) -> None:
    _ended(_of(course, line), line, NO_OP if line.no_op else SUCCEEDED)


def _failed(course: JobCourse, line: EventLine) -> None:
    _ended(_of(course, line), line, FAILED)


def _retrying(course: JobCourse, line: EventLine) -> None:
    step = _of(course, line)
    step.outcome, step.most, step.next, step.state = line.outcome, line.attempts, line.at + line.seconds, WAITING
    _close(step, line, FAILED)


def _skipped(course: JobCourse, line: EventLine) -> None:
    step = _of(course, line)
    _ended(step, line, NOT_NEEDED if line.needless else SKIPPED)
    step.because = line.because


def _warning(course: JobCourse, line: EventLine) -> None:
    # Some are about the whole job.
    if line.step:
        step = _of(course, line)
        step.warnings = (*step.warnings, line.message)


_TAKES = {
    "step.started": _started,
    "step.succeeded": _succeeded,
    "step.failed": _failed,
    "step.retrying": _retrying,
    "step.skipped": _skipped,
    "step.warning": _warning,
}
"""What is taken from each event; what is printed is in the log."""

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
    began = _seconds(head.began)
    return JobCourse(head.change_id, head.workflow, head.status, began, ended, head.remains, steps=steps)


def _tasks(changes: Iterable[ConfigChange]) -> Iterable[ConfigChange]:
    return (change for change in changes if change.operation)


def _recorded(change: ConfigChange) -> CourseStep:
    began = _seconds(change.start)
    state = NO_OP if change.outcome == NO_OP else SUCCEEDED if change.outcome in WELL else FAILED
    ended = began + (change.seconds or 0.0)
    outcome = StepOutcome(change.summary, change.exit_code, change.output)
    ran = [Attempt(began, ended, state, outcome)] if began and state != NO_OP else []
    return CourseStep(
        step_of(change),
        change.instance or change.target,
        change.operation,
        state=state,
        attempts=ran,
        most=change.attempts,
        at=ended,
        outcome=outcome,
        reason=change.reason,
        warnings=change.warnings,
    )


def _seconds(moment: str) -> float:
    """A moment of a record in seconds since the epoch, 0 for none."""
    try:
        return datetime.fromisoformat(moment).timestamp() if moment else 0.0
    except ValueError:
        return 0.0
