"""Notices that wait in the inboxes of ensembles: handled one ensemble after the other, where nothing is frozen.

A notice may begin jobs of triggers, so that runners leave those that came meanwhile to the server, which knows what is
frozen. What waits at the end of a freeze, or while no server runs, is found again in the inboxes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from ordito.app.surroundings import around
from ordito.app.work_items import NoticesItem
from ordito.ensemble.errors import EnsembleError
from ordito.ensemble.files import mark_of
from ordito.ensemble.inbox import Inbox, may_have_inbox
from ordito.ensemble.layout import Layout
from ordito.ensemble.lock import holder
from ordito.server.database.database import Database
from ordito.server.places import all_ensembles, reads_of
from ordito.server.plans.store import frozen_by
from ordito.server.ports import Runners
from ordito.server.problems import ApiProblem
from ordito.server.processes.calls import ForkedTask
from ordito.server.settings import CurrentSettings
from ordito.source.reach import within

_LOG = logging.getLogger(__name__)

AGAIN = 60.0
"""Seconds after which an inbox is tried again of which nothing could be handled."""

Mark = tuple[int, int, int] | None


class NoticeParts(msgspec.Struct, frozen=True):
    """What the handling of notices works with."""

    home: Path
    settings: CurrentSettings
    database: Database
    runners: Runners
    may_start: Callable[[], bool]
    """Whether jobs may be begun now."""


class WaitingNotices:
    """Starts runners for the notices that wait."""

    def __init__(self, parts: NoticeParts) -> None:
        self._parts = parts
        self._tried: dict[str, tuple[Mark, float]] = {}
        """By directory, what the inbox was like when it was tried last, and when that was."""

    async def round(self) -> None:
        """Handle what waits in any ensemble."""
        found = await self._parts.database.read(all_ensembles)
        there = {directory for _, _, directory in found}
        self._tried = {directory: tried for directory, tried in self._tried.items() if directory in there}
        # Of most ensembles nobody ever tells anything.
        for project, ensemble, _ in await asyncio.to_thread(_with_inbox, found):
            await self.handle(project, ensemble)

    async def handle(self, project: str, ensemble: str) -> None:
        """Handle what waits in one ensemble, unless it is frozen, or somebody works on it: then it is looked at
        again."""
        parts, name = self._parts, f"notices-{project}.{ensemble}"
        frozen = partial(frozen_by, project=project, ensemble=ensemble, now=time.time())
        if not parts.may_start() or await parts.database.read(frozen) is not None:
            return
        try:
            reads = await parts.database.read(partial(reads_of, home=parts.home, project=project, ensemble=ensemble))
            mark, waits = await asyncio.to_thread(self._look, reads[0])
            reach, retention = around(parts.settings.surroundings, reads), parts.settings.now.jobs.retention
            if waits and await parts.runners.start(name, ForkedTask(NoticesItem(reads[0]), reach, retention)):
                self._tried[reads[0]] = mark, time.monotonic()
        except (ApiProblem, EnsembleError, OSError) as error:
            _LOG.warning("cannot handle the notices of %s/%s: %s", project, ensemble, error)

    def _look(self, directory: str) -> tuple[Mark, bool]:
        """What an inbox is like, and whether something in it can be handled now. Raises ``EnsembleError``."""
        layout = Layout(Path(directory))
        mark = mark_of(layout.inbox)
        before, at = self._tried.get(directory, (None, 0.0))
        if mark is None or (mark == before and time.monotonic() - at < AGAIN):
            return mark, False
        with within(directory):
            if holder(layout) is not None:
                return mark, False
            with Inbox(layout) as inbox:
                return mark, inbox.waiting() > 0


def _with_inbox(found: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [one for one in found if may_have_inbox(one[2])]
