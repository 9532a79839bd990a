"""What could not be stopped and was removed all the same: nothing is left to be done, and it may still run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    worker:
      type: tosca.nodes.Root
      occurrences: [ 1, 4 ]
      instance_count: 2
      interfaces: { Standard: { operations: { start: ok.sh, stop: stop.sh, delete: delete.sh } } }
"""
RETRY = " jobs retry "


@pytest.fixture
def deployed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "ok.sh").write_text("true\n")
    (tmp_path / "stop.sh").write_text('[ "$INSTANCE" != worker_2 ]\n')
    (tmp_path / "delete.sh").write_text(f'[ ! -e "{tmp_path}/$INSTANCE.stays" ]\n')
    monkeypatch.chdir(tmp_path)
    assert run("deploy", "--yes").code == 0
    return tmp_path


def test_it_is_said_that_it_may_still_run_and_nothing_proposed_that_does_nothing(run: Run, deployed: Path) -> None:
    done = run("scale", "worker=1", "--yes")
    assert done.code == 1
    assert "worker_2 was removed although its stop failed (exit 1" in done.err
    assert "check whether something of it still runs" in done.err
    assert RETRY not in done.err
    assert " jobs logs " in done.err.partition("Next:")[2]
    assert list(run("status", "-o", "json").json["instances"]) == ["worker_1"]


def test_what_was_not_removed_can_be_tried_again(run: Run, deployed: Path) -> None:
    (deployed / "worker_2.stays").touch()
    done = run("scale", "worker=1", "--yes")
    assert done.code == 1
    assert "was removed although" not in done.err
    assert RETRY in done.err


def test_undeploying_says_so_too(run: Run, deployed: Path) -> None:
    done = run("undeploy", "--yes")
    assert done.code == 1
    assert done.err.count("was removed although its stop failed") == 1
