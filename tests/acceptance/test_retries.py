"""Failing operations are tried again, through kills and interrupts, with the real program."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from tests.acceptance.orders import kill, make_orders, of_kind, rest, until

FLAKY = 'echo x >>count; [ "$(wc -l <count)" -gt {failures} ] || exit {code}\n'


def test_an_operation_that_asks_for_it_is_tried_again(tmp_path: Path) -> None:
    """Exit code 75, with nothing said about attempts; the record of the job says how many it took."""
    orders = make_orders(tmp_path)
    orders.order("base_1.Standard.create", FLAKY.format(failures=2, code=75))
    code, events = rest(orders.begin("deploy", str(orders.service), "--interval", "0.01"))
    assert code == 0
    told = [(e["step"], e["next"], e["attempts"], e["outcome"]["exit_code"]) for e in of_kind(events, "step.retrying")]
    assert told == [("base_1.Standard.create", 2, 3, 75), ("base_1.Standard.create", 3, 3, 75)]
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    assert [change["attempts"] for change in shown["changes"] if "attempts" in change] == [3]
    assert shown["job"]["status"] == "ok"


def test_without_being_asked_nothing_is_tried_again(tmp_path: Path) -> None:
    orders = make_orders(tmp_path)
    orders.order("base_1.Standard.create", FLAKY.format(failures=2, code=1))
    code, events = rest(orders.begin("deploy", str(orders.service)))
    assert code == 1
    assert of_kind(events, "step.retrying") == []
    assert orders.begun() == ["base_1.Standard.create"]


def test_killed_while_it_waits_the_job_goes_on_with_the_attempts_that_are_left(tmp_path: Path) -> None:
    orders = make_orders(tmp_path)
    orders.order("base_1.Standard.create", FLAKY.format(failures=9, code=1))
    process = orders.begin("deploy", str(orders.service), "--attempts", "3", "--interval", "0.4")
    until(process, "step.retrying")
    kill(process)
    code, events = rest(orders.begin("jobs", "resume"))
    assert code == 1
    assert [e.get("attempt", 1) for e in of_kind(events, "step.started")] == [2, 3]
    assert orders.begun() == ["base_1.Standard.create"] * 3
    (failed,) = of_kind(events, "step.failed")
    assert failed["outcome"]["exit_code"] == 1


def test_an_interrupt_ends_the_wait_at_once(tmp_path: Path) -> None:
    """The pause is an hour long."""
    orders = make_orders(tmp_path)
    orders.order("base_1.Standard.create", "exit 1")
    process = orders.begin("deploy", str(orders.service), "--attempts", "2", "--interval", "3600")
    until(process, "step.retrying")
    process.send_signal(signal.SIGINT)
    code, events = rest(process)
    assert code == 130
    (finished,) = of_kind(events, "job.finished")
    assert finished["status"] == "cancelled"
    (failed,) = of_kind(events, "step.failed")
    assert "not tried again, because the job was cancelled" in failed["outcome"]["message"]


def test_people_read_what_is_tried_again_and_when(tmp_path: Path) -> None:
    orders = make_orders(tmp_path)
    orders.order("base_1.Standard.create", FLAKY.format(failures=1, code=4))
    done = orders.run("deploy", str(orders.service), "--yes", "--attempts", "2", "--interval", "0.01")
    assert done.code == 0, done.both
    assert "attempt 2 of 2 in" in done.err
    assert "start (attempt 2)" in done.err


def test_numbers_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    orders = make_orders(tmp_path)
    for option, value in (("--attempts", "0"), ("--attempts", "x"), ("--interval", "-1"), ("--interval", "nan")):
        refused = orders.run("deploy", str(orders.service), "--yes", option, value)
        assert refused.code == 64, refused.both
        assert option in refused.err
