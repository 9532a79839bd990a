"""A deployment that fails takes back what it did, with the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, kill, make_orders, of_kind, rest, until
from tests.acceptance.program import status_of

THREE = """\
    base: { type: orders.Node }
    top: { type: orders.Node, requirements: [ { peer: base } ] }
    last: { type: orders.Node, requirements: [ { peer: top } ] }
"""
BACK = [
    "rollback.top_1.Standard.stop",
    "rollback.top_1.Standard.delete",
    "rollback.base_1.Standard.stop",
    "rollback.base_1.Standard.delete",
]


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    """A service of three nodes, the last of which fails when it is configured."""
    made = make_orders(tmp_path, THREE)
    made.order("last_1.Standard.configure", "exit 3")
    return made


def test_everything_that_was_made_is_removed(orders: Orders) -> None:
    done = orders.run("deploy", str(orders.service), "--yes", "--on-failure", "rollback")
    assert done.code == 7, done.both
    assert "Everything that it did was rolled back" in done.err
    back = [step for step in orders.completed() if step.startswith("rollback.")]
    assert back[-4:] == BACK
    assert [step for step in back if step.endswith("remove_target")] == [
        "rollback.top_1.peer.base_1.Configure.remove_target"
    ]
    status = status_of(orders.ensemble)
    assert {i["readyState"]["local"] for i in status["instances"].values()} == {"absent"}
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    assert (shown["job"]["status"], shown["job"]["rollback"]) == ("failed", "complete")
    orders.forget("last_1.Standard.configure")
    again = orders.run("deploy", str(orders.service), "--yes")
    assert again.code == 0, again.both


def test_what_cannot_be_taken_back_is_listed(orders: Orders) -> None:
    orders.order("rollback.base_1.Standard.delete", "exit 9")
    done = orders.run("deploy", str(orders.service), "--yes", "--on-failure", "rollback")
    assert done.code == 8, done.both
    assert "rollback.base_1.Standard.delete: exit 9" in done.err
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    assert shown["job"]["rollback"] == "incomplete"
    orders.forget("rollback.base_1.Standard.delete")
    removed = orders.run("undeploy", "--yes")
    assert removed.code == 0, removed.both


def test_an_instance_that_was_continued_is_stopped_and_stays(orders: Orders) -> None:
    """The first job got as far as configuring it; the second started it, and failed elsewhere."""
    orders.order("base_1.Standard.start", "exit 3")
    assert orders.run("deploy", str(orders.service), "--yes").code == 1
    orders.forget("base_1.Standard.start")
    done = orders.run("deploy", "--yes", "--on-failure", "rollback")
    assert done.code == 7, done.both
    steps = [step for step in orders.completed() if step.startswith("rollback.")]
    assert "rollback.base_1.Standard.stop" in steps
    assert "rollback.base_1.Standard.delete" not in steps
    base = status_of(orders.ensemble)["instances"]["base_1"]
    assert (base["readyState"]["local"], base["readyState"]["state"]) == ("pending", "configured")
    orders.forget("last_1.Standard.configure")
    again = orders.run("deploy", "--yes")
    assert again.code == 0, again.both
    assert orders.completed().count("base_1.Standard.create") == 1


def test_what_an_earlier_job_made_is_left_alone(orders: Orders) -> None:
    orders.forget("last_1.Standard.configure")
    assert orders.run("deploy", str(orders.service), "--yes").code == 0
    before = status_of(orders.ensemble)
    text = orders.service.read_text(encoding="utf-8")
    more = "    more: { type: orders.Node, requirements: [ { peer: base } ] }\n"
    orders.service.write_text(text + more, encoding="utf-8")
    orders.order("more_1.Standard.start", "exit 3")
    done = orders.run("deploy", "--yes", "--on-failure", "rollback")
    assert done.code == 7, done.both
    after = status_of(orders.ensemble)
    assert {k: v for k, v in after["instances"].items() if k != "more_1"} == before["instances"]
    assert after["service"] == before["service"]
    orders.service.write_text(text, encoding="utf-8")
    assert "Nothing to do" in orders.run("deploy", "--yes").err


def test_a_rollback_that_was_killed_goes_on_as_one(orders: Orders) -> None:
    orders.order("rollback.top_1.Standard.stop", "while [ ! -e open ]; do sleep 0.1; done\n")
    process = orders.begin("deploy", str(orders.service), "--on-failure", "rollback")
    until(process, "job.rollback")
    while until(process, "step.started")["step"] != "rollback.top_1.Standard.stop":
        pass
    status, shown = orders.run("status"), orders.run("jobs", "show")
    assert "(deploy) is being rolled back by " in status.out, status.both
    assert "(deploy) is being rolled back by " in shown.out, shown.both
    kill(process)
    status, shown = orders.run("status"), orders.run("jobs", "show")
    assert "(deploy) was interrupted while it was rolled back: " in status.out, status.both
    assert "(deploy) was interrupted while it was rolled back: " in shown.out, shown.both
    assert "(deploy) was interrupted while it was rolled back" in orders.run("doctor").both
    assert json.loads(orders.run("status", "-o", "json").out)["job"]["rolling_back"] is True
    (orders.home / "open").touch()
    code, events = rest(orders.begin("jobs", "resume"))
    assert code == 7
    assert all(e["step"].startswith("rollback.") for e in of_kind(events, "step.started"))
    (finished,) = of_kind(events, "job.finished")
    assert finished["rollback"] == "complete"
    completed = orders.completed()
    assert len(completed) == len(set(completed))


def test_a_removal_cannot_be_rolled_back(orders: Orders) -> None:
    refused = orders.run("undeploy", "--yes", "--on-failure", "rollback")
    assert (refused.code, "cannot be rolled back" in refused.err) == (64, True), refused.both
