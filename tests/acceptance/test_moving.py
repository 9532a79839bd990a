"""Stopping, starting and restarting, with the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, make_orders, until
from tests.acceptance.program import copied, status_of
from tests.support.thorough import some

NODES = """\
    base: { type: orders.Node }
    top: { type: orders.Node, requirements: [ { peer: base } ] }
    other: { type: orders.Node }
"""
DOWN = ["top_1.peer.base_1.Configure.remove_target", "top_1.Standard.stop", "base_1.Standard.stop"]
UP = ["base_1.Standard.start", "top_1.Standard.start", "top_1.peer.base_1.Configure.add_target"]


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which it is deployed."""
    made = make_orders(tmp_path_factory.mktemp("deployed"), NODES)
    assert made.run("deploy", str(made.service), "--yes").code == 0
    made.log.unlink()
    return made.home


@pytest.fixture
def orders(deployed: Path, tmp_path: Path) -> Orders:
    home = copied(deployed, tmp_path / "home")
    return Orders(home, home / "service" / "service.yaml")


def states(orders: Orders) -> dict[str, tuple[str, str]]:
    found = status_of(orders.ensemble)["instances"]
    return {i: (one["readyState"]["local"], one["readyState"]["state"]) for i, one in found.items()}


def test_stop_start_and_restart(orders: Orders) -> None:
    """What depends on what is named is stopped first; a second time nothing is done; starting links again."""
    done = orders.run("stop", "base", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == DOWN
    stopped = ("pending", "configured")
    assert states(orders) == {"base_1": stopped, "top_1": stopped, "other_1": ("ok", "started")}
    again = orders.run("stop", "base", "--yes")
    assert (again.code, again.out) == (0, "")
    assert "Nothing to do: according to the records, everything named is stopped already." in again.err
    orders.log.unlink()
    refused = orders.run("start", "top_1", "--yes")
    assert refused.code == 3
    assert "top_1 requires base_1, which is stopped" in refused.err
    assert "start base_1` first" in refused.err
    done = orders.run("start", "top", "base", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == UP
    assert set(states(orders).values()) == {("ok", "started")}
    assert "started already" in orders.run("start", "--all", "--yes").err
    orders.log.unlink()
    done = orders.run("restart", "base_1", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == [*DOWN, *UP]


def test_a_deployment_starts_what_is_stopped_and_a_removal_takes_it_as_it_is(orders: Orders) -> None:
    assert orders.run("stop", "--all", "--yes").code == 0
    orders.log.unlink()
    assert orders.run("deploy", "--yes").code == 0
    assert sorted(orders.completed()) == sorted([*UP, "other_1.Standard.start"])
    assert orders.run("stop", "base", "--yes").code == 0
    orders.log.unlink()
    done = orders.run("undeploy", "--yes")
    assert done.code == 0, done.both
    assert sorted(orders.completed()) == [
        "base_1.Standard.delete",
        "other_1.Standard.delete",
        "other_1.Standard.stop",
        "top_1.Standard.delete",
    ]


def test_what_cannot_be_stopped_is_told_and_tried_again(orders: Orders) -> None:
    """It goes on past the failure, as a removal does."""
    orders.order("top_1.Standard.stop", "exit 3")
    done = orders.run("stop", "base", "--yes")
    assert done.code == 1
    assert "failed" in done.err
    assert states(orders)["base_1"] == ("pending", "configured")
    assert states(orders)["top_1"][1] == "error"
    orders.forget("top_1.Standard.stop")
    orders.log.unlink()
    assert orders.run("stop", "base", "--yes").code == 0
    assert orders.completed() == ["top_1.Standard.stop"]


@pytest.mark.parametrize("step", some([*DOWN, *UP], 3))
def test_a_restart_that_failed_is_completed_by_the_same_command(orders: Orders, step: str) -> None:
    """What it has stopped and not started again is started, though it is not named."""
    orders.order(step, "exit 3")
    failed = orders.run("restart", "base", "--yes")
    assert failed.code == 1, failed.both
    orders.forget(step)
    refused = orders.run("jobs", "retry", "--yes")
    assert refused.code == 3
    assert "is a restart, which cannot continue where it stopped" in refused.err
    assert "give the same command again" in refused.err
    assert orders.run("restart", "base", "--yes").code == 0
    assert set(states(orders).values()) == {("ok", "started")}


def test_what_was_stopped_is_restarted_with_what_depends_on_it(orders: Orders) -> None:
    assert orders.run("stop", "base", "--yes").code == 0
    orders.log.unlink()
    done = orders.run("restart", "base", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == UP


def test_what_requires_something_else_that_is_stopped_stays_stopped(tmp_path: Path) -> None:
    orders = make_orders(tmp_path, NODES.replace("{ peer: base }", "{ peer: base }, { peer: other }"))
    assert orders.run("deploy", str(orders.service), "--yes").code == 0
    assert orders.run("stop", "base", "other", "--yes").code == 0
    done = orders.run("restart", "base", "--yes")
    assert done.code == 0, done.both
    assert states(orders)["base_1"] == ("ok", "started")
    assert states(orders)["top_1"] == ("pending", "configured")


@pytest.mark.parametrize("step", some([*UP, *DOWN], 4))
def test_a_restart_that_was_cut_off_is_resumed(orders: Orders, step: str) -> None:
    orders.order(step, "rm orders/$ORDITO_STEP; kill -9 $PPID")
    process = orders.begin("restart", "base")
    until(process, "step.started")
    process.communicate(timeout=60)
    assert orders.run("stop", "base", "--yes").code == 5
    done = orders.run("jobs", "resume", "--yes")
    assert done.code in (0, 1), done.both
    if done.code == 1:
        assert orders.run("deploy", "--yes").code == 0
    assert set(states(orders).values()) == {("ok", "started")}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("stop",), "say what to stop"),
        (("stop", "base", "--all"), "say what to stop"),
        (("stop", "bsae"), "did you mean base"),
        (("start", "base_7"), 'there is no node or instance "base_7"'),
        (("restart", "base", "--on-failure", "rollback"), "a restart cannot be rolled back"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(orders: Orders, words: tuple[str, ...], said: str) -> None:
    done = orders.run(*words, "--yes")
    assert done.code in (3, 64)
    assert said in done.err
    assert not orders.log.exists()


def test_nothing_deployed(tmp_path: Path) -> None:
    done = make_orders(tmp_path, NODES).run("stop", "base", "--yes")
    assert done.code == 3
    assert "nothing was ever deployed" in done.err


def test_a_plan_says_why_something_is_stopped_and_can_be_saved(orders: Orders) -> None:
    done = orders.run("plan", "stop", "base_1", "--out", "stop.plan")
    assert done.code == 0, done.both
    assert "it requires base (peer), of which no other instance is up" in done.out
    data = json.loads(orders.run("plan", "stop", "base_1", "-o", "json").out)
    assert {c["instance"] for c in data["changes"]} == {"base_1", "top_1"}
    done = orders.run("deploy", "stop.plan", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == DOWN
