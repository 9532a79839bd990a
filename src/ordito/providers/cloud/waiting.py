"""Waiting until something in a cloud has reached a state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ordito.providers.cloud.settings import CloudSettings

Found = TypeVar("Found")

MOST = 15.0
"""The most seconds between two checks."""


async def until(
    settings: CloudSettings, look: Callable[[], Awaitable[Found]], enough: Callable[[Found], bool]
) -> tuple[Found, bool]:
    """Call ``look`` repeatedly until ``enough`` accepts its result, or the timeout of the settings is over; returns the
    last result, and whether it was accepted."""
    ends = time.monotonic() + settings.timeout
    pause = settings.interval
    while True:
        seen = await look()
        if enough(seen):
            return seen, True
        if time.monotonic() + pause > ends:
            return seen, False
        await asyncio.sleep(pause)
        pause = min(pause * 1.5, MOST)
