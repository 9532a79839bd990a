"""Workflows that artifacts implement: scripts, and languages of others, with the real program and a real plug-in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.program import files_of, ordito, start, status_of
from tests.cli.program import until
from tests.support.plugins import install

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
artifact_types:
  acme.artifacts.Flow: { derived_from: tosca.artifacts.Root, file_ext: [ flow ] }
  acme.artifacts.OwnFlow: { derived_from: acme.artifacts.Flow, file_ext: [ own ] }
node_types:
  Store:
    derived_from: tosca.nodes.Root
    attributes:
      rotated: { type: string }
      token: { type: string, metadata: { sensitive: 'true' } }
topology_template:
  inputs:
    place: { type: string }
  node_templates:
    store: { type: Store, occurrences: [ 0, 2 ], instance_count: 2 }
  workflows:
    rotate:
      inputs:
        keep: { type: integer, default: 3 }
        key: { type: string, required: false, metadata: { sensitive: 'true' } }
      implementation: { primary: rotate.own, dependencies: [ more.txt ], timeout: 20 }
      outputs: { rotated: [ store, rotated ] }
    wait: { implementation: wait.flow }
    late: { implementation: { primary: wait.flow, timeout: 1 } }
    broken: { implementation: broken.flow }
    script:
      inputs: { keep: { type: integer, default: 7 } }
      implementation: script.sh
      outputs: { rotated: [ store, rotated ] }
    plain: { steps: { one: { target: store, activities: [ set_state: started ] } } }
    both:
      inputs: { number: { type: integer } }
      preconditions: [ { target: store, condition: [ state: [ equal: started ] ] } ]
      steps:
        first: { target: store, activities: [ set_state: configured ], on_success: [ second ] }
        second:
          activities: [ inline: { workflow: rotate, inputs: { keep: { get_input: number } } } ]
          on_success: [ third ]
        third: { target: store, activities: [ set_state: started ] }
"""
CANARY = "canary-of-flow-1147"


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("flow", tmp_path_factory.mktemp("plugins"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "rotate.own").write_text(f"say keeping $keep\nwrite {tmp_path}/seen\ngive rotated at $keep")
    (tmp_path / "more.txt").write_text("")
    (tmp_path / "wait.flow").write_text(f"say begun\nwrite {tmp_path}/begun\nwait {tmp_path}/go")
    (tmp_path / "broken.flow").write_text("fail there is no more room")
    (tmp_path / "script.sh").write_text('#!/bin/bash\necho "script keeps $keep"\nrotated="by script $keep"\n')
    done = ordito(tmp_path, "deploy", "service.yaml", "--yes", "-i", "place=here")
    assert done.code == 0, done.both
    return tmp_path


def with_plugin(plugin: Path) -> str:
    """What puts a plug-in on the path of the program's modules, as installing it beside the program would."""
    return f"import sys; sys.path.insert(0, {str(plugin)!r})"


def rotated(project: Path) -> list[str]:
    instances = status_of(project)["instances"]
    return [instances[f"store_{n}"].get("attributes", {}).get("rotated", "") for n in (1, 2)]


def test_a_processor_carries_out_a_workflow(project: Path, plugin: Path) -> None:
    """R-7.3.8-1: the plug-in for the artifact's type is given the file, what it depends on, the inputs, the service and
    what exists; its outputs are mapped."""
    words = ["workflow", "run", "rotate", "-i", "keep=4", "-i", f"key={CANARY}", "--yes", "--json"]
    done = ordito(project, *words, code=with_plugin(plugin))
    assert done.code == 0, done.both
    call = json.loads((project / "seen").read_text())
    (project / "seen").unlink()
    assert call["inputs"] == {"keep": 4, "key": CANARY}
    assert (call["format"], call["workflow"], call["outputs"]) == ("ordito.workflow-call/1", "rotate", ["rotated"])
    assert [Path(d).name for d in call["dependencies"]] == ["more.txt"]
    assert sorted(call["service"]["nodes"]) == ["store"]
    assert {i: r["state"] for i, r in call["snapshot"]["instances"].items()} == {
        "store_1": "started",
        "store_2": "started",
    }
    assert rotated(project) == ["at 4", "at 4"]
    events = [json.loads(line) for line in done.out.splitlines()]
    (began,) = (e for e in events if e["type"] == "step.started")
    assert began["inputs"] == {"keep": 4, "key": "(sensitive)"}
    assert CANARY.encode() not in b"".join(files_of(project).values())
    assert ordito(project, "jobs", "replay").code == 0


def test_it_is_inlined_with_inputs(project: Path, plugin: Path) -> None:
    """R-7.3.8-3, R-3.8.7-6: preconditions come before, steps before and after it wait."""
    done = ordito(project, "workflow", "run", "both", "-i", "number=9", "--yes", code=with_plugin(plugin))
    assert done.code == 0, done.both
    call = json.loads((project / "seen").read_text())
    assert call["inputs"] == {"keep": 9}
    assert call["snapshot"]["instances"]["store_1"]["state"] == "configured"
    assert rotated(project) == ["at 9", "at 9"]
    assert status_of(project)["instances"]["store_2"]["readyState"]["state"] == "started"


def test_scripts_need_no_processor(project: Path) -> None:
    """Inputs are variables, and outputs those that the script leaves set; it runs on this machine."""
    done = ordito(project, "workflow", "run", "script", "--yes", "-v")
    assert done.code == 0, done.both
    assert "script keeps 7" in done.err
    assert rotated(project) == ["by script 7", "by script 7"]


def test_without_a_processor_only_that_workflow_cannot_be_run(project: Path) -> None:
    """R-7.3.8-2: said when the service is looked at, and before anything runs; others are none the worse for it."""
    looked = ordito(project, "validate", "service.yaml")
    assert looked.code == 0
    assert "no-processor" in looked.err
    for name in ("rotate", "both"):
        given = ["-i", "number=1"] if name == "both" else []
        done = ordito(project, "workflow", "run", name, *given, "--yes")
        assert done.code == 3, done.both
        assert 'nothing here carries out workflow "rotate": rotate.own is of type acme.artifacts.OwnFlow' in done.err
    assert ordito(project, "workflow", "run", "plain", "--yes").code == 0
    assert ordito(project, "deploy", "--yes").code == 0


def test_its_failure_and_its_time(project: Path, plugin: Path) -> None:
    done = ordito(project, "workflow", "run", "broken", "--yes", code=with_plugin(plugin))
    assert done.code == 1
    assert "there is no more room" in done.err
    done = ordito(project, "workflow", "run", "late", "--yes", code=with_plugin(plugin))
    assert done.code == 1
    assert "timed out" in done.err


def test_after_a_crash_it_is_ended_and_begun_again(project: Path, plugin: Path) -> None:
    process = start(project, "workflow", "run", "wait", "--yes", code=with_plugin(plugin))
    until((project / "begun").exists)
    process.kill()
    process.communicate()
    (project / "begun").unlink()
    (project / "go").touch()
    done = ordito(project, "jobs", "resume", code=with_plugin(plugin))
    assert done.code == 0, done.both
