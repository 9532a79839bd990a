"""What strangers can use up, by a clock that is given."""

from __future__ import annotations

from ordito.server.limits import LONGEST_OF_USER, LONGEST_PAUSE, MOST_KNOWN, Rates, SignInAttempts


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
