"""`kill -9` while playbooks run: resuming carries on, and no two runs of one operation are ever alive together."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from tests.acceptance.program import LIMIT, Project, ordito, start, status_of
from tests.support.real.needs import ansible_playbook
from tests.support.thorough import THOROUGH

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    box:
      type: tosca.nodes.Root
      occurrences: [ 1, 9 ]
      instance_count: 2
      interfaces:
        Standard:
          operations: { create: create.yaml, start: start.yaml }
"""
PLAYBOOK = """\
- hosts: all
  gather_facts: false
  tasks:
    - script: "{folder}/work.sh {{{{ INSTANCE }}}} {name}"
"""
WORK = """\
#!/bin/bash
mark="{folder}/$1.$2"
if [ -e "$mark.pid" ] && kill -0 "$(< "$mark.pid")" 2>/dev/null; then echo "overlap $1.$2" >> "{folder}/log"; fi
echo $$ > "$mark.pid"
echo "begin $1.$2" >> "{folder}/log"
read -rt 0.3 <> "{folder}/never"
echo "end $1.$2" >> "{folder}/log"
rm "$mark.pid"
"""
STEPS = {f"{instance}.{name}" for instance in ("box_1", "box_2") for name in ("create", "start")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A service of two instances, whose operations are playbooks that write down what they do."""
    ansible_playbook()
    folder = tmp_path / "service"
    folder.mkdir()
    (folder / "service.yaml").write_text(SERVICE)
    for name in ("create", "start"):
        (folder / f"{name}.yaml").write_text(PLAYBOOK.format(folder=tmp_path, name=name))
    (tmp_path / "work.sh").write_text(WORK.format(folder=tmp_path))
    subprocess.run(["mkfifo", tmp_path / "never"], check=True)
    return Project(tmp_path, folder / "service.yaml")


@pytest.mark.parametrize("lines", range(9) if THOROUGH else (1, 4))
def test_killed_while_playbooks_run(project: Project, lines: int) -> None:
    """The program dies when so many lines are written."""
    log = project.home / "log"
    process = start(project.home, *project.deploying())
    give_up = time.monotonic() + LIMIT
    while (log.read_text().count("\n") if log.exists() else 0) < lines and process.poll() is None:
        assert time.monotonic() < give_up
    process.kill()
    process.communicate()
    resumed = project.run("jobs", "resume")
    if "Nothing to resume" in resumed.both or "is not an ensemble" in resumed.both:
        resumed = ordito(project.home, *project.deploying())
    assert resumed.code == 0, resumed.both
    assert "Traceback" not in resumed.both
    told = log.read_text().splitlines()
    assert {line.removeprefix("end ") for line in told if line.startswith("end ")} == STEPS
    assert not [line for line in told if line.startswith("overlap")]
    # What had ended for both is known; what was cut runs once more.
    assert all(told.count(f"begin {step}") <= 2 for step in STEPS)
    assert {i["readyState"]["local"] for i in status_of(project.ensemble)["instances"].values()} == {"ok"}
