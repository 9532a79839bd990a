"""Numbers of instances that nobody can mean: refused before they cost memory, wherever they come from."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

HUGE = "999999999999"
MOST_MEMORY = 1 << 30
NODES = {
    "instance_count": "app: {{ type: tosca.nodes.Root, occurrences: [ 0, UNBOUNDED ], instance_count: {} }}",
    "occurrences": "app: {{ type: tosca.nodes.Root, occurrences: [ {}, UNBOUNDED ] }}",
    "default_instances": "app: {{ type: tosca.nodes.Compute, capabilities: {{ scalable: {{ properties:"
    " {{ min_instances: 1, max_instances: {0}, default_instances: {0} }} }} }} }}",
}


def plan(home: Path, node: str, *words: str) -> subprocess.CompletedProcess[str]:
    text = "tosca_definitions_version: tosca_simple_yaml_1_3\ntopology_template:\n  node_templates:\n    " + node
    (home / "service.yaml").write_text(text + "\n")
    return subprocess.run(
        [sys.executable, "-m", "ordito", "-e", "live", *words],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY)),
    )


@pytest.mark.parametrize("source", NODES)
@pytest.mark.parametrize("verb", ["plan", "deploy"])
def test_very_many_instances_have_to_be_asked_for(tmp_path: Path, source: str, verb: str) -> None:
    done = plan(tmp_path, NODES[source].format(HUGE), verb, "service.yaml")
    assert done.returncode == 3, done.stderr
    assert "too-many-instances" in done.stderr or "bad-count" in done.stderr
    assert not (tmp_path / "live").exists()


def test_scaling_to_very_many_has_to_be_asked_for(tmp_path: Path) -> None:
    node = NODES["instance_count"].format(1)
    assert plan(tmp_path, node, "deploy", "service.yaml", "--yes").returncode == 0
    done = plan(tmp_path, node, "scale", "app=300000", "--yes")
    assert done.returncode == 3, done.stderr
    assert "300,000 instances" in done.stderr
    assert "--allow-large" in done.stderr
