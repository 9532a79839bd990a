"""What routes need to answer, made once when the server starts."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cryptography.fernet import Fernet
from sqlalchemy import Connection, delete

from ordito.app.surroundings import Surroundings
from ordito.server.answers import Answers
from ordito.server.database.database import Database
from ordito.server.database.outbox import forget_events
from ordito.server.database.tables import ANSWERS
from ordito.server.identity.signing_in import prune
from ordito.server.limits import Rates, SignInAttempts
from ordito.server.live.outbox import OutboxTail
from ordito.server.live.topics import Topics
from ordito.server.metrics import Metrics
from ordito.server.outgoing.sources import SourceParts, Sources
from ordito.server.outgoing.webhooks import Webhooks
from ordito.server.packages import PackageStore
from ordito.server.plans.files import PlanFiles
from ordito.server.plans.keeper import AT_ONCE, KeeperParts, PlanKeeper
from ordito.server.plans.store import forget_freezes
from ordito.server.plans.waiting_notices import NoticeParts, WaitingNotices
from ordito.server.processes.link import ForkLink
from ordito.server.processes.queries import Queries, QueryLimits
from ordito.server.processes.runners import ForkedRunners
from ordito.server.restored import may_resume
from ordito.server.schedules.drifts import Drifts
from ordito.server.schedules.turns import Schedules
from ordito.server.settings import ServerSettings, base_url
from ordito.server.supervisor import Duty, Supervisor

PRUNES_EVERY = 600.0
"""Seconds between two rounds in which what is over is forgotten."""


class Services:
    """The parts of a server that runs."""

    def __init__(
        self,
        home: Path,
        settings: ServerSettings,
        database: Database,
        link: ForkLink,
        sealer: Fernet,
        openapi: Callable[[], bytes],
    ) -> None:
        self.openapi = openapi
        """Makes the OpenAPI document of the routes."""

        self.home = home
        """The directory of the server."""

        self.settings = settings
        self.database = database
        self.link = link
        limits = settings.limits
        cores = max(2, len(os.sched_getaffinity(0)))
        around = Surroundings(tuple(str(home / one) for one in settings.reads), (), settings.variables, settings.egress)
        asking = QueryLimits(cores, limits.query_seconds, limits.query_memory, surroundings=around)
        self.queries = Queries(asking, link)
        self.runners = ForkedRunners(home / "runs", link)
        self.sealer = sealer
        self.answers = Answers(self.queries)
        self.packages = PackageStore(home)
        self.outbox = OutboxTail(database)
        self.topics = Topics(self.outbox)
        self.rates = Rates(settings.limits.requests, settings.limits.unknown)
        self.attempts = SignInAttempts()
        self.metrics = Metrics(self.queries, self.topics)
        self.queries.told = self._asked
        self.supervisor = Supervisor()
        self.webhooks = Webhooks(database, sealer, lambda: base_url(settings, self.port), settings.egress)
        self.supervisor.add(self._unless_held(self.webhooks.round))
        self.draining = asyncio.Event()
        """Set once the server is to stop."""

        self.plan_files = PlanFiles(home / "plans")
        making = Queries(QueryLimits(AT_ONCE, limits.plan_seconds, limits.plan_memory, surroundings=around), link)
        making.told = self._asked
        self.notices = WaitingNotices(NoticeParts(home, around, database, self.runners, self._may_start))
        self.keeper = PlanKeeper(
            KeeperParts(
                home=home,
                surroundings=around,
                database=database,
                sealer=sealer,
                queries=making,
                runners=self.runners,
                files=self.plan_files,
                jobs=settings.jobs,
                supervisor=self.supervisor,
                metrics=self.metrics,
                draining=self.draining,
                may_start=self._may_start,
                notices=self.notices,
            )
        )
        self.supervisor.add(self.notices.round)
        schedules = Schedules(home, database, self.answers, sealer, self.keeper.wake)
        self.supervisor.add(self._unless_held(schedules.round))
        self.supervisor.add(Drifts(home, database, self.answers, sealer).round)
        following = SourceParts(home, database, self.answers, self.queries, self.packages, sealer, settings)
        self.sources = Sources(following, self.keeper.wake)
        self.supervisor.add(self._unless_held(self.sources.round))
        self._next_prune = 0.0
        self.supervisor.add(self._prune)
        self.port = 0
        """The port on which it listens."""

    def _may_start(self) -> bool:
        return not self.draining.is_set() and may_resume(self.home)

    def _unless_held(self, duty: Duty) -> Duty:
        """What a server that was restored from a backup does not do before it may."""

        async def held() -> None:
            if may_resume(self.home):
                await duty()

        return held

    async def _prune(self) -> None:
        """Forget what is over, so that the database does not grow with what nobody needs any more."""
        if time.monotonic() < self._next_prune:
            return
        for forget in (prune, _forget_answers, forget_events, forget_freezes):
            # One after the other: who writes meanwhile waits for one at most.
            await self.database.write(partial(forget, now=time.time()))
        self._next_prune = time.monotonic() + PRUNES_EVERY

    def _asked(self, look: str, seconds: float) -> None:
        self.metrics.query_seconds.labels(look).observe(seconds)


def _forget_answers(connection: Connection, now: float) -> None:
    """Forget the answers to requests with keys that are not given again any more."""
    connection.execute(delete(ANSWERS).where(ANSWERS.c.expires < now))
