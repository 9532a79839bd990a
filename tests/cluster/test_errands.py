"""Operations that were at work on the machine of a worker that is gone: whoever works there now is asked, nobody
assumes that they have ended, and no two processes of a step live at one time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ordito.cluster.store_settings import put_lost_after
from ordito.work.invocation import Ending
from tests.acceptance.program import log_lines, ordito
from tests.cluster.shop import GATED, STEPS, Shop, Started
from tests.support.serving import until


def begun(shop: Shop, step: str = GATED) -> int:
    """How often a step has begun."""
    return sum(1 for kind, _, found, _ in log_lines(shop.project.log) if (kind, found) == ("begin", step))


def wait_for_errand(shop: Shop) -> None:
    until(lambda: shop.rows("SELECT step FROM ordito.errand WHERE result IS NULL"), lambda found: found == [(GATED,)])


def as_bytes(value: object) -> bytes:
    assert isinstance(value, bytes)
    return value


def set_lost_after(shop: Shop, seconds: float) -> None:
    with shop.stored.store.connection() as db:
        put_lost_after(db, seconds)


def test_the_worker_that_is_there_again_finds_what_goes_on(shop: Shop, started: Started) -> None:
    """For the one that has taken the job over: its result counts, and it is not run again."""
    shop.add("i1")
    first = started("one")
    operation = shop.wait_until_gated()
    first.kill()
    other = started("other")
    wait_for_errand(shop)
    assert begun(shop) == 1
    again = started("one")
    until(again.log, lambda text: "takes items" in text)
    shop.open()
    job, outcome = shop.ended("i1")
    assert (outcome.job, outcome.status) == (job, "ok"), other.log()
    shop.check_once()
    assert not Path(f"/proc/{operation}").exists()


def test_what_has_ended_meanwhile_is_not_run_again(shop: Shop, started: Started) -> None:
    """Its result lies in the home of the worker that was killed."""
    shop.add("i1")
    first = started("one")
    shop.wait_until_gated()
    first.kill()
    shop.open()
    until(shop.steps_ended, lambda found: GATED in found)
    started("other")
    wait_for_errand(shop)
    started("one")
    _, outcome = shop.ended("i1")
    assert outcome.status == "ok"
    shop.check_once()


def test_nothing_is_assumed_of_a_machine_that_is_silent(shop: Shop, started: Started) -> None:
    """The step is lost, and what it had started goes on alone."""
    set_lost_after(shop, 2.0)
    shop.add("i1")
    first = started("one")
    operation = shop.wait_until_gated()
    first.kill()
    other = started("other")
    _, outcome = shop.ended("i1")
    assert outcome.status == "failed", other.log()
    assert begun(shop) == 1
    os.kill(operation, 0)
    shown = shop.stored.run("jobs", "show", outcome.job, place="two")
    assert "ordito workers lost one" in shown.out, shown.both
    assert Ending.LOST.value in shop.stored.run("jobs", "show", outcome.job, "-o", "json", place="two").out
    os.kill(operation, signal.SIGKILL)


def test_somebody_says_that_the_machine_is_off(shop: Shop, started: Started) -> None:
    shop.add("i1")
    first = started("one")
    operation = shop.wait_until_gated()
    first.kill()
    started("other")
    wait_for_errand(shop)
    assert begun(shop) == 1
    os.kill(operation, signal.SIGKILL)
    # Until somebody has taken note of its end it would count as alive.
    until(Path(f"/proc/{operation}").exists, lambda is_there: not is_there)
    shop.open()
    shop.workers_lost("one")
    _, outcome = shop.ended("i1")
    assert outcome.status == "ok"
    shop.check_once()
    assert begun(shop) == 2


def test_a_command_elsewhere_waits_for_the_machine_too(shop: Shop, started: Started) -> None:
    """And goes on once a worker is there that answers."""
    shop.add("i1")
    first = started("one")
    shop.wait_until_gated()
    first.kill()
    until(
        lambda: shop.rows("SELECT 1 FROM ordito.worker WHERE lease_until > clock_timestamp()"), lambda found: not found
    )
    with shop.stored.start("jobs", "resume", place="two") as resuming:
        wait_for_errand(shop)
        # It finds an open job that another one holds, so it takes nothing.
        started("one")
        shop.open()
        _, err = resuming.communicate(timeout=60)
    assert resuming.wait() == 0, err
    shop.check_once()
    assert sorted(shop.steps_ended()) == STEPS


def test_what_a_worker_hands_over_needs_no_answer(shop: Shop, started: Started) -> None:
    """It has ended what it ran: the operation runs again, and nobody is asked."""
    shop.add("i1")
    first = started("one")
    operation = shop.wait_until_gated()
    other = started("other")
    until(other.log, lambda text: "takes items" in text)
    first.drain()
    assert not Path(f"/proc/{operation}").exists()
    until(lambda: begun(shop), lambda count: count == 2)
    shop.open()
    _, outcome = shop.ended("i1")
    assert outcome.status == "ok", other.log()
    assert shop.rows("SELECT count(*) FROM ordito.errand") == [(0,)]
    shop.check_once()


def test_an_answer_is_sealed(shop: Shop, started: Started) -> None:
    """With the key of the workers, where they have one."""
    made = ordito(shop.project.home, "store", "init", "--store-file", shop.stored.address_file, "--key", shop.key)
    assert made.code == 0, made.both
    shop.add("i1")
    first = started("one")
    shop.wait_until_gated()
    first.kill()
    started("other")
    wait_for_errand(shop)
    started("one")
    shop.open()
    assert shop.ended("i1")[1].status == "ok"
    found = shop.rows("SELECT request, result FROM ordito.errand")
    assert found
    for body in (as_bytes(body) for row in found for body in row):
        assert body[:1] == b"\1"
        assert b"create" not in body
        assert b"succeeded" not in body
