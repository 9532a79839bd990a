"""Making the plans that were asked for: each in a process of its own, few at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Row

from ordito.ensemble.errors import EnsembleError
from ordito.server.plans.asked import AUTO
from ordito.server.plans.freshness import marks_of
from ordito.server.plans.going_on import write_made, write_not_made
from ordito.server.plans.parts import PlanParts
from ordito.server.plans.store import PlanAbout, stored_request
from ordito.server.problems import ApiProblem
from ordito.server.processes.making import MAKE, MadePlanData, MakeAsked

_LOG = logging.getLogger(__name__)

AT_ONCE = 2
"""How many plans are made at a time."""


class PlanMaker:
    """Makes plans, and writes what comes of it."""

    def __init__(self, parts: PlanParts, wake: Callable[[], None]) -> None:
        """``wake`` is called when one was made."""
        self._parts = parts
        self._database = parts.database
        self._wake = wake
        self._making: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(AT_ONCE)

    def begin(self, rows: Iterable[Row[Any]]) -> None:
        """Make these plans, where that has not begun yet."""
        for row in rows:
            if row.id not in self._making:
                self._making[row.id] = task = asyncio.create_task(self._make(row))
                task.add_done_callback(partial(self._made, row.id))

    async def stop(self) -> None:
        """End: what is being made is made again by the next server."""
        tasks = tuple(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _made(self, plan: str, task: asyncio.Task[None]) -> None:
        del self._making[plan]
        if not task.cancelled() and (fault := task.exception()) is not None:
            # It is made again in a while: not at once, since the same may happen.
            _LOG.error("a fault while plan %s was made", plan, exc_info=fault)
            return
        self._wake()

    async def _make(self, row: Row[Any]) -> None:
        async with self._places:
            try:
                await self._make_now(row)
            except ApiProblem as problem:
                if not self._parts.draining.is_set():
                    await self._database.write(partial(write_not_made, row=row, problem=problem))
            except (EnsembleError, OSError) as error:
                _LOG.warning("plan %s: %s", row.id, error)
                directory = await self._parts.directory(row)
                said = ApiProblem.of_error(error, directory, str(self._parts.home))
                await self._database.write(partial(write_not_made, row=row, problem=said))

    async def _make_now(self, row: Row[Any]) -> None:
        request = stored_request(row, self._parts.sealer)
        reads = await self._parts.reads(row.project, row.ensemble, request.package)
        directory = reads[0]
        asked = MakeAsked(self._parts.asked(request, directory), is_seen=row.apply != AUTO)
        marks = await asyncio.to_thread(marks_of, directory)
        found = await self._parts.queries.ask(MAKE.name, directory, msgspec.json.encode(asked), reads)
        made = msgspec.json.decode(found, type=MadePlanData)
        await asyncio.to_thread(self._parts.files.keep, row.id, made)
        exact = made.exact
        known = PlanAbout(
            totals=made.totals,
            risks=tuple(map(str, made.risks)),
            findings=made.findings,
            exact=exact,
            environment=exact.basis.environment if exact is not None else "",
            marks=marks,
            can_be_saved=bool(made.saved),
            workflow=made.workflow,
        )
        await self._database.write(partial(write_made, row=row, empty=made.empty, known=known))
