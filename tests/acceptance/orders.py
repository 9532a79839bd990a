"""A service whose operations do what a test orders: each runs the file named like its step, if there is one."""

from __future__ import annotations

import json
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.acceptance.program import LOGGING, Project, log_lines, start
from tests.support.forked import Running

HEAD = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  orders.Node:
    derived_from: tosca.nodes.Root
    requirements:
      - peer:
          capability: tosca.capabilities.Node
          node: orders.Node
          relationship: orders.Link
          occurrences: [ 0, UNBOUNDED ]
    interfaces:
      Standard:
        type: tosca.interfaces.node.lifecycle.Standard
        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }
relationship_types:
  orders.Link:
    derived_from: tosca.relationships.DependsOn
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations: { add_target: do.sh, remove_target: do.sh }
topology_template:
  node_templates:
"""
CHAIN = """\
    base: { type: orders.Node }
    top: { type: orders.Node, requirements: [ { peer: base } ] }
"""


@dataclass(frozen=True)
class Orders(Project):
    """A service whose operations obey orders."""

    def order(self, step: str, script: str) -> None:
        """Say what an operation does from now on: lines of bash, in the home directory."""
        (self.home / "orders" / step).write_text(script, encoding="utf-8")

    def forget(self, step: str) -> None:
        """Have an operation do nothing again."""
        (self.home / "orders" / step).unlink()

    def begin(self, *arguments: str, code: str = "") -> Running:
        """Start a command on the ensemble that tells its events."""
        return start(self.home, *arguments, "-e", self.ensemble, "--yes", "--json", code=code)

    def begun(self) -> list[str]:
        """The steps that have begun, in order."""
        return [step for kind, _, step, _ in log_lines(self.log) if kind == "begin"]

    def completed(self) -> list[str]:
        """The steps that have ended well, in order."""
        return [step for kind, _, step, _ in log_lines(self.log) if kind == "end"]


def make_orders(home: Path, nodes: str = CHAIN) -> Orders:
    """A service of these node templates."""
    folder = home / "service"
    folder.mkdir()
    (home / "orders").mkdir()
    orders = Orders(home, folder / "service.yaml")
    orders.service.write_text(HEAD + nodes, encoding="utf-8")
    # The same in every directory, so that what is deployed can be copied.
    script = f'#!/bin/bash\ncd "$HOME"\n{LOGGING}\n'.replace("{log}", "$HOME/operations.log")
    script += 'order=orders/$ORDITO_STEP\nif [ -e "$order" ]; then . "$order"; fi\n'
    (folder / "do.sh").write_text(script, encoding="utf-8")
    return orders


def until(process: Running, kind: str) -> dict[str, Any]:
    """The first event of a kind that a command tells from now on."""
    for line in process.stdout:
        event = json.loads(line)
        if event["type"] == kind:
            return dict(event)
    raise AssertionError(f"the command ended without telling of {kind}: {process.stderr.read()}")


def kill(process: Running) -> None:
    """End a command the hard way."""
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)


def rest(process: Running) -> tuple[int, list[dict[str, Any]]]:
    """The exit code of a command, and the events it told until its end."""
    out, err = process.communicate(timeout=90)
    assert not err, err
    return process.wait(), [json.loads(line) for line in out.splitlines()]


def of_kind(events: Sequence[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The events of a kind."""
    return [event for event in events if event["type"] == kind]
