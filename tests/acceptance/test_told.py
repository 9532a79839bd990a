"""``target_changed`` with real processes: who is told, and what the records say of it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tests.acceptance.program import Finished, ordito, start

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
imports: [ profile:ordito ]
interface_types:
  lab.Moving:
    derived_from: tosca.interfaces.Root
    operations: { look: {} }
    notifications: { moved: {} }
node_types:
  lab.Target:
    derived_from: tosca.nodes.Root
    attributes: { ip: { type: string } }
    interfaces:
      Standard: { operations: { create: { implementation: look.sh, outputs: { ip: [ SELF, ip ] } } } }
      Maintain: { type: ordito.interfaces.Maintain, operations: { check: look.sh } }
      Moving:
        type: lab.Moving
        operations: { look: { implementation: look.sh, outputs: { ip: [ SELF, ip ] } } }
        notifications: { moved: { outputs: { ip: [ SELF, ip ] } } }
  lab.Source:
    derived_from: tosca.nodes.Root
    requirements:
      - to: { capability: tosca.capabilities.Node, node: lab.Target, relationship: lab.Link }
relationship_types:
  lab.Link:
    derived_from: tosca.relationships.Root
    interfaces:
      Configure:
        type: tosca.interfaces.relationship.Configure
        operations:
          target_changed: { implementation: told.sh, inputs: { ip: { get_attribute: [ TARGET, ip ] } } }
topology_template:
  inputs: { sources: { type: integer, default: 2 } }
  node_templates:
    far: { type: lab.Target, occurrences: [ 0, 9 ], instance_count: 2 }
    near:
      type: lab.Source
      occurrences: [ 0, 9 ]
      instance_count: { get_input: sources }
      requirements: [ { to: far } ]
"""
LOOK = '#!/bin/bash\nip=$(cat "$HOME/ip.$INSTANCE")\n'
TOLD = (
    "#!/bin/bash\n"
    '[ -e "$HOME/deaf" ] && exit 4\n'
    'touch "$HOME/begun.$SOURCE"\n'
    'while [ -e "$HOME/hold" ]; do sleep 0.1; done\n'
    'echo "$SOURCE $TARGET $TARGETS $ip $far_1_ip $far_2_ip" >> "$HOME/told"\n'
)


class Lab:
    """A deployed service whose targets find their addresses in files."""

    def __init__(self, home: Path) -> None:
        self.home = home
        (home / "service.yaml").write_text(SERVICE, encoding="utf-8")
        (home / "look.sh").write_text(LOOK, encoding="utf-8")
        (home / "told.sh").write_text(TOLD, encoding="utf-8")
        self.moves("far_1", "10.0.0.1")
        self.moves("far_2", "10.0.0.2")

    def moves(self, target: str, address: str) -> None:
        """A target has another address from now on, and nobody knows yet."""
        (self.home / f"ip.{target}").write_text(address, encoding="utf-8")

    def run(self, *arguments: str, code: int = 0) -> Finished:
        """Run the program on its ensemble."""
        done = ordito(self.home, *arguments, "-e", "ensemble")
        assert done.code == code, done.both
        return done

    def told(self) -> list[str]:
        """Who was told since this was asked last, and of what."""
        file = self.home / "told"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return sorted(lines)


def test_who_is_told_and_when(tmp_path: Path) -> None:
    """R-5.8.5-7: sources are told once of a changed attribute, never while they are linked, and a failure is made good
    by the next deployment; the records alone give what was noted."""
    lab = Lab(tmp_path)
    lab.run("deploy", "service.yaml", "--yes")
    assert lab.told() == []
    lab.run("check")
    assert lab.told() == []
    lab.moves("far_2", "10.0.0.9")
    shown = lab.run("check").both
    every = "far_1,far_2 10.0.0.1 10.0.0.1 10.0.0.9"
    assert lab.told() == [f"near_1 far_1 {every}", f"near_2 far_1 {every}"]
    assert "target_changed" in shown
    lab.run("check")
    assert lab.told() == []
    lab.moves("far_1", "10.0.0.8")
    (tmp_path / "deaf").touch()
    lab.run("check", code=1)
    (tmp_path / "deaf").unlink()
    status = json.loads(lab.run("status", "-o", "json").out)
    assert status["instances"]["near_1"]["state"] == "started"
    assert status["instances"]["near_1"]["local"] == "unknown"
    lab.run("deploy", "service.yaml", "--yes")
    assert [line.split()[0] for line in lab.told()] == ["near_1", "near_2"]
    lab.run("deploy", "service.yaml", "--yes")
    assert lab.told() == []
    assert "give exactly what ensemble.yaml says" in lab.run("jobs", "replay").out
    lab.run("undeploy", "--yes", "--allow-changed")
    assert lab.told() == []


def test_whatever_brings_the_change(tmp_path: Path) -> None:
    """R-5.8.5-7: an operation that was asked for, and a notification from outside, which is a job of its own; a
    restart, a stop and a start. Instances that come and go are not told of."""
    lab = Lab(tmp_path)
    lab.run("deploy", "service.yaml", "--yes")
    lab.moves("far_2", "10.0.0.3")
    lab.run("run", "look", "--node", "far", "--yes")
    assert lab.told() == [f"near_{n} far_1 far_1,far_2 10.0.0.1 10.0.0.1 10.0.0.3" for n in (1, 2)]
    lab.run("notify", "far_1", "moved", "-i", "ip=10.0.0.4")
    assert lab.told() == [f"near_{n} far_1 far_1,far_2 10.0.0.4 10.0.0.4 10.0.0.3" for n in (1, 2)]
    lab.run("notify", "far_1", "moved", "-i", "ip=10.0.0.4")
    assert lab.told() == []
    for verb in ("restart", "stop", "start"):
        lab.run(verb, "far_2", "--yes")
        assert [line.split()[0] for line in lab.told()] == ["near_1", "near_2"], verb
    lab.moves("far_1", "10.0.0.4")
    assert "ok" in lab.run("heal", "far_1", "--yes").both
    assert lab.told() == [], "there was nothing to heal"
    lab.moves("far_1", "10.0.0.2")
    lab.run("heal", "far_1", "--yes")
    assert [line.split()[4] for line in lab.told()] == ["10.0.0.2"] * 2, "the check of what was to be healed found it"
    lab.run("heal", "far_1", "--reinstall", "--yes", "--allow-changed")
    assert [line.split()[0] for line in lab.told()] == ["near_1", "near_2"], "it was replaced"
    lab.moves("far_3", "10.0.0.5")
    lab.run("scale", "far=3", "--yes")
    lab.run("scale", "far=1", "--yes", "--allow-changed")
    assert lab.told() == []
    lab.run("deploy", "service.yaml", "--yes")
    assert lab.told() == []
    assert "give exactly what ensemble.yaml says" in lab.run("jobs", "replay").out


def test_a_cut_in_the_middle_loses_no_news(tmp_path: Path) -> None:
    """Who was about to be told when the job was cut off is told when it is resumed, once."""
    lab = Lab(tmp_path)
    lab.run("deploy", "service.yaml", "--yes")
    lab.moves("far_1", "10.0.0.7")
    (tmp_path / "hold").touch()
    process = start(tmp_path, "check", "-e", "ensemble")
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("begun.near_*"))) < 2:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert lab.told() == []
    (tmp_path / "hold").unlink()
    lab.run("jobs", "resume")
    assert [line.split()[0] for line in lab.told()] == ["near_1", "near_2"]
    assert "give exactly what ensemble.yaml says" in lab.run("jobs", "replay").out
    lab.run("check")
    assert lab.told() == []


def test_who_was_adopted_knows_what_is_there(tmp_path: Path) -> None:
    """What a source that counts as linked knows is noted when it is adopted; it is told of what changes afterwards."""
    lab = Lab(tmp_path)
    (tmp_path / "service.yaml").write_text(SERVICE.replace("default: 2", "default: 0"), encoding="utf-8")
    lab.run("deploy", "service.yaml", "--yes")
    (tmp_path / "service.yaml").write_text(SERVICE.replace("default: 2", "default: 1"), encoding="utf-8")
    lab.run("state", "adopt", "near", "--yes")
    lab.run("check")
    assert lab.told() == []
    lab.moves("far_1", "10.0.0.6")
    lab.run("check")
    assert [line.split()[0] for line in lab.told()] == ["near_1"]
