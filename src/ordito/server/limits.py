"""How often somebody may ask, and how often a password may be tried."""

from __future__ import annotations

import time
from collections.abc import Callable

BURST = 4
"""How many seconds' worth of requests may come at once."""

MOST_KNOWN = 10_000


class Rates:
    """Counts requests: each principal, and each address without one, has so many a second, with bursts."""

    def __init__(self, rate: float, unknown: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._unknown = unknown
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, who: str, *, known: bool) -> float:
        """Count a request: 0, or the seconds after which there is room for it."""
        rate, now = (self._rate if known else self._unknown), self._clock()
        burst = rate * BURST
        left, at = self._left.get(who, (burst, now))
        left = min(burst, left + (now - at) * rate)
        if left < 1:
            return (1 - left) / rate
        if len(self._left) >= MOST_KNOWN and who not in self._left:
            # Who has not asked for long has all of the burst again, so nothing is lost.
            self._left = {name: one for name, one in self._left.items() if (now - one[1]) < BURST}
        self._left[who] = left - 1, now
        return 0.0


WINDOW = 60.0
OF_USER, OF_ADDRESS = 5, 20
LONGEST_PAUSE = 3600.0


class SignInAttempts:
    """Counts failed sign-ins: after some in a minute, each further one doubles a pause."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: dict[str, tuple[int, float]] = {}
        """How many attempts have failed, and when the last one did."""

    def pause(self, user: str, address: str) -> float:
        """The seconds to wait before the next attempt, 0 for none."""
        return max(self._pause(f"user {user}", OF_USER), self._pause(f"address {address}", OF_ADDRESS))

    def failed(self, user: str, address: str) -> None:
        """Count a failed attempt."""
        now = self._clock()
        if len(self._failed) >= MOST_KNOWN:
            self._failed = {name: one for name, one in self._failed.items() if now - one[1] < LONGEST_PAUSE}
        for name in (f"user {user}", f"address {address}"):
            count, _ = self._failed.get(name, (0, now))
            self._failed[name] = (1 if self._is_over(name, now) else count + 1), now

    def succeeded(self, user: str) -> None:
        """Forget what has failed for a user."""
        self._failed.pop(f"user {user}", None)

    def _is_over(self, name: str, now: float) -> bool:
        count, at = self._failed.get(name, (0, now))
        return now - at > max(WINDOW, _length(count, OF_USER))

    def _pause(self, name: str, most: int) -> float:
        count, at = self._failed.get(name, (0, 0.0))
        return max(0.0, at + _length(count, most) - self._clock()) if count >= most else 0.0


def _length(count: int, most: int) -> float:
    """The pause after so many failed attempts, in seconds."""
    return min(LONGEST_PAUSE, 2.0 ** min(count - most, 12)) if count >= most else 0.0
