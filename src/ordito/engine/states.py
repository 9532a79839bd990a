"""The states of steps, and the transitions between them."""

from __future__ import annotations

from enum import IntEnum

import msgspec


class StepState(IntEnum):
    """The state of a step."""

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
    """A transition of a step from one state to another, and ``when`` it happens."""

    before: StepState
    after: StepState
    when: str


LIFE = (
    Move(
        StepState.WAITING,
        StepState.READY,
        "all predecessors have succeeded; or have ended, and the step runs after failures",
    ),
    Move(
        StepState.WAITING,
        StepState.SUCCEEDED,
        "as for `READY`, but it is a join, which only joins other steps: no event tells of it",
    ),
    Move(
        StepState.WAITING,
        StepState.SKIPPED,
        "all predecessors have ended, and one did not succeed; or the job stops early",
    ),
    Move(StepState.WAITING, StepState.LEFT_OUT, "its gate says that it does not run (`work.plan.Gate`)"),
    Move(StepState.READY, StepState.RUNNING, "its host and the job have a free place"),
    Move(
        StepState.READY,
        StepState.SKIPPED,
        "the job stops: it was cancelled, or a lifecycle step failed, or, under `abort`, any required step",
    ),
    Move(StepState.READY, StepState.PAUSED, "it has paused before, and the job stops: it will be given up"),
    Move(StepState.RUNNING, StepState.SUCCEEDED, "its outcome"),
    Move(StepState.RUNNING, StepState.FAILED, "its outcome"),
    Move(StepState.RUNNING, StepState.LEFT_OUT, "it is a filter that its instance does not pass"),
    Move(
        StepState.RUNNING,
        StepState.PAUSED,
        "an attempt failed, and another one follows; the step releases its places",
    ),
    Move(StepState.PAUSED, StepState.READY, "its pause is over"),
    Move(StepState.PAUSED, StepState.RUNNING, "only when a journal is read, which does not say when a pause was over"),
    Move(
        StepState.PAUSED,
        StepState.FAILED,
        "the job stops early: the driver is told to give it up",
    ),
)
"""The life of a step. It has no other transitions: `core` keeps to this table, as a test shows."""
