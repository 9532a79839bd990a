"""Drift is what somebody else did: it is asked about before it is lost, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ordito.cli.exit_codes import ExitCode
from tests.cli.program import Run

SERVICE = """
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ "profile:ordito", "profile:blocks" ]
interface_types:
  Own:
    derived_from: tosca.interfaces.Root
    operations: { work: {} }
node_types:
  Web:
    derived_from: tosca.nodes.Root
    attributes:
      color: { type: string }
      token: { type: string, metadata: { sensitive: "true" } }
    interfaces:
      Standard: { operations: { create: ok.sh, start: ok.sh, stop: ok.sh, delete: ok.sh } }
      Own:
        type: Own
        inputs: { place: { type: string, default: PLACE } }
        operations: { work: { implementation: work.sh, outputs: { COLOR: [ SELF, color ] } } }
      Maintain:
        type: ordito.interfaces.Maintain
        inputs: { place: { type: string, default: PLACE } }
        operations:
          check: check.sh
          discover: { implementation: discover.sh, outputs: { COLOR: [ SELF, color ], TOKEN: [ SELF, token ] } }
topology_template:
  node_templates:
    base: { type: tosca.nodes.Root, interfaces: { Standard: { operations: { create: ok.sh } } } }
    web:
      type: Web
      metadata: { ordito.ready: 0 }  # What is not ok at once will not be.
      occurrences: [ 0, 3 ]
      instance_count: 2
      requirements: [ dependency: base ]
  workflows:
    tend:
      steps:
        work: { target: web, activities: [ { call_operation: Own.work }, { set_state: polished } ] }
  policies:
    - after:
        type: ordito.dev/lifecycle/run@v1#Operation
        properties: { phase: install.after, config: { component: web, operation: Own.work } }
"""


@pytest.fixture
def web(run: Run, tmp_path: Path) -> Run:
    """Two instances of `web`, which are as the files `color`, `token` and `web_N.exit` say."""
    (tmp_path / "service.yaml").write_text(SERVICE.replace("PLACE", str(tmp_path)))
    (tmp_path / "ok.sh").write_text(":\n")
    (tmp_path / "work.sh").write_text('COLOR=worked$RANDOM; [ ! -e "$place/failing" ]\n')
    (tmp_path / "check.sh").write_text('[ ! -e "$place/$INSTANCE.exit" ] || exit "$(<"$place/$INSTANCE.exit")"\n')
    (tmp_path / "discover.sh").write_text('COLOR=$(<"$place/color"); TOKEN=$(<"$place/token")\n')
    (tmp_path / "color").write_text("red\n")
    (tmp_path / "token").write_text("first-of-all\n")
    done = run("deploy", "service.yaml", "--yes")
    assert done.code == 0, done.err
    return run


def drifted(run: Run) -> set[str]:
    """The instances that the status says to be other than they were left; file and records say the same."""
    replayed = run("jobs", "replay")
    assert replayed.code == 0, replayed.out
    found = run("status", "-o", "json").json["instances"]
    return {name for name, one in found.items() if one.get("drift")}


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run", "Own.work", "--node", "web", "--yes"),
        ("run", "Standard.stop", "--instance", "web_1", "--yes"),
        ("workflow", "run", "tend", "--yes"),
        ("restart", "web", "--yes"),
        ("heal", "web_1", "--reinstall", "--yes"),
        ("check",),
    ],
    ids=" ".join,
)
def test_what_was_carried_out_here_is_no_drift(web: Run, words: tuple[str, ...]) -> None:
    """By whatever command; without one it is what a lifecycle step has done after the installation."""
    if words:
        done = web(*words)
        assert done.code == 0, done.err
    assert drifted(web) == set()
    assert web("undeploy", "--yes").code == 0


def test_a_check_that_was_wrong_once_is_no_drift_once_all_is_as_it_was(web: Run, tmp_path: Path) -> None:
    for answer in ("1", "3", "7"):
        (tmp_path / "web_1.exit").write_text(answer)
        assert web("check").code == 0
        assert drifted(web) == {"web_1"}, answer
    (tmp_path / "web_1.exit").unlink()
    assert web("check").code == 0
    assert drifted(web) == set()
    assert web("undeploy", "--yes").code == 0


def test_what_an_operation_broke_and_a_check_finds_well_is_no_drift(web: Run, tmp_path: Path) -> None:
    (tmp_path / "failing").touch()
    assert web("run", "Own.work", "--instance", "web_1", "--yes").code == 1
    assert web("check").code == 0
    assert drifted(web) == set()


@pytest.mark.parametrize("what", ["color", "token"])
def test_an_attribute_with_another_value_is_drift_until_it_has_the_one_that_it_had(
    web: Run, tmp_path: Path, what: str
) -> None:
    """Also a secret one, of which only a digest is kept."""
    assert web("discover").code == 0
    assert web("restart", "web", "--yes").code == 0
    assert drifted(web) == set()
    before = (tmp_path / what).read_text()
    for found in ("another-one", "yet-another-one"):
        (tmp_path / what).write_text(found)
        assert web("discover").code == 0
        assert drifted(web) == {"web_1", "web_2"}
        assert (
            "another-one" not in "".join(p.read_text() for p in (tmp_path / "jobs").glob("*.yaml")) or what == "color"
        )
    (tmp_path / what).write_text(before)
    assert web("discover").code == 0
    assert drifted(web) == set()


def test_what_an_operation_gives_after_it_was_found_otherwise_is_no_drift(web: Run, tmp_path: Path) -> None:
    assert web("discover").code == 0
    assert web("restart", "web", "--yes").code == 0
    (tmp_path / "color").write_text("green")
    assert web("discover", "web_1").code == 0
    assert drifted(web) == {"web_1"}
    assert web("run", "Own.work", "--instance", "web_1", "--yes").code == 0
    assert drifted(web) == set()


WITHOUT = SERVICE[: SERVICE.index("    web:\n")]


@pytest.mark.parametrize(
    "words",
    [
        ("undeploy",),
        ("scale", "web=0"),
        ("upgrade", "without"),
        ("upgrade", "--replace", "web"),
        ("heal", "web_1", "--reinstall"),
    ],
    ids=" ".join,
)
def test_drift_is_asked_about_wherever_it_would_be_lost(web: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "without").mkdir()
    (tmp_path / "without" / "service.yaml").write_text(WITHOUT.replace("PLACE", str(tmp_path)))
    for script in tmp_path.glob("*.sh"):
        (tmp_path / "without" / script.name).write_text(script.read_text())
    (tmp_path / "web_1.exit").write_text("1")
    assert web("check").code == 0
    refused = web(*words, "--yes")
    assert refused.code == ExitCode.REFUSED
    assert "changed since they were created: web_1; nothing was removed" in refused.err
    assert drifted(web) == {"web_1"}
    (tmp_path / "web_1.exit").unlink()
    done = web(*words, "--yes", "--allow-changed")
    assert done.code == 0, done.err
    assert drifted(web) == set()


def test_healing_mends_what_was_found_broken_without_asking(web: Run, tmp_path: Path) -> None:
    (tmp_path / "web_1.exit").write_text("1")
    assert web("check").code == 0
    assert "changed since" not in web("heal", "web_1", "--yes").err
    (tmp_path / "web_1.exit").unlink()
    assert web("check").code == 0
    assert drifted(web) == set()
