"""Where the steps of a job are, and where they may go from there."""

from __future__ import annotations

from enum import IntEnum

import msgspec


class StepState(IntEnum):
    """Where a step is."""

    WAITING = 0
    READY = 1
    RUNNING = 2
    SUCCEEDED = 3
    FAILED = 4
    SKIPPED = 5
    PAUSED = 6
    LEFT_OUT = 7


ENDED = frozenset({StepState.SUCCEEDED, StepState.FAILED, StepState.SKIPPED, StepState.LEFT_OUT})
"""The states in which a step has ended."""


class Move(msgspec.Struct, frozen=True):
    """A step goes from a state to another ``when`` something holds."""

    before: StepState
    after: StepState
    when: str


LIFE = (
    Move(StepState.WAITING, StepState.READY, "all predecessors have ended, and well, or the step is tolerant"),
    Move(
        StepState.WAITING,
        StepState.SUCCEEDED,
        "as `READY`, and it is a join, which only joins other steps: nobody hears of it",
    ),
    Move(
        StepState.WAITING,
        StepState.SKIPPED,
        "all predecessors have ended, one of them not well; or the job stops early",
    ),
    Move(StepState.WAITING, StepState.LEFT_OUT, "its gate says that it is not to run after all (`work.plan.Gate`)"),
    Move(StepState.READY, StepState.RUNNING, "its host and the job have a free place"),
    Move(
        StepState.READY,
        StepState.SKIPPED,
        "the job stops: cancelled, or a lifecycle step or, under `abort`, any step it needs failed",
    ),
    Move(StepState.READY, StepState.PAUSED, "it has paused before, and the job stops: it is to be given up"),
    Move(StepState.RUNNING, StepState.SUCCEEDED, "its outcome"),
    Move(StepState.RUNNING, StepState.FAILED, "its outcome"),
    Move(StepState.RUNNING, StepState.LEFT_OUT, "it is a filter that its instance does not pass"),
    Move(
        StepState.RUNNING,
        StepState.PAUSED,
        "an attempt failed, and another is to follow; it gives its places back",
    ),
    Move(StepState.PAUSED, StepState.READY, "its pause is over"),
    Move(StepState.PAUSED, StepState.RUNNING, "as a journal tells it, which does not say when a pause was over"),
    Move(
        StepState.PAUSED,
        StepState.FAILED,
        "the job stops early: whoever drives the core is told to give it up",
    ),
)
"""The life of a step. There is no other way for it: `core` keeps to this table, and a test looks that it does."""
