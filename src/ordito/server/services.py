"""What routes need to answer, made once when the server starts."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from cryptography.fernet import Fernet
from sqlalchemy import Connection, delete, insert, select

from ordito.server.answers import Answers
from ordito.server.database.database import Database
from ordito.server.database.outbox import forget_events
from ordito.server.database.tables import ANSWERS, SETTINGS
from ordito.server.identity.signing_in import prune
from ordito.server.leading import Leading
from ordito.server.limits import DeniedRows, Rates, SignInAttempts
from ordito.server.live.outbox import OutboxTail
from ordito.server.live.statuses import asking
from ordito.server.live.topics import Topics
from ordito.server.metrics import Metrics
from ordito.server.outgoing.provider import OidcProvider
from ordito.server.outgoing.sources import GitSources, SourceParts
from ordito.server.outgoing.webhooks import Webhooks
from ordito.server.packages import PackageStore
from ordito.server.plans.files import PlanFiles
from ordito.server.plans.keeper import PlanKeeper
from ordito.server.plans.maker import AT_ONCE
from ordito.server.plans.parts import PlanParts
from ordito.server.plans.store import forget_freezes
from ordito.server.plans.waiting_notices import NoticeParts, WaitingNotices
from ordito.server.ports import LocalPlaces, Places, Runners
from ordito.server.processes.link import ForkLink
from ordito.server.processes.queries import Queries, QueryLimits
from ordito.server.processes.runners import ForkedRunners
from ordito.server.restored import may_resume
from ordito.server.route import Ways
from ordito.server.schedules.drifts import Drifts
from ordito.server.schedules.turns import Schedules
from ordito.server.settings import ChangedSettings, CurrentSettings, ServerSettings, base_url
from ordito.server.supervisor import Duty, Supervisor

if TYPE_CHECKING:
    from ordito.server.stores.stores import Stores

PRUNES_EVERY = 600.0
"""Seconds between two rounds in which what is over is forgotten."""


def kept_settings(connection: Connection) -> ChangedSettings:
    """What administrators have set."""
    found = connection.execute(select(SETTINGS.c.body)).scalar()
    return msgspec.json.decode(found, type=ChangedSettings) if found else ChangedSettings()


def keep_settings(connection: Connection, changed: ChangedSettings) -> None:
    """Keep it, in place of what was set before."""
    connection.execute(delete(SETTINGS))
    connection.execute(insert(SETTINGS).values(name="server", body=msgspec.json.encode(changed).decode()))


class RouteIndex(msgspec.Struct, frozen=True):
    """What is said about all routes."""

    openapi: Callable[[], bytes]
    """Makes their OpenAPI document."""

    ways: Ways


class Services:
    """The parts of a server that runs."""

    def __init__(
        self,
        home: Path,
        settings: ServerSettings,
        database: Database,
        link: ForkLink,
        sealer: Fernet,
        api: RouteIndex,
        stores: Stores | None = None,
    ) -> None:
        self.api = api
        self.stores = stores
        """The store over which it serves, None for the directories of this machine."""

        self.places: Places = stores.places if stores is not None else LocalPlaces()
        self.home = home
        """The directory of the server."""

        self.current = CurrentSettings(home, settings)
        self.database = database
        self.link = link
        self.sealer = sealer
        self.port = 0
        """The port on which it listens."""

        self.draining = asyncio.Event()
        """Set once the server is to stop."""

        self._cores = max(2, len(os.sched_getaffinity(0)))
        self.queries = Queries(QueryLimits(self._cores), link)
        self._making = Queries(QueryLimits(AT_ONCE), link)
        self.queries.stored = self._making.stored = self.places.stored
        self.runners: Runners = stores.runners if stores is not None else ForkedRunners(home / "runs", link)
        self.answers = Answers(self.queries)
        self.answers.fresh = self.places.fresh
        self.packages = PackageStore(home)
        if stores is not None:
            self.packages.kept = stores.places.keep_package
        self.plan_files = PlanFiles(home / "plans", database)
        self.outbox = OutboxTail(database)
        self.topics = Topics(self.outbox, asking(self.queries), self.places.touch)
        self.rates = Rates(settings.limits.requests, settings.limits.unknown)
        self.attempts = SignInAttempts()
        self.provider = OidcProvider(settings.oidc, lambda: self.settings.egress) if settings.oidc is not None else None
        """The provider that signs people in, None where there is none."""

        self.denied = DeniedRows()
        self.readings: dict[tuple[str, ...], float] = {}
        """When it was written down that somebody reads something: who, by what, what was done, and about what."""

        self.metrics = Metrics(self.queries, self.topics)
        self.queries.told = self._making.told = self._asked
        self.supervisor = Supervisor()
        self.leading = Leading(database)
        self.notices = WaitingNotices(NoticeParts(home, self.current, database, self.runners, self._may_start))
        self.plan_parts = self._plan_parts()
        self.keeper = PlanKeeper(self.plan_parts)
        self.leading.begins = self.keeper.wake
        self.webhooks = Webhooks(database, sealer, lambda: base_url(settings, self.port), lambda: self.settings.egress)
        following = SourceParts(home, database, self.answers, self.queries, self.packages, sealer, self.current)
        self.sources = GitSources(following, self.keeper.wake)
        self._next_prune = 0.0
        self._add_duties()
        self.use(database.read_now(kept_settings))

    def _plan_parts(self) -> PlanParts:
        return PlanParts(
            home=self.home,
            settings=self.current,
            database=self.database,
            sealer=self.sealer,
            queries=self._making,
            runners=self.runners,
            places=self.places,
            files=self.plan_files,
            supervisor=self.supervisor,
            metrics=self.metrics,
            draining=self.draining,
            may_start=self._may_start,
            leads=lambda: self.leading.leads,
            notices=self.notices,
        )

    def _add_duties(self) -> None:
        """What the server does by itself; of several servers the one that leads."""
        schedules = Schedules(self.home, self.database, self.answers, self.sealer, self.keeper.wake)
        for duty in (self.webhooks.round, schedules.round, self.sources.round):
            self.supervisor.add(self._unless_held(duty))
        drifts = Drifts(self.home, self.database, self.answers, self.sealer)
        for duty in (self.notices.round, drifts.round, self._prune):
            self.supervisor.add(self._if_leading(duty))
        if self.stores is not None:
            self.supervisor.add(self._if_leading(partial(self.stores.serve_all, self.database)))

    @property
    def settings(self) -> ServerSettings:
        """The settings as they are now."""
        return self.current.now

    def use(self, changed: ChangedSettings) -> None:
        """Go on with other settings, from the next request, look and job on."""
        self.current.change(changed)
        limits, around = self.settings.limits, self.current.surroundings
        self.rates.set(limits.requests, limits.unknown)
        self.queries.limits = QueryLimits(self._cores, limits.query_seconds, limits.query_memory, surroundings=around)
        self._making.limits = QueryLimits(AT_ONCE, limits.plan_seconds, limits.plan_memory, surroundings=around)

    def _may_start(self) -> bool:
        return not self.draining.is_set() and may_resume(self.home)

    def _unless_held(self, duty: Duty) -> Duty:
        """What a server that was restored from a backup does not do before it may, and of several only one does."""

        async def held() -> None:
            if may_resume(self.home) and self.leading.leads:
                await duty()

        return held

    def _if_leading(self, duty: Duty) -> Duty:
        """What of several servers only one does."""

        async def led() -> None:
            if self.leading.leads:
                await duty()

        return led

    async def start(self) -> None:
        """Hear of what other servers do, and find out whether this one leads."""
        self.database.follow(self._told)
        await self.leading.start()
        if self.stores is not None:
            self.stores.places.start()

    async def stop(self) -> None:
        """Let others go on."""
        await self.leading.stop()
        if self.stores is not None:
            await self.stores.stop()

    def _told(self, tables: frozenset[str] | None) -> None:
        """Go on with what other servers have changed."""
        if tables is None or SETTINGS.name in tables:
            task = asyncio.ensure_future(self._read_settings())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        self.keeper.wake()

    async def _read_settings(self) -> None:
        self.use(await self.database.read(kept_settings))

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
