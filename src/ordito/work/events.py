"""The one stream of events that a job emits; the terminal, ``--json`` and the job record are renderings of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

import msgspec

from ordito.work.invocation import Outcome

FORMAT = "ordito.events/1"


class JobStarted(msgspec.Struct, frozen=True, tag="job.started", tag_field="type", omit_defaults=True):
    """A job began (or was resumed): how many steps it has (joins not counted), and for which instances. One that was
    interrupted during its rollback is ``rolling_back``."""

    job: str
    workflow: str
    steps: int
    done: int
    instances: tuple[str, ...] = ()
    resumed: bool = False
    at: float = 0.0
    rolling_back: bool = False


class OfHook(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which lifecycle step a step carries out, or undoes: its id, its block, its phase, and its component ("" for the
    module). ``reason`` is why it has failed, in one word."""

    id: str
    fqn: str
    phase: str
    component: str = ""
    reason: str = ""


class StepStarted(msgspec.Struct, frozen=True, tag="step.started", tag_field="type", omit_defaults=True):
    """An operation starts on an instance, or one that does nothing (``no_op``). ``inputs`` are its evaluated inputs as
    they may be shown, if a listener wants them; an operation that does nothing is announced only then."""

    job: str
    step: str
    instance: str
    operation: str
    far: str = ""
    attempt: int = 1
    no_op: bool = False
    artifact: str = ""
    host: str = ""
    at: float = 0.0
    inputs: Mapping[str, object] = {}
    hook: OfHook | None = None


class StepLog(msgspec.Struct, frozen=True, tag="step.log", tag_field="type"):
    """Lines an operation printed."""

    job: str
    step: str
    text: str
    at: float = 0.0


class StepSucceeded(msgspec.Struct, frozen=True, tag="step.succeeded", tag_field="type", omit_defaults=True):
    """An operation succeeded."""

    job: str
    step: str
    instance: str
    operation: str
    outcome: Outcome
    change: str = ""
    no_op: bool = False
    at: float = 0.0
    hook: OfHook | None = None


class StepFailed(msgspec.Struct, frozen=True, tag="step.failed", tag_field="type", omit_defaults=True):
    """An operation failed; ``declared`` is where the template declares it, ``optional`` whether the job can do without
    it."""

    job: str
    step: str
    instance: str
    operation: str
    outcome: Outcome
    change: str = ""
    declared: str = ""
    artifact: str = ""
    optional: bool = False
    at: float = 0.0
    hook: OfHook | None = None


class StepRetrying(msgspec.Struct, frozen=True, tag="step.retrying", tag_field="type", omit_defaults=True):
    """An attempt failed, as ``outcome`` says; attempt ``next`` of ``attempts`` follows ``seconds`` later."""

    job: str
    step: str
    instance: str
    operation: str
    outcome: Outcome
    next: int
    attempts: int
    seconds: float
    at: float = 0.0


class StepSkipped(msgspec.Struct, frozen=True, tag="step.skipped", tag_field="type", omit_defaults=True):
    """A step was not run; ``because`` says why (the id of the failed step it depended on, or a reason). One that is
    ``needless`` counts as done: there was nothing to do."""

    job: str
    step: str
    instance: str
    operation: str
    because: str = ""
    at: float = 0.0
    hook: OfHook | None = None
    needless: bool = False


class StepWarning(msgspec.Struct, frozen=True, tag="step.warning", tag_field="type", omit_defaults=True):
    """Something about a step that deserves attention, for example an input that has no value."""

    job: str
    step: str
    message: str
    at: float = 0.0


class InstanceState(msgspec.Struct, frozen=True, tag="instance.state", tag_field="type", omit_defaults=True):
    """An instance changed its node state or local status."""

    job: str
    instance: str
    state: str
    local: str
    at: float = 0.0


class JobRollback(msgspec.Struct, frozen=True, tag="job.rollback", tag_field="type", omit_defaults=True):
    """The job has failed, and what it did is rolled back by this many further steps; ``remains`` is what they cannot
    undo."""

    job: str
    steps: int
    remains: tuple[str, ...] = ()
    at: float = 0.0


class JobCancelling(msgspec.Struct, frozen=True, tag="job.cancelling", tag_field="type", omit_defaults=True):
    """The job is asked to end: nothing new starts, and with ``now`` what runs is ended. ``by`` is who asks; where
    that is nobody, ``because`` says why."""

    job: str
    by: str = ""
    now: bool = False
    because: str = ""
    at: float = 0.0


class JobFinished(msgspec.Struct, frozen=True, tag="job.finished", tag_field="type", omit_defaults=True):
    """A job ended: ``status`` is ok, degraded, failed, cancelled or interrupted; the counts are of steps that are not
    joins. ``rollback`` is "complete" or "incomplete" if it was rolled back, ``remains`` what was not undone, ``again``
    the instances that were removed and created again; ``handled`` says that the workflow has handled each failure, and
    that this succeeded."""

    job: str
    workflow: str
    status: str
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    no_op: int = 0
    seconds: float = 0.0
    at: float = 0.0
    rollback: str = ""
    remains: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    handled: bool = False


Event = (
    JobStarted
    | StepStarted
    | StepLog
    | StepSucceeded
    | StepFailed
    | StepRetrying
    | StepSkipped
    | StepWarning
    | InstanceState
    | JobRollback
    | JobCancelling
    | JobFinished
)


DIGITS = 3

Told = TypeVar("Told", bound=Event)

replace = msgspec.structs.replace


def rounded(event: Told) -> Told:
    """An event with durations in whole milliseconds, as in the records."""
    if isinstance(event, StepSucceeded | StepFailed | StepRetrying) and event.outcome.seconds:
        outcome = replace(event.outcome, seconds=round(event.outcome.seconds, DIGITS))
        event = replace(event, outcome=outcome)
    if isinstance(event, StepRetrying | JobFinished):
        event = replace(event, seconds=round(event.seconds, DIGITS))
    return event


class Listener(Protocol):
    """Gets every event of a job, in order."""

    def __call__(self, event: Event) -> None:
        """Take notice of an event; must not raise and must not block."""
