"""Waiting until something in a cloud is as it should be."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ordito.providers.cloud.settings import CloudSettings

Found = TypeVar("Found")

MOST = 15.0
"""Seconds between two looks at most."""


async def until(
    settings: CloudSettings, look: Callable[[], Awaitable[Found]], enough: Callable[[Found], bool]
) -> tuple[Found, bool]:
    """Look again and again until what is seen is enough, or the time of the settings is over; gives what was seen last,
    and whether it is enough."""
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
