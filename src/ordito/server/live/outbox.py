"""What the server itself has told, as it comes: read from its outbox once for all who follow it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec
from sqlalchemy import Connection, func, select

from ordito.server.database.database import Database
from ordito.server.database.tables import EVENTS

AT_ONCE = 500
MOST = 4_096
"""How many of the newest events are kept in memory."""


class ToldEvent(msgspec.Struct, frozen=True):
    """An event of the server."""

    number: int
    topic: str
    type: str
    project: str
    ensemble: str
    body: str


Wanted = Callable[[ToldEvent], bool]


class OutboxTail:
    """The outbox of a server, whose newest events are kept in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._events: deque[ToldEvent] = deque(maxlen=MOST)
        self._task: asyncio.Task[None] | None = None
        self.newest = 0
        """The number of the newest event that is known."""

        self._begin = 0
        self.changed = asyncio.Event()
        """Is set with the next event; each time it is another one."""

    async def start(self) -> None:
        """Begin with what is there."""
        number = await self._database.read(lambda c: c.execute(select(func.max(EVENTS.c.number))).scalar())
        self.newest = self._begin = number or 0
        self._task = asyncio.create_task(self._follow())

    async def stop(self) -> None:
        """End."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def read(self, after: int, wanted: Wanted, topic: str = "") -> list[ToldEvent]:
        """The events behind a number that are wanted, not all at once; ``topic`` is the only one that can be, "" for
        many."""
        if after >= self.newest:
            return []
        if after >= self._begin:
            found = (event for event in self._events if event.number > after and wanted(event))
            return [event for event, _ in zip(found, range(AT_ONCE), strict=False)]
        older: list[ToldEvent] = []
        while not older and after < self.newest:
            rows = self._database.read_now(partial(_rows, after=after, topic=topic))
            if not rows:
                break
            older = [event for event in rows if wanted(event)]
            after = rows[-1].number
        return older

    async def _follow(self) -> None:
        while True:
            changed = self._database.changed
            rows = await self._database.read(lambda connection: _rows(connection, self.newest))
            if not rows:
                await changed.wait()
                continue
            if len(self._events) + len(rows) > MOST:
                gone = len(self._events) + len(rows) - MOST
                self._begin = [*self._events, *rows][gone - 1].number
            self._events.extend(rows)
            self.newest = rows[-1].number
            self.changed.set()
            self.changed = asyncio.Event()


def _rows(connection: Connection, after: int, topic: str = "") -> list[ToldEvent]:
    columns = [EVENTS.c[name] for name in ToldEvent.__struct_fields__]
    asked = select(*columns).where(EVENTS.c.number > after).order_by(EVENTS.c.number).limit(AT_ONCE)
    asked = asked.where(EVENTS.c.topic == topic) if topic else asked
    return [ToldEvent(*row) for row in connection.execute(asked)]
