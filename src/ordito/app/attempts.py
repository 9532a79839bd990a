"""The attempts of the steps of a job: when each began and ended, and how. A timeline is made of them.

They are read apart from the rest that ``ordito.app.course`` tells of each step. That takes half of the time, and a
large job has hundreds of thousands of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

import msgspec

from ordito.app.course import (
    FAILED,
    NOT_NEEDED,
    SKIPPED,
    SUCCEEDED,
    WAITING,
    AttemptLine,
    CourseHead,
    CourseRequest,
    JobCourse,
    job_course,
    read_events,
)
from ordito.app.job.jobs import INTERRUPTED, RUNNING, ensemble_place, find_job, open_job
from ordito.ensemble.job_format import NO_OP

RETRIED = "retried"
"""An attempt has failed, and another one has followed."""


class StepAttempt(msgspec.Struct, gc=False):
    """One attempt of a step, or one that was not run."""

    step: str
    """Its id."""

    instance: str
    operation: str
    number: int
    """From 1; 0 for a step that was not run."""

    began: float
    """When the first attempt of the step began, in seconds since the epoch; ``start`` and ``ended`` likewise."""

    start: float
    ended: float = math.inf
    """Infinite while it runs."""

    state: str = RUNNING


class JobAttempts(CourseHead):
    """The attempts of a job so far."""

    all: list[StepAttempt] = []  # noqa: RUF012  (each struct has a list of its own)
    latest: dict[str, StepAttempt] = {}  # noqa: RUF012
    """The latest attempt of each step."""

    def interrupt(self) -> None:
        """Whatever runs does not any more."""
        for one in self.latest.values():
            if one.state == RUNNING:
                one.state = INTERRUPTED

    def add(self, attempt: StepAttempt) -> None:
        """Add an attempt, the latest of its step."""
        self.latest[attempt.step] = attempt
        self.all.append(attempt)

    @property
    def critical(self) -> tuple[str, ...]:
        """The steps that decided how long the job has taken."""
        return critical_path(self.latest.values())


def job_attempts(directory: str, job: str = "") -> JobAttempts:
    """The attempts of a job, named by its id or the beginning of it, "" for the latest. Raises ``Refused`` and
    ``EnsembleError``."""
    place = ensemble_place(directory)
    found = open_job(place)
    job = find_job(place, job, found)
    attempts, is_open = JobAttempts(job), found is not None and found.job == job
    read_events(place.layout.events(job), attempts, AttemptLine, _TAKES, found if is_open else None)
    return attempts if attempts.all or is_open else _of_course(job_course(CourseRequest(directory, job)))


def _started(attempts: JobAttempts, line: AttemptLine) -> None:
    before = attempts.latest.get(line.step)
    if before is None:
        attempts.add(StepAttempt(line.step, line.instance, line.operation, 1, line.at, line.at))
    elif not before.number:
        # It was not to be run, and is now.
        before.number, before.began, before.start = 1, line.at, line.at
        before.ended, before.state = math.inf, RUNNING
    else:
        if before.ended == math.inf:
            before.ended, before.state = line.at, INTERRUPTED
        elif before.state in (WAITING, FAILED):
            before.state = RETRIED
        number = before.number + 1
        attempts.add(StepAttempt(line.step, line.instance, line.operation, number, before.began, line.at))


def _finish(attempts: JobAttempts, line: AttemptLine, state: str) -> None:
    """The latest attempt of a step ends, or the step is not run."""
    one = attempts.latest.get(line.step)
    if one is None:
        attempts.add(StepAttempt(line.step, line.instance, line.operation, 0, line.at, line.at, line.at, state))
        return
    one.state = state
    if one.ended == math.inf:
        one.ended = line.at
    elif not one.number:
        one.began = one.start = one.ended = line.at


def _succeeded(attempts: JobAttempts, line: AttemptLine) -> None:
    _finish(attempts, line, NO_OP if line.no_op else SUCCEEDED)


def _failed(attempts: JobAttempts, line: AttemptLine) -> None:
    _finish(attempts, line, FAILED)


def _retrying(attempts: JobAttempts, line: AttemptLine) -> None:
    _finish(attempts, line, WAITING)


def _skipped(attempts: JobAttempts, line: AttemptLine) -> None:
    _finish(attempts, line, NOT_NEEDED if line.needless else SKIPPED)


_TAKES = {
    "step.started": _started,
    "step.succeeded": _succeeded,
    "step.failed": _failed,
    "step.retrying": _retrying,
    "step.skipped": _skipped,
}


def _of_course(course: JobCourse) -> JobAttempts:
    """What the record of a job says, where no events are kept."""
    head = (course.job, course.workflow, course.status, course.began, course.ended, course.remains, course.cancelled)
    found = JobAttempts(*head)
    for one in attempts_in(course):
        found.add(one)
    return found


def attempts_in(course: JobCourse) -> Iterator[StepAttempt]:
    """The latest attempt of each step of a course."""
    for step in course.steps.values():
        last = step.attempts[-1] if step.attempts else None
        start = last.began if last is not None else step.at or course.began
        ended = start if last is None else math.inf if last.ended is None else last.ended
        number = len(step.attempts)
        began = step.began if last is not None else start
        yield StepAttempt(step.id, step.instance, step.operation, number, began, start, ended, step.state)


# ------------------------------------------------------------------------------------------------- what took the time


def critical_path(latest: Iterable[StepAttempt]) -> tuple[str, ...]:
    """The steps that decided how long a job has taken, by the latest attempt of each: each began when the one before it
    had ended, and the last one ended last. They are found by their times alone, since nobody keeps the order of a plan
    once its job has ended."""
    by_end = sorted((one for one in latest if one.number), key=attrgetter("ended"))
    if not by_end:
        return ()
    at = len(by_end) - 1
    found = [by_end[at]]
    while True:
        while at >= 0 and (by_end[at].ended > found[-1].began or by_end[at] is found[-1]):
            at -= 1
        if at < 0:
            return tuple(one.step for one in reversed(found))
        at = _nearest(by_end, at, found[-1])
        found.append(by_end[at])


MOST_ALIKE = 50
CLOSE = 0.002
"""Seconds between which two ends are the same."""


def _nearest(by_end: Sequence[StepAttempt], at: int, after: StepAttempt) -> int:
    """The place of the step that ended last, up to a place in their order; of several, one on the same instance."""
    for place in range(at, max(-1, at - MOST_ALIKE), -1):
        if by_end[at].ended - by_end[place].ended > CLOSE:
            break
        if by_end[place].instance == after.instance:
            return place
    return at
