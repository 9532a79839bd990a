"""The events that the scheduler gets, the commands that it gives, and its counts of ended steps."""

from __future__ import annotations

import msgspec

CANCELLED = "cancelled"
"""The reason of a step that was skipped because the job was cancelled."""


class StepEnded(msgspec.Struct, frozen=True):
    """A running step succeeded or failed; ``step`` is its index in the plan. A ``needless`` step succeeded without
    having run."""

    step: int
    succeeded: bool
    needless: bool = False


class AttemptFailed(msgspec.Struct, frozen=True):
    """An attempt of a running step failed: the step pauses, and runs again later."""

    step: int


class PauseOver(msgspec.Struct, frozen=True):
    """The pause of a step is over: it may run again."""

    step: int


class CancelAsked(msgspec.Struct, frozen=True):
    """Somebody asks to cancel the job: nothing new starts."""


CoreEvent = StepEnded | AttemptFailed | PauseOver | CancelAsked


class Start(msgspec.Struct, frozen=True):
    """Start this step now; ``no_op`` if there is nothing to run."""

    step: int
    no_op: bool = False


class Skip(msgspec.Struct, frozen=True):
    """This step will not run; ``because`` is the id of a failed step, or ``CANCELLED``."""

    step: int
    because: str


class GiveUp(msgspec.Struct, frozen=True):
    """This step waits for an attempt that will not come, and is to be ended as failed; ``because`` is the id of a
    failed step, or ``CANCELLED``."""

    step: int
    because: str


class LeaveOut(msgspec.Struct, frozen=True):
    """This step has ended without running, ``because`` of how the steps before it ended."""

    step: int
    because: str


Command = Start | Skip | GiveUp | LeaveOut


class Counts(msgspec.Struct, frozen=True):
    """How many steps ended in which way, joins not counted. Of those that succeeded ``no_op`` had nothing to do; of
    those that failed or were skipped ``optional`` were optional."""

    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    no_op: int = 0
    optional: int = 0

    @property
    def ended(self) -> int:
        """The number of all steps that have ended."""
        return self.succeeded + self.failed + self.skipped

    @property
    def lacks(self) -> bool:
        """Whether a required step did not succeed."""
        return self.failed + self.skipped > self.optional


class Ends(msgspec.Struct, frozen=True):
    """How the steps of a plan have ended: the state of each step, the number of steps in each state, and other
    counts."""

    states: bytes
    tally: tuple[int, ...]
    no_ops: int
    optional: int
    was_cancelled: bool
