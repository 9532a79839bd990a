"""An operation that was run by hand and failed, and then did what it was to do: nothing is left of the failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito" ]
interface_types:
  Own:
    derived_from: tosca.interfaces.Root
    operations: { work: {}, rest: {} }
node_types:
  Web:
    derived_from: tosca.nodes.Root
    interfaces:
      Standard:
        inputs: { place: { type: string, default: PLACE } }
        operations: { create: do.sh, configure: do.sh, start: do.sh, stop: do.sh, delete: do.sh }
      Own:
        type: Own
        inputs: { place: { type: string, default: PLACE } }
        operations: { work: do.sh, rest: do.sh }
      Maintain:
        type: ordito.interfaces.Maintain
        inputs: { place: { type: string, default: PLACE } }
        operations: { check: do.sh }
topology_template:
  node_templates:
    base: { type: tosca.nodes.Root }
    web:
      type: Web
      requirements:
        - dependency:
            node: base
            relationship:
              type: tosca.relationships.DependsOn
              interfaces:
                Configure: { operations: { add_target: { implementation: do.sh, inputs: { place: PLACE } } } }
    top: { type: tosca.nodes.Root, requirements: [ dependency: web ] }
  workflows:
    tend:
      steps:
        work: { target: web, activities: [ { call_operation: Own.work } ] }
    relink:
      steps:
        link:
          target: web
          target_relationship: dependency
          operation_host: SOURCE
          activities: [ { call_operation: Configure.add_target } ]
"""


@pytest.fixture
def web(run: Run, tmp_path: Path) -> Run:
    """`web_1`, whose operations fail while there is a file `failing`; with `reports` they say what they have done."""
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(tmp_path)))
    (tmp_path / "do.sh").write_text(
        '[ ! -e "$place/reports" ] || echo \'{"ordito.changed": true}\' >"$ORDITO_OUTPUTS"\n'
        '[ ! -e "$place/failing" ] || exit 1\n'
    )
    assert run("deploy", "service.yaml", "--yes").code == 0
    return run


def how(run: Run) -> tuple[str, str, str]:
    """The state and the status of `web_1`, and the status of what needs it; file and records say the same."""
    replayed = run("jobs", "replay")
    assert replayed.code == 0, replayed.out
    found = run("status", "-o", "json").json["instances"]
    return found["web_1"]["state"], found["web_1"]["local"], found["top_1"]["effective"]


def failing(run: Run, place: Path, *words: str) -> None:
    """A command that fails."""
    (place / "failing").touch()
    assert run(*words, "--yes").code == 1
    (place / "failing").unlink()


def well(run: Run, *words: str) -> None:
    done = run(*words, "--yes")
    assert done.code == 0, done.err


@pytest.mark.parametrize("reports", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        ("run", "Own.work", "--node", "web"),
        ("workflow", "run", "tend"),
        ("workflow", "run", "relink"),
        ("run", "Standard.create", "--node", "web"),
        ("run", "Standard.configure", "--node", "web"),
        ("run", "Standard.start", "--node", "web"),
    ],
    ids=" ".join,
)
def test_what_ends_well_after_it_has_failed_leaves_the_instance_as_it_was(
    web: Run, tmp_path: Path, words: tuple[str, ...], reports: bool
) -> None:
    if reports:
        (tmp_path / "reports").touch()
    failing(web, tmp_path, *words)
    failing(web, tmp_path, *words)
    _, local, above = how(web)
    assert local == above == ("error" if reports else "unknown")
    assert "failed: " in web("status").out
    well(web, *words)
    assert how(web) == ("started", "ok", "ok")
    assert "failed: " not in web("status").out


def test_what_is_stopped_at_the_second_try_is_stopped(web: Run, tmp_path: Path) -> None:
    failing(web, tmp_path, "run", "Standard.stop", "--node", "web")
    well(web, "run", "Standard.stop", "--node", "web")
    assert how(web)[:2] == ("configured", "pending")
    failing(web, tmp_path, "run", "Standard.start", "--node", "web")
    well(web, "run", "Standard.start", "--node", "web")
    assert how(web) == ("started", "ok", "ok")


def test_every_operation_that_failed_has_to_end_well(web: Run, tmp_path: Path) -> None:
    """Another one says nothing of what the first has left."""
    failing(web, tmp_path, "run", "Own.work", "--node", "web")
    failing(web, tmp_path, "run", "Own.rest", "--node", "web")
    assert "failed: Own.work, Own.rest" in web("status").out
    well(web, "run", "Own.work", "--node", "web")
    assert how(web)[1] == "unknown"
    well(web, "run", "Own.rest", "--node", "web")
    assert how(web) == ("started", "ok", "ok")
    failing(web, tmp_path, "run", "Own.work", "--node", "web")
    well(web, "run", "Own.rest", "--node", "web")
    assert how(web)[1] == "unknown"


def test_what_a_check_says_stands_above_it(web: Run, tmp_path: Path) -> None:
    failing(web, tmp_path, "run", "Own.work", "--node", "web")
    well(web, "check")
    assert how(web) == ("started", "ok", "ok")
    (tmp_path / "failing").touch()
    assert web("run", "Own.work", "--node", "web", "--yes").code == 1
    assert web("check").code == 0
    (tmp_path / "failing").unlink()
    well(web, "run", "Own.work", "--node", "web")
    assert how(web)[1] == "error", "the check has said so, and nobody has asked again"


def test_a_deployment_that_failed_is_not_completed_by_hand(web: Run, tmp_path: Path) -> None:
    """What it would have done next is still to be done."""
    well(web, "undeploy")
    failing(web, tmp_path, "deploy")
    well(web, "run", "Standard.create", "--instance", "web_1")
    assert how(web)[:2] == ("created", "pending")
    well(web, "deploy")
    assert how(web) == ("started", "ok", "ok")
