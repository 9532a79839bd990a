"""An operation leaves something else than a file where its outputs are looked for: every command comes to its end."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, kill, make_orders, of_kind, rest, until

STEP = "base_1.Standard.create"
PIPE = 'mkfifo "$ORDITO_OUTPUTS"\n'
GATE = "touch waiting; while [ ! -e open ]; do sleep 0.05; done\n"


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    return make_orders(tmp_path)


def test_a_deployment_fails_says_why_and_goes_on_when_it_is_mended(orders: Orders) -> None:
    orders.order(STEP, PIPE)
    failed = orders.run("deploy", str(orders.service), "--yes")
    assert failed.code == 1, failed.both
    assert "($ORDITO_OUTPUTS) is a FIFO (named pipe)" in failed.both
    orders.forget(STEP)
    assert orders.run("deploy", str(orders.service), "--yes").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_is_heeded(orders: Orders, number: signal.Signals) -> None:
    """Also where the operation does not end by itself."""
    orders.order(STEP, f"{PIPE}echo left\nexec sleep 1000\n")
    process = orders.begin("deploy", str(orders.service))
    until(process, "step.log")
    process.send_signal(number)
    until(process, "note")
    process.send_signal(number)
    code, events = rest(process)
    assert code in (130, 143)
    assert [event["step"] for event in of_kind(events, "step.failed")] == [STEP]


@pytest.mark.parametrize(("words", "code"), [(("resume", "--yes"), 1), (("cancel",), 0)])
def test_a_job_that_was_cut_off_is_ended(orders: Orders, words: tuple[str, ...], code: int) -> None:
    """The operation has ended by itself before anybody asks how."""
    orders.order(STEP, f"{PIPE}{GATE}")
    process = orders.begin("deploy", str(orders.service))
    until(process, "step.started")
    while not (orders.home / "waiting").exists():
        pass
    kill(process)
    (orders.home / "open").touch()
    ended = orders.run("jobs", *words)
    assert ended.code == code, ended.both
    if code:
        assert "($ORDITO_OUTPUTS) is a FIFO (named pipe)" in ended.both
    orders.forget(STEP)
    again = orders.run("deploy", "--yes")
    assert again.code == 0, again.both
