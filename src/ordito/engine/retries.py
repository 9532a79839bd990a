"""When a failed operation is tried again, and what several attempts together come to.

How often and how soon is said by its call, else by the job. The pause doubles with each attempt, up to a bound. An
operation that ends with ``TEMPORARY`` asks for another attempt itself: it gets one even where nobody said how often.
"""

from __future__ import annotations

import msgspec

from ordito.work.invocation import Ending, Outcome
from ordito.work.plan import Call
from ordito.work.records import JobOptions

TEMPORARY = 75
"""The exit code (EX_TEMPFAIL of sysexits.h) by which an operation says that it may be worth trying again."""

ASKED = 3
"""Attempts of an operation that ends with ``TEMPORARY``, where nobody said how many it may have."""

INTERVAL = 1.0
"""Seconds before the second attempt, where nobody said how many."""

UNTIL_ASKED_AGAIN = 1.0
"""Seconds after which what is not ready yet is asked again."""

LONGEST = 300.0
"""Seconds between two attempts at most, unless a longer interval is asked for."""

FAILED_FOR_NOW = frozenset({Ending.FAILED, Ending.TIMED_OUT, Ending.UNREACHABLE, Ending.LOST})
"""Failures after which another attempt makes sense: what could not be started at all will not be the next time."""


def attempts_of(call: Call, options: JobOptions, outcome: Outcome) -> int:
    """How often an operation that has ended like this is tried in all."""
    if call.within is not None:
        return 1 + int(call.within / UNTIL_ASKED_AGAIN)
    said = call.attempts or options.attempts
    return said or (ASKED if outcome.exit_code == TEMPORARY else 1)


def pause_after(attempt: int, call: Call, options: JobOptions, outcome: Outcome, elapsed: float = 0.0) -> float | None:
    """The seconds to wait after an attempt with this outcome, None where it was the last one; ``elapsed`` is how long
    ago the first one began."""
    if call.within is not None:
        again = outcome.ending in FAILED_FOR_NOW and elapsed + UNTIL_ASKED_AGAIN <= call.within
        return UNTIL_ASKED_AGAIN if again else None
    if outcome.ending not in FAILED_FOR_NOW or attempt >= attempts_of(call, options, outcome):
        return None
    said = call.interval if call.interval is not None else options.interval
    interval = INTERVAL if said is None else said
    # No power beyond what any bound needs: it would not fit a number.
    return min(interval * 2.0 ** min(attempt - 1, 60), max(LONGEST, interval))


def together(earlier: Outcome | None, last: Outcome) -> Outcome:
    """The outcome of an operation whose attempts before the last came to ``earlier``.

    What any attempt has modified stays modified. An attempt that came to nothing does not hide that others ran.
    """
    if earlier is None:
        return last
    changed = _changed(earlier, last)
    if last.ending in _NEVER_RAN and earlier.ending not in _NEVER_RAN:
        message = f"{earlier.message}; then {last.ending}: {last.message}".removeprefix("; ")
        return msgspec.structs.replace(earlier, message=message, changed=changed)
    return msgspec.structs.replace(last, changed=changed)


_NEVER_RAN = frozenset({Ending.NOT_STARTED, Ending.UNREACHABLE})


def _changed(earlier: Outcome, last: Outcome) -> bool | None:
    """Whether attempts have modified something: yes if one says so, unknown for a failure if one does not say."""
    if earlier.changed:
        return True
    if last.succeeded or earlier.ending in _NEVER_RAN or last.changed:
        return last.changed
    return earlier.changed if last.ending in _NEVER_RAN or earlier.changed is None else last.changed
