"""The clock, as something that is handed in: whoever needs the time asks for a ``Clock``."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in two ways: by the calendar, and by a hand that never jumps."""

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
