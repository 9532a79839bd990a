"""When a failed operation is tried again, the alarms for that, and the outcome of several attempts together.

Its call says how often and how soon, else the job. The pause doubles with each attempt, up to a bound. An operation
that ends with ``TEMPORARY`` asks for another attempt itself: it gets one even where nobody said how often;
one that says so in its outputs also says how soon.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec

from ordito.work.invocation import Ending, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import OperationCall


class Alarms:
    """Timers that are told apart by numbers; ``ring`` is called when one is due. Needs a running event loop."""

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._handles: dict[int, asyncio.TimerHandle] = {}
        self._due: list[int] = []

    def set(self, number: int, seconds: float) -> None:
        """Make a number due in ``seconds`` from now; an earlier setting is replaced."""
        if number in self._handles:
            self._handles[number].cancel()
        self._handles[number] = asyncio.get_running_loop().call_later(max(0.0, seconds), self._come, number)

    def take(self) -> list[int]:
        """The numbers that have become due since the last call."""
        due, self._due = self._due, []
        return due

    def stop(self) -> None:
        """Forget all of them."""
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()

    def _come(self, number: int) -> None:
        self._handles.pop(number, None)
        self._due.append(number)
        self._ring()


TEMPORARY = 75
"""The exit code (EX_TEMPFAIL of sysexits.h) by which an operation asks for another attempt."""

EXPLICIT = 61
"""The most attempts of an operation that says itself that it is to be tried again."""

ASKED = 3
"""The attempts of an operation that ends with ``TEMPORARY``, by default."""

INTERVAL = 1.0
"""Seconds before the second attempt, by default."""

UNTIL_ASKED_AGAIN = 1.0
"""Seconds after which an instance that is not ready yet is asked again."""

LONGEST = 300.0
"""The most seconds between two attempts, unless a longer interval is asked for."""

FAILED_FOR_NOW = frozenset({Ending.FAILED, Ending.TIMED_OUT, Ending.UNREACHABLE, Ending.LOST})
"""Failures after which another attempt makes sense: what could not be started will not start the next time either."""


def attempts_of(call: OperationCall, options: JobOptions, outcome: Outcome) -> int:
    """How many attempts an operation with this outcome has in all."""
    if call.within is not None:
        return 1 + int(call.within / UNTIL_ASKED_AGAIN)
    if outcome.final or (outcome.ending is Ending.TIMED_OUT and call.ends_by_timeout):
        return 1
    said = call.attempts or options.attempts
    if outcome.again is not None:
        return max(said or 0, EXPLICIT)
    return said or (ASKED if outcome.exit_code == TEMPORARY else 1)


def pause_after(
    attempt: int, call: OperationCall, options: JobOptions, outcome: Outcome, elapsed: float = 0.0
) -> float | None:
    """The seconds to wait after an attempt with this outcome, None if it was the last one; ``elapsed`` is the seconds
    since the first one began."""
    if call.within is not None:
        again = outcome.ending in FAILED_FOR_NOW and elapsed + UNTIL_ASKED_AGAIN <= call.within
        return UNTIL_ASKED_AGAIN if again else None
    if outcome.ending not in FAILED_FOR_NOW or attempt >= attempts_of(call, options, outcome):
        return None
    if outcome.again is not None and outcome.again >= 0:
        return outcome.again
    said = call.interval if call.interval is not None else options.interval
    interval = INTERVAL if said is None else said
    if outcome.again is not None:
        return interval
    # No power beyond what any bound needs: it would not fit a number.
    return min(interval * 2.0 ** min(attempt - 1, 60), max(LONGEST, interval))


def together(earlier: Outcome | None, last: Outcome) -> Outcome:
    """The outcome of an operation whose attempts before the last had the outcome ``earlier``."""
    if earlier is None:
        return last
    changed = _changed(earlier, last)
    if last.ending in _NEVER_RAN and earlier.ending not in _NEVER_RAN:
        message = f"{earlier.message}; then {last.ending}: {last.message}".removeprefix("; ")
        return msgspec.structs.replace(earlier, message=message, changed=changed)
    return msgspec.structs.replace(last, changed=changed)


_NEVER_RAN = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})


def _changed(earlier: Outcome, last: Outcome) -> bool | None:
    """Whether attempts have modified something: True if one says so; None (unknown) for a failure if one does not
    say."""
    if earlier.changed:
        return True
    if last.succeeded or earlier.ending in _NEVER_RAN or last.changed:
        return last.changed
    return earlier.changed if last.ending in _NEVER_RAN or earlier.changed is None else last.changed
