"""What routes need to answer, made once when the server starts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from cryptography.fernet import Fernet

from ordito.server.answers import Answers
from ordito.server.database.database import Database
from ordito.server.limits import Rates, SignInAttempts
from ordito.server.live.topics import Topics
from ordito.server.metrics import Metrics
from ordito.server.outgoing.webhooks import Webhooks
from ordito.server.processes.queries import Queries
from ordito.server.settings import ServerSettings, base_url
from ordito.server.supervisor import Supervisor


class Services:
    """The parts of a server that runs."""

    def __init__(
        self,
        home: Path,
        settings: ServerSettings,
        database: Database,
        queries: Queries,
        sealer: Fernet,
        openapi: Callable[[], bytes],
    ) -> None:
        self.openapi = openapi
        """Makes the OpenAPI document of the routes."""

        self.home = home
        """The directory of the server."""

        self.settings = settings
        self.database = database
        self.queries = queries
        self.sealer = sealer
        self.answers = Answers(queries)
        self.topics = Topics()
        self.rates = Rates(settings.limits.requests, settings.limits.unknown)
        self.attempts = SignInAttempts()
        self.metrics = Metrics(queries, self.topics)
        self.supervisor = Supervisor()
        self.webhooks = Webhooks(database, sealer, lambda: base_url(settings, self.port), settings.egress)
        self.supervisor.add(self.webhooks.round)
        self.draining = asyncio.Event()
        """Set once the server is to stop."""

        self.port = 0
        """The port on which it listens."""
