"""Steps that only Ordito has are called by words where people see them, and by their ids in what programs read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
node_types:
  my.Node:
    derived_from: tosca.nodes.Root
    metadata: { ordito.ready: 0 }
    interfaces:
      Standard: { operations: { create: say.sh, start: say.sh, stop: say.sh, delete: say.sh } }
      Maintain:
        type: ordito.interfaces.Maintain
        operations: { check: check.sh }
topology_template:
  node_templates:
    web: { type: my.Node }
    top: { type: my.Node, requirements: [ { dependency: web } ] }
"""
BROKEN = """\
: "${ORDITO_OUTPUTS:?}"
echo '{"ordito.status": "error"}' >"$ORDITO_OUTPUTS"
"""
IDS = ("ordito.settle", "ordito.whether", "ordito.there", "ordito.healed", "join.", "barrier.")


@pytest.fixture
def deployed(run: Run, tmp_path: Path) -> Run:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "service.yaml").write_text(SERVICE)
    (folder / "say.sh").write_text(":\n")
    (folder / "check.sh").write_text(BROKEN)
    assert run("-e", "e", "deploy", "shop", "--yes").code == 0
    assert run("-e", "e", "check").code == 0
    return run


def test_what_only_says_how_an_instance_is(deployed: Run) -> None:
    failed = deployed("-e", "e", "deploy", "--yes", "--on-failure", "abort")
    assert failed.code == 1
    assert "FAILED web_1 check: it is not ready, its check says error" in failed.err
    assert " web_1     status " in failed.err
    assert "skipped: web_1 check" in failed.err
    assert ".Maintain." not in failed.err
    shown = deployed("-e", "e", "jobs", "show").out
    assert not [line for line in (failed.err + shown).splitlines() if any(name in line for name in IDS)]
    recorded = deployed("-e", "e", "jobs", "show", "-o", "json").json
    assert "web_1.ordito.healed" in recorded["skipped"]


def test_what_finds_out_whether_something_is_needed_and_what_joins_others(deployed: Run) -> None:
    planned = deployed("-e", "e", "plan", "heal", "web_1", "--explain").out
    assert "web_1 whether needed  yes, unless it was found to be ok" in planned
    assert "    after point " in planned
    assert not any(name in planned for name in IDS)
    healed = deployed("-e", "e", "heal", "web_1", "--yes")
    assert healed.code == 1, healed.err
    assert "FAILED web_1 check: it is not ready, its check says error" in healed.err
    assert " whether needed " in healed.err
    assert not any(name in healed.err for name in IDS)
    ids = [step["id"] for step in deployed("-e", "e", "plan", "heal", "web_1", "-o", "json").json["steps"]]
    assert "web_1.ordito.whether" in ids
    assert any(name.startswith("join.") for name in ids)
