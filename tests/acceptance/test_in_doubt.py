"""The check of an instance is asked about an operation whose end nobody saw, with the real program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.orders import Orders, kill, make_orders, of_kind, rest, until
from tests.cli.program import until as soon
from tests.support.forked import IMPATIENT, Running

CHECKED = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
node_types:
  orders.Node:
    derived_from: tosca.nodes.Root
    attributes: { token: { type: string, metadata: { sensitive: true } } }
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: check.sh }
topology_template:
  node_templates:
    base: { type: orders.Node }
"""
GATE = "touch made; while [ ! -e open ]; do sleep 0.1; done\n"
CHECK = """#!/bin/bash
cd "$HOME"
echo "$in_doubt" >>asked
{answer}
"""


def interrupted(home: Path, answer: str, create: str = "") -> Orders:
    """A deployment that was killed while its first operation was at work; the operation hangs for good. ``create`` are
    the operations of the node in another form."""
    orders = make_orders(home)
    operations = "        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }\n"
    text = CHECKED.replace(operations, create or operations)
    orders.service.write_text(text, encoding="utf-8")
    (orders.service.parent / "check.sh").write_text(CHECK.replace("{answer}", answer), encoding="utf-8")
    orders.order("base_1.Standard.create", GATE)
    process: Running = orders.begin("deploy", str(orders.service))
    until(process, "step.started")
    wait_for(process, home / "made")
    kill(process)
    orders.forget("base_1.Standard.create")
    return orders


def wait_for(process: Running, file: Path) -> None:
    """Wait until an operation of a command has made a file."""
    soon(lambda: process.poll() is not None or file.exists())
    assert process.poll() is None


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        ('echo \'{"ordito.done": true}\' >"$ORDITO_OUTPUTS"', False),
        ('echo \'{"ordito.done": false}\' >"$ORDITO_OUTPUTS"', True),
        ("exit 0", False),
        ("exit 3", True),
        ("exit 9", True),
    ],
)
def test_what_the_check_says_is_done_is_not_done_again(tmp_path: Path, answer: str, again: bool) -> None:
    orders = interrupted(tmp_path, answer)
    code, events = rest(orders.begin("jobs", "resume", code=IMPATIENT))
    assert code == 0, [e["outcome"]["message"] for e in events if e["type"] == "step.failed"]
    assert (tmp_path / "asked").read_text(encoding="utf-8").split() == ["Standard.create"]
    assert orders.begun().count("base_1.Standard.create") == 1 + again
    assert "base_1.Standard.start" in orders.completed()
    assert any("asking its check" in e["message"] for e in of_kind(events, "step.warning"))


def test_what_was_found_to_be_done_is_said_to_be(tmp_path: Path) -> None:
    """Whether its check says so, or the operation has left its end behind: how long it took nobody knows."""
    said = interrupted(tmp_path, "exit 0").run("jobs", "resume", code=IMPATIENT).err
    assert "create                 ok (interrupted, and done by what check says)\n" in said
    (tmp_path / "other").mkdir()
    orders = make_orders(tmp_path / "other")
    orders.order("base_1.Standard.create", "touch made; while [ ! -e open ]; do sleep 0.1; done; touch ended\n")
    process: Running = orders.begin("deploy", str(orders.service))
    wait_for(process, orders.home / "made")
    kill(process)
    (orders.home / "open").touch()
    soon((orders.home / "ended").exists)
    said = orders.run("jobs", "resume").err
    assert "create                 ok (interrupted, and found to be done)\n" in said
    shown = json.loads(orders.run("jobs", "show", "-o", "json").out)
    (create,) = [c for c in shown["changes"] if c["target"] == "base_1" and c["operation"] == "Standard.create"]
    assert (create["outcome"], create["summary"]) == ("succeeded", "interrupted, and found to be done")


def test_killed_while_the_check_is_asked_it_is_asked_again(tmp_path: Path) -> None:
    """Nothing of the first question is left; and the operation is still in doubt."""
    orders = interrupted(tmp_path, "while [ ! -e answered ]; do sleep 0.1; done")
    process = orders.begin("jobs", "resume", code=IMPATIENT)
    wait_for(process, tmp_path / "asked")
    kill(process)
    (tmp_path / "answered").touch()
    code, events = rest(orders.begin("jobs", "resume", code=IMPATIENT))
    assert code == 0, [e["outcome"]["message"] for e in events if e["type"] == "step.failed"]
    assert (tmp_path / "asked").read_text(encoding="utf-8").split() == ["Standard.create"] * 2
    assert orders.begun().count("base_1.Standard.create") == 1


def test_what_the_check_prints_and_gives_holds_no_secret(tmp_path: Path) -> None:
    """Its values are those of the operation, and sensitive where these are; it prints them before anybody knows."""
    outputs = """\
        operations:
          create:
            implementation: do.sh
            outputs: { token: [ SELF, token ] }
"""
    answer = (
        'echo "the token is canary-of-the-check"\necho \'{"token": "canary-of-the-check"}\' >"$ORDITO_OUTPUTS"\nexit 0'
    )
    orders = interrupted(tmp_path, answer, outputs)
    done = orders.run("jobs", "resume", "--json", code=IMPATIENT)
    assert done.code == 0, done.both
    assert orders.begun().count("base_1.Standard.create") == 1
    assert "the token is (sensitive)" in orders.run("jobs", "logs").out
    said = done.both.encode()
    written = [path for path in orders.ensemble.rglob("*") if path.is_file() and path.suffix != ".sh"]
    assert [p for p in written if b"canary-of-the-check" in p.read_bytes()] == []
    assert b"canary-of-the-check" not in said
