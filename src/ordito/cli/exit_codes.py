"""What the exit code of a command says. The numbers are part of the interface and never change their meaning."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    """Done, nothing to do, or done with warnings."""
    JOB_FAILED = 1
    """The job ran and failed."""
    CHANGES = 2
    """Only where it was asked for with ``--detailed-exitcode``: there are changes."""
    REFUSED = 3
    """Refused before anything ran: the document, inputs, names or the plan are not right."""
    UNREACHABLE = 4
    """The job failed, and every failure was a target that could not be reached."""
    BUSY = 5
    """Another job holds the ensemble, or an unfinished one must be resumed first."""
    TIMED_OUT = 6
    """The time that the command was given was over before it was done."""
    ROLLED_BACK = 7
    """The job failed, and all that it had done was taken back."""
    ROLLBACK_INCOMPLETE = 8
    """The job failed, and not all that it had done could be taken back."""
    USAGE = 64
    """The command line is wrong, or an answer was needed and there is nobody to ask."""
    INTERNAL = 70
    """A fault of this program."""
    INTERRUPTED = 130
    """Interrupted, cancelled, or answered with no."""
