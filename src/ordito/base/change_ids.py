"""ChangeIds: twelve characters that name a job or a task, unique in an ensemble and sortable by age.

``A6BKKQCN0001`` is version ``A``; year since 2020, month, day, hour, minute, second and 1/62 second in UTC, a character
each from ``0-9A-Za-z``; and four hexadecimal digits of the task, 0000 being the job itself. The moment of a changeId
is a *tick*: a count of 1/62 seconds since the beginning of 2020.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import msgspec

VERSION = "A"
ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
TICKS_PER_SECOND = 62
TASKS_PER_TICK = 0xFFFF
LENGTH = 12
MOMENT_LENGTH = 8
"""How many characters the version and the moment take: all ids of one tick share them."""

FIRST_YEAR = 2020
BEGINNING = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
END = datetime(FIRST_YEAR + len(ALPHABET), 1, 1, tzinfo=UTC)
LAST_TICK = (END - BEGINNING) // timedelta(seconds=1) * TICKS_PER_SECOND - 1

_VALUES = {character: value for value, character in enumerate(ALPHABET)}


class ChangeIdsExhausted(Exception):
    """No changeId is left: the last one that can be written, of the year 2081, is used."""


class ChangeIdParts(msgspec.Struct, frozen=True, order=True):
    """The two numbers that a changeId holds."""

    tick: int
    """Its moment, in 1/62 seconds since the beginning of 2020."""
    task: int
    """The number of the task, 0 for the job."""


def encode(tick: int, task: int = 0) -> str:
    """The changeId of a task in a tick. Raises ``ValueError`` for numbers that no id can hold."""
    if not 0 <= task <= TASKS_PER_TICK:
        raise ValueError(f"a changeId has no room for task {task}")
    return f"{_moment(tick)}{task:04x}"


def decode(change: str) -> ChangeIdParts:
    """The parts of a changeId. Raises ``ValueError`` for a text that is not a changeId."""
    if len(change) != LENGTH or change[0] != VERSION:
        raise ValueError(f"{change!r} is not a changeId: it has {LENGTH} characters, the first is {VERSION}")
    try:
        year, month, day, hour, minute, second, part = (_VALUES[c] for c in change[1:MOMENT_LENGTH])
        moment = datetime(FIRST_YEAR + year, month, day, hour, minute, second, tzinfo=UTC)
        task = int(change[MOMENT_LENGTH:], 16)
    except (KeyError, ValueError):
        raise ValueError(f"{change!r} is not a changeId: it does not hold a moment and a task") from None
    tick = (moment - BEGINNING) // timedelta(seconds=1) * TICKS_PER_SECOND + part
    if encode(tick, task) != change:
        raise ValueError(f"{change!r} is not a changeId: it is not written as one")
    return ChangeIdParts(tick, task)


def time_of(change: str) -> str:
    """The moment of a changeId, in UTC, to the second; "" for a text that is not a changeId."""
    try:
        tick = decode(change).tick
    except ValueError:
        return ""
    return (BEGINNING + timedelta(seconds=tick // TICKS_PER_SECOND)).isoformat().replace("+00:00", "Z")


def is_change_id(text: str) -> bool:
    """Whether a text is a changeId."""
    try:
        decode(text)
    except ValueError:
        return False
    return True


def job_of(change: str) -> str:
    """The id of the job to which a task belongs, as long as the job has not borrowed further ticks."""
    return f"{change[:MOMENT_LENGTH]}0000"


def tick_at(now: float) -> int:
    """The tick of a moment in seconds since the epoch; the first or last one where the moment lies outside."""
    tick = int((now - BEGINNING.timestamp()) * TICKS_PER_SECOND)
    return min(max(tick, 0), LAST_TICK)


def ticks_needed(tasks: int) -> int:
    """How many ticks a job must reserve to name this many tasks."""
    return max(1, -(-tasks // TASKS_PER_TICK))


def last_reserved(job: str, ticks: int) -> str:
    """The highest changeId that a job which reserved so many ticks may use."""
    return encode(decode(job).tick + ticks - 1, TASKS_PER_TICK)


class ChangeIds:
    """The ids of one job: its own, and on request one for each of its tasks, in ascending order."""

    def __init__(self, job: str, ticks: int = 1, *, used: Iterable[str] = ()) -> None:
        """Continue a job that reserved ``ticks`` ticks; ``used`` are the ids its tasks have already."""
        self.job = job
        self.ticks = ticks
        self._first = decode(job).tick
        self._next = max((self._number(change) for change in used), default=0) + 1

    @classmethod
    def begin(cls, now: float, *, tasks: int, last: str = "", existing: Collection[str] = ()) -> ChangeIds:
        """Reserve the ids of a new job with at most ``tasks`` tasks.

        The job's tick is that of ``now`` (seconds since the epoch), or a later one: always after the tick of ``last``,
        the highest id in the ensemble, whatever the clock says; and such that no reserved id equals one of
        ``existing`` (any ids) save for upper and lower case, because they become names of files. Raises
        ``ChangeIdsExhausted``.
        """
        ticks = ticks_needed(tasks)
        tick = tick_at(now)
        if last:
            tick = max(tick, decode(last).tick + 1)
        taken = {change[:MOMENT_LENGTH].casefold() for change in existing}
        tick = _free(tick, ticks, taken)
        return cls(encode(tick), ticks)

    def next(self) -> str:
        """The id of the next task. Raises ``ChangeIdsExhausted`` once the reserved ones are used."""
        number = self._next
        borrowed, task = divmod(number - 1, TASKS_PER_TICK)
        if borrowed >= self.ticks:
            raise ChangeIdsExhausted(f"job {self.job} has reserved ids for {self.ticks * TASKS_PER_TICK} tasks only")
        self._next = number + 1
        return f"{_moment(self._first + borrowed)}{task + 1:04x}"

    def _number(self, change: str) -> int:
        """The place of a task's id among those of the job, from 1."""
        at = decode(change)
        return (at.tick - self._first) * TASKS_PER_TICK + at.task


def _free(tick: int, ticks: int, taken: Collection[str]) -> int:
    """The first tick from which on so many ticks in a row are not taken."""
    run = 0
    while run < ticks:
        if tick + run > LAST_TICK:
            raise ChangeIdsExhausted("changeIds end with the year 2081; is the clock of this machine right?")
        if taken and _moment(tick + run).casefold() in taken:
            tick, run = tick + run + 1, 0
        else:
            run += 1
    return tick


@lru_cache(maxsize=256)
def _moment(tick: int) -> str:
    if not 0 <= tick <= LAST_TICK:
        raise ValueError(f"tick {tick} lies outside the years that a changeId can name")
    seconds, part = divmod(tick, TICKS_PER_SECOND)
    at = BEGINNING + timedelta(seconds=seconds)
    values = (at.year - FIRST_YEAR, at.month, at.day, at.hour, at.minute, at.second, part)
    return VERSION + "".join(ALPHABET[value] for value in values)
