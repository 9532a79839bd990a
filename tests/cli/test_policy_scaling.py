"""Policies that scale nodes with the Compute that contains them, or by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import Run

SERVICE = """\
tosca_definitions_version: tosca_simple_yaml_1_3
topology_template:
  node_templates:
    machine: { type: tosca.nodes.Compute }
    worker:
      type: tosca.nodes.SoftwareComponent
      occurrences: [ 1, 5 ]
      requirements: [ host: machine ]
  policies:
    - load:
        type: tosca.policies.Scaling
        targets: [ worker ]
        triggers:
          out: { event: busy, action: [ { delegate: { workflow: scale_out, inputs: { delta: 2%s } } } ] }
"""


@pytest.mark.parametrize(
    ("said", "code", "workers"),
    [("", 3, 1), (", scale_compute: true", 3, 1), (", scale_compute: false", 0, 3), (", scale_compute: maybe", 3, 1)],
)
def test_a_policy_scales_a_node_by_itself_where_it_says_so(run: Run, said: str, code: int, workers: int) -> None:
    """There is one Compute, of which there may be no more."""
    Path("service.yaml").write_text(SERVICE % said)
    deployed = run("-e", "e", "deploy", "service.yaml", "--yes")
    assert deployed.code == 0, deployed.err
    told = run("-e", "e", "notify", "worker_1", "busy", "--yes")
    assert told.code == code, told.err
    assert ("neither true nor false" in told.err) == ("maybe" in said)
    instances = run("-e", "e", "status", "-o", "json").json["instances"]
    assert sum(name.startswith("worker_") for name in instances) == workers
    assert "machine_2" not in instances
