"""The ports of the driver, besides those that ``work`` declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from ordito.base.change_ids import ChangeIds
from ordito.base.clock import Clock
from ordito.base.masking import Masking
from ordito.engine.announcer import Announcer
from ordito.engine.workers import Workers
from ordito.instances.records import Delta, Snapshot
from ordito.work.hooks import HookResult
from ordito.work.invocation import Ending, Invocation, Outcome
from ordito.work.plan import Plan, Step
from ordito.work.providing import Delegation
from ordito.work.records import JobHeader, Journal, Record
from ordito.work.rollback import WayBack
from ordito.work.targets import HostTarget

# The handle by which a running job is cancelled.


class JobControl:
    """Cancels a job: the first request lets running steps finish and starts no others, the second ends them. Or
    suspends it, so that it can be resumed.

    The methods are called in the thread of the event loop (``loop.add_signal_handler`` does that).
    """

    def __init__(self) -> None:
        self._requests = 0
        self._asked = "", ""
        self._is_suspended = False
        self._wake: Callable[[], None] | None = None

    def request_cancel(self, *, at_once: bool = False, by: str = "", because: str = "") -> None:
        """Ask to cancel; with ``at_once``, as if asked twice. ``by`` is who asks, or ``because`` why nobody has to. May
        be called before the job begins."""
        self._requests = max(self._requests + 1, 2 if at_once else 1)
        self._asked = by, because
        if self._wake is not None:
            self._wake()

    def suspend(self) -> None:
        """Ask to leave the job unfinished: nothing more starts, and running steps may end for a while."""
        self._is_suspended = True
        if self._wake is not None:
            self._wake()

    @property
    def is_suspended(self) -> bool:
        """Whether the job is to be left unfinished."""
        return self._is_suspended

    @property
    def requests(self) -> int:
        """How often cancelling was requested."""
        return self._requests

    @property
    def asked(self) -> tuple[str, str]:
        """Who has asked last, and why where that is nobody."""
        return self._asked

    def attach(self, wake: Callable[[], None] | None) -> None:
        """Set what is called at each request, None for nothing."""
        self._wake = wake


class JobSuspended(Exception):
    """The job was left unfinished, as was asked: it can be resumed."""


class Prepared(Protocol):
    """A step that is about to start: its invocation, or why it must not start; and warnings."""

    @property
    def invocation(self) -> Invocation | None:
        """What to run; None for a refused step."""

    @property
    def refusal(self) -> str:
        """Why the step fails without having started, "" if it may start."""

    @property
    def ending(self) -> Ending:
        """How a refused step ends: not started, or unreachable."""

    @property
    def warnings(self) -> Sequence[str]:
        """The warnings of this step, for the user."""

    @property
    def withholds(self) -> bool:
        """Whether its output is shown only at its end."""

    @property
    def locked(self) -> bool:
        """Whether the host of an unreachable step refuses the login."""


class StepOperations(Protocol):
    """What the steps of one plan mean: their invocations, and what their starts and ends change."""

    @property
    def masking(self) -> Masking:
        """The masking that takes secrets out of output."""

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """The outcome of a step without secrets, as it may be recorded and shown."""

    def prepare(self, step: Step, attempt: int) -> Prepared:
        """The invocation of a called operation, with its inputs evaluated now."""

    def shown_inputs(self, step: Step) -> Mapping[str, object]:
        """The inputs of a called operation, evaluated now, without secrets."""

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """The check that can tell whether a called operation in doubt was done; None if there is none, or ``accepts``
        (artifact types, protocol) says that no executor runs it. Raises ``Unreachable``."""

    def delegation(self, step: Step) -> Delegation:
        """What a delegated step asks for, evaluated now. Raises ``Unreachable``."""

    def target(self, step: Step) -> HostTarget | None:
        """How the host of a step is reached, None for this machine. Raises ``Unreachable``."""

    def on_start(self, step: Step, change: str) -> Delta:
        """What the start of a step changes (node state, status)."""

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """What the end of a step changes; a success may turn out to be a failure."""

    def needless(self, step: Step) -> str:
        """Why a step that may start now is not needed, "" if it is."""

    def on_needless(self, step: Step, change: str) -> Delta:
        """What changes if a step that is not needed counts as done."""

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""

    def topology_outputs(self) -> dict[str, object]:
        """The outputs of the topology, evaluated now."""


class Hooks(Protocol):
    """What the lifecycle steps of one plan mean, and the steps that undo them: they change no records of instances."""

    def needless(self, step: Step) -> str:
        """Why a step that may start now is left out, "" if it runs."""

    def problem(self, step: Step) -> str:
        """Why a step that is needed must not start, "" if it may."""

    def prepare(self, step: Step, attempt: int) -> Prepared:
        """The invocation of its block, evaluated now; without invocation and refusal if there is nothing to run."""

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """The outcome of a step without secrets, as it may be recorded and shown."""

    def result(self, step: Step, outcome: Outcome) -> HookResult:
        """What a step was run with, and what came of it."""

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it."""


class PlansWayBack(Protocol):
    """Plans the rollback of a job that has failed."""

    def __call__(self) -> WayBack:
        """The rollback from the present state."""


class OutputLog(Protocol):
    """Keeps the output of operations."""

    def write(self, step: str, data: bytes) -> None:
        """Append a piece of a step's output; it may be kept in memory until ``flush``."""

    def flush(self) -> None:
        """Give what is kept in memory to the operating system."""


class RecordListener(Protocol):
    """Gets every record of a job, in order, once it is durable."""

    def extend(self, plan: Plan) -> None:
        """Replace the plan by one that continues it; the record that says so comes with the end of the turn."""

    def committed(self, records: Sequence[Record]) -> None:
        """Take the records of a turn, which the journal has committed; must not raise and must not block."""


# What a job is made of and runs with.


class Parts(msgspec.Struct, frozen=True):
    """What all files of the driver share; ``run_job`` explains each part."""

    header: JobHeader
    plan: Plan
    operations: StepOperations
    snapshot: Snapshot
    workers: Workers
    journal: Journal
    clock: Clock
    change_ids: ChangeIds
    announcer: Announcer
    output_log: OutputLog | None
    control: JobControl
    way_back: PlansWayBack | None
    different: Callable[[], tuple[str, ...]] | None = None
    tells_inputs: bool = False
    hooks: Hooks | None = None
    recorded: RecordListener | None = None
