"""A job that is degraded because of what deserved attention says what that was, when it ends and later."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
node_types:
  my.Thing:
    derived_from: tosca.nodes.Root
    attributes: { later: { type: string } }
    interfaces:
      Standard:
        operations:
          create:
            implementation: do.sh
            inputs: { x: { type: string, required: false, value: { get_attribute: [ SELF, later ] } } }
          start: do.sh
topology_template: { node_templates: { thing: { type: my.Thing } } }
"""
UNSET = 'input "x" is unset: attribute "later" of thing_1 has no value yet'


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "do.sh").write_text("true\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("quiet", [False, True])
def test_the_end_of_a_job_tells_its_warnings_once_more(run: Run, place: Path, quiet: bool) -> None:
    done = run("deploy", "--yes", *(["-q"] if quiet else []))
    assert done.code == 0
    _, degraded, end = done.err.partition(" degraded after ")
    assert degraded, done.err
    assert re.match(r"[0-9:]+: 2 ok, 1 no-op, 1 warning\.\nwarning: thing_1 create: ", end)
    assert end.count(UNSET) == 1


def test_records_know_the_warnings_of_a_job(run: Run, place: Path) -> None:
    done = run("deploy", "--yes", "-o", "json")
    assert done.json["warnings"] == {"thing_1.Standard.create": [UNSET]}
    assert "2 operations, 1 warning" in run("jobs", "list").out
    create = next(line for line in run("jobs", "show").out.splitlines() if "Standard.create" in line)
    assert f"warning: {UNSET}" in create
    changes = run("jobs", "show", "-o", "json").json["changes"]
    assert [change.get("warnings") for change in changes if change.get("changeId")] == [[UNSET], None]


def test_nothing_is_said_where_nothing_deserves_attention(run: Run, place: Path) -> None:
    (place / "service.yaml").write_text(SERVICE.replace("{ get_attribute: [ SELF, later ] }", "there"))
    done = run("deploy", "--yes", "-o", "json")
    assert done.json["status"] == "ok"
    assert "warnings" not in done.json
    assert "warning" not in run("jobs", "show").out
