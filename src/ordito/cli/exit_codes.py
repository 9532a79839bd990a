"""The exit codes of commands. The numbers are part of the interface and never change their meanings, which
``manual.py`` describes."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    JOB_FAILED = 1
    CHANGES = 2
    REFUSED = 3
    UNREACHABLE = 4
    BUSY = 5
    TIMED_OUT = 6
    ROLLED_BACK = 7
    ROLLBACK_INCOMPLETE = 8
    NOT_APPROVED = 9
    NO_SERVER = 10
    USAGE = 64
    INTERNAL = 70
    INTERRUPTED = 130
