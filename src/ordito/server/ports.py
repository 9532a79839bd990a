"""What a server asks of the place where jobs run and ensembles are: this machine, or a store with its workers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from ordito.server.processes.calls import ForkedTask, StoredAt
from ordito.server.processes.runners import RunnerLook


class Runners(Protocol):
    """Carry out work items, each known by a name: that of its plan, or what it does."""

    changed: asyncio.Event
    """Is set when one may have ended; to be cleared by who looks."""

    @property
    def count(self) -> int:
        """How many run as children of this server."""

    async def start(self, name: str, task: ForkedTask) -> bool:
        """Let an item be carried out; False where one of this name is, or none can be now. Raises ``EnsembleError``."""

    def look(self, name: str) -> RunnerLook:
        """How far an item is; one that never was is like one that has ended and told nothing. Raises
        ``EnsembleError``."""

    def forget(self, name: str) -> None:
        """Remove what is kept of one that has ended."""


class Places(Protocol):
    """Where ensembles are, each known by a directory of this machine."""

    folder: Path | None
    """Below which the ensembles of a store have their directories, None where there is no store."""

    def stored(self, directory: str) -> StoredAt | None:
        """Where in a store an ensemble is, None for one that is its directory."""

    async def fresh(self, *directories: str) -> None:
        """Bring directories up to date. Raises ``EnsembleError``; of several, those that cannot be stay as they are."""

    async def bring(self, digest: str) -> None:
        """Bring a package here that another server has taken. Raises ``EnsembleError``."""

    def touch(self, directory: Path) -> None:
        """Somebody follows what is in the directory, or below it, now."""

    def cancel(self, directory: str, job: str, how: str) -> bool | None:
        """Ask whoever carries out a job to end it: whether somebody does; None where the job itself is to be asked.
        Raises ``EnsembleError``."""


class LocalPlaces:
    """Directories of this machine, see ``Places``."""

    folder: Path | None = None

    def stored(self, directory: str) -> StoredAt | None:
        """See ``Places``."""
        return None

    async def fresh(self, *directories: str) -> None:
        """See ``Places``: they are themselves."""

    async def bring(self, digest: str) -> None:
        """See ``Places``: all packages are here."""

    def touch(self, directory: Path) -> None:
        """See ``Places``."""

    def cancel(self, directory: str, job: str, how: str) -> bool | None:
        """See ``Places``."""
        return None
