"""What the scheduler is told, what it says is to be done, and how it tells of what has ended."""

from __future__ import annotations

import msgspec

CANCELLED = "cancelled"
"""Why a step was skipped that would have run, had the job not been cancelled."""


class StepEnded(msgspec.Struct, frozen=True):
    """A running step ended, well or not; ``step`` is its index in the plan. One that was ``needless`` has succeeded
    without having run."""

    step: int
    succeeded: bool
    needless: bool = False


class AttemptFailed(msgspec.Struct, frozen=True):
    """A running step failed for now: it pauses, and is to run again."""

    step: int


class PauseOver(msgspec.Struct, frozen=True):
    """A step that pauses may run again."""

    step: int


class CancelAsked(msgspec.Struct, frozen=True):
    """Nothing new is to start."""


CoreEvent = StepEnded | AttemptFailed | PauseOver | CancelAsked


class Start(msgspec.Struct, frozen=True):
    """Start this step now; ``no_op`` where there is nothing to run."""

    step: int
    no_op: bool = False


class Skip(msgspec.Struct, frozen=True):
    """This step will not run: ``because`` of a failed step (its id), or of the job being ``cancelled``."""

    step: int
    because: str


class GiveUp(msgspec.Struct, frozen=True):
    """This step waits for another attempt in vain, ``because`` of a failed step or of the job being ``cancelled``: it
    is to be ended as failed."""

    step: int
    because: str


class LeaveOut(msgspec.Struct, frozen=True):
    """This step was not to run after all, ``because`` of how those before it ended. It has ended."""

    step: int
    because: str


Command = Start | Skip | GiveUp | LeaveOut


class Counts(msgspec.Struct, frozen=True):
    """How many steps, joins left out, ended in which way; ``no_op`` of those that succeeded had nothing to do, and the
    job can do without ``optional`` of those that failed or were skipped."""

    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    no_op: int = 0
    optional: int = 0

    @property
    def ended(self) -> int:
        """All steps that have ended."""
        return self.succeeded + self.failed + self.skipped

    @property
    def lacks(self) -> bool:
        """Whether something did not end well that the job cannot do without."""
        return self.failed + self.skipped > self.optional


class Ends(msgspec.Struct, frozen=True):
    """How the steps of a plan have ended: the state of each, how many are in each state, and what counts besides."""

    states: bytes
    tally: tuple[int, ...]
    no_ops: int
    optional: int
    was_cancelled: bool
