"""What strangers can use up, by a clock that is given."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import Request

from ordito.server import connections
from ordito.server.connections import pieces
from ordito.server.limits import LONGEST_OF_USER, LONGEST_PAUSE, MOST_KNOWN, Rates, SignInAttempts, group_of
from ordito.server.problems import ApiProblem


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def failing(attempts: SignInAttempts, clock: Clock, user: str, address: str, times: int) -> float:
    """Fail so often, waiting as long as is asked for; returns the last pause."""
    for _ in range(times):
        clock.now += attempts.pause(user, address)
        attempts.failed(user, address)
    return attempts.pause(user, address)


def test_who_guesses_waits_twice_as_long_each_time_up_to_an_hour() -> None:
    clock = Clock()
    attempts = SignInAttempts(clock)
    assert failing(attempts, clock, "ann", "stranger", 4) == 0
    assert [failing(attempts, clock, "ann", "stranger", 1) for _ in range(4)] == [1, 2, 4, 8]
    assert failing(attempts, clock, "ann", "stranger", 20) == LONGEST_PAUSE
    clock.now += LONGEST_PAUSE + 1
    assert attempts.pause("ann", "stranger") == 0


def test_strangers_do_not_lock_somebody_out() -> None:
    """However many try, and however long: who knows the password signs in from where they are."""
    clock = Clock()
    attempts = SignInAttempts(clock)
    failing(attempts, clock, "ann", "stranger", 30)
    assert attempts.pause("ann", "stranger") > 0
    assert attempts.pause("ann", "home") == 0
    for number in range(500):
        attempts.failed("ann", f"bot {number}")
    assert attempts.pause("ann", "home") == 0
    attempts.failed("ann", "home")
    assert attempts.pause("ann", "home") == 0
    attempts.failed("ann", "home")
    assert 0 < attempts.pause("ann", "home") <= LONGEST_OF_USER
    attempts.succeeded("ann", "home")
    assert attempts.pause("ann", "home") == 0
    # It does not help who tries.
    assert attempts.pause("ann", "stranger") > LONGEST_OF_USER


def test_an_address_that_tries_many_users_is_slowed_down() -> None:
    clock = Clock()
    attempts = SignInAttempts(clock)
    for number in range(30):
        attempts.failed(f"user {number}", "stranger")
    assert attempts.pause("somebody else", "stranger") > 0
    assert attempts.pause("somebody else", "elsewhere") == 0


def test_what_is_counted_does_not_grow_without_end() -> None:
    clock = Clock()
    attempts, rates = SignInAttempts(clock), Rates(1, 1, clock)
    for number in range(3 * MOST_KNOWN):
        attempts.failed(f"user {number}", f"address {number}")
        rates.take(f"address {number}", known=False)
    assert attempts.size <= MOST_KNOWN + 3
    assert rates.size <= MOST_KNOWN


def test_one_network_of_ipv6_is_counted_as_one_address() -> None:
    """Whoever has an address there has 2**64 of them."""
    assert group_of("2001:db8:1:2:3:4:5:6") == group_of("2001:db8:1:2::1%eth0") == "2001:db8:1:2::/64"
    assert group_of("2001:db8:1:3::1") != group_of("2001:db8:1:2::1")
    assert group_of("::ffff:192.0.2.1") == group_of("192.0.2.1") == "192.0.2.1"
    assert group_of("a socket") == "a socket"
    clock = Clock()
    attempts = SignInAttempts(clock)
    for number in range(30):
        attempts.failed(f"user {number}", f"2001:db8::{number:x}")
    assert attempts.pause("somebody else", "2001:db8::ffff") > 0
    assert attempts.pause("somebody else", "2001:db8:0:1::1") == 0


def test_a_body_that_comes_too_slowly_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is, and however regularly a byte of it comes."""
    monkeypatch.setattr(connections, "BODY_SECONDS", 0.0)
    scope = {"type": "http", "method": "POST", "headers": []}

    async def taken(size: int) -> int:
        left, count = [size] * 3, 0

        async def receive() -> dict[str, object]:
            if left:
                return {"type": "http.request", "body": b"x" * left.pop(), "more_body": True}
            await asyncio.Event().wait()
            raise AssertionError

        async for piece in pieces(Request(scope, receive)):
            count += len(piece)
            # From here on only what has come gives time.
        return count

    for size in (1, 100):
        with pytest.raises(ApiProblem) as found:
            asyncio.run(taken(size))
        assert (found.value.code, found.value.status) == ("too-slow", 408)
