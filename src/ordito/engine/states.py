"""Where the steps of a job are. The life of a step is the table in `core`."""

from __future__ import annotations

from enum import IntEnum


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
