"""What is said of a step that was at work when a job was interrupted, and was found to have ended well."""

from __future__ import annotations

import msgspec

from ordito.work.invocation import Outcome

BY_CHECK = "interrupted, and done by what check says"
LEFT_BEHIND = "interrupted, and found to be done"
"""The same where the operation has left its own end behind."""


def found(outcome: Outcome) -> Outcome:
    """An end that an operation has left behind, which says so where it is a good one."""
    if not outcome.succeeded or outcome.message or outcome.status not in {"", "ok"}:
        return outcome
    return msgspec.structs.replace(outcome, message=LEFT_BEHIND)


def was_found(outcome: Outcome) -> bool:
    """Whether an end says that it was found after an interruption."""
    return outcome.message in (BY_CHECK, LEFT_BEHIND)
