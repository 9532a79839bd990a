"""The effective statuses of an ensemble that somebody follows: how each instance is with all that it depends on.

The events of a job tell how an instance itself is. What that means for those that depend on it needs the whole
service, so a query process finds it out while a job runs: for one ensemble after the other, and for a part of the time
only. Told is what differs from what was told before, and of what the own status was told since, the other one again.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from ordito.server.problems import ApiProblem
from ordito.server.processes.queries import Queries
from ordito.server.processes.statuses import EFFECTIVE_STATUSES, StatusesFound

PAUSE = 1.0
"""Seconds between two rounds of an ensemble."""

SHARE = 4
"""Finding out takes at most this fraction (1/SHARE) of the time."""

MOST_ROUNDS = 60
"""The differences of so many rounds are kept; who was away for longer is told all of them."""

_FOUND = msgspec.json.Decoder(StatusesFound)

AskStatuses = Callable[[str], Awaitable[StatusesFound | None]]
"""Finds the statuses of the ensemble in a directory; None where that cannot be done now."""


def asking(queries: Queries) -> AskStatuses:
    """How they are found out: one ensemble at a time, so that those who wait for answers have the other processes."""
    turn = asyncio.Semaphore(1)

    async def ask(directory: str) -> StatusesFound | None:
        async with turn:
            try:
                found = _FOUND.decode(await queries.ask(EFFECTIVE_STATUSES.name, directory, b"{}"))
            except ApiProblem:
                # Whoever asks for the ensemble itself is told why.
                return None
        return found if found.is_known else None

    return ask


class ToldStatuses(msgspec.Struct, frozen=True):
    """Statuses to tell, and the number of the round behind which whoever was told goes on."""

    statuses: dict[str, str]
    """A letter by the id of an instance."""

    service: str
    """The status of the whole service."""

    round: int

    @property
    def columns(self) -> dict[str, object]:
        """The same as an event tells it."""
        statuses = {"id": list(self.statuses), "status": "".join(self.statuses.values())}
        return {"service": self.service, "statuses": statuses}


class LiveStatuses:
    """The statuses of one ensemble, round by round. A round has the time of its end as its number, in milliseconds: so
    those of a server that was started again are behind those of before."""

    def __init__(self, directory: str, ask: AskStatuses, tell: Callable[[], None]) -> None:
        """``tell`` is called after each round that has found a difference."""
        self._directory = directory
        self._ask = ask
        self._tell = tell
        self._letters: dict[str, str] = {}
        self._service = ""
        self._rounds: deque[tuple[int, dict[str, str]]] = deque()
        self._since = 0
        """All differences behind this round are known; 0 while nothing is known."""

        self._last = 0
        self._touched: set[str] = set()
        """Instances whose own status was told since the last round."""

        self._is_due = asyncio.Event()
        self._next = 0.0

    def touch(self, instances: Iterable[str] = ()) -> None:
        """Something happens to the ensemble, and the own status of these instances is told."""
        self._touched.update(instances)
        self._is_due.set()

    def forget(self) -> None:
        """What is known may be of another time: whoever follows is told all of it."""
        self._letters, self._since = {}, 0
        self._rounds.clear()
        self._touched.clear()

    async def keep(self) -> None:
        """Go on with rounds, as long as somebody follows."""
        while True:
            await self._is_due.wait()
            await asyncio.sleep(max(0.0, self._next - time.monotonic()))
            self._is_due.clear()
            touched, self._touched = self._touched, set()
            began, found = time.monotonic(), None
            try:
                found = await self._ask(self._directory)
            finally:
                now = time.monotonic()
                self._next = now + max(PAUSE, SHARE * (now - began))
                if found is None:
                    self._touched |= touched
            if found is not None and self._take(found, touched):
                self._tell()

    def _take(self, found: StatusesFound, touched: set[str]) -> bool:
        """Take over what a round has found; returns whether there is something to tell."""
        now = dict(zip(found.id, found.status, strict=True))
        changed = {name: letter for name, letter in now.items() if self._letters.get(name) != letter or name in touched}
        is_other = found.service != self._service or not self._since
        self._letters, self._service = now, found.service
        if not changed and not is_other:
            return False
        self._last = max(time.time_ns() // 1_000_000, self._last + 1)
        if not self._since:
            self._since = self._last
            return True
        self._rounds.append((self._last, changed))
        if len(self._rounds) > MOST_ROUNDS:
            self._since, _ = self._rounds.popleft()
        return True

    def behind(self, place: int) -> ToldStatuses | None:
        """What is to be told behind a round, None for nothing."""
        if not self._since or place >= self._last:
            return None
        if place < self._since:
            return ToldStatuses(self._letters, self._service, self._last)
        told: dict[str, str] = {}
        for number, changed in self._rounds:
            if number > place:
                told |= changed
        return ToldStatuses(told, self._service, self._last)
