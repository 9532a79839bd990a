"""What routes need to answer, made once when the server starts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cryptography.fernet import Fernet

from ordito.server.answers import Answers
from ordito.server.database.database import Database
from ordito.server.limits import Rates, SignInAttempts
from ordito.server.live.outbox import OutboxTail
from ordito.server.live.topics import Topics
from ordito.server.metrics import Metrics
from ordito.server.plans.files import PlanFiles
from ordito.server.plans.keeper import AT_ONCE, KeeperParts, PlanKeeper
from ordito.server.processes.link import ForkLink
from ordito.server.processes.queries import Queries, QueryLimits
from ordito.server.processes.runners import ForkedRunners
from ordito.server.restored import may_resume
from ordito.server.settings import ServerSettings
from ordito.server.supervisor import Supervisor


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
        self.queries = Queries(QueryLimits(cores, limits.query_seconds, limits.query_memory), link)
        self.runners = ForkedRunners(home / "runs", link)
        self.sealer = sealer
        self.answers = Answers(self.queries)
        self.outbox = OutboxTail(database)
        self.topics = Topics(self.outbox)
        self.rates = Rates(settings.limits.requests, settings.limits.unknown)
        self.attempts = SignInAttempts()
        self.metrics = Metrics(self.queries, self.topics)
        self.queries.told = self._asked
        self.supervisor = Supervisor()
        self.draining = asyncio.Event()
        """Set once the server is to stop."""

        self.plan_files = PlanFiles(home / "plans")
        making = Queries(QueryLimits(AT_ONCE, limits.plan_seconds, limits.plan_memory), link)
        making.told = self._asked
        self.keeper = PlanKeeper(
            KeeperParts(
                database=database,
                sealer=sealer,
                queries=making,
                runners=self.runners,
                files=self.plan_files,
                jobs=settings.jobs,
                supervisor=self.supervisor,
                metrics=self.metrics,
                draining=self.draining,
                may_resume=partial(may_resume, home),
            )
        )

        self.port = 0
        """The port on which it listens."""

    def _asked(self, look: str, seconds: float) -> None:
        self.metrics.query_seconds.labels(look).observe(seconds)
