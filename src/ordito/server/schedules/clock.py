"""The clock of schedules: when their turns are, by five fields and a time zone."""

from __future__ import annotations

import datetime
import zoneinfo
from collections.abc import Iterator
from functools import cache

from cronsim import CronSim, CronSimError

from ordito.base.suggest import nearest
from ordito.server.problems import ApiProblem

FIELDS = 5
UTC = "UTC"
LATE = 3600.0
"""Seconds by which a turn that was missed may be late."""


def check_clock(cron: str, zone: str) -> None:
    """Refuse what is no schedule. Raises ``ApiProblem``."""
    hint = "write minute, hour, day of the month, month and day of the week, as in `30 3 * * mon-fri`"
    if len(cron.split()) != FIELDS:
        raise ApiProblem("bad-schedule", f'"{cron[:80]}" has not five fields', hint)
    if _zone(zone) is None:
        near = nearest(zone, zoneinfo.available_timezones())
        more = f'did you mean "{near[0]}"?' if near else "write it as in Europe/Berlin, or UTC"
        raise ApiProblem("unknown-zone", f'there is no time zone "{zone[:80]}" on the server', more)
    try:
        if next_turn(cron, zone, 0.0) is None:
            raise ApiProblem("bad-schedule", f'"{cron[:80]}" is a day that never comes', hint)
    except (CronSimError, RecursionError) as error:
        raise ApiProblem("bad-schedule", f'"{cron[:80]}" cannot be read: {_reason(error)}', hint) from None


def next_turn(cron: str, zone: str, after: float) -> float | None:
    """The first turn after a moment, in seconds since the epoch; None where there is none.

    Where the clocks are set forward, a turn in the hour that is left out is right after it. Where they are set back, a
    turn at a fixed time is the first of the two; one every so many minutes, or every hour, goes on evenly.
    """
    return next(_turns(cron, zone, after), None)


def due_turn(cron: str, zone: str, now: float) -> float | None:
    """The latest turn that is not later than a moment, if it is not too long ago."""
    found = None
    for turn in _turns(cron, zone, now - LATE - 1):
        if turn > now:
            break
        found = turn
    return found


def _turns(cron: str, zone: str, after: float) -> Iterator[float]:
    place = _zone(zone) or datetime.UTC
    last = after
    for moment in CronSim(cron, datetime.datetime.fromtimestamp(after, place)):
        turn = moment.timestamp()
        # Two times of the clock may be one moment, or lie before the one that was asked for, where clocks change.
        if turn > last:
            last = turn
            yield turn


@cache
def _zone(name: str) -> datetime.tzinfo | None:
    if name == UTC:
        return datetime.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _reason(error: Exception) -> str:
    text = str(error).removeprefix("Bad ").replace("-", " ")
    return f"the {text}" if isinstance(error, CronSimError) else "it is too long"
