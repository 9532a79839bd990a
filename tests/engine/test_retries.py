"""How often and how soon a failed operation is tried again, and what its attempts together come to."""

from __future__ import annotations

import pytest

from ordito.engine.attempts import LONGEST, attempts_of, pause_after, together
from ordito.work.invocation import Ending, Outcome
from ordito.work.options import JobOptions
from ordito.work.plan import OperationCall

SILENT = OperationCall("n", "", "Standard", "create", "a.sh")
FAILED = Outcome(Ending.FAILED, exit_code=1)


@pytest.mark.parametrize(
    ("said", "job", "code", "attempts"),
    [
        (0, 0, 1, 1),
        (0, 0, 75, 3),
        (0, 4, 1, 4),
        (0, 4, 75, 4),
        (0, 1, 75, 1),
        (2, 4, 1, 2),
        (1, 4, 75, 1),
    ],
)
def test_what_the_call_says_wins_over_the_command_and_75_over_silence(
    said: int, job: int, code: int, attempts: int
) -> None:
    call = OperationCall("n", "", "Standard", "create", "a.sh", attempts=said)
    assert attempts_of(call, JobOptions(attempts=job), Outcome(Ending.FAILED, exit_code=code)) == attempts


@pytest.mark.parametrize(
    ("interval", "pauses"),
    [
        (None, [1, 2, 4, 8]),
        (0.0, [0, 0, 0, 0]),
        (2.5, [2.5, 5, 10, 20]),
        (100.0, [100, 200, LONGEST, LONGEST]),
        (1_000.0, [1_000, 1_000, 1_000, 1_000]),
    ],
)
def test_pauses_double_up_to_a_bound(interval: float | None, pauses: list[float]) -> None:
    options = JobOptions(attempts=9, interval=interval)
    assert [pause_after(attempt, SILENT, options, FAILED) for attempt in range(1, 5)] == pauses


def test_very_many_attempts_do_not_overflow() -> None:
    assert pause_after(5_000, SILENT, JobOptions(attempts=6_000), FAILED) == LONGEST


def test_the_calls_interval_wins() -> None:
    call = OperationCall("n", "", "Standard", "create", "a.sh", interval=7.0)
    assert pause_after(1, call, JobOptions(attempts=2, interval=1.0), FAILED) == 7.0


@pytest.mark.parametrize(
    ("ending", "again"),
    [
        (Ending.FAILED, True),
        (Ending.TIMED_OUT, True),
        (Ending.UNREACHABLE, True),
        (Ending.NOT_STARTED, False),
        (Ending.CANCELLED, False),
    ],
)
def test_what_another_attempt_may_mend(ending: Ending, again: bool) -> None:
    pause = pause_after(1, SILENT, JobOptions(attempts=2), Outcome(ending))
    assert (pause is not None) is again


def test_the_last_attempt_is_the_last() -> None:
    assert pause_after(2, SILENT, JobOptions(attempts=2), FAILED) is None


def outcome(ending: Ending, changed: bool | None, message: str = "") -> Outcome:
    return Outcome(ending, changed=changed, message=message)


@pytest.mark.parametrize(
    ("earlier", "last", "changed"),
    [
        ((Ending.FAILED, True), (Ending.FAILED, False), True),
        ((Ending.FAILED, True), (Ending.SUCCEEDED, False), True),
        ((Ending.FAILED, False), (Ending.FAILED, False), False),
        ((Ending.FAILED, None), (Ending.FAILED, False), None),
        ((Ending.FAILED, None), (Ending.FAILED, True), True),
        ((Ending.FAILED, False), (Ending.TIMED_OUT, None), None),
        ((Ending.FAILED, None), (Ending.SUCCEEDED, False), False),
        ((Ending.UNREACHABLE, None), (Ending.FAILED, False), False),
        ((Ending.FAILED, False), (Ending.UNREACHABLE, None), False),
    ],
)
def test_what_attempts_have_modified_together(
    earlier: tuple[Ending, bool | None], last: tuple[Ending, bool | None], changed: bool | None
) -> None:
    assert together(outcome(*earlier), outcome(*last)).changed is changed


def test_an_attempt_that_came_to_nothing_does_not_hide_the_one_before() -> None:
    earlier = outcome(Ending.FAILED, None, "exit 3")
    found = together(earlier, outcome(Ending.UNREACHABLE, None, "no route"))
    assert found.ending is Ending.FAILED
    assert found.message == "exit 3; then unreachable: no route"
    assert together(None, FAILED) == FAILED
