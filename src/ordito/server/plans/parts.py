"""What plans are kept going with."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from cryptography.fernet import Fernet, InvalidToken
from sqlalchemy import Row

from ordito.app.surroundings import around
from ordito.app.work_items import AskedRequest, WorkItem
from ordito.server.database.database import Database
from ordito.server.metrics import Metrics
from ordito.server.packages import package_path, seen_from_ensemble
from ordito.server.places import directory_of, reads_of
from ordito.server.plans.files import PlanFiles
from ordito.server.plans.store import StoredRequest, frozen_by, stored_request
from ordito.server.plans.waiting_notices import WaitingNotices
from ordito.server.ports import Places, Runners
from ordito.server.processes.calls import ForkedTask
from ordito.server.processes.queries import Queries
from ordito.server.settings import CurrentSettings
from ordito.server.supervisor import Supervisor

_LOG = logging.getLogger(__name__)


class PlanParts(msgspec.Struct, frozen=True):
    """What plans are kept going with, and what is asked about one again and again."""

    home: Path
    """The home of the server."""

    settings: CurrentSettings

    database: Database
    sealer: Fernet
    queries: Queries
    """Makes plans."""

    runners: Runners
    places: Places
    files: PlanFiles
    supervisor: Supervisor
    metrics: Metrics
    draining: asyncio.Event
    """Set once the server is to stop."""

    may_start: Callable[[], bool]
    """Whether jobs may be begun and resumed: not once the server is to stop, and not yet where it was restored from a
    backup."""

    leads: Callable[[], bool]
    """Whether this server keeps the plans going, of several that might."""

    notices: WaitingNotices
    """Handles what arrived while a job ran."""

    async def reads(self, project: str, ensemble: str, package: str = "") -> tuple[str, ...]:
        """What a process may read that works for an ensemble, and deploys a package: first the directory."""
        reads = await self.database.read(partial(reads_of, home=self.home, project=project, ensemble=ensemble))
        if package:
            await self.places.bring(package)
        await self.places.fresh(reads[0])
        return (*reads, str(package_path(self.home, package))) if package else reads

    def asked(self, request: StoredRequest, directory: str) -> AskedRequest:
        """A request, with the path of its package, seen from the ensemble's directory as messages name it."""
        if not request.package:
            return request.asked
        path = seen_from_ensemble(package_path(self.home, request.package), directory)
        return msgspec.structs.replace(request.asked, fields={**request.asked.fields, "service": path})

    async def task_of(self, item: WorkItem, project: str, ensemble: str) -> ForkedTask:
        """A work item for an ensemble, with what its runner may reach."""
        return self.task(item, await self.reads(project, ensemble))

    def task(self, item: WorkItem, reads: tuple[str, ...]) -> ForkedTask:
        """A work item, with what its runner may reach."""
        surroundings = around(self.settings.surroundings, reads)
        return ForkedTask(item, surroundings, self.settings.now.jobs.retention)

    async def directory(self, row: Row[Any]) -> str:
        """The directory of the ensemble of a plan."""
        return await self.database.read(partial(directory_of, project=row.project, ensemble=row.ensemble))

    async def is_frozen(self, project: str, ensemble: str) -> bool:
        """Whether nothing of an ensemble may begin now."""
        frozen = partial(frozen_by, project=project, ensemble=ensemble, now=time.time())
        return await self.database.read(frozen) is not None

    def package_of(self, row: Row[Any]) -> str:
        """The digest of the package that a plan deploys, "" if it deploys none, or if that cannot be known any more."""
        try:
            return stored_request(row, self.sealer).package
        except InvalidToken:
            # The server was restored without its key while this job ran. The ensemble itself has what was deployed.
            _LOG.warning("plan %s: what was asked cannot be read without the key of before", row.id)
            return ""
