"""The supervisor: what the server does by itself, at its start and again and again."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable

_LOG = logging.getLogger(__name__)

PAUSE = 10.0
"""Seconds between two rounds."""

Duty = Callable[[], Awaitable[None]]


class Supervisor:
    """Carries out duties, one after the other, in rounds."""

    def __init__(self) -> None:
        self._duties: list[Duty] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, duty: Duty) -> None:
        """Add something that is done in each round. One that fails is logged, and done again in the next round."""
        self._duties.append(duty)

    def start(self) -> None:
        """Begin with the first round."""
        self._task = asyncio.create_task(self._rounds())

    async def stop(self) -> None:
        """End, also in the middle of a round."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _rounds(self) -> None:
        while True:
            for duty in self._duties:
                try:
                    await duty()
                except Exception:  # noqa: BLE001  one duty that has a fault must not keep the others from being done
                    _LOG.exception("a fault in what the server does by itself")
            await asyncio.sleep(PAUSE)
