"""Jobs are cancelled from another terminal, by the clock, and when their process is gone; with the real program."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, kill, make_orders, of_kind, rest, until
from tests.acceptance.program import Finished, ordito
from tests.support.forked import Running

GATE = "while [ ! -e open ]; do sleep 0.1; done\n"
TWO = """\
    base: { type: orders.Node }
    top: { type: orders.Node, requirements: [ { peer: base } ] }
    other: { type: orders.Node }
"""


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    """A service whose first operation waits for a file called ``open``."""
    made = make_orders(tmp_path, TWO)
    made.order("base_1.Standard.create", GATE)
    return made


def deploying(orders: Orders, *options: str) -> Running:
    """A deployment whose first operation waits."""
    process = orders.begin("deploy", str(orders.service), *options)
    step = until(process, "step.started")
    while step["step"] != "base_1.Standard.create":
        step = until(process, "step.started")
    return process


def last_job(orders: Orders) -> dict[str, object]:
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    assert isinstance(shown, dict)
    return dict(shown["job"])


def test_running_steps_finish_when_another_terminal_cancels(orders: Orders) -> None:
    process = deploying(orders)
    asked = orders.run("jobs", "cancel")
    assert asked.code == 0, asked.both
    assert "running steps finish" in asked.err
    (orders.home / "open").touch()
    code, events = rest(process)
    assert code == 130
    assert "base_1.Standard.create" in orders.completed()
    assert not any(step.startswith("top_1") for step in orders.begun())
    assert last_job(orders)["status"] == "cancelled"
    assert {e["because"] for e in of_kind(events, "step.skipped")} == {"cancelled"}


def test_running_steps_are_ended_now(orders: Orders) -> None:
    process = deploying(orders)
    assert orders.run("jobs", "cancel", "--now").code == 0
    code, events = rest(process)
    assert code == 130
    # Of the other node an operation may have been at work, too.
    failed = {event["step"]: event["outcome"] for event in of_kind(events, "step.failed")}
    assert failed["base_1.Standard.create"]["ending"] == "cancelled"
    assert "in doubt" in failed["base_1.Standard.create"]["message"]
    assert "base_1.Standard.create" not in orders.completed()


def test_cancelling_first_gently_and_then_at_once(orders: Orders) -> None:
    process = deploying(orders)
    assert orders.run("jobs", "cancel").code == 0
    assert orders.run("jobs", "cancel", "--now").code == 0
    assert rest(process)[0] == 130


def test_an_interrupted_job_is_closed_and_says_what_is_in_doubt(orders: Orders) -> None:
    """What still runs of it is ended; afterwards other commands work again."""
    process = deploying(orders)
    kill(process)
    refused = orders.run("undeploy", "--yes")
    assert refused.code == 5, refused.both
    closed = orders.run("jobs", "cancel")
    assert closed.code == 0, closed.both
    assert "in doubt" in closed.err
    job = last_job(orders)
    assert job["status"] == "cancelled"
    assert not alive(orders)
    orders.forget("base_1.Standard.create")
    again = orders.run("deploy", "--yes")
    assert again.code == 0, again.both


def alive(orders: Orders) -> bool:
    """Whether the waiting operation still runs."""
    pids = [path.read_text().strip() for path in orders.home.glob("operations.log.base_1*")]
    return any(Path(f"/proc/{pid}").exists() for pid in pids if pid)


def test_there_may_be_nothing_to_cancel(orders: Orders) -> None:
    (orders.home / "open").touch()
    assert orders.run("deploy", str(orders.service), "--yes").code == 0
    nothing = orders.run("jobs", "cancel")
    assert (nothing.code, "Nothing to cancel" in nothing.err) == (0, True)
    job = str(last_job(orders)["changeId"])
    ended = orders.run("jobs", "cancel", job)
    assert (ended.code, f"job {job} has ended" in ended.err) == (3, True)
    unknown = orders.run("jobs", "cancel", "nonsense")
    assert (unknown.code, 'no job "nonsense"' in unknown.err) == (3, True)


def test_the_time_of_the_command_is_over(orders: Orders) -> None:
    """The first operation takes as long as it is given: exit code 6."""
    process = orders.begin("deploy", str(orders.service), "--timeout", "300ms")
    event = until(process, "note")
    assert "0.3 seconds are over" in event["message"]
    (orders.home / "open").touch()
    code, events = rest(process)
    assert code == 6
    (finished,) = of_kind(events, "job.finished")
    assert finished["status"] == "cancelled"


@pytest.mark.parametrize(
    ("words", "step", "retries"),
    [
        (("deploy", "--force"), "base_1.Standard.start", 1),
        (("restart", "base"), "base_1.Standard.stop", 0),
        (("heal", "base_1", "--reinstall"), "base_1.Standard.delete", 0),
        (("run", "Standard.configure", "--dependency-order"), "base_1.Standard.configure", 0),
    ],
)
def test_what_is_said_when_the_time_is_over_can_be_done(
    orders: Orders, words: tuple[str, ...], step: str, retries: int
) -> None:
    """A retry is named once where there is one, and not where the same command is to be given again; which then
    completes it."""
    (orders.home / "open").touch()
    assert orders.run("deploy", str(orders.service), "--yes").code == 0
    (orders.home / "open").unlink()
    orders.order(step, GATE)
    process = orders.begin(*words, "--timeout", "300ms")
    until(process, "note")
    (orders.home / "open").touch()
    code, events = rest(process)
    assert code == 6
    commands = [command["command"] for event in of_kind(events, "next") for command in event["commands"]]
    assert sum("jobs retry" in command for command in commands) == retries, commands
    orders.forget(step)
    again = orders.run(*words, "--yes")
    assert again.code == 0, again.both
    assert orders.run("plan", "--detailed-exitcode").code == 0
    assert orders.run("jobs", "replay").code == 0


def test_a_job_that_is_done_in_time_is_done(orders: Orders) -> None:
    (orders.home / "open").touch()
    assert orders.run("deploy", str(orders.service), "--yes", "--timeout", "1h").code == 0


def test_the_first_interrupt_is_gentle_the_second_is_not(orders: Orders) -> None:
    process = deploying(orders)
    process.send_signal(signal.SIGINT)
    until(process, "note")
    process.send_signal(signal.SIGINT)
    assert rest(process)[0] == 130
    assert "base_1.Standard.create" not in orders.completed()


def test_a_file_in_place_of_the_door_is_not_written_to(orders: Orders) -> None:
    process = deploying(orders)
    door = orders.ensemble / ".ordito" / "door"
    assert door.is_fifo()
    kill(process)
    door.unlink()
    door.write_text("mine")
    assert orders.run("jobs", "cancel").code == 0
    assert not door.exists() or door.read_text() == "mine"


def test_without_named_pipes_the_process_to_interrupt_is_named(orders: Orders) -> None:
    process = deploying(orders)
    (orders.ensemble / ".ordito" / "door").unlink()
    unheard = orders.run("jobs", "cancel")
    assert (unheard.code, f"kill -INT {process.pid}" in unheard.err) == (5, True), unheard.both
    process.send_signal(signal.SIGINT)
    until(process, "note")
    (orders.home / "open").touch()
    assert rest(process)[0] == 130


def test_a_job_that_had_only_to_be_closed_has_left_nothing_undone(orders: Orders) -> None:
    """It was cut between its last step and its files."""
    (orders.home / "open").touch()
    code = (
        "import os\nfrom ordito.ensemble.store import Ensemble\n"
        "Ensemble.close_job = lambda self, *rest: os.kill(os.getpid(), 9)"
    )
    cut = ordito(orders.home, "deploy", orders.service, "-e", orders.ensemble, "--yes", code=code)
    assert cut.code == -signal.SIGKILL
    closed = orders.run("jobs", "cancel")
    assert (closed.code, "jobs retry" in closed.err) == (0, False), closed.both
    assert last_job(orders)["status"] == "ok"


# ------------------------------------------------------------------------------------------------ retry and skip


def failed(orders: Orders) -> Finished:
    """A deployment in which an operation failed."""
    orders.order("base_1.Standard.create", "true")
    orders.order("base_1.Standard.configure", "exit 4")
    done = orders.run("deploy", str(orders.service), "--yes")
    assert done.code == 1, done.both
    return done


def test_what_a_failed_job_left_undone_is_done_by_a_new_one(orders: Orders) -> None:
    failed(orders)
    job = str(last_job(orders)["changeId"])
    orders.forget("base_1.Standard.configure")
    again = orders.run("jobs", "retry", "--yes")
    assert again.code == 0, again.both
    header = last_job(orders)
    assert (header["status"], header["retries"]) == ("ok", job)
    assert orders.begun().count("base_1.Standard.create") == 1
    assert orders.begun().count("base_1.Standard.configure") == 2
    assert "top_1.Standard.start" in orders.completed()
    assert "Nothing to do" in orders.run("deploy", "--yes").err


def test_a_step_is_counted_as_done_by_hand(orders: Orders) -> None:
    failed(orders)
    job = str(last_job(orders)["changeId"])
    again = orders.run("jobs", "skip", job, "base_1.Standard.configure", "--yes")
    assert again.code == 0, again.both
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    (task,) = [t for t in shown["changes"] if t["target"] == "base_1" and t["operation"] == "Standard.configure"]
    assert task["outcome"] == "skipped by hand"
    assert orders.begun().count("base_1.Standard.configure") == 1
    status = (orders.ensemble / "ensemble.yaml").read_text(encoding="utf-8")
    assert task["changeId"] in status
    assert "Nothing to do" in orders.run("deploy", "--yes").err


@pytest.mark.parametrize("verb", ["retry", "skip"])
def test_what_cannot_be_retried_is_refused_kindly(orders: Orders, verb: str) -> None:
    failed(orders)
    job = str(last_job(orders)["changeId"])
    step = ["base_1.Standard.configure"] if verb == "skip" else []
    unknown = orders.run("jobs", verb, "nonsense", *step, "--yes")
    assert (unknown.code, 'no job "nonsense"' in unknown.err) == (3, True)
    text = orders.service.read_text(encoding="utf-8")
    orders.service.write_text(text + "    more: { type: orders.Node }\n", encoding="utf-8")
    changed = orders.run("jobs", verb, job, *step, "--yes")
    assert (changed.code, f"have changed since job {job}" in changed.err) == (3, True), changed.both
    orders.service.write_text(text, encoding="utf-8")
    orders.forget("base_1.Standard.configure")
    assert orders.run("jobs", "retry", "--yes").code == 0
    later = orders.run("jobs", verb, job, *step, "--yes")
    assert (later.code, f"ran after job {job}" in later.err) == (3, True), later.both
    newest = str(last_job(orders)["changeId"])
    well = orders.run("jobs", verb, newest, *step, "--yes")
    assert (well.code, "succeeded" in well.err) == (3, True), well.both


def test_an_unknown_step_is_refused_with_the_nearest(orders: Orders) -> None:
    failed(orders)
    job = str(last_job(orders)["changeId"])
    unknown = orders.run("jobs", "skip", job, "base_1.Standard.confgure", "--yes")
    assert unknown.code == 3
    assert 'did you mean "base_1.Standard.configure"' in unknown.err
    done = orders.run("jobs", "skip", job, "base_1.Standard.create", "--yes")
    assert (done.code, "not among what is left" in done.err) == (3, True), done.both


def test_the_log_of_an_unknown_step_is_refused(orders: Orders) -> None:
    """A step that printed nothing, or did not run, is one all the same."""
    failed(orders)
    unknown = orders.run("jobs", "logs", "--step", "base_1.Standard.crate")
    assert (unknown.code, 'did you mean "base_1.Standard.create"' in unknown.err) == (3, True), unknown.both
    for known in ("base_1.Standard.create", "top_1.Standard.start", "other_1.Standard.start"):
        silent = orders.run("jobs", "logs", "--step", known)
        assert (silent.code, "printed nothing" in silent.err) == (0, True), silent.both
