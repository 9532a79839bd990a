"""Links that upgrades which failed have made: whatever comes next undoes them once, as they were declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
relationship_types:
  my.Link:
    derived_from: tosca.relationships.ConnectsTo
    properties: { word: { type: string } }
    interfaces:
      Configure:
        operations:
          add_target: { implementation: op.sh, inputs: { op: add, word: { get_property: [ SELF, word ] } } }
          remove_target: { implementation: op.sh, inputs: { op: remove, word: { get_property: [ SELF, word ] } } }
node_types:
  my.Node:
    derived_from: tosca.nodes.Root
    capabilities: { end: tosca.capabilities.Endpoint }
    requirements: [ to: { capability: tosca.capabilities.Endpoint, occurrences: [ 0, UNBOUNDED ] } ]
    interfaces:
      Standard:
        operations:
          start: { implementation: op.sh, inputs: { op: start } }
          delete: { implementation: op.sh, inputs: { op: delete } }
topology_template:
  node_templates:
    api: { type: my.Node }
    db: { type: my.Node }
"""
OP = """\
who=${INSTANCE:-$SOURCE}
echo $who $op $word >>HOME/log
! [ -e "HOME/fail.$op.$who" ]
"""


class Linked:
    """A service of which each version links what it wants, and what its operations have written down."""

    def __init__(self, home: Path, run: Run) -> None:
        self.home, self.run = home, run

    def write(self, name: str, links: str = "", more: str = "") -> str:
        """A version: ``links`` are the nodes that ``web`` is linked with; what is ``more`` requires all of them."""
        folder = self.home / name
        folder.mkdir()
        to = ", ".join(
            f"{{ to: {{ node: {t}, relationship: {{ type: my.Link, properties: {{ word: {name} }} }} }} }}"
            for t in links.split()
        )
        text = SERVICE + f"    web: {{ type: my.Node, requirements: [ {to} ] }}\n"
        if more:
            text += f"    {more}: {{ type: my.Node, requirements: [ dependency: web ] }}\n"
            (self.home / f"fail.start.{more}_1").touch()
        (folder / "service.yaml").write_text(text)
        (folder / "op.sh").write_text(OP.replace("HOME", str(self.home)))
        return name

    def __call__(self, *words: str, code: int = 0) -> list[str]:
        """Run a command that is to end with this code; gives what it has written down of links and removals."""
        done = self.run("-e", "e", *words, "--yes", "-q")
        assert done.code == code, done.out + done.err
        path = self.home / "log"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [line for line in found if not line.endswith("start")]


@pytest.fixture
def linked(tmp_path: Path, run: Run) -> Linked:
    return Linked(tmp_path, run)


def fail_twice(linked: Linked) -> None:
    """Two upgrades that fail, each with another new link of what stays."""
    assert linked("deploy", linked.write("one")) == []
    assert linked("upgrade", linked.write("two", "api", "last"), code=1) == ["web_1 add two"]
    # What the first has linked is undone as that has declared it, before anything of the second is linked.
    third = linked("upgrade", linked.write("three", "db", "more"), code=1)
    assert third == ["web_1 remove two", "web_1 add three"]


def test_two_upgrades_that_fail_leave_no_link_to_the_next(linked: Linked) -> None:
    fail_twice(linked)
    done = linked("upgrade", linked.write("four"))
    assert done[0] == "web_1 remove three"
    assert sorted(done[1:]) == ["last_1 delete", "more_1 delete"]
    assert "exactly what ensemble.yaml says" in linked.run("-e", "e", "jobs", "replay").out


def test_two_upgrades_that_fail_leave_no_link_after_a_rollback(linked: Linked) -> None:
    fail_twice(linked)
    assert sorted(linked("rollback")) == ["last_1 delete", "more_1 delete", "web_1 remove three"]
    assert "No differences" in linked.run("-e", "e", "diff", "one").out


@pytest.mark.parametrize("failing", ["start.last_1", "add.web_1"])
def test_what_an_upgrade_that_failed_has_linked_is_undone_before_it_is_removed(linked: Linked, failing: str) -> None:
    """Though linking may have been what failed: how much of it was done nobody knows."""
    linked("deploy", linked.write("one", "api"))
    linked.write("two", "api db", "last")
    for file in linked.home.glob("fail.*"):
        file.unlink()
    (linked.home / f"fail.{failing}").touch()
    before = linked("upgrade", "two", code=1)
    assert before[:2] == ["web_1 remove one", "web_1 add two"]
    done = linked("undeploy")
    undone = [number for number, line in enumerate(done) if line.startswith("web_1 remove")]
    assert len(undone) == before.count("web_1 add two")
    assert max(undone) < done.index("web_1 delete") < done.index("api_1 delete")
    assert linked.run("-e", "e", "status", "-o", "json").json["instances"] == {}


def test_everything_is_removed_after_two_upgrades_that_failed(linked: Linked) -> None:
    fail_twice(linked)
    done = linked("undeploy")
    assert [line for line in done if "remove" in line] == ["web_1 remove three"]
    assert done.index("web_1 remove three") < done.index("web_1 delete") < done.index("db_1 delete")
    assert linked.run("-e", "e", "status", "-o", "json").json["instances"] == {}
