"""The supervisor: what the server does by itself, at its start and again and again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

_LOG = logging.getLogger(__name__)

PAUSE = 10.0
"""Seconds between two rounds."""

Duty = Callable[[], Awaitable[None]]


class Supervisor:
    """Carries out duties, each in rounds of its own, so that none keeps the others waiting."""

    def __init__(self) -> None:
        self._duties: list[Duty] = []
        self._tasks: list[asyncio.Task[None]] = []

    def add(self, duty: Duty) -> None:
        """Add something that is done in each round. One that fails is logged, and done again in the next round."""
        self._duties.append(duty)

    def start(self) -> None:
        """Begin with the first rounds."""
        self._tasks = [asyncio.create_task(_rounds(duty)) for duty in self._duties]

    async def stop(self) -> None:
        """End, also in the middle of a round."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _rounds(duty: Duty) -> None:
    while True:
        try:
            await duty()
        except Exception:  # noqa: BLE001  a fault of one round must not end all further ones
            _LOG.exception("a fault in what the server does by itself")
        await asyncio.sleep(PAUSE)
