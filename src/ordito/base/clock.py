"""The clock as a parameter: code that needs the time takes a ``Clock``, so that tests can set it."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in two ways: the time of day, and a time that never jumps."""

    def now(self) -> float:
        """Seconds since the epoch (UTC); may jump when the machine's clock is set."""

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never goes back, for measuring how long something takes."""


class SystemClock:
    """The clock of this machine."""

    def now(self) -> float:
        """Seconds since the epoch (UTC)."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds since the machine was started, or some other fixed moment."""
        return time.monotonic()
