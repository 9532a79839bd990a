"""Which of several servers does what only one may do: keep plans and schedules going, deliver, prune.

A row of the database names it, with the time until when, by the clock of the database. Who leads renews the row, and
counts from before it has asked: where the renewal does not come in time it stops by itself before another one begins.
With a database in its home a server is alone, and leads.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable

from sqlalchemy import Connection, delete, insert, literal_column, select, update
from sqlalchemy.exc import DBAPIError

from ordito.server.database.database import Database
from ordito.server.database.tables import LEADERS
from ordito.server.problems import ApiProblem

_LOG = logging.getLogger(__name__)

LASTS, RENEWS, SURE = 15.0, 3.0, 10.0
"""Seconds: until when the row holds, between two renewals, and after one for how long a server is sure of it."""

KEEPER = "keeper"


class Leading:
    """Whether this server leads."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.begins: Callable[[], None] = _nobody
        """Is called when it begins to lead."""

        self._name = secrets.token_hex(8)
        self._until = 0.0 if database.is_shared else float("inf")
        self._task: asyncio.Task[None] | None = None

    @property
    def leads(self) -> bool:
        """Whether it leads now."""
        return time.monotonic() < self._until

    async def start(self) -> None:
        """Begin; a server that is alone leads afterwards."""
        if self._database.is_shared:
            await self._renew()
            self._task = asyncio.create_task(self._rounds())

    async def stop(self) -> None:
        """Let another one lead at once."""
        if self._task is None:
            return
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._until = 0.0
        mine = (LEADERS.c.name == KEEPER) & (LEADERS.c.holder == self._name)
        with contextlib.suppress(ApiProblem):
            await self._database.write(lambda connection: connection.execute(delete(LEADERS).where(mine)))

    async def _rounds(self) -> None:
        while True:
            await asyncio.sleep(RENEWS)
            await self._renew()

    async def _renew(self) -> None:
        asked, led = time.monotonic(), self.leads
        try:
            if await self._database.write(self._take):
                self._until = asked + SURE
        except (ApiProblem, DBAPIError) as problem:
            said = problem.detail if isinstance(problem, ApiProblem) else problem.orig
            _LOG.warning("cannot say who leads: %s", said)
        if self.leads and not led:
            self.begins()

    def _take(self, connection: Connection) -> bool:
        now = float(connection.execute(select(literal_column("extract(epoch from clock_timestamp())"))).scalar_one())
        row = connection.execute(select(LEADERS).where(LEADERS.c.name == KEEPER)).one_or_none()
        values = {"holder": self._name, "until": now + LASTS}
        if row is None:
            connection.execute(insert(LEADERS).values(name=KEEPER, **values))
            return True
        if row.holder != self._name and row.until > now:
            return False
        connection.execute(update(LEADERS).where(LEADERS.c.name == KEEPER).values(**values))
        return True


def _nobody() -> None:
    pass
