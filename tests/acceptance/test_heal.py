"""Healing, with the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, make_orders, rest
from tests.acceptance.program import copied, status_of
from tests.support.thorough import THOROUGH

NODES = """\
    host: { type: tosca.nodes.Compute }
    db: { type: orders.Watched, requirements: [ { host: host } ] }
    app: { type: orders.Hosted, requirements: [ { host: host }, { peer: db } ] }
    web: { type: orders.Node, requirements: [ { peer: db } ] }
"""
TYPES = """\
imports: [ "profile:ordito" ]
node_types:
  orders.Hosted:
    derived_from: tosca.nodes.SoftwareComponent
    requirements:
      - peer:
          capability: tosca.capabilities.Node
          relationship: orders.Link
          occurrences: [ 0, UNBOUNDED ]
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }
  orders.Watched:
    derived_from: orders.Hosted
    metadata: { ordito.ready: 0 }
    interfaces:
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: do.sh, heal: do.sh }
"""
DOWN = [
    "app_1.peer.db_1.Configure.remove_target",
    "app_1.Standard.stop",
    "app_1.Standard.delete",
    "web_1.peer.db_1.Configure.remove_target",
    "db_1.Standard.stop",
    "db_1.Standard.delete",
]
UP = [
    "db_1.Standard.create",
    "db_1.Standard.configure",
    "db_1.Standard.start",
    "app_1.Standard.create",
    "app_1.Standard.configure",
    "app_1.Standard.start",
    "app_1.peer.db_1.Configure.add_target",
    "web_1.peer.db_1.Configure.add_target",
]
CUTS = ["db_1.Maintain.heal", *DOWN, *UP] if THOROUGH else ["db_1.Maintain.heal", DOWN[5], UP[7]]
"""The operations during which a healing is cut off."""


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which it is deployed."""
    made = make_orders(tmp_path_factory.mktemp("deployed"), NODES)
    text = made.service.read_text(encoding="utf-8")
    made.service.write_text(
        text.replace("node_types:\n", TYPES, 1).replace("          node: orders.Node\n", ""), encoding="utf-8"
    )
    done = made.run("deploy", str(made.service), "--yes")
    assert done.code == 0, done.both
    made.log.unlink()
    return made.home


@pytest.fixture
def orders(deployed: Path, tmp_path: Path) -> Orders:
    home = copied(deployed, tmp_path / "home")
    return Orders(home, home / "service" / "service.yaml")


def statuses(orders: Orders) -> dict[str, str]:
    found = status_of(orders.ensemble)["instances"]
    return {i: one["readyState"]["local"] for i, one in found.items()}


def test_what_is_ok_is_left_alone(orders: Orders) -> None:
    done = orders.run("heal", "db", "--yes")
    assert done.code == 0, done.both
    assert done.out == "db_1  is ok: nothing to heal\n"
    assert "heal db_1 --reinstall" in done.err
    assert orders.completed() == ["db_1.Maintain.check"]


def test_what_can_be_mended_is_mended(orders: Orders) -> None:
    orders.order("db_1.Maintain.check", "exit 1")
    done = orders.run("heal", "db_1", "--yes")
    assert done.code == 0, done.both
    assert "  = host_1  not taken along\n  = app_1   not taken along\n" in done.err
    assert done.out == "db_1  was repaired in place\n"
    assert orders.completed() == ["db_1.Maintain.heal", "db_1.Maintain.check.again"]
    assert set(statuses(orders).values()) == {"ok"}


def test_what_cannot_be_mended_is_replaced_with_all_that_is_on_its_host(orders: Orders) -> None:
    """Ids stay, survivors are unlinked and linked again; what is no part of it is not touched."""
    for step in ("db_1.Maintain.check", "db_1.Maintain.check.again"):
        orders.order(step, "exit 1")
    done = orders.run("heal", "db_1", "--scope", "host", "--yes", "-o", "json")
    assert done.code == 0, done.both
    assert "Replaced with it, if needed: host_1, app_1.\n" in done.err
    data = json.loads(done.out)
    assert data["instances"] == {"db_1": {"healing": "replaced", "local": "ok", "state": "started"}}
    ran = orders.completed()
    assert ran[0] == "db_1.Maintain.heal"
    assert sorted(ran[1:]) == sorted([*DOWN, *UP, "db_1.Maintain.check.ready"])
    assert set(statuses(orders).values()) == {"ok"}
    assert orders.run("plan", "--detailed-exitcode").code == 0
    orders.log.unlink()
    assert orders.run("undeploy", "--yes").code == 0
    assert statuses(orders) == dict.fromkeys(("host_1", "db_1", "app_1", "web_1"), "absent")


def test_what_cannot_be_removed_is_told_and_made_again_all_the_same(orders: Orders) -> None:
    orders.order("app_1.Standard.stop", "exit 3")
    orders.order("db_1.Standard.delete", "exit 3")
    done = orders.run("heal", "app_1", "--scope", "host", "--yes")
    assert done.code == 1
    assert done.out == "app_1  was replaced\n"
    assert set(statuses(orders).values()) == {"ok"}
    assert orders.run("plan", "--detailed-exitcode").code == 0
    replayed = orders.run("jobs", "replay")
    assert replayed.code == 0, replayed.both


def test_what_cannot_be_made_is_healed_by_the_same_command(orders: Orders) -> None:
    orders.order("db_1.Standard.start", "exit 3")
    done = orders.run("heal", "app_1", "--scope", "host", "--yes")
    assert done.code == 1
    assert done.out == "app_1  is absent: it could not be healed\n"
    assert statuses(orders)["web_1"] == "ok"
    orders.forget("db_1.Standard.start")
    done = orders.run("heal", "app_1", "--scope", "host", "--yes")
    assert done.code == 0, done.both
    assert set(statuses(orders).values()) == {"ok"}


@pytest.mark.parametrize("step", CUTS)
def test_a_healing_that_was_cut_off_is_resumed(orders: Orders, step: str) -> None:
    """Whatever was at work then, the job goes on to the same end."""
    orders.order("db_1.Maintain.check", "exit 1")
    orders.order("db_1.Maintain.check.again", "exit 1")
    orders.order(step, "rm orders/$ORDITO_STEP; kill -9 $PPID")
    process = orders.begin("heal", "db_1", "--scope", "host")
    rest(process)
    assert orders.run("heal", "db_1", "--yes").code == 5
    done = orders.run("jobs", "resume", "--yes")
    assert done.code == 0, done.both
    assert set(statuses(orders).values()) == {"ok"}
    assert {s for s in orders.completed() if "Maintain" not in s} >= {*UP}
    assert orders.run("plan", "--detailed-exitcode").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("heal",), "INSTANCE"),
        (("heal", "bd_1"), "did you mean db_1"),
        (("heal", "db_2"), 'there is no node or instance "db_2"'),
        (("plan", "heal", "db", "web"), "cannot be healed in one job"),
        (("heal", "db", "--on-failure", "rollback"), "healing cannot be rolled back"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(orders: Orders, words: tuple[str, ...], said: str) -> None:
    done = orders.run(*words, "--yes")
    assert done.code in (3, 64)
    assert said in done.err
    assert not orders.log.exists()


def test_several_are_healed_one_after_the_other_those_first_that_others_require(orders: Orders) -> None:
    orders.order("web_1.Standard.stop", "exit 3")
    done = orders.run("heal", "web", "db", "--scope", "host", "--yes", "-o", "json")
    assert done.code == 1, done.both
    data = json.loads(done.out)
    assert {i: one["healing"] for i, one in data["instances"].items()} == {"web_1": "replaced", "db_1": "not needed"}
    assert [job["status"] for job in data["jobs"]] == ["ok", "failed"]
    assert "--reinstall" not in done.err


def test_what_was_never_deployed_cannot_be_healed(orders: Orders, tmp_path: Path) -> None:
    assert orders.run("undeploy", "--yes").code == 0
    done = orders.run("heal", "db", "--yes")
    assert done.code == 3
    assert "db_1 does not exist: it was removed" in done.err


def test_the_plan_says_what_would_be_replaced_and_when(orders: Orders) -> None:
    done = orders.run("plan", "heal", "db", "--full", "--out", "heal.plan")
    assert done.code == 0, done.both
    assert "-/+ db_1" in done.out
    assert "it is to be healed, if it is not ok after being stopped and started" in done.out
    assert "= app_1   not taken along" in done.out
    done = orders.run("deploy", "heal.plan", "--yes")
    assert done.code == 0, done.both
    assert orders.completed() == ["db_1.Maintain.check"]
