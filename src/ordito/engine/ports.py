"""What the driver needs from others, besides the ports that ``work`` declares."""

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
from ordito.work.records import JobHeader, Journal
from ordito.work.rollback import WayBack
from ordito.work.targets import HostTarget

# The handle by which a running job is cancelled.


class JobControl:
    """Cancels a job: the first request lets running steps finish and starts no others, the second ends them.

    The methods are called in the thread of the event loop (``loop.add_signal_handler`` does that).
    """

    def __init__(self) -> None:
        self._requests = 0
        self._wake: Callable[[], None] | None = None

    def request_cancel(self, *, at_once: bool = False) -> None:
        """Ask once more, or for all that can be asked for; may be called before the job begins."""
        self._requests = max(self._requests + 1, 2 if at_once else 1)
        if self._wake is not None:
            self._wake()

    @property
    def requests(self) -> int:
        """How often cancelling was asked for."""
        return self._requests

    def attach(self, wake: Callable[[], None] | None) -> None:
        """Let the driver hear of requests."""
        self._wake = wake


class Prepared(Protocol):
    """A step that is about to start: the invocation, or why it must not start; and what deserves attention."""

    @property
    def invocation(self) -> Invocation | None:
        """What to run; None for a step that is refused."""

    @property
    def refusal(self) -> str:
        """Why the step fails without having been started, "" if it may start."""

    @property
    def ending(self) -> Ending:
        """How a step ends that is refused: not started, or unreachable."""

    @property
    def warnings(self) -> Sequence[str]:
        """What is shown to the user as warnings of this step."""

    @property
    def withholds(self) -> bool:
        """Whether what it prints is to be shown at its end only."""

    @property
    def locked(self) -> bool:
        """Whether the host of a step that is unreachable lets nobody in."""


class StepOperations(Protocol):
    """What the steps of one plan mean: their invocations, and what starting and ending them changes."""

    @property
    def masking(self) -> Masking:
        """What takes secrets out of what is printed."""

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """How a step ended, as it may be kept and shown."""

    def prepare(self, step: Step, attempt: int) -> Prepared:
        """Evaluate a called operation's inputs, now."""

    def shown_inputs(self, step: Step) -> Mapping[str, object]:
        """A called operation's inputs, evaluated now, as they may be shown."""

    def question(self, step: Step, accepts: Callable[[Sequence[str], str], bool]) -> Invocation | None:
        """The check that is asked about a called operation in doubt, if there is one that an executor ``accepts`` on
        hosts that are reached by a protocol. Raises ``Unreachable``."""

    def delegation(self, step: Step) -> Delegation:
        """What a delegated step asks, evaluated now. Raises ``Unreachable``."""

    def target(self, step: Step) -> HostTarget | None:
        """How the host of a step is reached, None for this machine. Raises ``Unreachable``."""

    def on_start(self, step: Step, change: str) -> Delta:
        """What changes by the start of a step (node state, status)."""

    def on_end(self, step: Step, outcome: Outcome, change: str) -> tuple[Outcome, Delta]:
        """What changes by the end of a step; a success may turn out to be a failure."""

    def needless(self, step: Step) -> str:
        """Why a step that may start now is not needed after all, "" if it is."""

    def on_needless(self, step: Step, change: str) -> Delta:
        """What changes because a step that was not needed counts as done."""

    def extend(self, plan: Plan) -> None:
        """The plan goes on: this is the whole of it."""

    def topology_outputs(self) -> dict[str, object]:
        """The outputs of the topology, as things are."""


class Hooks(Protocol):
    """What the lifecycle steps of one plan mean, and those that undo one: they change nothing that is recorded of
    instances."""

    def needless(self, step: Step) -> str:
        """Why a step that may start now is left out, "" if it is not."""

    def problem(self, step: Step) -> str:
        """Why a step that is not needless must not start, "" if it may."""

    def prepare(self, step: Step, attempt: int) -> Prepared:
        """Evaluate what its block is given, now; no invocation, and no refusal, where there is nothing to run."""

    def without_secrets(self, step: Step, outcome: Outcome) -> Outcome:
        """How a step ended, as it may be kept and shown."""

    def result(self, step: Step, outcome: Outcome) -> HookResult:
        """What a step that has ended was carried out with, and what came of it."""

    def extend(self, plan: Plan) -> None:
        """The plan goes on: this is the whole of it."""


class PlansWayBack(Protocol):
    """Plans how what a job did is taken back, once it has failed."""

    def __call__(self) -> WayBack:
        """The way back, as things are now."""


class OutputLog(Protocol):
    """Keeps what operations print."""

    def write(self, step: str, data: bytes) -> None:
        """Append a piece of a step's output; it may be kept in memory until ``flush``."""

    def flush(self) -> None:
        """Hand over to the operating system what is kept in memory."""


# What a job is made of and runs with.


class Parts(msgspec.Struct, frozen=True):
    """What all files of the driver share; each part is explained where ``run_job`` takes it."""

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
