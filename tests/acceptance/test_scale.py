"""Scaling out and in, with the real program and real processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.orders import Orders, kill, make_orders, of_kind, rest, until
from tests.acceptance.program import status_of

NODES = """\
    base: { type: orders.Node, occurrences: [ 1, 5 ], instance_count: 2 }
    top: { type: orders.Node, requirements: [ { peer: base } ] }
"""
GATE = "touch reached; while [ ! -e open ]; do sleep 0.1; done\n"


@pytest.fixture
def orders(tmp_path: Path) -> Orders:
    """A deployed service: two instances, and one that is linked with both."""
    made = make_orders(tmp_path, NODES)
    done = made.run("deploy", str(made.service), "--yes")
    assert done.code == 0, done.both
    return made


def existing(orders: Orders) -> dict[str, tuple[str, str]]:
    """The state and the local status of each instance that exists."""
    found: dict[str, Any] = status_of(orders.ensemble)["instances"]
    ready = {name: row["readyState"] for name, row in found.items()}
    return {n: (r["state"], r["local"]) for n, r in ready.items() if r["local"] != "absent"}


def well(*names: str) -> dict[str, tuple[str, str]]:
    return dict.fromkeys(names, ("started", "ok"))


def since(orders: Orders, before: list[str]) -> list[str]:
    """The steps that have ended well since then."""
    return orders.completed()[len(before) :]


def test_out_and_in(orders: Orders) -> None:
    """R-7.1-4: new instances are made, and nothing but links runs on those that stay."""
    before = orders.completed()
    out = orders.run("scale", "base", "--delta", "1", "--yes")
    assert out.code == 0, out.both
    assert sorted(since(orders, before)) == [
        "base_3.Standard.configure",
        "base_3.Standard.create",
        "base_3.Standard.start",
        "top_1.peer.base_3.Configure.add_target",
    ]
    assert existing(orders) == well("base_1", "base_2", "base_3", "top_1")
    kept = status_of(orders.ensemble)["keptCounts"]
    assert kept == {"base": {"count": 3, "over": 2, "job": "ID"}}
    assert "kept from scale" in orders.run("status").out
    before = orders.completed()
    victim = orders.run("scale", "base", "--remove", "base_1", "--yes")
    assert victim.code == 0, victim.both
    assert since(orders, before) == [
        "top_1.peer.base_1.Configure.remove_target",
        "base_1.Standard.stop",
        "base_1.Standard.delete",
    ]
    assert existing(orders) == well("base_2", "base_3", "top_1")
    assert "keptCounts" not in status_of(orders.ensemble)
    assert orders.run("scale", "base=3", "--yes").code == 0
    new = status_of(orders.ensemble)["instances"]["base_4"]
    assert new["index"] == 0
    assert orders.run("undeploy", "--yes").code == 0
    assert existing(orders) == {}


def test_deploy_afterwards(orders: Orders) -> None:
    """The number is kept until the template asks for another one, or it is reset."""
    assert orders.run("scale", "base=4", "--yes").code == 0
    assert "Nothing to do" in orders.run("deploy", "--yes").err
    planned = orders.run("plan", "deploy", "-o", "json")
    counts = json.loads(planned.out)["counts"]["base"]
    assert counts["count"] == 4
    assert counts["origin"].startswith("kept from scale (job ")
    assert orders.run("deploy", "--reset-counts", "--yes").code == 0
    assert existing(orders) == well("base_1", "base_2", "top_1")
    assert orders.run("scale", "base=4", "--yes").code == 0
    text = orders.service.read_text(encoding="utf-8")
    orders.service.write_text(text.replace("instance_count: 2", "instance_count: 3"), encoding="utf-8")
    assert orders.run("deploy", "--yes").code == 0
    assert existing(orders) == well("base_1", "base_2", "base_5", "top_1")
    assert "keptCounts" not in status_of(orders.ensemble)
    proved = orders.run("jobs", "replay")
    assert proved.code == 0, proved.both


def test_a_scale_out_that_fails_is_taken_back(orders: Orders) -> None:
    links = status_of(orders.ensemble)["instances"]["top_1"]["relationships"]
    orders.order("base_4.Standard.start", "exit 3")
    failed = orders.run("scale", "base", "--delta", "2", "--yes")
    assert failed.code == 1, failed.both
    assert "Everything that it did was rolled back" in failed.err
    assert existing(orders) == well("base_1", "base_2", "top_1")
    status = status_of(orders.ensemble)
    assert (status["counts"]["base"], status.get("keptCounts")) == (2, None)
    assert status["instances"]["top_1"]["relationships"] == links
    assert "Nothing to do" in orders.run("deploy", "--yes").err
    asked = orders.run("scale", "base", "--delta", "2", "--yes", "--on-failure", "rollback")
    assert asked.code == 0, asked.both


def test_what_cannot_be_taken_back_is_not_forgotten(orders: Orders) -> None:
    orders.order("base_4.Standard.start", "exit 3")
    orders.order("rollback.base_3.Standard.delete", "exit 9")
    failed = orders.run("scale", "base", "--delta", "2", "--yes")
    assert failed.code == 1, failed.both
    assert existing(orders) == {**well("base_1", "base_2", "top_1"), "base_3": ("error", "unknown")}
    assert status_of(orders.ensemble)["counts"]["base"] == 2
    refused = orders.run("jobs", "retry", "--yes")
    assert refused.code == 3, refused.both
    done = orders.run("deploy", "--yes")
    assert done.code == 0, done.both
    assert existing(orders) == well("base_1", "base_2", "top_1")


@pytest.mark.parametrize("fails", [False, True], ids=["well", "badly"])
def test_a_scale_out_that_was_killed_goes_on(orders: Orders, *, fails: bool) -> None:
    """Killed in the middle and resumed, it ends as it would have."""
    orders.order("base_3.Standard.start", GATE + ("exit 3\n" if fails else ""))
    process = orders.begin("scale", "base")
    while until(process, "step.started")["step"] != "base_3.Standard.start":
        pass
    kill(process)
    (orders.home / "open").touch()
    code, events = rest(orders.begin("jobs", "resume"))
    (finished,) = of_kind(events, "job.finished")
    assert code == int(fails)
    if fails:
        assert finished["rollback"] == "complete"
        assert existing(orders) == well("base_1", "base_2", "top_1")
    else:
        assert existing(orders) == well("base_1", "base_2", "base_3", "top_1")
        assert status_of(orders.ensemble)["keptCounts"]["base"]["count"] == 3
    completed = orders.completed()
    assert len(completed) == len(set(completed))
    assert "Nothing to do" in orders.run("deploy", "--yes").err


def test_a_scale_in_that_was_killed_goes_on(orders: Orders) -> None:
    orders.order("base_2.Standard.stop", GATE)
    process = orders.begin("scale", "base=1")
    while until(process, "step.started")["step"] != "base_2.Standard.stop":
        pass
    kill(process)
    (orders.home / "open").touch()
    code, _ = rest(orders.begin("jobs", "resume"))
    assert code == 0
    assert existing(orders) == well("base_1", "top_1")


def test_a_scale_in_that_fails_keeps_what_is(orders: Orders) -> None:
    orders.order("base_2.Standard.delete", "exit 4")
    failed = orders.run("scale", "base", "--delta", "-1", "--yes")
    assert failed.code == 1, failed.both
    assert existing(orders) == {**well("base_1", "top_1"), "base_2": ("error", "unknown")}
    orders.forget("base_2.Standard.delete")
    again = orders.run("jobs", "retry", "--yes")
    assert again.code == 0, again.both
    assert existing(orders) == well("base_1", "top_1")
    assert orders.completed().count("base_2.Standard.stop") == 1
    assert "Nothing to do" in orders.run("deploy", "--yes").err


def test_a_scale_out_that_goes_on_past_a_failure_is_retried(orders: Orders) -> None:
    orders.order("base_3.Standard.configure", "exit 4")
    failed = orders.run("scale", "base=4", "--yes", "--on-failure", "continue")
    assert failed.code == 1, failed.both
    assert existing(orders)["base_4"] == ("started", "ok")
    orders.forget("base_3.Standard.configure")
    again = orders.run("jobs", "retry", "--yes")
    assert again.code == 0, again.both
    assert existing(orders) == well("base_1", "base_2", "base_3", "base_4", "top_1")
    assert orders.completed().count("base_3.Standard.create") == 1
    assert status_of(orders.ensemble)["keptCounts"]["base"]["count"] == 4


def test_a_saved_plan(orders: Orders) -> None:
    saved = orders.home / "scale.plan"
    assert orders.run("plan", "scale", "base=3", "--out", str(saved)).code == 0
    done = orders.run("deploy", str(saved), "--yes", "-o", "json")
    assert done.code == 0, done.both
    told = json.loads(done.out)
    assert (told["workflow"], told["status"]) == ("scale", "ok")
    assert existing(orders) == well("base_1", "base_2", "base_3", "top_1")
    stale = orders.run("deploy", str(saved), "--yes")
    assert stale.code == 3, stale.both


def test_a_node_that_is_called_otherwise_keeps_its_number(orders: Orders) -> None:
    assert orders.run("scale", "base=3", "--yes").code == 0
    text = orders.service.read_text(encoding="utf-8")
    orders.service.write_text(text.replace("base", "ground"), encoding="utf-8")
    moved = orders.run("state", "mv", "base", "ground", "--yes")
    assert moved.code == 0, moved.both
    assert list(status_of(orders.ensemble)["keptCounts"]) == ["ground"]
    assert "3, kept from scale" in orders.run("describe", "ground").out
    assert "Nothing to do" in orders.run("deploy", "--yes").err
    assert orders.run("jobs", "replay").code == 0


def test_a_retry_that_fails_is_retried_too(orders: Orders) -> None:
    """What the first job has begun is left of those that carried on with it."""
    orders.order("base_3.Standard.start", "exit 4")
    assert orders.run("scale", "base=3", "--yes", "--on-failure", "continue").code == 1
    for _ in range(2):
        assert orders.run("jobs", "retry", "--yes").code == 1
    orders.forget("base_3.Standard.start")
    again = orders.run("jobs", "retry", "--yes")
    assert again.code == 0, again.both
    assert existing(orders) == well("base_1", "base_2", "base_3", "top_1")
    assert orders.completed().count("base_3.Standard.create") == 1
