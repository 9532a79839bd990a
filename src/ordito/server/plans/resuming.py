"""Resuming jobs that nobody carries out any more: those of plans, and what the settings say of others."""

from __future__ import annotations

import asyncio
import contextlib
import time

from ordito.app.work_items import ResumeItem
from ordito.ensemble.errors import EnsembleError
from ordito.server.database.outbox import ServerEvent, tell
from ordito.server.places import all_ensembles
from ordito.server.plans.found_jobs import interrupted
from ordito.server.plans.parts import PlanParts

MOST_RESUMES, RESUMES_WITHIN = 3, 600.0
"""How often a job of an ensemble is resumed within so many seconds."""

ALWAYS, NEVER = "always", "never"


class Resuming:
    """Resumes interrupted jobs, not too often."""

    def __init__(self, parts: PlanParts) -> None:
        self._parts = parts
        self._database = parts.database
        self._runners = parts.runners
        self._resumed: dict[str, list[float]] = {}
        self._given_up: set[str] = set()

    @property
    def may_resume(self) -> bool:
        """Whether jobs may be resumed now."""
        return self._parts.settings.now.jobs.resume != NEVER and self._parts.may_start()

    async def round(self) -> None:
        """Resume what the settings say."""
        if not self._parts.leads() or not self.may_resume:
            return
        is_for_all = self._parts.settings.now.jobs.resume == ALWAYS
        # Of a store the workers resume what was interrupted.
        stored = self._parts.places.stored
        known = [one for one in await self._database.read(all_ensembles) if stored(one[2]) is None]
        for project, ensemble, directory in await asyncio.to_thread(interrupted, known, is_for_all):
            with contextlib.suppress(EnsembleError, OSError):
                await self.resume(project, ensemble, directory)

    async def resume(self, project: str, ensemble: str, directory: str) -> None:
        """Resume the job of an ensemble that nobody carries out, unless it is frozen, or that was done too often."""
        if await self._parts.is_frozen(project, ensemble):
            return
        now, name = time.monotonic(), f"{project}/{ensemble}"
        times = [at for at in self._resumed.get(name, ()) if now - at < RESUMES_WITHIN]
        self._resumed[name] = times
        runner = f"resume-{project}.{ensemble}"
        if (await asyncio.to_thread(self._runners.look, runner)).is_alive:
            return
        if len(times) >= MOST_RESUMES:
            if name not in self._given_up:
                self._given_up.add(name)
                event = ServerEvent(f"ensemble:{name}", "job.attention", project, ensemble)
                await self._database.write(lambda connection: tell(connection, event, time.time()))
            return
        self._given_up.discard(name)
        if await self._runners.start(runner, await self._parts.task_of(ResumeItem(directory), project, ensemble)):
            times.append(now)
