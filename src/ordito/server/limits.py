"""How often somebody may ask, and how often a password may be tried."""

from __future__ import annotations

import hashlib
import ipaddress
import time
from collections.abc import Callable
from typing import NamedTuple

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

    def set(self, rate: float, unknown: float) -> None:
        """Let there be so many requests a second from now on."""
        self._rate, self._unknown = rate, unknown

    @property
    def size(self) -> int:
        """How many are known."""
        return len(self._left)

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
            if len(self._left) >= MOST_KNOWN:
                # Of so many at once the half is forgotten that has asked for the longest time not.
                self._left = dict(sorted(self._left.items(), key=lambda one: one[1][1])[MOST_KNOWN // 2 :])
        self._left[who] = left - 1, now
        return 0.0


OF_KIND, OF_ALL, A_MINUTE = 10, 300, 60.0


class DeniedRows:
    """Counts the rows of the audit log about refusals: each principal, and each address without one, has ten a minute
    of each kind, and 300 in all. Who does nothing else than to be refused would fill the disk, and hide among the rows
    what matters."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[tuple[str, str], tuple[float, int]] = {}
        """When the minute of somebody began, and how many refusals there were since: by kind, "" for all."""

    def take(self, who: str, kind: str) -> str | None:
        """Count a refusal: what is to be said besides in its row, None where it has no row."""
        now = self._clock()
        self._make_room(now)
        left_out, count = self._count((who, kind), OF_KIND, now)
        _, of_all = self._count((who, ""), OF_ALL, now)
        if count > OF_KIND or of_all > OF_ALL:
            return None
        return f"; {left_out} more were refused before, and have no row" if left_out else ""

    def _count(self, key: tuple[str, str], most: int, now: float) -> tuple[int, int]:
        """How many were left out in the minute before, where a new one begins, and how many there are in this one."""
        began, count = self._since.get(key, (now, 0))
        left_out = 0
        if now - began >= A_MINUTE:
            left_out, began, count = max(0, count - most), now, 0
        self._since[key] = began, count + 1
        return left_out, count + 1

    def _make_room(self, now: float) -> None:
        if len(self._since) < MOST_KNOWN:
            return
        self._since = {key: one for key, one in self._since.items() if now - one[0] < A_MINUTE}
        if len(self._since) >= MOST_KNOWN:
            self._since.clear()


WINDOW = 60.0
"""Seconds after which what has failed is forgotten where no pause lasts longer."""

OF_PAIR, OF_ADDRESS, OF_USER = 5, 20, 50
"""How many attempts may fail before there are pauses: of a user from one address, from an address, of a user."""

LONGEST_PAUSE = 3600.0
LONGEST_OF_USER = 5.0
"""The longest pause of a user whom many addresses try."""

FREE = 2
"""How many attempts each address has all the same: who knows the password must not be locked out by strangers who never
stop."""


class SignInAttempts:
    """Counts failed sign-ins: after some, each further one doubles a pause, for who has tried. A user whom many
    addresses try is slowed down too, but only for moments."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: dict[_Tried, tuple[int, float]] = {}
        """How many attempts have failed, and when the last one did."""

    @property
    def size(self) -> int:
        """How much is remembered."""
        return len(self._failed)

    def pause(self, user: str, address: str) -> float:
        """The seconds to wait before the next attempt, 0 for none."""
        pair, of_address, of_user = _tried(user, address)
        count, _ = self._failed.get(pair, (0, 0.0))
        is_first = count < FREE or self._is_over(pair, self._clock())
        return max(self._pause(pair), self._pause(of_address), 0.0 if is_first else self._pause(of_user))

    def failed(self, user: str, address: str) -> None:
        """Count a failed attempt."""
        now = self._clock()
        if len(self._failed) >= MOST_KNOWN:
            self._forget(now)
        for tried in _tried(user, address):
            count, _ = self._failed.get(tried, (0, now))
            self._failed[tried] = (1 if self._is_over(tried, now) else count + 1), now

    def succeeded(self, user: str, address: str) -> None:
        """Forget what has failed for a user from an address. What others have tried is not forgotten by that."""
        self._failed.pop(_tried(user, address)[0], None)

    def _forget(self, now: float) -> None:
        """Forget what is over; where that is not enough, the oldest half."""
        self._failed = {tried: one for tried, one in self._failed.items() if not self._is_over(tried, now)}
        if len(self._failed) >= MOST_KNOWN:
            newest = sorted(self._failed.items(), key=lambda one: one[1][1])[MOST_KNOWN // 2 :]
            self._failed = dict(newest)

    def _is_over(self, tried: _Tried, now: float) -> bool:
        count, at = self._failed.get(tried, (0, now))
        return now - at > max(WINDOW, tried.length(count))

    def _pause(self, tried: _Tried) -> float:
        count, at = self._failed.get(tried, (0, 0.0))
        return max(0.0, at + tried.length(count) - self._clock())


class _Tried(NamedTuple):
    """What attempts are counted for: a user, an address, or both together."""

    user: str
    address: str

    def length(self, count: int) -> float:
        """The pause after so many failed attempts, in seconds."""
        most = OF_ADDRESS if not self.user else OF_USER if not self.address else OF_PAIR
        longest = LONGEST_PAUSE if self.address else LONGEST_OF_USER
        return min(longest, 2.0 ** min(count - most, 12)) if count >= most else 0.0


def group_of(address: str) -> str:
    """What is counted as one address: of IPv6 the network of 64 bits, of which whoever has one address has all."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))


def _tried(user: str, address: str) -> tuple[_Tried, _Tried, _Tried]:
    # Names may be as long as a body, and belong to nobody.
    name = hashlib.sha256(user.encode()).hexdigest()
    group = group_of(address)
    return _Tried(name, group), _Tried("", group), _Tried(name, "")
