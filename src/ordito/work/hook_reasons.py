"""Why a lifecycle step has failed, in one word."""

from __future__ import annotations

from enum import StrEnum

from ordito.work.invocation import Ending
from ordito.work.records import StepFinishedRecord


class HookFailure(StrEnum):
    """Why a lifecycle step has failed: the block said so by its end, took too long, its condition had no answer, or it
    could not be carried out at all."""

    EXIT = "exit"
    TIMEOUT = "timeout"
    CONDITION = "condition"
    ERROR = "error"


ERROR_OF_CONDITION = "error"
"""The key of ``HookResult.condition`` that is there where a condition has no answer."""


def reason_of(record: StepFinishedRecord) -> str:
    """Why a lifecycle step has failed; "" for one that has not, and for any other step."""
    outcome, hook = record.outcome, record.hook
    if hook is None or outcome.succeeded:
        return ""
    if ERROR_OF_CONDITION in hook.condition:
        return HookFailure.CONDITION
    if outcome.ending is Ending.TIMED_OUT:
        return HookFailure.TIMEOUT
    return HookFailure.ERROR if outcome.ending is Ending.NOT_STARTED else HookFailure.EXIT
